"""An OpenID Connect provider: discovery, the code flow with PKCE, and ID tokens that are checked."""

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

SECONDS = 10.0
LONGEST = 1024 * 1024  # bytes of an answer
KEPT = 3600.0  # seconds that what the provider says of itself is believed
LEAST = 30.0  # seconds between two looks at its keys
LEEWAY = 60  # seconds that clocks may differ
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_prepare = cast("Any", parameters).prepare_grant_uri
_challenge = cast("Any", rfc7636).create_s256_code_challenge
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class OidcProvider:
    def __init__(self, registration: Registration, secret: Callable[[], str | None]) -> None:
        self._given = registration
        self._secret = secret
        self._metadata: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, KeySet] | None = None

    # ---- there and back ------------------------------------------------------------------------------
    async def address(self, trip: SignInRequest) -> str:
        metadata = await self._discovered()
        return _prepare(
            metadata["authorization_endpoint"],
            self._given.client_id,
            "code",
            redirect_uri=trip.redirect_uri,
            scope=list(self._given.scopes),
            state=trip.state,
            nonce=trip.nonce,
            code_challenge=_challenge(trip.verifier),
            code_challenge_method="S256",
        )

    async def identify(self, trip: SignInRequest, code: str) -> Identity:
        metadata = await self._discovered()
        answer = await self._exchange(metadata, trip, code)
        claims = await self._checked(metadata, answer, trip)
        if "userinfo_endpoint" in metadata and "access_token" in answer:
            told = await self._ask(metadata["userinfo_endpoint"], token=str(answer["access_token"]))
            if told.get("sub") != claims["sub"]:
                raise NotIdentified("the provider tells of somebody else")
            claims = {**told, **claims}
        return self._identity(claims)

    async def _exchange(self, metadata: Mapping[str, Any], trip: SignInRequest, code: str) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": trip.redirect_uri,
            "code_verifier": trip.verifier,
        }
        secret = self._secret()
        methods = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        auth = None
        if secret is not None and "client_secret_basic" in methods:
            auth = httpx.BasicAuth(self._given.client_id, secret)
        else:
            form |= {"client_id": self._given.client_id, **({"client_secret": secret} if secret is not None else {})}
        return await self._ask(metadata["token_endpoint"], form=form, auth=auth)

    async def _checked(
        self, metadata: Mapping[str, Any], answer: Mapping[str, Any], trip: SignInRequest
    ) -> dict[str, Any]:
        """The claims of the ID token, if it is the provider's, for this program, and for this sign-in."""
        encoded = answer.get("id_token")
        if not isinstance(encoded, str):
            raise NotIdentified("the provider sends no ID token")
        try:
            token = jwt.decode(encoded, await self._key_set(metadata), algorithms=ALGORITHMS)
        except (JoseError, ValueError):
            try:  # it may have new keys
                token = jwt.decode(encoded, await self._key_set(metadata, anew=True), algorithms=ALGORITHMS)
            except (JoseError, ValueError) as error:
                raise NotIdentified(f"the ID token is not signed by the provider ({type(error).__name__})") from None
        wanted = {"iss": {"essential": True, "value": metadata["issuer"]}, "sub": {"essential": True}}
        wanted["aud"] = {"essential": True, "value": self._given.client_id}
        params = {
            "nonce": trip.nonce,
            "client_id": self._given.client_id,
            "access_token": answer.get("access_token"),
        }
        claims: Any = CodeIDToken(token.claims, token.header, wanted, params)
        try:
            claims.validate(now=int(time()), leeway=LEEWAY)
        except (JoseError, TypeError, ValueError) as error:
            raise NotIdentified(f"the ID token does not hold: {error}") from None
        if not isinstance(claims["sub"], str) or not claims["sub"]:
            raise NotIdentified("the ID token names nobody")
        return dict(cast("Mapping[str, Any]", claims))

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        is_verified = claims.get("email_verified") in (True, "true") or self._given.trust_unverified_email
        email = _text(claims.get("email")).lower() if is_verified else ""
        listed: Any = claims.get(self._given.groups_claim, [])
        groups = [listed] if isinstance(listed, str) else cast("list[Any]", listed) if isinstance(listed, list) else []
        return Identity(
            subject=_text(claims["sub"]),
            email=email,
            name=_text(claims.get(self._given.name_claim)),
            display_name=_text(claims.get("name")),
            groups=tuple(_text(group) for group in groups[:1000]),
        )

    # ---- what the provider says of itself ------------------------------------------------------------
    async def _discovered(self) -> dict[str, Any]:
        if self._metadata is not None and monotonic() - self._metadata[0] < KEPT:
            return self._metadata[1]
        issuer = self._given.issuer.rstrip("/")
        metadata = await self._ask(get_well_known_url(issuer, external=True))
        if str(metadata.get("issuer", "")).rstrip("/") != issuer:
            raise IdentityProviderError("it calls itself by another name than the settings do")
        for name in ENDPOINTS:
            if not _is_safe(str(metadata.get(name, ""))):
                raise IdentityProviderError(f"its {name} is missing or not encrypted")
        self._metadata = (monotonic(), metadata)
        return metadata

    async def _key_set(self, metadata: Mapping[str, Any], *, anew: bool = False) -> KeySet:
        age = monotonic() - self._keys[0] if self._keys is not None else KEPT
        if self._keys is not None and age < (LEAST if anew else KEPT):
            return self._keys[1]
        told: Any = await self._ask(metadata["jwks_uri"])
        try:
            keys = KeySet.import_key_set(told)
        except (JoseError, ValueError, KeyError, TypeError):
            raise IdentityProviderError("its keys cannot be read") from None
        self._keys = (monotonic(), keys)
        return keys

    async def _ask(
        self, url: str, *, form: dict[str, str] | None = None, token: str | None = None, auth: Any = None
    ) -> dict[str, Any]:
        headers = {"Accept": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        method = "GET" if form is None else "POST"
        body = bytearray()
        try:
            async with (
                httpx.AsyncClient(timeout=SECONDS, trust_env=not _is_loopback(url)) as client,
                client.stream(method, url, headers=headers, data=form, auth=auth) as response,
            ):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > LONGEST:
                        raise IdentityProviderError("its answer is too long")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise IdentityProviderError(f"it cannot be reached ({type(error).__name__})") from None
        if response.status_code in (400, 401) and form is not None:
            raise NotIdentified("the provider does not take the code")
        if response.status_code != 200:
            raise IdentityProviderError(f"it answers with {response.status_code}")
        try:
            told: Any = httpx.Response(200, content=bytes(body)).json()
        except ValueError:
            raise IdentityProviderError("its answer is not JSON") from None
        if not isinstance(told, dict):
            raise IdentityProviderError("its answer is not a JSON object")
        return cast("dict[str, Any]", told)


def _text(value: Any) -> str:
    """One line at most: it comes from elsewhere."""
    return "".join(c for c in str(value) if c.isprintable()).strip()[:254] if isinstance(value, str | int) else ""


def _is_safe(url: str) -> bool:
    return urlsplit(url).scheme == "https" or (urlsplit(url).scheme == "http" and _is_loopback(url))


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
