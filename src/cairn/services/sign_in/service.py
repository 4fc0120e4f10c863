"""Sign in with a token or a password, and open sessions."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias
from uuid import uuid4

from cairn.ports import Clock
from cairn.services.actors import Actor
from cairn.services.errors import TooManyAttempts, Unauthenticated
from cairn.services.identity.credentials import digest_of
from cairn.services.sign_in import queries, records
from cairn.services.sign_in.authentication import LIFETIME, Authentication
from cairn.services.sign_in.blocked_sign_ins import BlockedSignIns, Limit
from cairn.services.sign_in.passwords import Passwords
from cairn.services.sign_in.rate_limits import SignInRateLimit
from cairn.store import Connection, Database
from cairn.store.events import chain

_MAX_BY_ADDRESS, _MAX_BY_NAME = 10, 20  # failed attempts a minute
_MAX_USER_AGENT = 200  # characters
_Source: TypeAlias = "tuple[Limit, SignInRateLimit, str]"


@dataclass(frozen=True, slots=True)
class SignInClient:
    """The client that sends a request."""

    address: str = ""
    user_agent: str = ""


@dataclass(frozen=True, slots=True)
class SignInResult:
    secret: str
    actor: Actor
    expires_at: datetime


class SignInService:
    def __init__(self, database: Database, clock: Clock, authentication: Authentication, passwords: Passwords) -> None:
        self._database = database
        self._clock = clock
        self._authentication = authentication
        self._passwords = passwords
        self._addresses = SignInRateLimit(clock, _MAX_BY_ADDRESS)
        self._names = SignInRateLimit(clock, _MAX_BY_NAME)
        self._blocked = BlockedSignIns(database, clock)

    # Sign-in methods
    async def with_token(self, token: str, client: SignInClient) -> SignInResult:
        """Open a session that is limited to the token's scopes and ends with the token."""
        async with self.rate_limited(client.address, "token"):
            credential = await self._authentication.credential(token)
        return await self.open_session(
            credential.actor.name,
            "token",
            client,
            token_id=credential.token_id,
            scopes=credential.actor.scopes,
            ends_at=credential.expires_at,
        )

    async def with_password(self, name: str, password: str, client: SignInClient) -> SignInResult:
        """Sign in by user name or email address. The error does not reveal which of the two was wrong."""
        name = name.strip().casefold()
        async with self.rate_limited(client.address, "password", name):
            row = await self._database.aread(lambda c: queries.user_to_sign_in(c, name))
            if not await self._passwords.verify(password, row and row.password_hash) or row is None:
                raise Unauthenticated("Incorrect name or password.")
        if self._passwords.is_outdated(row.password_hash):
            await self._rehash(row, password)
        return await self.open_session(row.name, "password", client)

    def rate_limited(self, address: str, method: str, name: str | None = None) -> _RateLimitedSignIn:
        """A context for one attempt, which is blocked after too many failures from the address or for the name."""
        sources: list[_Source] = [("address", self._addresses, address)]
        if name is not None:
            sources.append(("name", self._names, name))
        return _RateLimitedSignIn(sources, lambda limit, source: self._record_blocked(limit, source, method))

    async def _record_blocked(self, limit: Limit, source: str, method: str) -> None:
        is_name = limit == "name"
        row = await self._database.aread(lambda c: queries.user_to_sign_in(c, source)) if is_name else None
        await self._blocked.record(limit, source, method, row and row.name)

    async def _rehash(self, row: Any, password: str) -> None:
        new = await self._passwords.hash(password)
        await self._database.transact(lambda c: records.replace_password_hash(c, row.name, row.password_hash, new))

    # Sessions
    async def open_session(
        self,
        user: str,
        signed_in_with: str,
        client: SignInClient,
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
            "address": client.address,
            "user_agent": "".join(c for c in client.user_agent if c.isprintable())[:_MAX_USER_AGENT],
            "created_at": now,
            "expires_at": expires_at,
            "ends_at": ends_at,
        }

        def body(connection: Connection) -> None:
            if not records.save_sign_in(connection, user, now):
                raise Unauthenticated("Your account has been deleted. Ask an admin.")
            records.insert_session(connection, row)
            metadata = {"user": user, "signed_in_with": signed_in_with}
            chain.append_global_event(connection, "signed_in", user, now, metadata)

        await self._database.transact(body)
        return SignInResult(secret, (await self._authentication.session(secret)).actor, expires_at)


class _RateLimitedSignIn:
    """An attempt, which counts as failed until it succeeds."""

    def __init__(self, sources: list[_Source], record_blocked: Callable[[Limit, str], Awaitable[None]]) -> None:
        self._sources = sources
        self._record_blocked = record_blocked

    async def __aenter__(self) -> None:
        for limit, attempts, source in self._sources:
            try:
                attempts.check(source)
            except TooManyAttempts:
                await self._record_blocked(limit, source)
                raise
        for _, attempts, source in self._sources:  # count before the attempt, because many can run at the same time
            attempts.count(source)

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        for _, attempts, source in self._sources:
            if error is None:
                attempts.reset(source)
            elif not isinstance(error, Unauthenticated):
                attempts.discard_last(source)
