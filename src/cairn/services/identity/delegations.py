"""Delegations: while somebody is away, somebody else decides for them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast
from uuid import uuid4

import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import Forbidden, InvalidInput
from cairn.services.identity.directory import DECIDERS
from cairn.services.identity.name_rules import line_of
from cairn.services.identity.users import standing
from cairn.store import tables as t
from cairn.store.errors import NotFound

D = t.delegations
LONGEST = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class NewDelegation:
    from_user: str
    to_user: str
    until: datetime
    starts_at: datetime | None = None  # None is now
    reason: str = ""


class Delegations:
    def __init__(self, admin_changes: AdminChanges) -> None:
        self._changes = admin_changes

    async def create(self, wanted: NewDelegation, actor: Actor) -> str:
        """For oneself, or for anybody by an admin. Who stands for somebody must be allowed to decide anyway."""
        return await self._changes.apply(lambda change: _create(change, wanted), actor)

    async def end(self, delegation_id: str, actor: Actor) -> None:
        """Before its time: by who gave it, by who has it, or by an admin."""
        await self._changes.apply(lambda change: _end(change, delegation_id), actor)


def _create(change: AdminChange, wanted: NewDelegation) -> str:
    if wanted.from_user != change.actor.name and not change.actor.is_admin:
        raise Forbidden("You can let somebody decide for yourself only; an admin can for others.")
    starts_at = wanted.starts_at or change.at
    if wanted.from_user == wanted.to_user:
        raise InvalidInput([("/to_user", "Nobody stands for themselves.")])
    if wanted.until <= max(starts_at, change.at):
        raise InvalidInput([("/until", "It ends before it begins.")])
    if wanted.until - starts_at > LONGEST:
        raise InvalidInput([("/until", "A delegation lasts a year at most.")])
    standing(change.connection, wanted.from_user)
    other = standing(change.connection, wanted.to_user)
    if DECIDERS.isdisjoint(cast("list[str]", other.roles)):
        raise CommandRefused(f"{wanted.to_user} may not decide: it takes the role approver.")
    delegation_id = str(uuid4())
    row = {
        "delegation_id": delegation_id,
        "from_user": wanted.from_user,
        "to_user": wanted.to_user,
        "reason": line_of(wanted.reason, "/reason", 500),
        "starts_at": starts_at,
        "ends_at": wanted.until,
        "created_at": change.at,
        "created_by": change.actor.name,
    }
    change.connection.execute(sa.insert(D).values(row))
    said = {"from_user": wanted.from_user, "to_user": wanted.to_user}
    change.record("delegation_created", **said, delegation_id=delegation_id, until=_text(wanted.until))
    return delegation_id


def _end(change: AdminChange, delegation_id: str) -> None:
    row = change.connection.execute(
        sa.select(D).where(D.c.delegation_id == delegation_id).with_for_update()
    ).one_or_none()
    if row is None or not (change.actor.is_admin or change.actor.name in (row.from_user, row.to_user)):
        raise NotFound("delegation", delegation_id)
    if row.ended_at is not None or row.ends_at <= change.at:
        return
    ended = {"ended_at": change.at, "ended_by": change.actor.name}
    change.connection.execute(sa.update(D).where(D.c.delegation_id == delegation_id).values(ended))
    change.record("delegation_ended", delegation_id=delegation_id, from_user=row.from_user, to_user=row.to_user)


def _text(at: datetime) -> str:
    return at.isoformat()
