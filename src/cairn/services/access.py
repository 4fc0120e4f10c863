"""Who comes in: tokens and sessions. Only digests of them are stored."""

from __future__ import annotations

import hmac
import secrets
from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import cast

import sqlalchemy as sa

from cairn.ports import Clock
from cairn.services.actors import ADMIN, ALL_ROLES, Actor
from cairn.services.errors import TooManyAttempts, Unauthenticated
from cairn.store import Database
from cairn.store import tables as t

LIFETIME = timedelta(days=7)  # of a session that is not used
_RENEWED = timedelta(days=1)  # a session in use is written down again at most this often
_BELIEVED = timedelta(seconds=5)  # how long an answer of the database is kept
_KEPT = 1024  # answers that are kept
_TRIES, _WINDOW = 10, 60.0  # failed attempts to sign in, and the seconds they count for

LOCAL = "local"  # the token of the start link


@dataclass(frozen=True, slots=True)
class SignedIn:
    secret: str
    actor: Actor
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Session:
    """A session as it stands; `renewed` says that its cookie has to be set again."""

    actor: Actor
    expires_at: datetime
    renewed: bool = False


class Access:
    def __init__(self, database: Database, clock: Clock, admin_token: str | None = None) -> None:
        self._database = database
        self._clock = clock
        self._admin = _digest(admin_token) if admin_token else None
        self._believed: dict[str, tuple[datetime, Actor]] = {}
        self._failures: dict[str, deque[datetime]] = {}

    # ---- tokens ------------------------------------------------------------------------------------
    async def bearer(self, token: str) -> Actor:
        """Whose token it is."""
        digest = _digest(token)
        if self._admin is not None and hmac.compare_digest(digest, self._admin):
            return ADMIN
        if actor := self._recall(digest):
            return actor
        actor = await self._database.aread(lambda c: self._find_token(c, digest))
        if actor is None:
            raise Unauthenticated("This token is not known, or is no longer valid. Sign in with a current one.")
        if len(self._believed) >= _KEPT:
            self._believed.clear()
        self._believed[digest] = (self._clock.now() + _BELIEVED, actor)
        return actor

    async def local_token(self, known: str | None = None) -> str:
        """The token of the start link: the known one while it is valid, otherwise a new one that replaces it."""
        if known is not None:
            try:
                await self.bearer(known)
            except Unauthenticated:
                pass
            else:
                return known
        token = secrets.token_urlsafe(32)
        values = {
            "token_digest": _digest(token),
            "name": LOCAL,
            "actor": ADMIN.name,
            "roles": sorted(ALL_ROLES),
            "created_at": self._clock.now(),
        }

        def body(connection: sa.Connection) -> None:
            earlier = sa.update(t.api_tokens).where(t.api_tokens.c.name == LOCAL, t.api_tokens.c.revoked_at.is_(None))
            connection.execute(earlier.values(revoked_at=values["created_at"]))
            connection.execute(sa.insert(t.api_tokens).values(values))

        await self._database.transact(body)
        return token

    def _find_token(self, connection: sa.Connection, digest: str) -> Actor | None:
        row = connection.execute(sa.select(t.api_tokens).where(t.api_tokens.c.token_digest == digest)).one_or_none()
        if row is None or not hmac.compare_digest(row.token_digest, digest) or row.revoked_at is not None:
            return None
        is_over = row.expires_at is not None and row.expires_at <= self._clock.now()
        return None if is_over else _actor(row)

    # ---- sessions ----------------------------------------------------------------------------------
    async def sign_in(self, token: str, address: str = "") -> SignedIn:
        """A session for whoever holds the token; refused for a while after too many wrong ones."""
        self._refuse_flood(address)
        try:
            actor = await self.bearer(token)
        except Unauthenticated:
            self._count_failure(address)
            raise
        self._failures.pop(address, None)
        secret, now = secrets.token_urlsafe(32), self._clock.now()
        values = {
            "session_digest": _digest(secret),
            "actor": actor.name,
            "roles": sorted(actor.roles),
            "created_at": now,
            "expires_at": now + LIFETIME,
        }

        def body(connection: sa.Connection) -> None:
            connection.execute(sa.delete(t.sessions).where(t.sessions.c.expires_at < now))
            connection.execute(sa.insert(t.sessions).values(values))

        await self._database.transact(body)
        return SignedIn(secret, actor, now + LIFETIME)

    async def session(self, secret: str) -> Session:
        """Who holds the session; using it puts its end off."""
        digest, now = _digest(secret), self._clock.now()
        row = await self._database.aread(lambda c: c.execute(_session(digest)).one_or_none())
        if row is None or not hmac.compare_digest(row.session_digest, digest) or row.expires_at <= now:
            raise Unauthenticated("You are not signed in, or your session is over. Sign in again.")
        if now + LIFETIME - row.expires_at < _RENEWED:
            return Session(_actor(row), row.expires_at)
        later = now + LIFETIME
        renew = sa.update(t.sessions).where(t.sessions.c.session_digest == digest).values(expires_at=later)
        await self._database.transact(lambda c: c.execute(renew))
        return Session(_actor(row), later, renewed=True)

    async def sign_out(self, secret: str) -> None:
        remove = sa.delete(t.sessions).where(t.sessions.c.session_digest == _digest(secret))
        await self._database.transact(lambda c: c.execute(remove))

    # ---- in memory -----------------------------------------------------------------------------------
    def _refuse_flood(self, address: str) -> None:
        now = self._clock.now()
        recent = self._failures.get(address, deque[datetime]())
        while recent and (now - recent[0]).total_seconds() > _WINDOW:
            recent.popleft()
        if not recent:
            self._failures.pop(address, None)
        if len(recent) >= _TRIES:
            raise TooManyAttempts(1 + int(_WINDOW - (now - recent[0]).total_seconds()))

    def _count_failure(self, address: str) -> None:
        if len(self._failures) >= _KEPT:
            self._failures.clear()
        self._failures.setdefault(address, deque()).append(self._clock.now())

    def _recall(self, digest: str) -> Actor | None:
        until, actor = self._believed.get(digest, (None, None))
        return actor if until is not None and until > self._clock.now() else None


def _session(digest: str) -> sa.Select[tuple[object, ...]]:
    return sa.select(t.sessions).where(t.sessions.c.session_digest == digest)


def _actor(row: sa.Row[tuple[object, ...]]) -> Actor:
    return Actor(row.actor, frozenset(cast("list[str]", row.roles)))


def _digest(secret: str) -> str:
    return sha256(secret.encode(errors="surrogatepass")).hexdigest()
