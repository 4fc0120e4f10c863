"""Create, update, delete and restore users. The name of a deleted user is never reused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from cairn.core.errors import CommandRefused
from cairn.services.actors import ADMIN, Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import InvalidInput
from cairn.services.identity import queries, records
from cairn.services.identity.name_rules import email_of, line_of, name_of, roles_of
from cairn.store import Connection

_OWNER = (
    "The user admin can't be deleted and keeps its roles: the start link and CAIRN_ADMIN_TOKEN sign in as this user."
)


@dataclass(frozen=True, slots=True)
class UserSpec:
    name: str
    display_name: str = ""
    email: str = ""
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UserUpdate:
    """The fields to change. None leaves a field unchanged."""

    display_name: str | None = None
    email: str | None = None
    roles: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None


class Users:
    def __init__(self, admin_changes: AdminChanges) -> None:
        self._changes = admin_changes

    async def create(self, spec: UserSpec, actor: Actor) -> str:
        """Create a user, who can sign in once they have an invitation, an identity provider or a token."""
        return await self._changes.apply(lambda change: create_user(change, spec), actor)

    async def update(self, name: str, update: UserUpdate, actor: Actor) -> None:
        await self._changes.apply(lambda change: update_user(change, name, update), actor)

    async def remove(self, name: str, actor: Actor) -> None:
        """Delete a user. This ends their sessions and delegations, and revokes their tokens and invitations."""
        await self._changes.apply(lambda change: _remove(change, name), actor)

    async def restore(self, name: str, actor: Actor) -> None:
        """Restore a deleted user, without their groups, tokens and sessions."""
        await self._changes.apply(lambda change: _restore(change, name), actor)


def create_user(change: AdminChange, spec: UserSpec) -> str:
    name, email = name_of(spec.name), email_of(spec.email)
    check_name_is_free(change.connection, name)
    _check_email_is_free(change.connection, email, name)
    row = {
        "name": name,
        "display_name": line_of(spec.display_name, "/display_name"),
        "email": email,
        "roles": roles_of(list(spec.roles)),
        "created_at": change.at,
        "created_by": change.actor.name,
    }
    records.insert_user(change.connection, row)
    _join_groups(change.connection, name, spec.groups)
    change.record("user_created", user=name, roles=row["roles"], groups=sorted(spec.groups))
    return name


def update_user(change: AdminChange, name: str, update: UserUpdate) -> None:
    row = lock_active_user(change.connection, name)
    values: dict[str, Any] = {}
    if update.display_name is not None:
        values["display_name"] = line_of(update.display_name, "/display_name")
    if update.email is not None:
        values["email"] = email_of(update.email)
        _check_email_is_free(change.connection, values["email"], name)
    if update.roles is not None:
        values["roles"] = roles_of(list(update.roles))
        if name == ADMIN.name and frozenset(values["roles"]) != ADMIN.roles:
            raise CommandRefused(_OWNER)
    values = {field: value for field, value in values.items() if value != getattr(row, field)}
    if values:
        records.update_user(change.connection, name, values)
        metadata: dict[str, Any] = {"user": name, "changed_fields": sorted(values)}
        if "roles" in values:
            metadata |= {"roles": values["roles"], "earlier_roles": cast("list[str]", row.roles)}
        change.record("user_updated", **metadata)
    if update.groups is not None and _join_groups(change.connection, name, update.groups, leave_others=True):
        change.record("user_groups_updated", user=name, groups=sorted(update.groups))


def _remove(change: AdminChange, name: str) -> None:
    lock_active_user(change.connection, name)
    if name == ADMIN.name:
        raise CommandRefused(_OWNER)
    if name == change.actor.name:
        raise CommandRefused("You can't delete yourself. Ask another admin.")
    records.delete_user(change.connection, name, change.at, change.actor.name)
    change.record("user_deleted", user=name)


def _restore(change: AdminChange, name: str) -> None:
    row = records.lock_user(change.connection, name)
    if row.deleted_at is None:
        raise CommandRefused(f"{name} has not been deleted.")
    records.update_user(change.connection, name, {"deleted_at": None})
    change.record("user_restored", user=name, roles=cast("list[str]", row.roles))


def lock_active_user(connection: Connection, name: str) -> Any:
    """Lock and return the row of a user who has not been deleted."""
    row = records.lock_user(connection, name)
    if row.deleted_at is not None:
        raise CommandRefused(f"{name} has been deleted.", ("restore",))
    return row


def check_name_is_free(connection: Connection, name: str, path: str = "/name") -> None:
    """User names, group names and email addresses all identify users, so each must be unique among all of them."""
    if queries.is_name_taken(connection, name):
        raise InvalidInput([(path, f"{name} is already the name of a user, a deleted user or a group.")])


def _check_email_is_free(connection: Connection, email: str, name: str) -> None:
    if email and queries.is_email_taken(connection, email, name):
        raise InvalidInput([("/email", "Another user has this email address.")])


def _join_groups(connection: Connection, name: str, groups: tuple[str, ...], *, leave_others: bool = False) -> bool:
    """Add the user to groups, and optionally remove them from others. Return whether any membership changed."""
    known = queries.existing_groups(connection, groups)
    if unknown := sorted(set(groups) - known):
        raise InvalidInput([("/groups", f"Unknown group: {', '.join(unknown)[:200]}.")])
    current = queries.groups_of(connection, name)
    joined = sorted(known - current)
    records.add_members(connection, ((group, name) for group in joined))
    left = current - known if leave_others else set[str]()
    if left:
        records.leave_groups(connection, name, left)
    return bool(joined or left)
