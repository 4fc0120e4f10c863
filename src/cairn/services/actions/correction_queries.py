"""What people correct in actions: before they approve them, and looking back (H3, H9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cairn.ports import Clock
from cairn.services.actions import queries as learning
from cairn.services.actions.corrections import similar
from cairn.services.actions.modifications import ActionModifications
from cairn.services.approvals.views import (
    LearningCase,
    LearningCasePage,
    ModificationPreview,
    ModificationRates,
    ModifyValidation,
    ParameterChange,
    ParameterError,
)
from cairn.store import Database


class CorrectionQueries:
    def __init__(self, database: Database, modifying: ActionModifications, clock: Clock) -> None:
        self._database = database
        self._modifying = modifying
        self._clock = clock

    def preview(self, approval_id: str, patch: Mapping[str, Any]) -> ModificationPreview:
        """What a modification would make of an action."""
        found = self._database.read(lambda c: self._modifying.preview(c, approval_id, patch))
        errors = [ParameterError(path=path, message=message) for path, message in found.problems]
        return ModificationPreview(
            approval_id=approval_id,
            parameters=found.parameters,
            diff=[ParameterChange(**change) for change in found.changes],
            validation=ModifyValidation(passed=not errors, errors=errors),
        )

    def cases(
        self, operation_type: str | None, pipeline_id: str | None, limit: int, cursor: str | None
    ) -> LearningCasePage:
        return self._database.read(lambda c: learning.list_cases(c, operation_type, pipeline_id, limit, cursor))

    def similar(self, operation_type: str, parameters: Mapping[str, Any], limit: int = 3) -> list[LearningCase]:
        """Those that whoever proposes the like should know."""
        rows = self._database.read(lambda c: similar(c, operation_type, parameters, limit))
        return [learning.case_of(row) for row in rows]

    def rates(self) -> ModificationRates:
        now = self._clock.now()
        return self._database.read(lambda c: learning.modification_rates(c, now))
