"""Invitations: a link that works once, for a limited time, to set a password."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from cairn.core.errors import CommandRefused
from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import Gone, Unauthenticated
from cairn.services.identity.credentials import digest_of, new_secret
from cairn.services.identity.name_rules import line_of
from cairn.services.identity.users import UserSpec, create_user, lock_active_user
from cairn.services.sign_in import passwords as password_rules
from cairn.services.sign_in import queries, records
from cairn.services.sign_in.passwords import Passwords
from cairn.services.sign_in.service import SignInClient, SignInResult, SignInService
from cairn.store import Connection
from cairn.store.errors import NotFound

_UNKNOWN = "This invitation is unknown. Ask an admin for a new one."
_CLOSED = "This invitation has been used or revoked, or has expired. Ask an admin for a new one."


@dataclass(frozen=True, slots=True)
class CreatedInvitation:
    invitation_id: str
    user: str
    token: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class InvitationDetails:
    """The user that an invitation is for."""

    user: str
    display_name: str
    email: str
    expires_at: datetime


class Invitations:
    def __init__(self, admin_changes: AdminChanges, passwords: Passwords, sign_in: SignInService) -> None:
        self._changes = admin_changes
        self._passwords = passwords
        self._sign_in = sign_in

    async def create(self, spec: UserSpec, hours: int, actor: Actor) -> CreatedInvitation:
        """Invite a new user, or with only a name an existing user to set a new password.

        Earlier invitations of the user are revoked.
        """
        return await self._changes.apply(lambda change: _create(change, spec, timedelta(hours=hours)), actor)

    async def revoke(self, invitation_id: str, actor: Actor) -> None:
        await self._changes.apply(lambda change: _revoke(change, invitation_id), actor)

    async def preview(self, token: str, client: SignInClient) -> InvitationDetails:
        async with self._sign_in.rate_limited(client.address, "invitation"):
            row = await self._changes.database.aread(lambda c: _open_invitation(c, token, self._changes.clock.now()))
        return InvitationDetails(row.user_name, row.display_name, row.email, row.expires_at)

    async def accept(self, token: str, password: str, display_name: str | None, client: SignInClient) -> SignInResult:
        """Set the password, use up the invitation, and sign the user in."""
        async with self._sign_in.rate_limited(client.address, "invitation"):
            row = await self._changes.database.aread(lambda c: _open_invitation(c, token, self._changes.clock.now()))
        password_rules.check(password, row.user_name)
        name = None if display_name is None else line_of(display_name, "/display_name")
        hashed = await self._passwords.hash(password)
        await self._changes.apply(lambda change: _accept(change, token, hashed, name), Actor(row.user_name))
        return await self._sign_in.open_session(row.user_name, "invitation", client)


def _create(change: AdminChange, spec: UserSpec, lifetime: timedelta) -> CreatedInvitation:
    name = spec.name.strip().lower()
    if not queries.has_user(change.connection, name):
        user = create_user(change, spec)
    elif spec.email or spec.display_name or spec.roles or spec.groups:
        raise CommandRefused(f"{name} already exists. Enter only the name to let this user set a new password.")
    else:
        user = lock_active_user(change.connection, name).name
    records.revoke_open_invitations(change.connection, user, change.at)
    created = CreatedInvitation(str(uuid4()), user, new_secret(), change.at + lifetime)
    row = {
        "invitation_id": created.invitation_id,
        "token_digest": digest_of(created.token),
        "user_name": user,
        "created_at": change.at,
        "created_by": change.actor.name,
        "expires_at": created.expires_at,
    }
    records.insert_invitation(change.connection, row)
    change.record("invitation_created", invitation_id=created.invitation_id, user=user)
    return created


def _revoke(change: AdminChange, invitation_id: str) -> None:
    row = records.lock_invitation(change.connection, invitation_id)
    if row is None:
        raise NotFound("invitation", invitation_id)
    if row.accepted_at is not None:
        raise CommandRefused(f"{row.user_name} has already accepted this invitation.")
    if row.revoked_at is None:
        records.revoke_invitation(change.connection, invitation_id, change.at)
        change.record("invitation_revoked", invitation_id=invitation_id, user=row.user_name)


def _accept(change: AdminChange, token: str, password_hash: str, display_name: str | None) -> None:
    row = _open_invitation(change.connection, token, change.at, lock=True)
    if not records.accept_invitation(change.connection, row.invitation_id, change.at):
        raise Gone(_CLOSED)
    records.save_password(change.connection, row.user_name, password_hash, display_name)
    records.delete_sessions(change.connection, row.user_name)
    change.record("invitation_accepted", invitation_id=row.invitation_id, user=row.user_name)


def _open_invitation(connection: Connection, token: str, now: datetime, *, lock: bool = False) -> Any:
    row = queries.invitation_by_digest(connection, digest_of(token), lock=lock)
    if row is None:
        raise Unauthenticated(_UNKNOWN)
    is_closed = row.accepted_at is not None or row.revoked_at is not None or row.deleted_at is not None
    if is_closed or row.expires_at <= now:
        raise Gone(_CLOSED)
    return row
