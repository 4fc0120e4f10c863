"""Executions with all that belongs to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from cairn.core.available_commands import for_execution
from cairn.core.events import EventType
from cairn.core.execution import Execution as Aggregate
from cairn.core.states import ExecutionMode, ExecutionStatus, WaitingOn
from cairn.services.actors import Actor
from cairn.services.approvals.queries import lists as approvals
from cairn.services.approvals.queries.forms import form_of
from cairn.services.approvals.views import Approval
from cairn.services.artifacts import queries as artifacts
from cairn.services.artifacts.views import Artifact
from cairn.services.costs.usage import usage_view
from cairn.services.engine.plans import DefinitionCache, definition_of
from cairn.services.paging import Row, SortOrder, page
from cairn.services.rework import staleness
from cairn.services.rework.queries.reworks import superseded_by
from cairn.services.rework.views import StaleInput
from cairn.services.runs import validations
from cairn.services.runs.execution_views import (
    AttemptError,
    ErrorDetails,
    Execution,
    ExecutionPage,
    Interaction,
    LastError,
    ResultValidation,
)
from cairn.services.runs.queries import progress
from cairn.store import Connection, LoadedRun, model_usage
from cairn.store import tables as t
from cairn.store.model_usage import NOTHING, ModelUsage

E = t.checkpoint_executions.c
_MADE = SortOrder((E.ordinal, E.execution_id))


@dataclass(frozen=True, slots=True)
class ExecutionRows:
    """What executions of one run need to be shown, read once for all of them."""

    loaded: LoadedRun
    artifacts: Mapping[str, list[Artifact]]
    interactions: Mapping[str, list[Interaction]]
    pending: Mapping[str, Approval]
    stale: Mapping[str, list[StaleInput]]
    faults: Mapping[str, list[AttemptError]]
    validations: Mapping[str, list[ResultValidation]]
    used: Mapping[str, ModelUsage]


def get_execution(
    connection: Connection,
    plans: DefinitionCache,
    loaded: LoadedRun,
    row: Row,
    now: datetime,
    actor: Actor | None = None,
) -> Execution:
    """`by` is whoever asks, here and below."""
    return _views(connection, plans, loaded, [row], now, actor)[0]


def list_executions(
    connection: Connection,
    plans: DefinitionCache,
    loaded: LoadedRun,
    now: datetime,
    actor: Actor | None = None,
    *,
    include_archived: bool,
    limit: int,
    cursor: str | None,
) -> ExecutionPage:
    query = sa.select(t.checkpoint_executions).where(E.run_id == loaded.facts.run_id)
    if not include_archived:
        query = query.where(E.archived_by.is_(None))
    found = page(connection, query, _MADE, limit, cursor)
    return ExecutionPage(items=_views(connection, plans, loaded, found.rows, now, actor), next_cursor=found.next_cursor)


def _views(
    connection: Connection,
    plans: DefinitionCache,
    loaded: LoadedRun,
    rows: Sequence[Row],
    now: datetime,
    actor: Actor | None,
) -> list[Execution]:
    ids, seen = [row.execution_id for row in rows], approvals.ApprovalViewer(now, actor)
    stale = staleness.of_executions(connection, ids)
    around = ExecutionRows(
        loaded,
        artifacts.of_executions(connection, {row.execution_id: row.outputs for row in rows}, stale),
        _interactions(connection, ids),
        {each.execution_id: each for each in approvals.pending_of_run(connection, loaded.facts.run_id, seen)},
        stale,
        of_executions(connection, loaded.facts.run_id, [row.execution_id for row in rows if row.error_count > 0]),
        validations.of_executions(connection, ids),
        model_usage.by(connection, t.model_calls.c.execution_id, ids),
    )
    return [_view(connection, plans, around, row, now) for row in rows]


def _view(connection: Connection, plans: DefinitionCache, around: ExecutionRows, row: Row, now: datetime) -> Execution:
    run, facts = around.loaded.run, around.loaded.facts
    checkpoint = definition_of(connection, plans, facts.pipeline_id, row)
    aggregate = run.executions.get(row.execution_id)
    is_live = isinstance(aggregate, Aggregate)
    return Execution(
        execution_id=row.execution_id,
        run_id=row.run_id,
        pipeline_id=facts.pipeline_id,
        checkpoint_id=row.checkpoint_id,
        checkpoint_key=row.key,
        checkpoint_name=row.checkpoint_name,
        checkpoint_description=checkpoint.checkpoint_description,
        checkpoint_position=row.checkpoint_position,
        mode=ExecutionMode(checkpoint.execution.mode),
        status=ExecutionStatus(row.status),
        waiting_on=WaitingOn(row.waiting_on) if row.waiting_on else None,
        created_at=row.created_at,
        started_at=row.started_at,
        completed_at=row.completed_at,
        failed_at=row.failed_at,
        attempt_number=row.attempt_number,
        max_attempts=row.max_attempts,
        revision_iteration=row.revision_iteration,
        max_revision_iterations=row.max_revision_iterations,
        dispatch_number=row.dispatch_number,
        pass_number=row.pass_number,
        temp_workspace_path=row.temp_workspace_path,
        permanent_output_path=row.permanent_output_path,
        parent_execution_id=row.parent_execution_id,
        regression_context=row.regression_context,
        superseded_by=superseded_by(run, aggregate) if is_live else None,
        stale_inputs=around.stale.get(row.execution_id, []),
        archived_by=row.archived_by,
        sandbox=row.sandbox,
        retry_due_at=row.due_at,
        active_seconds=worked_seconds(row.active_seconds, row.active_since, now),
        digest=row.digest,
        error_details=_errors(row, around.faults.get(row.execution_id, [])),
        validations=around.validations.get(row.execution_id, []),
        artifacts_generated=around.artifacts.get(row.execution_id, []),
        human_interactions=around.interactions.get(row.execution_id, []),
        approval=around.pending.get(row.execution_id),
        form=form_of(connection, checkpoint, row),
        progress=progress.progress(row),
        usage=usage_view(around.used.get(row.execution_id, NOTHING)),
        available_commands=for_execution(run, aggregate, now, is_stale=row.execution_id in around.stale)
        if is_live
        else [],
        warnings=[],
    )


def worked_seconds(worked: float, since: datetime | None, now: datetime) -> float:
    return worked + (max(0.0, (now - since).total_seconds()) if since is not None else 0.0)


def _errors(row: Row, attempts: list[AttemptError]) -> ErrorDetails:
    last = LastError(timestamp=row.last_error_at, **row.last_error) if row.last_error is not None else None
    return ErrorDetails(error_count=row.error_count, last_error=last, attempts=attempts)


_seen = sa.table(
    "human_interactions",
    sa.column("interaction_id", sa.Text),
    sa.column("execution_id", sa.Text),
    sa.column("timestamp", t.approval_decisions.c.at.type),
    sa.column("type", sa.Text),
    sa.column("user_input", sa.Text),
    sa.column("system_response", sa.Text),
    sa.column("actor", sa.Text),
)


def _interactions(connection: Connection, execution_ids: Sequence[str]) -> dict[str, list[Interaction]]:
    found: defaultdict[str, list[Interaction]] = defaultdict(list)
    query = sa.select(_seen).where(_seen.c.execution_id.in_(execution_ids)).order_by(_seen.c.timestamp)
    for row in connection.execute(query):
        found[row.execution_id].append(
            Interaction(
                interaction_id=row.interaction_id,
                timestamp=row.timestamp,
                type=row.type,
                user_input=row.user_input,
                system_response=row.system_response,
                actor=row.actor,
            )
        )
    return found


V = t.events.c

_AGAIN = frozenset({EventType.EXECUTION_RETRIED.value, EventType.EXECUTION_VALIDATION_RETRIED.value})

_TOLD = (*sorted(_AGAIN), EventType.EXECUTION_FAILED.value)


def of_executions(connection: Connection, run_id: str, ids: Sequence[str]) -> dict[str, list[AttemptError]]:
    """By execution, the newest last."""
    found: defaultdict[str, list[AttemptError]] = defaultdict(list)
    if not ids:
        return found
    query = sa.select(V.execution_id, V.event_type, V.timestamp, V.metadata).where(
        V.chain == run_id, V.execution_id.in_(ids), V.event_type.in_(_TOLD)
    )
    for row in connection.execute(query.order_by(V.seq)):
        earlier = found[row.execution_id]
        error = _error(row, earlier[-1].attempt_number if earlier else 0)
        if error is not None:
            earlier.append(error)
    return found


def _error(row: Row, last: int) -> AttemptError | None:
    """None of a retry that a person asked for: how the attempt before it failed has been told."""
    told = row.metadata
    is_invalid = row.event_type == EventType.EXECUTION_VALIDATION_RETRIED.value
    message = told.get("reason") if is_invalid else told.get("error")
    if message is None:
        return None
    number = told.get("attempt_number")  # of the next attempt, where there is one
    if number is not None and row.event_type in _AGAIN:
        number -= 1
    return AttemptError(
        attempt_number=number or last + 1,
        timestamp=row.timestamp,
        error_type=told.get("error_type") or ("not_valid" if is_invalid else ""),
        error_message=message,
        stack_trace=told.get("stack_trace") or "",
    )
