"""Who comes in: tokens and sessions. Only digests of them are stored."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from cairn.ports import Clock
from cairn.services.actors import ADMIN, Actor
from cairn.services.errors import TooManyAttempts, Unauthenticated
from cairn.services.identity.credentials import LOCAL, digest_of, new_secret, scopes_of, token_row
from cairn.services.identity.directory import Directory
from cairn.services.sign_in.rate_limits import SignInRateLimit
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.events import chain

LIFETIME = timedelta(days=7)  # of a session that is not used
_RENEWED = timedelta(days=1)  # a session in use is written down again at most this often
_NOTED = timedelta(minutes=5)  # how often it is written down that a token is used
_BELIEVED = timedelta(seconds=5)  # how long an answer of the database is kept
_KEPT = 1024  # answers that are kept
_WRONG = 30  # wrong tokens a minute from one address; right ones are let in all the same


@dataclass(frozen=True, slots=True)
class ActiveSession:
    """A session as it stands; `renewed` says that its cookie has to be set again."""

    actor: Actor
    session_id: str
    expires_at: datetime
    renewed: bool = False


@dataclass(frozen=True, slots=True)
class Credential:
    """A token as it stands."""

    actor: Actor
    token_id: str | None = None  # None: of the settings
    expires_at: datetime | None = None


class Authentication:
    def __init__(self, database: Database, clock: Clock, directory: Directory, admin_token: str | None = None) -> None:
        self._database = database
        self._clock = clock
        self._directory = directory
        self._admin = digest_of(admin_token) if admin_token else None
        self._wrong = SignInRateLimit(clock, _WRONG)
        self._bearers: dict[str, tuple[datetime, Credential]] = {}
        self._people: dict[str, tuple[datetime, Actor]] = {}
        self._generation = 0

    def forget(self) -> None:
        """Somebody, or a token, has changed: believe nothing that was read before."""
        self._generation += 1
        self._bearers.clear()
        self._people.clear()

    # ---- tokens ------------------------------------------------------------------------------------
    async def bearer(self, token: str, address: str = "") -> Actor:
        """Whose token it is."""
        return (await self.token(token, address)).actor

    async def token(self, token: str, address: str = "") -> Credential:
        digest = digest_of(token)
        until, known = self._bearers.get(digest, (None, None))
        if known is not None and until is not None and until > self._clock.now():
            return known
        generation = self._generation
        found = await self._find_token(digest)
        if found is None:
            self._count_wrong(address)
            raise Unauthenticated("This token is not known, or is no longer valid. Sign in with a current one.")
        bearer, until = found
        if generation == self._generation:
            _keep(self._bearers, digest, (until, bearer))
        return bearer

    async def _find_token(self, digest: str) -> tuple[Credential, datetime] | None:
        if self._admin is not None and hmac.compare_digest(digest, self._admin):
            actor, until = await self._database.aread(lambda c: self._find_actor(c, ADMIN.name)) or (ADMIN, None)
            return Credential(actor), self._soonest(until)
        row, found = await self._database.aread(lambda c: self._read_token(c, digest))
        if row is None or found is None:
            return None
        await self._note_use(row)
        actor, until = found
        bearer = Credential(
            replace(actor, scopes=scopes_of(row), token_expires_at=row.expires_at), row.token_id, row.expires_at
        )
        return bearer, self._soonest(until, row.expires_at)

    def _read_token(self, connection: Connection, digest: str) -> Any:
        row = connection.execute(sa.select(t.api_tokens).where(t.api_tokens.c.token_digest == digest)).one_or_none()
        if row is None or not hmac.compare_digest(row.token_digest, digest) or row.revoked_at is not None:
            return None, None
        is_over = row.expires_at is not None and row.expires_at <= self._clock.now()
        return (None, None) if is_over else (row, self._find_actor(connection, row.user_name))

    async def _note_use(self, row: Any) -> None:
        """Now and then; a database that takes no changes at the moment keeps nobody out."""
        now = self._clock.now()
        if row.last_used_at is None or now - row.last_used_at > _NOTED:
            tokens = t.api_tokens
            note = sa.update(tokens).where(tokens.c.token_digest == row.token_digest).values(last_used_at=now)
            try:
                await self._database.transact(lambda c: c.execute(note))
            except OperationalError:
                return

    def _count_wrong(self, address: str) -> None:
        if address:
            self._wrong.refuse_flood(address)
            self._wrong.count(address)

    async def local_token(self, known: str | None = None) -> str:
        """The token of the start link: the known one while it is valid, otherwise a new one that replaces it."""
        if known is not None:
            try:
                await self.bearer(known)
            except (Unauthenticated, TooManyAttempts):
                pass
            else:
                return known
        token, now = new_secret(), self._clock.now()
        tokens = t.api_tokens
        row = token_row(token, ADMIN.name, LOCAL, actor=ADMIN, at=now)

        def body(connection: Connection) -> None:
            earlier = sa.update(tokens).where(tokens.c.name == LOCAL, tokens.c.user_name == ADMIN.name)
            connection.execute(earlier.where(tokens.c.revoked_at.is_(None)).values(revoked_at=now))
            connection.execute(sa.insert(tokens).values(row))

        await self._database.transact(body)
        self.forget()
        return token

    # ---- sessions ----------------------------------------------------------------------------------
    async def session(self, secret: str) -> ActiveSession:
        """Who holds the session; using it puts its end off."""
        digest, now, generation = digest_of(secret), self._clock.now(), self._generation
        row, found = await self._database.aread(lambda c: self._read_session(c, digest, now))
        if row is None or found is None:
            raise Unauthenticated("You are not signed in, or your session is over. Sign in again.")
        actor, until = found
        if until is not None and generation == self._generation:
            _keep(self._people, row.user_name, (until, actor))
        if row.scopes is not None or row.ends_at is not None:
            actor = replace(actor, scopes=scopes_of(row), token_expires_at=row.ends_at)
        later = now + LIFETIME if row.ends_at is None else min(now + LIFETIME, row.ends_at)
        if later - row.expires_at < _RENEWED:
            return ActiveSession(actor, row.session_id, row.expires_at)
        renew = sa.update(t.sessions).where(t.sessions.c.session_digest == digest).values(expires_at=later)
        await self._database.transact(lambda c: c.execute(renew))
        return ActiveSession(actor, row.session_id, later, renewed=True)

    def _read_session(self, connection: Connection, digest: str, now: datetime) -> Any:
        row = connection.execute(_session(digest)).one_or_none()
        if row is None or not hmac.compare_digest(row.session_digest, digest) or row.expires_at <= now:
            return None, None
        until, known = self._people.get(row.user_name, (None, None))
        if known is not None and until is not None and until > now:
            return row, (known, None)
        found = self._find_actor(connection, row.user_name)
        return row, found and (found[0], self._soonest(found[1]))

    async def sign_out(self, secret: str) -> None:
        """Without a session that is open, nothing happens."""
        mine, now = t.sessions.c.session_digest == digest_of(secret), self._clock.now()

        def body(connection: Connection) -> None:
            ended = connection.execute(sa.delete(t.sessions).where(mine).returning(t.sessions.c.user_name)).scalar()
            if ended is not None:
                chain.append_global_event(connection, "signed_out", ended, now, {"user": ended})

        await self._database.transact(body)

    # ---- people ------------------------------------------------------------------------------------
    def _find_actor(self, connection: Connection, name: str) -> tuple[Actor, datetime | None] | None:
        found = self._directory.find(connection, name)
        return found and (found.actor, found.until)

    def _soonest(self, *ends: datetime | None) -> datetime:
        """Until when an answer of the database is believed."""
        return min([self._clock.now() + _BELIEVED, *(end for end in ends if end is not None)])


def _session(digest: str) -> sa.Select[tuple[object, ...]]:
    return sa.select(t.sessions).where(t.sessions.c.session_digest == digest)


def _keep(kept: dict[str, Any], key: str, value: Any) -> None:
    if len(kept) >= _KEPT:
        kept.clear()
    kept[key] = value
