"""Forged tokens and invalid responses of an identity provider are rejected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from cairn.adapters.oidc import OidcProvider
from cairn.ports.identity import Identity, IdentityProviderError, NotIdentified, Registration, SignInRequest
from tests.api.identity_providers import Liar, free_port, lying_provider
from tests.mentions import mentions

SIGN_IN = SignInRequest("http://127.0.0.1:8700/sign-in/liar", "state", "nonce", "verifier-" * 6)


@pytest.fixture(scope="module")
def server() -> Iterator[Liar]:
    with lying_provider() as liar:
        yield liar


@pytest.fixture
def liar(server: Liar) -> Liar:
    server.forget()
    return server


async def sign_in(liar: Liar, secret: str | None = "s3cret", **registration: Any) -> Identity:
    """Sign in the way a browser does."""
    provider = OidcProvider(Registration(liar.address, "cairn", **registration), lambda: secret)
    query = parse_qs(urlsplit(await provider.address(SIGN_IN)).query)
    liar.challenge, liar.nonce = query["code_challenge"][0], query["nonce"][0]
    return await provider.identify(SIGN_IN, "the code")


async def test_a_valid_token_identifies_the_user(liar: Liar) -> None:
    liar.claims = {"preferred_username": "digger", "name": "A digger", "groups": ["pit"]}
    assert await sign_in(liar) == Identity("s-1", "liar@example.com", "digger", "A digger", ("pit",))
    assert liar.seen["authorization"].startswith("Basic ")
    assert (liar.seen["grant_type"], liar.seen["redirect_uri"]) == ("authorization_code", SIGN_IN.redirect_uri)


@pytest.mark.parametrize(
    ("methods", "secret", "sent"),
    [(["client_secret_post"], "s3cret", "s3cret"), (["client_secret_basic"], None, None), (["none"], None, None)],
)
async def test_the_client_authenticates_with_a_supported_method(
    liar: Liar, methods: list[str], secret: str | None, sent: str | None
) -> None:
    liar.metadata = {"token_endpoint_auth_methods_supported": methods}
    await sign_in(liar, secret)
    assert (liar.seen["authorization"], liar.seen["client_id"], liar.seen.get("client_secret")) == (None, "cairn", sent)


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another"},
        {"aud": ["another"]},
        {"aud": ["cairn", "another"]},  # without azp
        {"azp": "another"},
        {"exp": 1_000_000},
        {"exp": None},
        {"iat": None},
        {"nbf": 99_999_999_999},
        {"sub": None},
        {"sub": ""},
        {"sub": 5},
        {"at_hash": "another"},
        {"exp": "soon"},
    ],
    ids=str,
)
async def test_a_token_for_another_client_or_sign_in_is_rejected(liar: Liar, claims: dict[str, Any]) -> None:
    liar.claims = claims
    with pytest.raises(NotIdentified):
        await sign_in(liar)


async def reason(liar: Liar) -> str:
    """Why the sign-in is rejected."""
    with pytest.raises(NotIdentified) as error:
        await sign_in(liar)
    return str(error.value)


async def test_a_token_without_the_providers_signature_is_rejected(liar: Liar) -> None:
    """Unsigned, with another algorithm, or signed with another key."""
    reasons: list[str] = []
    for algorithm in ("none", "HS256"):
        liar.algorithm = algorithm
        reasons.append(await reason(liar))
        liar.forget()
    liar.is_signed_by_another = True
    reasons.append(await reason(liar))
    liar.forget()
    liar.user_info = {"sub": "s-2"}
    unsupported, unsigned = mentions("UnsupportedAlgorithmError"), mentions("BadSignatureError")
    assert reasons == [unsupported, unsupported, unsigned]
    assert await reason(liar) not in reasons


async def test_a_code_of_another_sign_in_is_rejected(liar: Liar) -> None:
    """PKCE makes a stolen code useless."""
    provider = OidcProvider(Registration(liar.address, "cairn"), lambda: None)
    query = parse_qs(urlsplit(await provider.address(SIGN_IN)).query)
    liar.challenge, liar.nonce = query["code_challenge"][0], "nonce"
    with pytest.raises(NotIdentified):
        await provider.identify(SignInRequest(SIGN_IN.redirect_uri, "state", "nonce", "another verifier"), "the code")


async def test_userinfo_of_another_user_is_rejected(liar: Liar) -> None:
    liar.user_info = {"sub": "s-2"}
    with pytest.raises(NotIdentified):
        await sign_in(liar)
    liar.user_info = {"sub": "s-1"}
    await sign_in(liar)


@pytest.mark.parametrize(
    ("claims", "trusts", "email"),
    [
        ({"email": "A@example.com", "email_verified": True}, False, "a@example.com"),
        ({"email": "a@example.com", "email_verified": "true"}, False, "a@example.com"),
        ({"email": "a@example.com", "email_verified": False}, False, ""),
        ({"email": "a@example.com", "email_verified": False}, True, "a@example.com"),
        ({"email": ["a@example.com"], "email_verified": True}, False, ""),
    ],
)
async def test_an_email_address_must_be_verified_unless_unverified_ones_are_trusted(
    liar: Liar, claims: dict[str, Any], trusts: bool, email: str
) -> None:
    liar.claims = claims
    assert (await sign_in(liar, trust_unverified_email=trusts)).email == email


async def test_malformed_claims_are_cleaned_or_ignored(liar: Liar) -> None:
    liar.claims = {"preferred_username": "a\r\nBcc: b", "name": {"html": "<b>"}, "groups": ["x\ny", 5, None]}
    found = await sign_in(liar)
    assert (found.name, found.display_name, found.groups) == ("aBcc: b", "", ("xy", "5", ""))
    liar.claims = {"groups": "only"}
    assert (await sign_in(liar)).groups == ("only",)


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://evil.example/token"},  # not encrypted
        {"jwks_uri": None},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
    ids=str,
)
async def test_invalid_provider_metadata_is_rejected(liar: Liar, metadata: dict[str, Any]) -> None:
    liar.metadata = metadata
    with pytest.raises(IdentityProviderError):
        await sign_in(liar)


async def test_an_unavailable_provider_is_reported(liar: Liar) -> None:
    liar.status = 500
    with pytest.raises(IdentityProviderError, match=r"\b500\b"):
        await sign_in(liar)
    liar.forget()
    liar.metadata = {"jwks_uri": f"{liar.address}/odd"}
    with pytest.raises(IdentityProviderError):
        await sign_in(liar)
    unreachable = OidcProvider(Registration(f"http://127.0.0.1:{free_port()}", "cairn"), lambda: None)
    with pytest.raises(IdentityProviderError):
        await unreachable.address(SIGN_IN)
