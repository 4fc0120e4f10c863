"""An identity provider that sends forged tokens or does not answer signs nobody in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from cairn.adapters.oidc import OidcProvider
from cairn.ports.identity import Identity, IdentityProviderError, NotIdentified, Registration, SignInRequest
from tests.api.identity_providers import Liar, free_port, lying_provider
from tests.mentions import mentions

TRIP = SignInRequest("http://127.0.0.1:8700/sign-in/liar", "state", "nonce", "verifier-" * 6)


@pytest.fixture(scope="module")
def server() -> Iterator[Liar]:
    with lying_provider() as liar:
        yield liar


@pytest.fixture
def liar(server: Liar) -> Liar:
    server.forget()
    return server


async def go(liar: Liar, secret: str | None = "s3cret", **registration: Any) -> Identity:
    """There and back, as a browser does it."""
    provider = OidcProvider(Registration(liar.address, "cairn", **registration), lambda: secret)
    asked = parse_qs(urlsplit(await provider.address(TRIP)).query)
    liar.challenge, liar.nonce = asked["code_challenge"][0], asked["nonce"][0]
    return await provider.identify(TRIP, "the code")


async def test_one_that_tells_the_truth_is_believed(liar: Liar) -> None:
    liar.claims = {"preferred_username": "digger", "name": "A digger", "groups": ["pit"]}
    assert await go(liar) == Identity("s-1", "liar@example.com", "digger", "A digger", ("pit",))
    assert liar.seen["authorization"].startswith("Basic ")
    assert (liar.seen["grant_type"], liar.seen["redirect_uri"]) == ("authorization_code", TRIP.redirect_uri)


@pytest.mark.parametrize(
    ("methods", "secret", "sent"),
    [(["client_secret_post"], "s3cret", "s3cret"), (["client_secret_basic"], None, None), (["none"], None, None)],
)
async def test_how_the_client_proves_itself(
    liar: Liar, methods: list[str], secret: str | None, sent: str | None
) -> None:
    liar.metadata = {"token_endpoint_auth_methods_supported": methods}
    await go(liar, secret)
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
async def test_a_token_that_is_not_for_us_or_not_for_this_sign_in_is_refused(
    liar: Liar, claims: dict[str, Any]
) -> None:
    liar.claims = claims
    with pytest.raises(NotIdentified):
        await go(liar)


async def reason(liar: Liar) -> str:
    """Why nobody is signed in."""
    with pytest.raises(NotIdentified) as refused:
        await go(liar)
    return str(refused.value)


async def test_a_token_without_the_providers_signature_is_refused(liar: Liar) -> None:
    """Without a signature, with another algorithm, or signed by somebody else."""
    reasons: list[str] = []
    for algorithm in ("none", "HS256"):
        liar.algorithm = algorithm
        reasons.append(await reason(liar))
        liar.forget()
    liar.is_signed_by_another = True
    reasons.append(await reason(liar))
    liar.forget()
    liar.told = {"sub": "s-2"}
    unsupported, unsigned = mentions("UnsupportedAlgorithmError"), mentions("BadSignatureError")
    assert reasons == [unsupported, unsupported, unsigned]
    assert await reason(liar) not in reasons


async def test_a_code_that_was_begun_elsewhere_is_refused(liar: Liar) -> None:
    """PKCE: whoever has the code alone has nothing."""
    provider = OidcProvider(Registration(liar.address, "cairn"), lambda: None)
    asked = parse_qs(urlsplit(await provider.address(TRIP)).query)
    liar.challenge, liar.nonce = asked["code_challenge"][0], "nonce"
    with pytest.raises(NotIdentified):
        await provider.identify(SignInRequest(TRIP.redirect_uri, "state", "nonce", "another verifier"), "the code")


async def test_userinfo_of_somebody_else_is_refused(liar: Liar) -> None:
    liar.told = {"sub": "s-2"}
    with pytest.raises(NotIdentified):
        await go(liar)
    liar.told = {"sub": "s-1"}
    await go(liar)


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
async def test_an_address_counts_only_if_the_provider_vouches(
    liar: Liar, claims: dict[str, Any], trusts: bool, email: str
) -> None:
    liar.claims = claims
    assert (await go(liar, trust_unverified_email=trusts)).email == email


async def test_odd_claims_are_taken_as_one_line_or_nothing(liar: Liar) -> None:
    liar.claims = {"preferred_username": "a\r\nBcc: b", "name": {"html": "<b>"}, "groups": ["x\ny", 5, None]}
    found = await go(liar)
    assert (found.name, found.display_name, found.groups) == ("aBcc: b", "", ("xy", "5", ""))
    liar.claims = {"groups": "only"}
    assert (await go(liar)).groups == ("only",)


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
async def test_a_provider_that_describes_itself_oddly_is_not_used(liar: Liar, metadata: dict[str, Any]) -> None:
    liar.metadata = metadata
    with pytest.raises(IdentityProviderError):
        await go(liar)


async def test_a_provider_that_does_not_answer_is_told(liar: Liar) -> None:
    liar.status = 500
    with pytest.raises(IdentityProviderError, match=r"\b500\b"):
        await go(liar)
    liar.forget()
    liar.metadata = {"jwks_uri": f"{liar.address}/odd"}
    with pytest.raises(IdentityProviderError):
        await go(liar)
    nobody = OidcProvider(Registration(f"http://127.0.0.1:{free_port()}", "cairn"), lambda: None)
    with pytest.raises(IdentityProviderError):
        await nobody.address(TRIP)
