"""Sessions that are open, and ending them; passwords that their holders change."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import InvalidInput
from cairn.services.identity.users import standing
from cairn.services.sign_in import passwords as rules
from cairn.services.sign_in.passwords import Passwords
from cairn.store import tables as t
from cairn.store.errors import NotFound

S, U = t.sessions, t.users


class Sessions:
    def __init__(self, admin_changes: AdminChanges, passwords: Passwords) -> None:
        self._changes = admin_changes
        self._passwords = passwords

    async def end(self, session_id: str, actor: Actor) -> None:
        """One's own, or anybody's for an admin. Others' are not even told of."""
        await self._changes.apply(lambda change: _end(change, session_id), actor)

    async def end_all(self, user: str, actor: Actor, *, but: str | None = None) -> int:
        """Every session of a user, but perhaps the one that is used. Says how many ended."""
        return await self._changes.apply(lambda change: _end_all(change, user, but), actor)

    async def change_password(self, actor: Actor, *, current: str, new: str, but: str | None = None) -> None:
        """Set one's own password; other sessions end. Who has one gives it first."""
        read = sa.select(U).where(U.c.name == actor.name)
        row = await self._changes.database.aread(lambda c: c.execute(read).one())
        if row.password_hash is not None and not await self._passwords.fits(current, row.password_hash):
            raise InvalidInput([("/current", "This is not your password.")])
        rules.check(new, actor.name, "/new")
        hashed = await self._passwords.hash(new)

        def body(change: AdminChange) -> None:
            if standing(change.connection, actor.name).password_hash != row.password_hash:
                raise CommandRefused("The password was changed at the same moment. Look again, then repeat.")
            change.connection.execute(sa.update(U).where(U.c.name == actor.name).values(password_hash=hashed))
            _delete_all(change, actor.name, but)
            change.record("password_changed", user=actor.name)

        await self._changes.apply(body, actor)


def _end(change: AdminChange, session_id: str) -> None:
    row = change.connection.execute(sa.select(S.c.user_name).where(S.c.session_id == session_id)).one_or_none()
    if row is None or not (change.actor.is_admin or row.user_name == change.actor.name):
        raise NotFound("session", session_id)
    change.connection.execute(sa.delete(S).where(S.c.session_id == session_id))
    if row.user_name != change.actor.name:
        change.record("sessions_ended", user=row.user_name, count=1)


def _end_all(change: AdminChange, user: str, but: str | None) -> int:
    count = _delete_all(change, user, but)
    if count:
        change.record("sessions_ended", user=user, count=count)
    return count


def _delete_all(change: AdminChange, user: str, but: str | None) -> int:
    kept = S.c.session_id != but if but is not None else sa.true()
    return change.connection.execute(sa.delete(S).where(S.c.user_name == user, kept)).rowcount
