"""End sessions, and change your own password."""

from __future__ import annotations

from cairn.core.errors import CommandRefused
from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import InvalidInput
from cairn.services.identity.users import lock_active_user
from cairn.services.sign_in import passwords as password_rules
from cairn.services.sign_in import queries, records
from cairn.services.sign_in.passwords import Passwords
from cairn.store.errors import NotFound


class Sessions:
    def __init__(self, admin_changes: AdminChanges, passwords: Passwords) -> None:
        self._changes = admin_changes
        self._passwords = passwords

    async def end(self, session_id: str, actor: Actor) -> None:
        """End one of your own sessions, or as an admin any. Other users' sessions are not found."""
        await self._changes.apply(lambda change: _end(change, session_id), actor)

    async def end_all(self, user: str, actor: Actor, *, except_session_id: str | None = None) -> int:
        """End all sessions of a user, optionally except one. Return the number of ended sessions."""
        return await self._changes.apply(lambda change: _end_all(change, user, except_session_id), actor)

    async def change_password(
        self, actor: Actor, *, current: str, new: str, except_session_id: str | None = None
    ) -> None:
        """Set your password and end your other sessions. If you have a password, `current` must match it."""
        password_hash = await self._changes.database.aread(lambda c: queries.password_hash_of(c, actor.name))
        if password_hash is not None and not await self._passwords.verify(current, password_hash):
            raise InvalidInput([("/current", "This is not your current password.")])
        password_rules.check(new, actor.name, "/new")
        new_hash = await self._passwords.hash(new)

        def body(change: AdminChange) -> None:
            if lock_active_user(change.connection, actor.name).password_hash != password_hash:
                raise CommandRefused("Your password was changed at the same time. Reload and try again.")
            records.save_password(change.connection, actor.name, new_hash)
            records.delete_sessions(change.connection, actor.name, except_session_id=except_session_id)
            change.record("password_changed", user=actor.name)

        await self._changes.apply(body, actor)


def _end(change: AdminChange, session_id: str) -> None:
    owner = queries.owner_of_session(change.connection, session_id)
    if owner is None or not (change.actor.is_admin or owner == change.actor.name):
        raise NotFound("session", session_id)
    records.delete_session(change.connection, session_id)
    if owner != change.actor.name:
        change.record("sessions_ended", user=owner, count=1)


def _end_all(change: AdminChange, user: str, except_session_id: str | None) -> int:
    count = records.delete_sessions(change.connection, user, except_session_id=except_session_id)
    if count:
        change.record("sessions_ended", user=user, count=count)
    return count
