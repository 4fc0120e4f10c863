"""The action types that rules can refer to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cairn.core.rules import GLOBAL
from cairn.definitions import PipelineDefinition
from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.rules import KnownOperation
from cairn.services.actions.action_type import ActionType
from cairn.services.actions.catalogue import Catalogue
from cairn.services.engine.plans import DefinitionCache
from cairn.store import Connection, pipelines


class KnownOperations:
    """The action types by scope: those of a pipeline include its own."""

    def __init__(self, plans: DefinitionCache, catalogue: Catalogue) -> None:
        self._plans = plans
        self._catalogue = catalogue

    def find(self, connection: Connection, scope: str) -> Mapping[str, KnownOperation]:
        definition = self.definition(connection, scope)
        names = [action.name for action in self._catalogue.all(connection)]
        names += definition.actions if definition is not None else ()
        found = (self._catalogue.find(connection, definition, name) for name in dict.fromkeys(names))
        return {action.name: _known(action) for action in found}

    def definition(self, connection: Connection, scope: str) -> PipelineDefinition | None:
        """The newest definition of the pipeline that the scope belongs to."""
        if scope == GLOBAL or not pipelines.exists(connection, scope):
            return None
        return self._plans.definition(connection, scope, pipelines.newest_revision(connection, scope))


def _known(action: ActionType) -> KnownOperation:
    schema: JsonSchema | None = action.offered_schema
    properties: dict[str, Any] = schema.get("properties", {}) if isinstance(schema, dict) else {}
    required: list[str] = schema.get("required", []) if isinstance(schema, dict) else []
    return KnownOperation(action.name, tuple(properties), frozenset(required), action.identity)
