"""Queries of actions and of the corrections that people make to them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from cairn.config.action_types import ActionTypeDeclaration
from cairn.core.execution import Execution
from cairn.core.states import APPROVED_STATUSES, ApprovalKind
from cairn.documents import decode_json, digest
from cairn.ports import Clock
from cairn.services.actions.views import (
    LearningCase,
    LearningCasePage,
    ModificationRate,
    ModificationRates,
    ParameterChange,
)
from cairn.services.paging import SortOrder, page
from cairn.store import Connection, Database, blobs
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.runs.run_rows import Row

RECENT_DAYS = 30
MAX_COMPARED = 200  # number of newest corrections to search for similar ones
A, P, L = t.actions.c, t.approvals.c, t.corrections.c
_NEWEST = SortOrder((L.at, L.case_id), newest_first=True)


# Actions
def proposed_action(connection: Connection, approval_id: str) -> Row:
    """An action with the state of its approval and the definition revision of its execution."""
    e = t.checkpoint_executions.c
    row = connection.execute(
        sa.select(A.operation_type, A.parameters, A.supporting_data, P.status, P.pipeline_id, e.definition_revision)
        .join(t.approvals, P.approval_id == A.approval_id)
        .join(t.checkpoint_executions, e.execution_id == A.execution_id)
        .where(A.approval_id == approval_id)
    ).one_or_none()
    if row is None:
        raise NotFound("proposed action", approval_id)
    return row


def approved_parameters(connection: Connection, approval_id: str, proposed: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the last modification, or the proposed ones."""
    d = t.approval_decisions.c
    checksum = connection.execute(
        sa.select(d.answer_checksum)
        .where(d.approval_id == approval_id, d.answer_checksum.is_not(None))
        .order_by(d.position.desc())
        .limit(1)
    ).scalar()
    if checksum is None:
        return proposed
    content = blobs.read(connection, checksum)
    modified: Any = decode_json(content, max_bytes=max(len(content), 1))
    return modified


def open_actions(connection: Connection, e: Execution) -> list[Row]:
    """Approved actions of this revision without a final outcome, in the order in which they were proposed."""
    query = (
        sa.select(t.actions)
        .join(t.approvals, P.approval_id == A.approval_id)
        .where(
            A.execution_id == e.id,
            A.revision_iteration == e.revision,
            A.outcome.in_(("proposed", "started", "unknown")),
            P.status.in_([status.value for status in APPROVED_STATUSES]),
        )
        .order_by(A.proposed_at, P.ordinal)
    )
    return list(connection.execute(query))


def escalation_decision(connection: Connection, e: Execution, since: datetime) -> Row | None:
    """The last decision on an escalation requested after `since`, and the user who made it."""
    d = t.approval_decisions.c
    return connection.execute(
        sa.select(d.decision, d.by)
        .join(t.approvals, P.approval_id == d.approval_id)
        .where(P.execution_id == e.id, P.kind == ApprovalKind.ESCALATION.value, P.requested_at >= since)
        .order_by(P.ordinal.desc(), d.position.desc())
        .limit(1)
    ).one_or_none()


def run_artifacts(connection: Connection, run_id: str) -> list[Row]:
    """Names, formats and checksums of the artifacts of a run, newest first."""
    a, x = t.artifacts.c, t.checkpoint_executions.c
    query = (
        sa.select(a.artifact_name, a.format, a.checksum)
        .join(t.checkpoint_executions, x.execution_id == a.execution_id)
        .where(x.run_id == run_id, x.archived_by.is_(None))
        .order_by(a.created_at.desc())
    )
    return list(connection.execute(query))


def named_artifact(connection: Connection, run_id: str, name: str) -> Row | None:
    """The newest artifact of the run with this name, with or without its format."""
    a, x = t.artifacts.c, t.checkpoint_executions.c
    stem, _, suffix = name.rpartition(".")
    with_format = sa.and_(a.artifact_name == stem, a.format == suffix)
    return connection.execute(
        sa.select(a.artifact_record_id, a.artifact_name, a.format, a.size_bytes, a.checksum)
        .join(t.checkpoint_executions, x.execution_id == a.execution_id)
        .where(x.run_id == run_id, x.archived_by.is_(None), sa.or_(a.artifact_name == name, with_format))
        .order_by(a.created_at.desc(), a.artifact_record_id)
        .limit(1)
    ).one_or_none()


# Action types
def stored_type(connection: Connection, name: str) -> ActionTypeDeclaration | None:
    """The type with this name that an admin declared in the database."""
    c = t.action_types.c
    found = connection.execute(sa.select(c.declaration).where(c.name == name)).scalar()
    return None if found is None else ActionTypeDeclaration.model_validate(found)


def stored_types(connection: Connection) -> dict[str, ActionTypeDeclaration]:
    c = t.action_types.c
    rows = connection.execute(sa.select(c.name, c.declaration).order_by(c.name))
    return {row.name: ActionTypeDeclaration.model_validate(row.declaration) for row in rows}


# Corrections
def similar_corrections(
    connection: Connection, operation_type: str, parameters: Mapping[str, Any], limit: int = 3
) -> list[Row]:
    """Corrections of the same operation, by the similarity of their original parameters, then newest first."""
    rows = connection.execute(
        sa.select(t.corrections)
        .where(L.operation_type == operation_type)
        .order_by(L.at.desc(), L.case_id.desc())
        .limit(MAX_COMPARED)
    ).all()
    ranked = sorted(enumerate(rows), key=lambda pair: (-_similarity(pair[1].original, parameters), pair[0]))
    return [row for _, row in ranked[:limit]]


def _similarity(left: Mapping[str, Any], right: Mapping[str, Any]) -> float:
    """The proportion of common fields. Fields with equal values count twice."""
    names = {*left, *right}
    if not names:
        return 0.0
    shared = [name for name in names if name in left and name in right]
    equal = sum(digest(left[name]) == digest(right[name]) for name in shared)
    return (len(shared) + equal) / (2 * len(names))


def list_cases(
    connection: Connection, operation_type: str | None, pipeline_id: str | None, limit: int, cursor: str | None
) -> LearningCasePage:
    query = sa.select(t.corrections)
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
    """How often people modify actions. Actions that a rule approved don't count, because no one reviewed them."""
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
            a.status.in_([status.value for status in APPROVED_STATUSES]),
            a.status != "auto_approved",
            a.reused_from.is_(None),
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
        recent_rate=_rate_of(row.recent_modified, row.recent),
        earlier_rate=_rate_of(row.modified - row.recent_modified, row.approved - row.recent),
    )


def _rate_of(modified: int, approved: int) -> float | None:
    return modified / approved if approved else None


class CorrectionQueries:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def cases(
        self, operation_type: str | None, pipeline_id: str | None, limit: int, cursor: str | None
    ) -> LearningCasePage:
        return self._database.read(lambda c: list_cases(c, operation_type, pipeline_id, limit, cursor))

    def similar(self, operation_type: str, parameters: Mapping[str, Any], limit: int = 3) -> list[LearningCase]:
        """Corrections to show to an agent that proposes such an action."""
        rows = self._database.read(lambda c: similar_corrections(c, operation_type, parameters, limit))
        return [case_of(row) for row in rows]

    def rates(self) -> ModificationRates:
        now = self._clock.now()
        return self._database.read(lambda c: modification_rates(c, now))
