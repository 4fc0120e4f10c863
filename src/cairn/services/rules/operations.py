"""The action types that rules can refer to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from cairn.definitions import PipelineDefinition
from cairn.definitions.rules import KnownOperation
from cairn.store import Connection


class OperationLookup(Protocol):
    def find(self, connection: Connection, scope: str) -> Mapping[str, KnownOperation]:
        """The action types that rules of the scope can refer to."""
        ...

    def definition(self, connection: Connection, scope: str) -> PipelineDefinition | None:
        """The newest definition of the scope's pipeline."""
        ...
