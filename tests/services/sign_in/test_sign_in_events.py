"""Sign-ins and sign-outs are events; many failures are one event without what was typed."""

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
from tests.services.accounts import HERE, PASSWORD, Household

TYPED = "a secret that went into the wrong field"


@pytest.fixture
def household(database: Database, tmp_path: Path) -> Household:
    return Household(database, tmp_path)


def entries(household: Household) -> list[tuple[str, str, dict[str, Any]]]:
    wanted = ("signed_in", "signed_out", "sign_in_blocked")
    return [told for told in household.told() if told[0] in wanted]


async def fail(household: Household, times: int, name: str = "ann", address: str | None = None) -> list[str]:
    """What came of each: without an address, each from another one."""
    found: list[str] = []
    for number in range(times):
        visitor = SignInClient(address or f"10.1.{number // 250}.{number % 250}")
        with pytest.raises((Unauthenticated, TooManyAttempts)) as failed:
            await household.accounts.sign_in.with_password(name, TYPED, visitor)
        found.append("refused" if isinstance(failed.value, TooManyAttempts) else "wrong")
    return found


async def test_coming_and_going_is_told_with_who_and_how(household: Household) -> None:
    signing_in = household.accounts.sign_in
    await household.user_with_password("ann", "viewer")
    by_password = await signing_in.with_password("Ann", PASSWORD, HERE)
    made = await household.accounts.tokens.create(TokenSpec("ann", "x", None, 1), ADMIN)
    await signing_in.with_token(made.token, HERE)
    await household.access.sign_out(by_password.secret)
    await household.access.sign_out(by_password.secret)  # it is over already
    assert entries(household) == [
        ("signed_in", "ann", {"user": "ann", "signed_in_with": "invitation"}),
        ("signed_in", "ann", {"user": "ann", "signed_in_with": "password"}),
        ("signed_in", "ann", {"user": "ann", "signed_in_with": "token"}),
        ("signed_out", "ann", {"user": "ann"}),
    ]
    whole = str(household.told())
    assert [one for one in (PASSWORD, made.token, by_password.secret, HERE.address) if one in whole] == []


async def test_failures_are_told_only_beyond_the_limit_and_a_flood_once(household: Household) -> None:
    assert await fail(household, 10, TYPED, "10.0.0.9") == ["wrong"] * 10
    assert entries(household) == []
    assert await fail(household, 200, TYPED, "10.0.0.9") == ["refused"] * 200
    flood = ("sign_in_blocked", "nobody", {"limit": "address", "signed_in_with": "password", "user": None})
    assert entries(household) == [flood]
    household.clock.go(minutes=2)
    await fail(household, 30, TYPED, "10.0.0.9")
    assert entries(household) == [flood]  # within the hour
    household.clock.go(hours=1)
    await fail(household, 30, TYPED, "10.0.0.9")
    assert entries(household) == [flood, flood]
    assert TYPED not in str(household.told())


async def test_a_name_is_told_only_if_it_is_somebodys(household: Household) -> None:
    await household.user("ann", "viewer", email="ann@example.com")
    for name in ("ANN", TYPED):
        assert (await fail(household, 25, name))[-5:] == ["refused"] * 5
    told = {"limit": "name", "signed_in_with": "password"}
    assert [metadata for _, _, metadata in entries(household)] == [{**told, "user": "ann"}, {**told, "user": None}]
    assert TYPED not in str(household.told())


async def test_many_floods_do_not_fill_the_trail(household: Household) -> None:
    for number in range(MAX_EVENTS + 5):
        await fail(household, 12, f"name {number}", f"10.2.0.{number}")
    assert len(entries(household)) == MAX_EVENTS


async def test_a_database_that_takes_no_changes_does_not_change_the_answer(
    household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fail(household, 10, "ann", "10.0.0.9")

    async def refuse(*_: Any) -> None:
        raise OperationalError("", None, Exception("locked"))

    monkeypatch.setattr(household.database, "transact", refuse)
    assert await fail(household, 1, "ann", "10.0.0.9") == ["refused"]
