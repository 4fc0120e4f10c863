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
from tests.services.accounts import CLIENT, PASSWORD, AccountsHarness, FakeClock


@pytest.fixture
def harness(database: Database, tmp_path: Path) -> AccountsHarness:
    return AccountsHarness(database, tmp_path, admin_token="the token of the settings")


class StatementCounter:
    """Counts the SELECT statements."""

    def __init__(self, database: Database) -> None:
        self.statements: list[str] = []
        event.listen(database.read_engine, "before_cursor_execute", self._record)

    def _record(self, *arguments: Any) -> None:
        if arguments[2].lstrip().startswith("SELECT"):
            self.statements.append(arguments[2])

    def count(self, table: str) -> int:
        found = len([statement for statement in self.statements if f"FROM {table}" in statement])
        self.statements.clear()
        return found


async def test_a_token_is_looked_up_once_in_five_seconds(harness: AccountsHarness) -> None:
    await harness.user("ann", "viewer")
    token = (await harness.identity.tokens.create(TokenSpec("ann", "ci"), ADMIN)).token
    counter = StatementCounter(harness.database)

    async def lookups(token: str) -> int:
        await harness.authentication.authenticate(token)
        return counter.count("users")

    for token_text in (token, "the token of the settings"):
        assert [await lookups(token_text) for _ in range(3)] == [1, 0, 0]
        harness.clock.advance(seconds=6)
        assert await lookups(token_text) == 1


async def test_a_session_takes_one_read_because_its_user_is_cached(harness: AccountsHarness) -> None:
    await harness.user_with_password("ann", "viewer")
    signed_in = await harness.identity.sign_in.with_password("ann", PASSWORD, CLIENT)
    counter = StatementCounter(harness.database)
    for _ in range(3):
        await harness.authentication.session(signed_in.secret)
    assert len(counter.statements) == 3
    assert counter.count("sessions") == 3  # the user was read when the session was opened


async def test_a_read_before_a_change_is_not_cached_after_it(
    harness: AccountsHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer of the database arrives after the revocation."""
    await harness.user("ann", "viewer")
    created = await harness.identity.tokens.create(TokenSpec("ann", "ci"), ADMIN)
    aread, read, arrives = harness.database.aread, asyncio.Event(), asyncio.Event()

    async def late(query: Any) -> Any:
        answer = await aread(query)
        read.set()
        await arrives.wait()
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(harness.database, "aread", late)
        request = asyncio.get_running_loop().create_task(harness.authentication.authenticate(created.token))
        await read.wait()
    await harness.identity.tokens.revoke(created.token_id, ADMIN)
    arrives.set()
    await request  # this request started before the revocation
    with pytest.raises(Unauthenticated):
        await harness.authentication.authenticate(created.token)


async def test_using_a_session_extends_it_up_to_the_expiry_of_its_token(harness: AccountsHarness) -> None:
    created = await harness.identity.tokens.create(TokenSpec("admin", "ci", days=10), ADMIN)
    signed_in = await harness.identity.sign_in.with_token(created.token, CLIENT)
    harness.clock.advance(days=6)
    session = await harness.authentication.session(signed_in.secret)
    assert (session.renewed, session.expires_at) == (True, created.expires_at)
    harness.clock.advance(days=3)
    assert (await harness.authentication.session(signed_in.secret)).expires_at == created.expires_at
    harness.clock.advance(days=2)
    with pytest.raises(Unauthenticated):
        await harness.authentication.session(signed_in.secret)
    assert LIFETIME.days == 7


async def test_the_last_use_of_a_token_is_recorded_every_five_minutes(harness: AccountsHarness) -> None:
    created = await harness.identity.tokens.create(TokenSpec("admin", "ci"), ADMIN)
    queries = harness.identity.queries
    await harness.authentication.authenticate(created.token)
    first = queries.get_token(created.token_id).last_used_at
    harness.clock.advance(seconds=30)
    await harness.authentication.authenticate(created.token)
    assert queries.get_token(created.token_id).last_used_at == first
    harness.clock.advance(minutes=6)
    await harness.authentication.authenticate(created.token)
    later = queries.get_token(created.token_id).last_used_at
    assert first is not None
    assert later is not None
    assert later > first


async def test_a_password_is_rehashed_when_the_cost_was_raised(harness: AccountsHarness) -> None:
    await harness.user_with_password("ann", "viewer")

    def stored() -> str:
        return harness.database.read(
            lambda c: c.execute(sa.select(t.users.c.password_hash).where(t.users.c.name == "ann")).scalar_one()
        )

    before = stored()
    costlier = Passwords(PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
    service = SignInService(harness.database, harness.clock, harness.authentication, costlier)
    await service.with_password("ann", PASSWORD, CLIENT)
    after = stored()
    assert ("m=8,t=1" in before, "m=16,t=2" in after) == (True, True)
    await service.with_password("ann", PASSWORD, CLIENT)
    assert stored() == after
    with pytest.raises(Unauthenticated):
        await service.with_password("ann", "another password", CLIENT)


def test_the_default_hash_is_argon2id_with_the_recommended_cost() -> None:
    hasher = PasswordHasher()
    assert (hasher.type.name, hasher.memory_cost >= 47104, hasher.time_cost >= 1) == ("ID", True, True)


async def test_concurrent_guesses_are_all_counted(harness: AccountsHarness) -> None:
    await harness.user_with_password("ann", "viewer")
    service = harness.identity.sign_in
    guesses = [service.with_password("ann", f"guess number {n}", CLIENT) for n in range(50)]
    found = await asyncio.gather(*guesses, return_exceptions=True)
    counts = [type(error).__name__ for error in found if isinstance(error, BaseException)]
    assert (counts.count("Unauthenticated"), counts.count("TooManyAttempts")) == (10, 40)
    harness.clock.advance(seconds=61)
    await service.with_password("ann", PASSWORD, CLIENT)
    await service.with_password("ann", PASSWORD, SignInClient("10.0.0.2"))


def test_the_number_of_remembered_sources_is_limited_and_the_oldest_is_dropped() -> None:
    clock = FakeClock()
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


async def test_concurrent_role_changes_leave_an_admin(harness: AccountsHarness) -> None:
    """Even if all admins remove the role from each other."""
    names = [await harness.user(f"boss-{n}", "admin") for n in range(5)]
    bosses = [harness.actor(name) for name in names]
    changes = [
        harness.identity.users.update(other, UserUpdate(roles=("viewer",)), boss)
        for boss in bosses
        for other in (*names, "admin")
    ]
    found = await asyncio.gather(*changes, return_exceptions=True)
    assert sum(1 for result in found if result is not None) == len(bosses)  # the changes of the user admin
    assert harness.actor("admin").is_admin
