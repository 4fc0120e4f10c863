"""Authentication: caches, passwords, tokens, failed attempts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from sqlalchemy import event

from cairn.services.actors import ADMIN
from cairn.services.errors import TooManyAttempts, Unauthenticated
from cairn.services.identity.tokens import TokenSpec
from cairn.services.identity.users import UserUpdate
from cairn.services.sign_in.authentication import LIFETIME
from cairn.services.sign_in.passwords import Passwords
from cairn.services.sign_in.rate_limits import SignInRateLimit
from cairn.services.sign_in.service import SignInClient, SignInService
from cairn.store import Database
from cairn.store import tables as t
from tests.services.accounts import HERE, PASSWORD, Household, SetClock


@pytest.fixture
def household(database: Database, tmp_path: Path) -> Household:
    return Household(database, tmp_path, admin_token="the token of the settings")


class Counted:
    """The statements that are read with."""

    def __init__(self, database: Database) -> None:
        self.statements: list[str] = []
        event.listen(database.read_engine, "before_cursor_execute", self._note)

    def _note(self, *about: Any) -> None:
        if about[2].lstrip().startswith("SELECT"):
            self.statements.append(about[2])

    def of(self, table: str) -> int:
        found = len([one for one in self.statements if f"FROM {table}" in one])
        self.statements.clear()
        return found


async def test_a_token_is_looked_up_once_in_five_seconds(household: Household) -> None:
    await household.user("ann", "viewer")
    token = (await household.accounts.tokens.create(TokenSpec("ann", "ci"), ADMIN)).token
    counted = Counted(household.database)

    async def look(one: str) -> int:
        await household.access.authenticate(one)
        return counted.of("users")

    for one in (token, "the token of the settings"):
        assert [await look(one) for _ in range(3)] == [1, 0, 0]
        household.clock.go(seconds=6)
        assert await look(one) == 1


async def test_a_session_is_one_read_also_for_who_it_is(household: Household) -> None:
    await household.user_with_password("ann", "viewer")
    signed_in = await household.accounts.sign_in.with_password("ann", PASSWORD, HERE)
    counted = Counted(household.database)
    for _ in range(3):
        await household.access.session(signed_in.secret)
    assert len(counted.statements) == 3
    assert counted.of("sessions") == 3  # who it is was read when it was opened


async def test_what_was_read_before_a_change_is_not_believed_after_it(
    household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer of the database arrives after the revocation."""
    await household.user("ann", "viewer")
    made = await household.accounts.tokens.create(TokenSpec("ann", "ci"), ADMIN)
    aread, read, arrives = household.database.aread, asyncio.Event(), asyncio.Event()

    async def late(query: Any) -> Any:
        answer = await aread(query)
        read.set()
        await arrives.wait()
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(household.database, "aread", late)
        asked = asyncio.get_running_loop().create_task(household.access.authenticate(made.token))
        await read.wait()
    await household.accounts.tokens.revoke(made.token_id, ADMIN)
    arrives.set()
    await asked  # that one request was asked before
    with pytest.raises(Unauthenticated):
        await household.access.authenticate(made.token)


async def test_a_session_that_is_used_lasts_but_not_longer_than_its_token(household: Household) -> None:
    made = await household.accounts.tokens.create(TokenSpec("admin", "ci", days=10), ADMIN)
    signed_in = await household.accounts.sign_in.with_token(made.token, HERE)
    household.clock.go(days=6)
    session = await household.access.session(signed_in.secret)
    assert (session.renewed, session.expires_at) == (True, made.expires_at)
    household.clock.go(days=3)
    assert (await household.access.session(signed_in.secret)).expires_at == made.expires_at
    household.clock.go(days=2)
    with pytest.raises(Unauthenticated):
        await household.access.session(signed_in.secret)
    assert LIFETIME.days == 7


async def test_a_token_is_noted_as_used_now_and_then(household: Household) -> None:
    made = await household.accounts.tokens.create(TokenSpec("admin", "ci"), ADMIN)
    people = household.accounts.queries
    await household.access.authenticate(made.token)
    first = people.token(made.token_id).last_used_at
    household.clock.go(seconds=30)
    await household.access.authenticate(made.token)
    assert people.token(made.token_id).last_used_at == first
    household.clock.go(minutes=6)
    await household.access.authenticate(made.token)
    later = people.token(made.token_id).last_used_at
    assert first is not None
    assert later is not None
    assert later > first


async def test_a_password_is_hashed_anew_when_it_has_become_dearer(household: Household) -> None:
    await household.user_with_password("ann", "viewer")

    def stored() -> str:
        return household.database.read(
            lambda c: c.execute(sa.select(t.users.c.password_hash).where(t.users.c.name == "ann")).scalar_one()
        )

    before = stored()
    dearer = Passwords(PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
    signing_in = SignInService(household.database, household.clock, household.access, dearer)
    await signing_in.with_password("ann", PASSWORD, HERE)
    after = stored()
    assert ("m=8,t=1" in before, "m=16,t=2" in after) == (True, True)
    await signing_in.with_password("ann", PASSWORD, HERE)
    assert stored() == after
    with pytest.raises(Unauthenticated):
        await signing_in.with_password("ann", "another password", HERE)


def test_the_default_is_argon2id_of_a_serious_cost() -> None:
    hasher = PasswordHasher()
    assert (hasher.type.name, hasher.memory_cost >= 47104, hasher.time_cost >= 1) == ("ID", True, True)


async def test_many_guesses_at_once_are_counted_each(household: Household) -> None:
    await household.user_with_password("ann", "viewer")
    signing_in = household.accounts.sign_in
    guesses = [signing_in.with_password("ann", f"guess number {n}", HERE) for n in range(50)]
    found = await asyncio.gather(*guesses, return_exceptions=True)
    counts = [type(error).__name__ for error in found if isinstance(error, BaseException)]
    assert (counts.count("Unauthenticated"), counts.count("TooManyAttempts")) == (10, 40)
    household.clock.go(seconds=61)
    await signing_in.with_password("ann", PASSWORD, HERE)
    await signing_in.with_password("ann", PASSWORD, SignInClient("10.0.0.2"))


def test_what_is_remembered_of_guessers_is_bounded_and_the_oldest_goes_first() -> None:
    clock = SetClock()
    attempts = SignInRateLimit(clock, limit=2, max_sources=100)
    for source in ("first", "first", *(f"other {n}" for n in range(98)), "last", "last"):
        attempts.count(source)
    with pytest.raises(TooManyAttempts):
        attempts.check("last")
    with pytest.raises(TooManyAttempts):
        attempts.check("first")
    attempts.count("one more")
    assert len(attempts) == 100
    attempts.check("first")


async def test_changes_of_roles_at_once_leave_an_admin(household: Household) -> None:
    """Whatever admins do to each other concurrently."""
    names = [await household.user(f"boss-{n}", "admin") for n in range(5)]
    bosses = [household.actor(name) for name in names]
    changes = [
        household.accounts.users.update(other, UserUpdate(roles=("viewer",)), boss)
        for boss in bosses
        for other in (*names, "admin")
    ]
    found = await asyncio.gather(*changes, return_exceptions=True)
    assert sum(1 for one in found if one is not None) == len(bosses)  # those about admin
    assert household.actor("admin").is_admin
