"""Forged tokens and invalid responses of an identity provider are rejected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from cairn.adapters.oidc import OidcProvider
from cairn.ports.identity import Identity, IdentityProviderError, NotIdentified, Registration, SignInRequest
from tests.api.identity_providers import MaliciousProvider, free_port, malicious_provider
from tests.mentions import mentions

SIGN_IN = SignInRequest("http://127.0.0.1:8700/sign-in/liar", "state", "nonce", "verifier-" * 6)


@pytest.fixture(scope="module")
def server() -> Iterator[MaliciousProvider]:
    with malicious_provider() as fake:
        yield fake


@pytest.fixture
def fake(server: MaliciousProvider) -> MaliciousProvider:
    server.reset()
    return server


async def sign_in(fake: MaliciousProvider, secret: str | None = "s3cret", **registration: Any) -> Identity:
    """Sign in the way a browser does."""
    provider = OidcProvider(Registration(fake.address, "cairn", **registration), lambda: secret)
    query = parse_qs(urlsplit(await provider.address(SIGN_IN)).query)
    fake.challenge, fake.nonce = query["code_challenge"][0], query["nonce"][0]
    return await provider.identify(SIGN_IN, "the code")


async def test_a_valid_token_identifies_the_user(fake: MaliciousProvider) -> None:
    fake.claims = {"preferred_username": "digger", "name": "A digger", "groups": ["pit"]}
    assert await sign_in(fake) == Identity("s-1", "liar@example.com", "digger", "A digger", ("pit",))
    assert fake.seen["authorization"].startswith("Basic ")
    assert (fake.seen["grant_type"], fake.seen["redirect_uri"]) == (
        "authorization_code",
        SIGN_IN.redirect_uri,
    )


@pytest.mark.parametrize(
    ("methods", "secret", "sent"),
    [(["client_secret_post"], "s3cret", "s3cret"), (["client_secret_basic"], None, None), (["none"], None, None)],
)
async def test_the_client_authenticates_with_a_supported_method(
    fake: MaliciousProvider, methods: list[str], secret: str | None, sent: str | None
) -> None:
    fake.metadata = {"token_endpoint_auth_methods_supported": methods}
    await sign_in(fake, secret)
    assert (fake.seen["authorization"], fake.seen["client_id"], fake.seen.get("client_secret")) == (
        None,
        "cairn",
        sent,
    )


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
async def test_a_token_for_another_client_or_sign_in_is_rejected(
    fake: MaliciousProvider, claims: dict[str, Any]
) -> None:
    fake.claims = claims
    with pytest.raises(NotIdentified):
        await sign_in(fake)


async def reason(fake: MaliciousProvider) -> str:
    """Return the reason why the sign-in is rejected."""
    with pytest.raises(NotIdentified) as error:
        await sign_in(fake)
    return str(error.value)


async def test_a_token_without_the_providers_signature_is_rejected(fake: MaliciousProvider) -> None:
    """The token is unsigned, uses another algorithm, or is signed with another key."""
    reasons: list[str] = []
    for algorithm in ("none", "HS256"):
        fake.algorithm = algorithm
        reasons.append(await reason(fake))
        fake.reset()
    fake.is_signed_by_another = True
    reasons.append(await reason(fake))
    fake.reset()
    fake.user_info = {"sub": "s-2"}
    unsupported, unsigned = mentions("UnsupportedAlgorithmError"), mentions("BadSignatureError")
    assert reasons == [unsupported, unsupported, unsigned]
    assert await reason(fake) not in reasons


async def test_a_code_of_another_sign_in_is_rejected(fake: MaliciousProvider) -> None:
    """PKCE makes a stolen code useless."""
    provider = OidcProvider(Registration(fake.address, "cairn"), lambda: None)
    query = parse_qs(urlsplit(await provider.address(SIGN_IN)).query)
    fake.challenge, fake.nonce = query["code_challenge"][0], "nonce"
    with pytest.raises(NotIdentified):
        await provider.identify(SignInRequest(SIGN_IN.redirect_uri, "state", "nonce", "another verifier"), "the code")


async def test_userinfo_of_another_user_is_rejected(fake: MaliciousProvider) -> None:
    fake.user_info = {"sub": "s-2"}
    with pytest.raises(NotIdentified):
        await sign_in(fake)
    fake.user_info = {"sub": "s-1"}
    await sign_in(fake)


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
    fake: MaliciousProvider, claims: dict[str, Any], trusts: bool, email: str
) -> None:
    fake.claims = claims
    assert (await sign_in(fake, trust_unverified_email=trusts)).email == email


async def test_malformed_claims_are_cleaned_or_ignored(fake: MaliciousProvider) -> None:
    fake.claims = {"preferred_username": "a\r\nBcc: b", "name": {"html": "<b>"}, "groups": ["x\ny", 5, None]}
    found = await sign_in(fake)
    assert (found.name, found.display_name, found.groups) == ("aBcc: b", "", ("xy", "5", ""))
    fake.claims = {"groups": "only"}
    assert (await sign_in(fake)).groups == ("only",)


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
async def test_invalid_provider_metadata_is_rejected(fake: MaliciousProvider, metadata: dict[str, Any]) -> None:
    fake.metadata = metadata
    with pytest.raises(IdentityProviderError):
        await sign_in(fake)


async def test_an_unavailable_provider_is_reported(fake: MaliciousProvider) -> None:
    fake.status = 500
    with pytest.raises(IdentityProviderError, match=r"\b500\b"):
        await sign_in(fake)
    fake.reset()
    fake.metadata = {"jwks_uri": f"{fake.address}/odd"}
    with pytest.raises(IdentityProviderError):
        await sign_in(fake)
    unreachable = OidcProvider(Registration(f"http://127.0.0.1:{free_port()}", "cairn"), lambda: None)
    with pytest.raises(IdentityProviderError):
        await unreachable.address(SIGN_IN)
