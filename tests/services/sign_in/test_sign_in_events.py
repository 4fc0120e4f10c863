"""Sign-ins and sign-outs are events. Many failures are one event, without the entered name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from cairn.services.actors import ADMIN
from cairn.services.errors import TooManyAttempts, Unauthenticated
from cairn.services.identity.tokens import TokenSpec
from cairn.services.sign_in.blocked_sign_ins import MAX_EVENTS
from cairn.services.sign_in.service import SignInClient
from cairn.store import Database
from tests.services.accounts import CLIENT, PASSWORD, AccountsHarness

TYPED = "a secret that went into the wrong field"


@pytest.fixture
def harness(database: Database, tmp_path: Path) -> AccountsHarness:
    return AccountsHarness(database, tmp_path)


def entries(harness: AccountsHarness) -> list[tuple[str, str, dict[str, Any]]]:
    types = ("signed_in", "signed_out", "sign_in_blocked")
    return [event for event in harness.events() if event[0] in types]


async def fail(harness: AccountsHarness, times: int, name: str = "ann", address: str | None = None) -> list[str]:
    """The result of each attempt. Without an address, each attempt comes from another one."""
    found: list[str] = []
    for number in range(times):
        client = SignInClient(address or f"10.1.{number // 250}.{number % 250}")
        with pytest.raises((Unauthenticated, TooManyAttempts)) as failed:
            await harness.identity.sign_in.with_password(name, TYPED, client)
        found.append("blocked" if isinstance(failed.value, TooManyAttempts) else "wrong")
    return found


async def test_signing_in_and_out_are_events_with_user_and_method(harness: AccountsHarness) -> None:
    service = harness.identity.sign_in
    await harness.user_with_password("ann", "viewer")
    by_password = await service.with_password("Ann", PASSWORD, CLIENT)
    created = await harness.identity.tokens.create(TokenSpec("ann", "x", None, 1), ADMIN)
    await service.with_token(created.token, CLIENT)
    await harness.authentication.sign_out(by_password.secret)
    await harness.authentication.sign_out(by_password.secret)  # already signed out
    assert entries(harness) == [
        ("signed_in", "ann", {"user": "ann", "signed_in_with": "invitation"}),
        ("signed_in", "ann", {"user": "ann", "signed_in_with": "password"}),
        ("signed_in", "ann", {"user": "ann", "signed_in_with": "token"}),
        ("signed_out", "ann", {"user": "ann"}),
    ]
    text = str(harness.events())
    assert [secret for secret in (PASSWORD, created.token, by_password.secret, CLIENT.address) if secret in text] == []


async def test_only_blocked_sign_ins_are_recorded_and_once_an_hour(harness: AccountsHarness) -> None:
    assert await fail(harness, 10, TYPED, "10.0.0.9") == ["wrong"] * 10
    assert entries(harness) == []
    assert await fail(harness, 200, TYPED, "10.0.0.9") == ["blocked"] * 200
    flood = ("sign_in_blocked", "nobody", {"limit": "address", "signed_in_with": "password", "user": None})
    assert entries(harness) == [flood]
    harness.clock.advance(minutes=2)
    await fail(harness, 30, TYPED, "10.0.0.9")
    assert entries(harness) == [flood]  # within the hour
    harness.clock.advance(hours=1)
    await fail(harness, 30, TYPED, "10.0.0.9")
    assert entries(harness) == [flood, flood]
    assert TYPED not in str(harness.events())


async def test_a_name_is_recorded_only_if_it_belongs_to_a_user(harness: AccountsHarness) -> None:
    await harness.user("ann", "viewer", email="ann@example.com")
    for name in ("ANN", TYPED):
        assert (await fail(harness, 25, name))[-5:] == ["blocked"] * 5
    metadata = {"limit": "name", "signed_in_with": "password"}
    assert [metadata for _, _, metadata in entries(harness)] == [
        {**metadata, "user": "ann"},
        {**metadata, "user": None},
    ]
    assert TYPED not in str(harness.events())


async def test_the_number_of_events_is_limited(harness: AccountsHarness) -> None:
    for number in range(MAX_EVENTS + 5):
        await fail(harness, 12, f"name {number}", f"10.2.0.{number}")
    assert len(entries(harness)) == MAX_EVENTS


async def test_sign_ins_stay_blocked_while_the_database_is_unavailable(
    harness: AccountsHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fail(harness, 10, "ann", "10.0.0.9")

    async def fail_to_write(*_: Any) -> None:
        raise OperationalError("", None, Exception("locked"))

    monkeypatch.setattr(harness.database, "transact", fail_to_write)
    assert await fail(harness, 1, "ann", "10.0.0.9") == ["blocked"]
