"""API tokens: shown once, kept as a digest, narrowed by scopes, revoked at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from cairn.services.actors import ALL_ROLES, ALL_SCOPES, Actor, Role, Scope
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import Forbidden, InvalidInput
from cairn.services.identity.credentials import LOCAL, new_secret, token_row
from cairn.services.identity.name_rules import line_of
from cairn.services.identity.users import standing
from cairn.store import tables as t
from cairn.store.errors import NotFound

A = t.api_tokens.c
LONGEST_NAME = 100
LONGEST_OWN = timedelta(days=365)  # of tokens that people make for themselves
_SUBMITTERS = frozenset({Role.EDITOR.value, Role.APPROVER.value})
USABLE: Mapping[str, frozenset[str]] = {
    Scope.READ.value: ALL_ROLES,
    Scope.RUN.value: _SUBMITTERS,
    Scope.DECIDE.value: _SUBMITTERS,
    Scope.DEFINE.value: frozenset({Role.EDITOR.value}),
    Scope.ADMIN.value: ALL_ROLES,
}  # by which roles a scope can be made use of, besides admin


@dataclass(frozen=True, slots=True)
class TokenSpec:
    user: str
    name: str
    scopes: tuple[str, ...] | None = None  # None narrows nothing
    days: int | None = None  # None is for ever


@dataclass(frozen=True, slots=True)
class CreatedToken:
    token_id: str
    token: str
    expires_at: datetime | None


class TokenService:
    def __init__(self, admin_changes: AdminChanges) -> None:
        self._changes = admin_changes

    async def create(self, wanted: TokenSpec, actor: Actor) -> CreatedToken:
        """The token itself is in this answer and nowhere else."""
        return await self._changes.apply(lambda change: _create(change, wanted), actor)

    async def create_own(self, wanted: TokenSpec, actor: Actor) -> CreatedToken:
        """The same for oneself: it has an end, and asks for nothing that one's roles do not allow."""
        return await self._changes.apply(lambda change: _create_own(change, wanted), actor)

    async def revoke_own(self, token_id: str, actor: Actor) -> None:
        """There is no other's."""
        await self._changes.apply(lambda change: _revoke(change, token_id, own=True), actor)

    async def revoke(self, token_id: str, actor: Actor) -> None:
        """At once, with the sessions that were opened with it. A second time changes nothing."""
        await self._changes.apply(lambda change: _revoke(change, token_id), actor)


def _create_own(change: AdminChange, wanted: TokenSpec) -> CreatedToken:
    useless = (
        []
        if change.actor.is_admin
        else [s for s in wanted.scopes or () if change.actor.roles.isdisjoint(USABLE.get(s, ()))]
    )
    if useless:
        raise InvalidInput([("/scopes", f"None of your roles may be used for {', '.join(sorted(useless))}.")])
    if wanted.days is None or timedelta(days=wanted.days) > LONGEST_OWN:
        raise InvalidInput([("/valid_days", f"A token of your own is valid for {LONGEST_OWN.days} days at most.")])
    return _create(change, wanted, ends_at=change.actor.token_expires_at)


def _create(change: AdminChange, wanted: TokenSpec, ends_at: datetime | None = None) -> CreatedToken:
    """`ends_at`: not later than this."""
    standing(change.connection, wanted.user)
    name = line_of(wanted.name, "/name", LONGEST_NAME)
    if not name or name == LOCAL:
        raise InvalidInput([("/name", f"Say what the token is for; {LOCAL} is the start link's.")])
    scopes = None if wanted.scopes is None else sorted(set(wanted.scopes))
    if scopes is not None and (not scopes or set(scopes) - ALL_SCOPES):
        raise InvalidInput([("/scopes", f"Choose one or more of {', '.join(sorted(ALL_SCOPES))}.")])
    if change.actor.scopes is not None and (scopes is None or set(scopes) - change.actor.scopes):
        raise Forbidden("A token makes no token that may do more than itself.")
    token = new_secret()
    expires_at = None if wanted.days is None else change.at + timedelta(days=wanted.days)
    if ends_at is not None:
        expires_at = ends_at if expires_at is None else min(expires_at, ends_at)
    row = token_row(token, wanted.user, name, actor=change.actor, at=change.at, scopes=scopes, expires_at=expires_at)
    change.connection.execute(sa.insert(t.api_tokens).values(row))
    change.record("token_created", token_id=row["token_id"], user=wanted.user, token=name, scopes=scopes)
    return CreatedToken(row["token_id"], token, expires_at)


def _revoke(change: AdminChange, token_id: str, *, own: bool = False) -> None:
    row = change.connection.execute(
        sa.select(t.api_tokens).where(A.token_id == token_id).with_for_update()
    ).one_or_none()
    if row is None or (own and row.user_name != change.actor.name):
        raise NotFound("token", token_id)
    change.connection.execute(sa.delete(t.sessions).where(t.sessions.c.token_id == token_id))
    if row.revoked_at is None:
        change.connection.execute(sa.update(t.api_tokens).where(A.token_id == token_id).values(revoked_at=change.at))
        change.record("token_revoked", token_id=token_id, user=row.user_name, token=row.name)
