"""Invitations: a link that works once and not for long, by which somebody sets a password."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import Gone, Unauthenticated
from cairn.services.identity.credentials import digest_of, new_secret
from cairn.services.identity.name_rules import line_of
from cairn.services.identity.users import UserSpec, make_user, standing
from cairn.services.sign_in import passwords as rules
from cairn.services.sign_in.passwords import Passwords
from cairn.services.sign_in.service import SignInClient, SignInResult, SignInService
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.errors import NotFound

V, U = t.invitations, t.users
_UNKNOWN = "This invitation is not known. Ask for a new one."
_OVER = "This invitation has been used, taken back or is too old. Ask for a new one."


@dataclass(frozen=True, slots=True)
class CreatedInvitation:
    invitation_id: str
    user: str
    token: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class InvitationDetails:
    """Whom an invitation is for."""

    user: str
    display_name: str
    email: str
    expires_at: datetime


class Invitations:
    def __init__(self, admin_changes: AdminChanges, passwords: Passwords, signing_in: SignInService) -> None:
        self._changes = admin_changes
        self._passwords = passwords
        self._signing_in = signing_in

    async def invite(self, wanted: UserSpec, hours: int, actor: Actor) -> CreatedInvitation:
        """Somebody new, or with the name alone somebody who is here and gets a new password. Earlier ones end."""
        return await self._changes.apply(lambda change: _invite(change, wanted, timedelta(hours=hours)), actor)

    async def revoke(self, invitation_id: str, actor: Actor) -> None:
        await self._changes.apply(lambda change: _revoke(change, invitation_id), actor)

    async def look(self, token: str, visitor: SignInClient) -> InvitationDetails:
        """Whom it is for, before it is used."""
        async with self._signing_in.guarded(visitor.address, "invitation"):
            row = await self._changes.database.aread(lambda c: _open(c, token, self._changes.clock.now()))
        return InvitationDetails(row.user_name, row.display_name, row.email, row.expires_at)

    async def accept(self, token: str, password: str, display_name: str | None, visitor: SignInClient) -> SignInResult:
        """Set the password; the invitation is used up, and whoever it was for is signed in."""
        async with self._signing_in.guarded(visitor.address, "invitation"):
            row = await self._changes.database.aread(lambda c: _open(c, token, self._changes.clock.now()))
        rules.check(password, row.user_name)
        shown = None if display_name is None else line_of(display_name, "/display_name")
        hashed = await self._passwords.hash(password)
        await self._changes.apply(lambda change: _accept(change, token, hashed, shown), Actor(row.user_name))
        return await self._signing_in.open(row.user_name, "invitation", visitor)


def _invite(change: AdminChange, wanted: UserSpec, lasting: timedelta) -> CreatedInvitation:
    there = change.connection.execute(
        sa.select(U.c.name).where(U.c.name == wanted.name.strip().lower())
    ).scalar_one_or_none()
    if there is None:
        user = make_user(change, wanted)
    elif wanted.email or wanted.display_name or wanted.roles or wanted.groups:
        raise CommandRefused(f"{there} is here already: give the name alone to let them set a new password.")
    else:
        user = standing(change.connection, there).name
    earlier = sa.update(V).where(V.c.user_name == user, V.c.accepted_at.is_(None), V.c.revoked_at.is_(None))
    change.connection.execute(earlier.values(revoked_at=change.at))
    made = CreatedInvitation(str(uuid4()), user, new_secret(), change.at + lasting)
    row = {
        "invitation_id": made.invitation_id,
        "token_digest": digest_of(made.token),
        "user_name": user,
        "created_at": change.at,
        "created_by": change.actor.name,
        "expires_at": made.expires_at,
    }
    change.connection.execute(sa.insert(V).values(row))
    change.record("invitation_created", invitation_id=made.invitation_id, user=user)
    return made


def _revoke(change: AdminChange, invitation_id: str) -> None:
    row = change.connection.execute(
        sa.select(V).where(V.c.invitation_id == invitation_id).with_for_update()
    ).one_or_none()
    if row is None:
        raise NotFound("invitation", invitation_id)
    if row.accepted_at is not None:
        raise CommandRefused(f"{row.user_name} has accepted this invitation.")
    if row.revoked_at is None:
        change.connection.execute(sa.update(V).where(V.c.invitation_id == invitation_id).values(revoked_at=change.at))
        change.record("invitation_revoked", invitation_id=invitation_id, user=row.user_name)


def _accept(change: AdminChange, token: str, hashed: str, display_name: str | None) -> None:
    row = _open(change.connection, token, change.at, lock=True)
    used = sa.update(V).where(V.c.invitation_id == row.invitation_id, V.c.accepted_at.is_(None))
    if change.connection.execute(used.values(accepted_at=change.at)).rowcount == 0:
        raise Gone(_OVER)
    changes: dict[str, Any] = {"password_hash": hashed}
    if display_name:
        changes["display_name"] = display_name
    change.connection.execute(sa.update(U).where(U.c.name == row.user_name).values(changes))
    change.connection.execute(sa.delete(t.sessions).where(t.sessions.c.user_name == row.user_name))
    change.record("invitation_accepted", invitation_id=row.invitation_id, user=row.user_name)


def _open(connection: Connection, token: str, now: datetime, *, lock: bool = False) -> Any:
    query = (
        sa.select(V, U.c.display_name, U.c.email, U.c.removed_at)
        .join(U, U.c.name == V.c.user_name)
        .where(V.c.token_digest == digest_of(token))
    )
    row = connection.execute(query.with_for_update(of=V) if lock else query).one_or_none()
    if row is None:
        raise Unauthenticated(_UNKNOWN)
    is_over = row.accepted_at is not None or row.revoked_at is not None or row.removed_at is not None
    if is_over or row.expires_at <= now:
        raise Gone(_OVER)
    return row
