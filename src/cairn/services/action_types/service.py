"""List, save and remove action types."""

from __future__ import annotations

from typing import Any

from cairn.config.action_types import TYPE_NAME, ActionTypeDeclaration
from cairn.core.errors import CommandRefused
from cairn.services.action_types import records
from cairn.services.action_types.views import ActionTypeDetails
from cairn.services.actions import queries
from cairn.services.actions.action_type import ActionType
from cairn.services.actions.catalogue import Catalogue
from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import InvalidInput
from cairn.store import Connection
from cairn.store.errors import NotFound


class ActionTypes:
    def __init__(self, admin_changes: AdminChanges, catalogue: Catalogue) -> None:
        self._changes = admin_changes
        self._catalogue = catalogue

    def list(self) -> list[ActionTypeDetails]:
        """The types of the catalogue, by name."""

        def read(connection: Connection) -> list[ActionTypeDetails]:
            stored = queries.stored_types(connection)
            return [_details(action, stored) for action in self._catalogue.all(connection)]

        return self._changes.database.read(read)

    def get(self, name: str) -> ActionTypeDetails:
        found = next((details for details in self.list() if details.name == name), None)
        if found is None:
            raise NotFound("action type", repr(name)[:120])
        return found

    async def save(self, name: str, declared: ActionTypeDeclaration, actor: Actor) -> None:
        """Create or replace a type. Fields of a built-in type that are not declared stay as they are."""
        if not TYPE_NAME.fullmatch(name) or name.startswith("mcp:"):
            message = "Use up to 100 of a-z, 0-9 and _ . : / -, and not the prefix mcp:, which belongs to tools."
            raise InvalidInput([("/name", message)])
        if self._catalogue.in_settings(name):
            raise CommandRefused(f"The settings of the server declare {name}. Change it there.")

        def save(change: AdminChange) -> None:
            records.save_type(change.connection, name, declared, change.actor.name, change.at)
            change.record("catalogue_type_saved", operation_type=name, declaration=declared.document)

        await self._changes.apply(save, actor)

    async def remove(self, name: str, actor: Actor) -> None:
        """Remove a type, or return a built-in type to what it is by default."""

        def remove(change: AdminChange) -> None:
            if not records.remove_type(change.connection, name):
                raise NotFound("action type declared by an admin:", repr(name)[:120])
            change.record("catalogue_type_removed", operation_type=name)

        await self._changes.apply(remove, actor)


def _details(action: ActionType, stored: dict[str, ActionTypeDeclaration]) -> ActionTypeDetails:
    source: Any = action.source
    schema: Any = action.schema
    return ActionTypeDetails(
        name=action.name,
        title=action.title,
        title_template=action.title_template,
        description=action.description,
        parameters_schema=schema,
        effect=action.effect,
        risk_level=action.risk,
        identity=None if action.identity is None else list(action.identity),
        amount=action.amount,
        currency=action.currency,
        hosts=None if action.hosts is None else list(action.hosts),
        executed_by=action.executor,
        reversible=action.reversible,
        idempotent=action.is_idempotent,
        source=source,
        declaration=stored[action.name].document if source == "admin" else None,
    )
