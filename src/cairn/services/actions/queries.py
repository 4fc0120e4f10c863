"""What people correct, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from cairn.core.states import AGREED
from cairn.ports import Clock
from cairn.services.actions.corrections import similar
from cairn.services.actions.modifications import ActionModifications
from cairn.services.actions.views import (
    LearningCase,
    LearningCasePage,
    ModificationPreview,
    ModificationRate,
    ModificationRates,
    ModifyValidation,
    ParameterChange,
    ParameterError,
)
from cairn.services.paging import SortOrder, page
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.runs.run_rows import Row

RECENT_DAYS = 30
L = t.learning_cases.c
_NEWEST = SortOrder((L.at, L.case_id), newest_first=True)


def list_cases(
    connection: Connection, operation_type: str | None, pipeline_id: str | None, limit: int, cursor: str | None
) -> LearningCasePage:
    query = sa.select(t.learning_cases)
    if operation_type is not None:
        query = query.where(L.operation_type == operation_type)
    if pipeline_id is not None:
        query = query.where(L.pipeline_id == pipeline_id)
    found = page(connection, query, _NEWEST, limit, cursor)
    return LearningCasePage(items=[case_of(row) for row in found.rows], next_cursor=found.next_cursor)


def case_of(row: Row) -> LearningCase:
    return LearningCase(
        case_id=row.case_id,
        approval_id=row.approval_id,
        pipeline_id=row.pipeline_id,
        operation_type=row.operation_type,
        original=row.original,
        modified=row.modified,
        changes=[ParameterChange(**change) for change in row.changes],
        feedback=row.feedback,
        by=row.by,
        at=row.at,
    )


def modification_rates(connection: Connection, now: datetime) -> ModificationRates:
    """Of what people have approved; what a rule approved was looked at by nobody."""
    a = t.approvals.c
    since = now - timedelta(days=RECENT_DAYS)
    is_modified = sa.exists().where(L.approval_id == a.approval_id)
    is_recent = a.closed_at >= since
    rows = connection.execute(
        sa.select(
            a.operation_type,
            sa.func.count().label("approved"),
            sa.func.count().filter(is_modified).label("modified"),
            sa.func.count().filter(is_recent).label("recent"),
            sa.func.count().filter(is_recent, is_modified).label("recent_modified"),
        )
        .where(
            a.operation_type.is_not(None),
            a.status.in_([status.value for status in AGREED]),
            a.status != "auto_approved",
            a.kept_from.is_(None),
        )
        .group_by(a.operation_type)
        .order_by(a.operation_type)
    )
    return ModificationRates(recent_days=RECENT_DAYS, items=[_rate(row) for row in rows])


def _rate(row: Row) -> ModificationRate:
    return ModificationRate(
        operation_type=row.operation_type,
        approved=row.approved,
        modified=row.modified,
        rate=row.modified / row.approved,
        recent_approved=row.recent,
        recent_modified=row.recent_modified,
        recent_rate=row.recent_modified / row.recent if row.recent else None,
        earlier_rate=_share(row.modified - row.recent_modified, row.approved - row.recent),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


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
        return self._database.read(lambda c: list_cases(c, operation_type, pipeline_id, limit, cursor))

    def similar(self, operation_type: str, parameters: Mapping[str, Any], limit: int = 3) -> list[LearningCase]:
        """Those that whoever proposes the like should know."""
        rows = self._database.read(lambda c: similar(c, operation_type, parameters, limit))
        return [case_of(row) for row in rows]

    def rates(self) -> ModificationRates:
        now = self._clock.now()
        return self._database.read(lambda c: modification_rates(c, now))
