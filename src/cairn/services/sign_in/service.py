"""Signing in: with a token or a password; and the session that comes of it, however somebody came in."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias
from uuid import uuid4

import sqlalchemy as sa

from cairn.ports import Clock
from cairn.services.actors import Actor
from cairn.services.errors import TooManyAttempts, Unauthenticated
from cairn.services.identity.credentials import digest_of
from cairn.services.sign_in.authentication import LIFETIME, Authentication
from cairn.services.sign_in.blocked_sign_ins import BlockedSignIns, Limit
from cairn.services.sign_in.passwords import Passwords
from cairn.services.sign_in.rate_limits import SignInRateLimit
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.events import chain

_BY_ADDRESS, _BY_NAME = 10, 20  # failed attempts a minute
_AGENT = 200  # characters that are kept of what a browser says it is
_Source: TypeAlias = "tuple[Limit, SignInRateLimit, str]"
_WRONG = "The name or the password is not right."


@dataclass(frozen=True, slots=True)
class SignInClient:
    """Where a request comes from."""

    address: str = ""
    user_agent: str = ""


@dataclass(frozen=True, slots=True)
class SignInResult:
    secret: str
    actor: Actor
    expires_at: datetime


class SignInService:
    def __init__(self, database: Database, clock: Clock, access: Authentication, passwords: Passwords) -> None:
        self._database = database
        self._clock = clock
        self._access = access
        self._passwords = passwords
        self._addresses = SignInRateLimit(clock, _BY_ADDRESS)
        self._names = SignInRateLimit(clock, _BY_NAME)
        self._refusals = BlockedSignIns(database, clock)

    # ---- ways in -------------------------------------------------------------------------------------
    async def with_token(self, token: str, visitor: SignInClient) -> SignInResult:
        """A session for whoever holds the token; it may do no more than the token, and ends with it."""
        async with self.guarded(visitor.address, "token"):
            found = await self._access.token(token)
        return await self.open(
            found.actor.name,
            "token",
            visitor,
            token_id=found.token_id,
            scopes=found.actor.scopes,
            ends_at=found.expires_at,
        )

    async def with_password(self, name: str, password: str, visitor: SignInClient) -> SignInResult:
        """By user name or address. Who fails is not told which of the two was wrong."""
        named = name.strip().casefold()
        async with self.guarded(visitor.address, "password", named):
            row = await self._database.aread(lambda c: _by_name(c, named))
            if not await self._passwords.fits(password, row and row.password_hash) or row is None:
                raise Unauthenticated(_WRONG)
        if self._passwords.is_outdated(row.password_hash):
            await self._hash_anew(row, password)
        return await self.open(row.name, "password", visitor)

    def guarded(self, address: str, way: str, name: str | None = None) -> _RateLimitedSignIn:
        """Around an attempt: refused after too many failed ones, by where it comes from and by who it says it is."""
        sources: list[_Source] = [("address", self._addresses, address)]
        if name is not None:
            sources.append(("name", self._names, name))
        return _RateLimitedSignIn(sources, lambda limit, source: self._tell(limit, source, way))

    async def _tell(self, limit: Limit, source: str, way: str) -> None:
        row = await self._database.aread(lambda c: _by_name(c, source)) if limit == "name" else None
        await self._refusals.tell(limit, source, way, row and row.name)

    async def _hash_anew(self, row: Any, password: str) -> None:
        hashed = await self._passwords.hash(password)
        u = t.users
        same = sa.update(u).where(u.c.name == row.name, u.c.password_hash == row.password_hash)
        await self._database.transact(lambda c: c.execute(same.values(password_hash=hashed)))

    # ---- sessions ------------------------------------------------------------------------------------
    async def open(
        self,
        user: str,
        signed_in_with: str,
        visitor: SignInClient,
        *,
        token_id: str | None = None,
        scopes: frozenset[str] | None = None,
        ends_at: datetime | None = None,
    ) -> SignInResult:
        secret, now = secrets.token_urlsafe(32), self._clock.now()
        expires_at = now + LIFETIME if ends_at is None else min(now + LIFETIME, ends_at)
        row = {
            "session_digest": digest_of(secret),
            "session_id": str(uuid4()),
            "user_name": user,
            "signed_in_with": signed_in_with,
            "token_id": token_id,
            "scopes": None if scopes is None else sorted(scopes),
            "address": visitor.address,
            "user_agent": "".join(c for c in visitor.user_agent if c.isprintable())[:_AGENT],
            "created_at": now,
            "expires_at": expires_at,
            "ends_at": ends_at,
        }

        def body(connection: Connection) -> None:
            u = t.users
            is_there = sa.update(u).where(u.c.name == user, u.c.removed_at.is_(None)).values(last_signed_in_at=now)
            if connection.execute(is_there).rowcount == 0:
                raise Unauthenticated("You have been removed here: ask an admin.")
            connection.execute(sa.delete(t.sessions).where(t.sessions.c.expires_at < now))
            connection.execute(sa.insert(t.sessions).values(row))
            told = {"user": user, "signed_in_with": signed_in_with}
            chain.append_global_event(connection, "signed_in", user, now, told)

        await self._database.transact(body)
        return SignInResult(secret, (await self._access.session(secret)).actor, expires_at)


class _RateLimitedSignIn:
    """An attempt counts as failed until it has succeeded."""

    def __init__(self, sources: list[_Source], tell: Callable[[Limit, str], Awaitable[None]]) -> None:
        self._sources = sources
        self._tell = tell

    async def __aenter__(self) -> None:
        for limit, attempts, source in self._sources:
            try:
                attempts.refuse_flood(source)
            except TooManyAttempts:
                await self._tell(limit, source)
                raise
        for _, attempts, source in self._sources:  # at once: many may try at the same time
            attempts.count(source)

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        for _, attempts, source in self._sources:
            if error is None:
                attempts.forget(source)
            elif not isinstance(error, Unauthenticated):
                attempts.withdraw(source)


def _by_name(connection: Connection, named: str) -> Any:
    u = t.users.c
    meant = u.name == named
    if "@" in named:
        meant = sa.or_(meant, u.email == named)
    rows = connection.execute(sa.select(t.users).where(meant, u.removed_at.is_(None))).all()
    return next((row for row in rows if row.name == named), rows[0] if rows else None)
