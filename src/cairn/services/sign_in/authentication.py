"""Authenticate requests by token or session. The database stores only their digests."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from cairn.ports import Clock
from cairn.services.actors import ADMIN, Actor
from cairn.services.errors import TooManyAttempts, Unauthenticated
from cairn.services.identity import records as identity_records
from cairn.services.identity.credentials import LOCAL, digest_of, new_secret, scopes_of, token_row
from cairn.services.identity.directory import Directory
from cairn.services.sign_in import queries, records
from cairn.services.sign_in.rate_limits import SignInRateLimit
from cairn.store import Connection, Database
from cairn.store.errors import DatabaseUnavailable
from cairn.store.events import chain

LIFETIME = timedelta(days=7)  # of a session without requests
_RENEWAL = timedelta(days=1)  # extend a session at most this often
_USE_RECORDED = timedelta(minutes=5)  # record the last use of a token at most this often
_CACHE_TIME = timedelta(seconds=5)
_CACHE_SIZE = 1024
_MAX_UNKNOWN_TOKENS = 30  # per minute and address; valid tokens are accepted regardless


@dataclass(frozen=True, slots=True)
class ActiveSession:
    actor: Actor
    session_id: str
    expires_at: datetime
    renewed: bool = False  # its cookie must be set again


@dataclass(frozen=True, slots=True)
class Credential:
    """A valid token."""

    actor: Actor
    token_id: str | None = None  # None: the admin token of the settings
    expires_at: datetime | None = None


class Authentication:
    def __init__(self, database: Database, clock: Clock, directory: Directory, admin_token: str | None = None) -> None:
        self._database = database
        self._clock = clock
        self._directory = directory
        self._admin_digest = digest_of(admin_token) if admin_token else None
        self._unknown_tokens = SignInRateLimit(clock, _MAX_UNKNOWN_TOKENS)
        self._credentials: dict[str, tuple[datetime, Credential]] = {}
        self._actors: dict[str, tuple[datetime, Actor]] = {}
        self._generation = 0

    def clear_cache(self) -> None:
        """Drop cached credentials and actors after a user or a token has changed."""
        self._generation += 1
        self._credentials.clear()
        self._actors.clear()

    # Tokens
    async def authenticate(self, token: str, address: str = "") -> Actor:
        """Return the actor of a valid token."""
        return (await self.credential(token, address)).actor

    async def credential(self, token: str, address: str = "") -> Credential:
        digest = digest_of(token)
        until, cached = self._credentials.get(digest, (None, None))
        if cached is not None and until is not None and until > self._clock.now():
            return cached
        generation = self._generation
        found = await self._find_credential(digest)
        if found is None:
            self._count_unknown(address)
            raise Unauthenticated("This token is unknown or no longer valid. Sign in with a valid token.")
        credential, until = found
        if generation == self._generation:
            _cache(self._credentials, digest, (until, credential))
        return credential

    async def _find_credential(self, digest: str) -> tuple[Credential, datetime] | None:
        """The credential, and the time until which it can be cached."""
        if self._admin_digest is not None and hmac.compare_digest(digest, self._admin_digest):
            actor, until = await self._database.aread(lambda c: self._find_actor(c, ADMIN.name)) or (ADMIN, None)
            return Credential(actor), self._cache_until(until)
        row, found = await self._database.aread(lambda c: self._read_token(c, digest))
        if row is None or found is None:
            return None
        await self._record_use(row)
        actor, until = found
        actor = replace(actor, scopes=scopes_of(row), token_expires_at=row.expires_at)
        return Credential(actor, row.token_id, row.expires_at), self._cache_until(until, row.expires_at)

    def _read_token(self, connection: Connection, digest: str) -> Any:
        row = queries.token_by_digest(connection, digest)
        if row is None or not hmac.compare_digest(row.token_digest, digest) or row.revoked_at is not None:
            return None, None
        is_expired = row.expires_at is not None and row.expires_at <= self._clock.now()
        return (None, None) if is_expired else (row, self._find_actor(connection, row.user_name))

    async def _record_use(self, row: Any) -> None:
        """Save the last use from time to time. The token is valid even if this fails."""
        now = self._clock.now()
        if row.last_used_at is None or now - row.last_used_at > _USE_RECORDED:
            try:
                await self._database.transact(lambda c: identity_records.save_last_use(c, row.token_digest, now))
            except DatabaseUnavailable:
                return

    def _count_unknown(self, address: str) -> None:
        if address:
            self._unknown_tokens.check(address)
            self._unknown_tokens.count(address)

    async def local_token(self, current: str | None = None) -> str:
        """The token of the start link: `current` while it is valid, otherwise a new one that replaces it."""
        if current is not None:
            try:
                await self.authenticate(current)
            except (Unauthenticated, TooManyAttempts):
                pass
            else:
                return current
        token, now = new_secret(), self._clock.now()
        row = token_row(token, ADMIN.name, LOCAL, actor=ADMIN, at=now)

        def body(connection: Connection) -> None:
            identity_records.revoke_tokens_named(connection, ADMIN.name, LOCAL, now)
            identity_records.insert_token(connection, row)

        await self._database.transact(body)
        self.clear_cache()
        return token

    # Sessions
    async def session(self, secret: str) -> ActiveSession:
        """Return an open session and extend it."""
        digest, now, generation = digest_of(secret), self._clock.now(), self._generation
        row, found = await self._database.aread(lambda c: self._read_session(c, digest, now))
        if row is None or found is None:
            raise Unauthenticated("You are not signed in, or your session has expired. Sign in again.")
        actor, until = found
        if until is not None and generation == self._generation:
            _cache(self._actors, row.user_name, (until, actor))
        if row.scopes is not None or row.ends_at is not None:
            actor = replace(actor, scopes=scopes_of(row), token_expires_at=row.ends_at)
        expires_at = now + LIFETIME if row.ends_at is None else min(now + LIFETIME, row.ends_at)
        if expires_at - row.expires_at < _RENEWAL:
            return ActiveSession(actor, row.session_id, row.expires_at)
        await self._database.transact(lambda c: records.extend_session(c, digest, expires_at))
        return ActiveSession(actor, row.session_id, expires_at, renewed=True)

    def _read_session(self, connection: Connection, digest: str, now: datetime) -> Any:
        """The row, and its actor with the time until which to cache it (None if it came from the cache)."""
        row = queries.session_by_digest(connection, digest)
        if row is None or not hmac.compare_digest(row.session_digest, digest) or row.expires_at <= now:
            return None, None
        until, cached = self._actors.get(row.user_name, (None, None))
        if cached is not None and until is not None and until > now:
            return row, (cached, None)
        found = self._find_actor(connection, row.user_name)
        return row, found and (found[0], self._cache_until(found[1]))

    async def sign_out(self, secret: str) -> None:
        """End the session, if it exists."""
        digest, now = digest_of(secret), self._clock.now()

        def body(connection: Connection) -> None:
            user = records.delete_session_by_digest(connection, digest)
            if user is not None:
                chain.append_global_event(connection, "signed_out", user, now, {"user": user})

        await self._database.transact(body)

    # Actors
    def _find_actor(self, connection: Connection, name: str) -> tuple[Actor, datetime | None] | None:
        found = self._directory.find(connection, name)
        return found and (found.actor, found.until)

    def _cache_until(self, *ends: datetime | None) -> datetime:
        return min([self._clock.now() + _CACHE_TIME, *(end for end in ends if end is not None)])


def _cache(entries: dict[str, Any], key: str, entry: Any) -> None:
    if len(entries) >= _CACHE_SIZE:
        entries.clear()
    entries[key] = entry
