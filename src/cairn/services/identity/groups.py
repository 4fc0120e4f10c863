"""Groups of users. Approvals can be assigned to a group."""

from __future__ import annotations

from collections.abc import Sequence

from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import InvalidInput
from cairn.services.identity import queries, records
from cairn.services.identity.name_rules import line_of, name_of
from cairn.services.identity.users import check_name_is_free

MAX_DESCRIPTION = 500  # characters


class Groups:
    def __init__(self, admin_changes: AdminChanges) -> None:
        self._changes = admin_changes

    async def create(self, name: str, description: str, members: Sequence[str], actor: Actor) -> str:
        return await self._changes.apply(lambda change: _create(change, name, description, members), actor)

    async def update(
        self, name: str, actor: Actor, *, description: str | None = None, members: Sequence[str] | None = None
    ) -> None:
        """Update a group. None leaves the description or the members unchanged."""
        await self._changes.apply(lambda change: _update(change, name, description, members), actor)

    async def remove(self, name: str, actor: Actor) -> None:
        """Delete the group. Its members stay, but approvals assigned to the group no longer reach them."""
        await self._changes.apply(lambda change: _remove(change, name), actor)


def _create(change: AdminChange, name: str, description: str, members: Sequence[str]) -> str:
    name = name_of(name, "group")
    check_name_is_free(change.connection, name)
    text = line_of(description, "/description", MAX_DESCRIPTION)
    records.insert_group(change.connection, name, text, change.at, change.actor.name)
    current, _ = _set_members(change, name, members)
    change.record("group_created", group=name, members=current)
    return name


def _update(change: AdminChange, name: str, description: str | None, members: Sequence[str] | None) -> None:
    row = records.lock_group(change.connection, name)
    if description is not None:
        text = line_of(description, "/description", MAX_DESCRIPTION)
        if text != row.description:
            records.update_group(change.connection, name, text)
            change.record("group_updated", group=name)
    if members is not None:
        current, earlier = _set_members(change, name, members)
        if current != earlier:
            change.record("group_members_updated", group=name, members=current, earlier_members=earlier)


def _remove(change: AdminChange, name: str) -> None:
    records.lock_group(change.connection, name)
    records.delete_group(change.connection, name)
    change.record("group_deleted", group=name)


def _set_members(change: AdminChange, name: str, members: Sequence[str]) -> tuple[list[str], list[str]]:
    """Set the members of a group. Return the new and the earlier members."""
    names = {member.strip().lower() for member in members}
    known = queries.active_users_among(change.connection, names)
    if unknown := sorted(names - known):
        raise InvalidInput([("/members", f"Unknown user: {', '.join(unknown)[:200]}.")])
    earlier = queries.members_of(change.connection, name)
    records.add_members(change.connection, ((name, member) for member in sorted(known - earlier)))
    if left := earlier - known:
        records.remove_members(change.connection, name, left)
    return sorted(known), sorted(earlier)
