"""Delegations: another user decides for you while you are away."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast
from uuid import uuid4

from cairn.core.errors import CommandRefused
from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import Forbidden, InvalidInput
from cairn.services.identity import records
from cairn.services.identity.directory import APPROVER_ROLES
from cairn.services.identity.name_rules import line_of
from cairn.services.identity.users import lock_active_user
from cairn.store.errors import NotFound

MAX_DURATION = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class DelegationSpec:
    from_user: str
    to_user: str
    ends_at: datetime
    starts_at: datetime | None = None  # None: now
    reason: str = ""


class Delegations:
    def __init__(self, admin_changes: AdminChanges) -> None:
        self._changes = admin_changes

    async def create(self, spec: DelegationSpec, actor: Actor) -> str:
        """Delegate your own decisions, or as an admin those of any user. The delegate needs the approver role."""
        return await self._changes.apply(lambda change: _create(change, spec), actor)

    async def end(self, delegation_id: str, actor: Actor) -> None:
        """End a delegation early. Both of its users can do this, and so can admins."""
        await self._changes.apply(lambda change: _end(change, delegation_id), actor)


def _create(change: AdminChange, spec: DelegationSpec) -> str:
    if spec.from_user != change.actor.name and not change.actor.is_admin:
        raise Forbidden("You can only delegate your own decisions. Ask an admin to delegate those of another user.")
    starts_at = spec.starts_at or change.at
    if spec.from_user == spec.to_user:
        raise InvalidInput([("/to_user", "You can't delegate to yourself.")])
    if starts_at < change.at:  # votes that were cast before would change their meaning
        raise InvalidInput([("/starts_at", "A delegation can't start in the past.")])
    if spec.ends_at <= starts_at:
        raise InvalidInput([("/ends_at", "The end must be in the future and after the start.")])
    if spec.ends_at - starts_at > MAX_DURATION:
        raise InvalidInput([("/ends_at", "A delegation can last at most one year.")])
    lock_active_user(change.connection, spec.from_user)
    delegate = lock_active_user(change.connection, spec.to_user)
    if APPROVER_ROLES.isdisjoint(cast("list[str]", delegate.roles)):
        raise CommandRefused(f"{spec.to_user} can't decide on approvals. Choose a user with the approver role.")
    delegation_id = str(uuid4())
    row = {
        "delegation_id": delegation_id,
        "from_user": spec.from_user,
        "to_user": spec.to_user,
        "reason": line_of(spec.reason, "/reason", 500),
        "starts_at": starts_at,
        "ends_at": spec.ends_at,
        "created_at": change.at,
        "created_by": change.actor.name,
    }
    records.insert_delegation(change.connection, row)
    change.record(
        "delegation_created",
        from_user=spec.from_user,
        to_user=spec.to_user,
        delegation_id=delegation_id,
        until=spec.ends_at.isoformat(),
    )
    return delegation_id


def _end(change: AdminChange, delegation_id: str) -> None:
    row = records.lock_delegation(change.connection, delegation_id)
    if row is None or not (change.actor.is_admin or change.actor.name in (row.from_user, row.to_user)):
        raise NotFound("delegation", delegation_id)
    if row.ended_at is not None or row.ends_at <= change.at:
        return
    records.end_delegation(change.connection, delegation_id, change.at, change.actor.name)
    change.record("delegation_ended", delegation_id=delegation_id, from_user=row.from_user, to_user=row.to_user)
