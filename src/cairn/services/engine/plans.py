"""Cached definitions and their compiled plans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cairn.core.plan import Plan
from cairn.definitions import CheckpointDefinition, PipelineDefinition, compile_plan, parse
from cairn.definitions.script_parameters import with_signatures
from cairn.files import layout
from cairn.services.paging import Row
from cairn.store import BoundedCache, Connection, blobs, document
from cairn.store import PlanCache as StoredPlans


class DefinitionCache(StoredPlans):
    """Plans, policies and definitions by revision. A revision never changes."""

    def __init__(self) -> None:
        super().__init__(_compile_plan, layout)
        self._definitions = BoundedCache[tuple[str, int], PipelineDefinition]()

    def definition(self, connection: Connection, pipeline_id: str, revision: int) -> PipelineDefinition:
        def read() -> PipelineDefinition:
            definition = parse(dict(document(connection, pipeline_id, revision)))
            return with_signatures(definition, lambda checksum: blobs.read(connection, checksum).decode())

        return self._definitions.get((pipeline_id, revision), read)

    def cached(self, pipeline_id: str, revision: int) -> PipelineDefinition | None:
        """The definition, if it is in the cache."""
        return self._definitions.find((pipeline_id, revision))


def _compile_plan(graph: Mapping[str, Any], newest: Mapping[str, Any], revision: int) -> Plan:
    return compile_plan(parse(dict(graph)), parse(dict(newest)), revision=revision)


def definition_of(connection: Connection, plans: DefinitionCache, pipeline_id: str, row: Row) -> CheckpointDefinition:
    """The checkpoint definition that an execution uses."""
    return plans.definition(connection, pipeline_id, row.definition_revision).by_key[row.key]
