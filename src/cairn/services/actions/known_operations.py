"""The action types that rules can refer to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cairn.core.rules import GLOBAL
from cairn.definitions import PipelineDefinition
from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.rules import KnownOperation
from cairn.services.actions.declared_types import BUILT_IN, action_type
from cairn.services.engine.plans import DefinitionCache
from cairn.store import Connection, pipelines


class KnownOperations:
    """The action types by scope: those of a pipeline include its own."""

    def __init__(self, plans: DefinitionCache) -> None:
        self._plans = plans

    def find(self, connection: Connection, scope: str) -> Mapping[str, KnownOperation]:
        known = {name: _known(name, schema) for name, schema in BUILT_IN.items()}
        definition = self.definition(connection, scope)
        if definition is not None:
            known |= {name: _known(name, action_type(definition, name).schema) for name in definition.actions}
        return known

    def definition(self, connection: Connection, scope: str) -> PipelineDefinition | None:
        """The newest definition of the pipeline that the scope belongs to."""
        if scope == GLOBAL or not pipelines.exists(connection, scope):
            return None
        return self._plans.definition(connection, scope, pipelines.newest_revision(connection, scope))


def _known(name: str, schema: JsonSchema | None) -> KnownOperation:
    properties: dict[str, Any] = schema.get("properties", {}) if isinstance(schema, dict) else {}
    required: list[str] = schema.get("required", []) if isinstance(schema, dict) else []
    return KnownOperation(name, tuple(properties), frozenset(required))
