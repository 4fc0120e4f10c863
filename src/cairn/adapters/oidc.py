"""An OpenID Connect provider: discovery, the code flow with PKCE, and verification of ID tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import ip_address
from time import monotonic, time
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
from authlib.oauth2 import rfc7636
from authlib.oauth2.rfc6749 import parameters
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import get_well_known_url
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from cairn.ports.identity import Identity, IdentityProviderError, NotIdentified, Registration, SignInRequest

TIMEOUT_SECONDS = 10.0
MAX_RESPONSE_BYTES = 1024 * 1024
CACHE_SECONDS = 3600.0  # how long the provider's metadata and keys are cached
KEY_REFRESH_SECONDS = 30.0  # minimum time between two requests for the keys
LEEWAY_SECONDS = 60  # tolerated clock skew
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_prepare = cast("Any", parameters).prepare_grant_uri
_challenge = cast("Any", rfc7636).create_s256_code_challenge
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class OidcProvider:
    def __init__(self, registration: Registration, secret: Callable[[], str | None]) -> None:
        self._registration = registration
        self._secret = secret
        self._metadata: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, KeySet] | None = None

    # Sign-in
    async def address(self, request: SignInRequest) -> str:
        metadata = await self._discover()
        return _prepare(
            metadata["authorization_endpoint"],
            self._registration.client_id,
            "code",
            redirect_uri=request.redirect_uri,
            scope=list(self._registration.scopes),
            state=request.state,
            nonce=request.nonce,
            code_challenge=_challenge(request.verifier),
            code_challenge_method="S256",
        )

    async def identify(self, request: SignInRequest, code: str) -> Identity:
        metadata = await self._discover()
        tokens = await self._exchange(metadata, request, code)
        claims = await self._verify_id_token(metadata, tokens, request)
        if "userinfo_endpoint" in metadata and "access_token" in tokens:
            payload = await self._request(metadata["userinfo_endpoint"], token=str(tokens["access_token"]))
            if payload.get("sub") != claims["sub"]:
                raise NotIdentified("the provider returned another user's profile")
            claims = {**payload, **claims}
        return self._identity(claims)

    async def _exchange(self, metadata: Mapping[str, Any], request: SignInRequest, code: str) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": request.redirect_uri,
            "code_verifier": request.verifier,
        }
        secret = self._secret()
        methods = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        auth = None
        if secret is not None and "client_secret_basic" in methods:
            auth = httpx.BasicAuth(self._registration.client_id, secret)
        else:
            form |= {
                "client_id": self._registration.client_id,
                **({"client_secret": secret} if secret is not None else {}),
            }
        return await self._request(metadata["token_endpoint"], form=form, auth=auth)

    async def _verify_id_token(
        self, metadata: Mapping[str, Any], tokens: Mapping[str, Any], request: SignInRequest
    ) -> dict[str, Any]:
        """The claims of the ID token, if it was issued by this provider, for this client and for this sign-in."""
        id_token = tokens.get("id_token")
        if not isinstance(id_token, str):
            raise NotIdentified("the provider sent no ID token")
        try:
            token = jwt.decode(id_token, await self._key_set(metadata), algorithms=ALGORITHMS)
        except (JoseError, ValueError):
            try:  # the provider may have changed its keys
                token = jwt.decode(id_token, await self._key_set(metadata, refresh=True), algorithms=ALGORITHMS)
            except (JoseError, ValueError) as error:
                raise NotIdentified(f"the ID token is not signed by the provider ({type(error).__name__})") from None
        claims_options = {"iss": {"essential": True, "value": metadata["issuer"]}, "sub": {"essential": True}}
        claims_options["aud"] = {"essential": True, "value": self._registration.client_id}
        params = {
            "nonce": request.nonce,
            "client_id": self._registration.client_id,
            "access_token": tokens.get("access_token"),
        }
        claims: Any = CodeIDToken(token.claims, token.header, claims_options, params)
        try:
            claims.validate(now=int(time()), leeway=LEEWAY_SECONDS)
        except (JoseError, TypeError, ValueError) as error:
            raise NotIdentified(f"the ID token is invalid: {error}") from None
        if not isinstance(claims["sub"], str) or not claims["sub"]:
            raise NotIdentified("the ID token has no subject")
        return dict(cast("Mapping[str, Any]", claims))

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        is_verified = claims.get("email_verified") in (True, "true") or self._registration.trust_unverified_email
        email = _clean(claims.get("email")).lower() if is_verified else ""
        group_claim: Any = claims.get(self._registration.groups_claim, [])
        groups = (
            [group_claim]
            if isinstance(group_claim, str)
            else cast("list[Any]", group_claim)
            if isinstance(group_claim, list)
            else []
        )
        return Identity(
            subject=_clean(claims["sub"]),
            email=email,
            name=_clean(claims.get(self._registration.name_claim)),
            display_name=_clean(claims.get("name")),
            groups=tuple(_clean(group) for group in groups[:1000]),
        )

    # Metadata and keys
    async def _discover(self) -> dict[str, Any]:
        if self._metadata is not None and monotonic() - self._metadata[0] < CACHE_SECONDS:
            return self._metadata[1]
        issuer = self._registration.issuer.rstrip("/")
        metadata = await self._request(get_well_known_url(issuer, external=True))
        if str(metadata.get("issuer", "")).rstrip("/") != issuer:
            raise IdentityProviderError("its metadata names a different issuer than the settings")
        for name in ENDPOINTS:
            if not _is_safe(str(metadata.get(name, ""))):
                raise IdentityProviderError(f"its {name} is missing or does not use https")
        self._metadata = (monotonic(), metadata)
        return metadata

    async def _key_set(self, metadata: Mapping[str, Any], *, refresh: bool = False) -> KeySet:
        age = monotonic() - self._keys[0] if self._keys is not None else CACHE_SECONDS
        if self._keys is not None and age < (KEY_REFRESH_SECONDS if refresh else CACHE_SECONDS):
            return self._keys[1]
        payload: Any = await self._request(metadata["jwks_uri"])
        try:
            keys = KeySet.import_key_set(payload)
        except (JoseError, ValueError, KeyError, TypeError):
            raise IdentityProviderError("its keys are invalid") from None
        self._keys = (monotonic(), keys)
        return keys

    async def _request(
        self, url: str, *, form: dict[str, str] | None = None, token: str | None = None, auth: Any = None
    ) -> dict[str, Any]:
        headers = {"Accept": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        method = "GET" if form is None else "POST"
        body = bytearray()
        try:
            async with (
                httpx.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=not _is_loopback(url)) as client,
                client.stream(method, url, headers=headers, data=form, auth=auth) as response,
            ):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > MAX_RESPONSE_BYTES:
                        raise IdentityProviderError("its response is too long")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise IdentityProviderError(f"it is unreachable ({type(error).__name__})") from None
        if response.status_code in (400, 401) and form is not None:
            raise NotIdentified("the provider rejected the code")
        if response.status_code != 200:
            raise IdentityProviderError(f"it responded with status {response.status_code}")
        try:
            payload: Any = httpx.Response(200, content=bytes(body)).json()
        except ValueError:
            raise IdentityProviderError("its response is not JSON") from None
        if not isinstance(payload, dict):
            raise IdentityProviderError("its response is not a JSON object")
        return cast("dict[str, Any]", payload)


def _clean(value: Any) -> str:
    """Reduce untrusted text to a single line of limited length."""
    return "".join(c for c in str(value) if c.isprintable()).strip()[:254] if isinstance(value, str | int) else ""


def _is_safe(url: str) -> bool:
    return urlsplit(url).scheme == "https" or (urlsplit(url).scheme == "http" and _is_loopback(url))


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
