"""Queries of actions and of the corrections that people make to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from cairn.config.action_types import ActionTypeDeclaration
from cairn.core.states import APPROVED_STATUSES, ActionState
from cairn.documents import digest
from cairn.ports import Clock
from cairn.services.actions.views import (
    LearningCase,
    LearningCasePage,
    ModificationRate,
    ModificationRates,
    ParameterChange,
)
from cairn.services.paging import SortOrder, page
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.runs.run_rows import Row

RECENT_DAYS = 30
MAX_COMPARED = 200  # number of newest corrections to search for similar ones
A, P, L = t.actions.c, t.approvals.c, t.corrections.c
_NEWEST = SortOrder((L.at, L.case_id), newest_first=True)


# Actions
def current_parameters(connection: Connection, action_id: str) -> dict[str, Any]:
    """The parameters of the newest version."""
    v = t.action_versions.c
    query = sa.select(v.parameters).where(v.action_id == action_id).order_by(v.version.desc()).limit(1)
    return connection.execute(query).scalar() or {}


def action_row(connection: Connection, action_id: str) -> Row:
    """An action with the definition revision of its execution."""
    e = t.checkpoint_executions.c
    row = connection.execute(
        sa.select(t.actions, e.definition_revision)
        .outerjoin(t.checkpoint_executions, e.execution_id == A.execution_id)
        .where(A.action_id == action_id)
    ).one_or_none()
    if row is None:
        raise NotFound("action", action_id)
    return row


def action_of_approval(connection: Connection, approval_id: str) -> Row:
    action_id = connection.execute(sa.select(P.action_id).where(P.approval_id == approval_id)).scalar()
    if action_id is None:
        raise NotFound("proposed action", approval_id)
    return action_row(connection, action_id)


_WITHOUT_ANSWER = frozenset(
    {ActionState.PROPOSED, ActionState.WAITING, ActionState.STARTED, ActionState.WITHDRAWN, ActionState.EXPIRED}
)
_PROPOSED_AGAIN = frozenset({ActionState.FAILED, ActionState.REFUSED})  # by repeated work


def outcomes_for_proposer(connection: Connection, action_ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """What the proposers of these actions get as results. Actions without one are left out."""
    if not action_ids:
        return {}
    g = t.generations.c
    is_place = sa.and_(g.family_id == A.family_id, g.checkpoint_id == A.checkpoint_id, g.item == A.item)
    rows = connection.execute(
        sa.select(t.actions, g.value.label("current_generation"))
        .outerjoin(t.generations, is_place)
        .where(A.action_id.in_(list(action_ids)))
    )
    outcomes = ((row.action_id, _outcome(row)) for row in rows)
    return {action_id: outcome for action_id, outcome in outcomes if outcome is not None}


def _outcome(row: Row) -> Mapping[str, Any] | None:
    state = ActionState(row.state)
    is_earlier = row.generation < (row.current_generation or 0)
    if state in _WITHOUT_ANSWER or (is_earlier and state in _PROPOSED_AGAIN):
        return None
    if state is ActionState.APPROVED:
        return _approved(row) if row.is_handed_over else None
    if state is ActionState.HANDED_OVER or (state is ActionState.UNKNOWN and is_earlier and row.settled):
        return None
    if state is ActionState.UNKNOWN and not row.settled:
        return _approved(row) if row.is_handed_over and row.resend_permitted else None
    decisions = {ActionState.REUSED: "reused", ActionState.TEST: "test", ActionState.REFUSED: "refused"}
    decision = decisions.get(state, "modified" if row.modified else "approved")
    outcome = {"decision": decision, "state": state.value, "result": row.result, "action_id": row.action_id}
    if state in (ActionState.DONE, ActionState.FAILED):
        outcome["executed"] = row.content
    if row.reason:
        outcome["reason"] = row.reason
    return outcome


def _approved(row: Row) -> Mapping[str, Any]:
    decision = "modified" if row.modified else "approved"
    return {"decision": decision, "state": ActionState.APPROVED.value, "action_id": row.action_id}


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
    connection: Connection,
    operation_type: str,
    parameters: Mapping[str, Any],
    limit: int = 3,
    pipeline_id: str | None = None,
) -> list[Row]:
    """Corrections of the same operation, by the similarity of their original parameters, then newest first."""
    query = sa.select(t.corrections).where(L.operation_type == operation_type)
    rows = connection.execute(
        (query if pipeline_id is None else query.where(L.pipeline_id == pipeline_id))
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
