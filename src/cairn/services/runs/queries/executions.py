"""Executions with their artifacts, errors, validations and pending approvals."""

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
from cairn.services.rework.queries.reworks import superseded_by
from cairn.services.rework.staleness import queries as staleness
from cairn.services.rework.views import StaleInput
from cairn.services.runs.execution_views import (
    AttemptError,
    ErrorDetails,
    Execution,
    ExecutionPage,
    Interaction,
    LastError,
    ResultValidation,
)
from cairn.services.runs.queries import progress, validations
from cairn.store import Connection, LoadedRun, model_usage
from cairn.store import tables as t
from cairn.store.model_usage import NO_USAGE, ModelUsage

E = t.checkpoint_executions.c
_OLDEST_FIRST = SortOrder((E.ordinal, E.execution_id))


@dataclass(frozen=True, slots=True)
class ExecutionRows:
    """Related rows of several executions of one run, by execution."""

    loaded: LoadedRun
    artifacts: Mapping[str, list[Artifact]]
    interactions: Mapping[str, list[Interaction]]
    pending: Mapping[str, Approval]
    stale: Mapping[str, list[StaleInput]]
    errors: Mapping[str, list[AttemptError]]
    validations: Mapping[str, list[ResultValidation]]
    usage: Mapping[str, ModelUsage]


def get_execution(
    connection: Connection,
    plans: DefinitionCache,
    loaded: LoadedRun,
    row: Row,
    now: datetime,
    actor: Actor | None = None,
) -> Execution:
    """The execution as `actor` sees it."""
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
    found = page(connection, query, _OLDEST_FIRST, limit, cursor)
    return ExecutionPage(items=_views(connection, plans, loaded, found.rows, now, actor), next_cursor=found.next_cursor)


def _views(
    connection: Connection,
    plans: DefinitionCache,
    loaded: LoadedRun,
    rows: Sequence[Row],
    now: datetime,
    actor: Actor | None,
) -> list[Execution]:
    ids, viewer = [row.execution_id for row in rows], approvals.ApprovalViewer(now, actor)
    stale = staleness.of_executions(connection, ids)
    related = ExecutionRows(
        loaded,
        artifacts.artifacts_of_executions(connection, {row.execution_id: row.outputs for row in rows}, stale),
        _interactions(connection, ids),
        {a.execution_id: a for a in approvals.pending_of_run(connection, loaded.facts.run_id, viewer)},
        stale,
        attempt_errors(connection, loaded.facts.run_id, [row.execution_id for row in rows if row.error_count > 0]),
        validations.validations_of_executions(connection, ids),
        model_usage.usage_by(connection, t.model_calls.c.execution_id, ids),
    )
    return [_view(connection, plans, related, row, now) for row in rows]


def _view(connection: Connection, plans: DefinitionCache, related: ExecutionRows, row: Row, now: datetime) -> Execution:
    run, facts = related.loaded.run, related.loaded.facts
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
        stale_inputs=related.stale.get(row.execution_id, []),
        archived_by=row.archived_by,
        sandbox=row.sandbox,
        retry_due_at=row.due_at,
        active_seconds=active_seconds_until(now, row.active_seconds, row.active_since),
        digest=row.digest,
        error_details=_errors(row, related.errors.get(row.execution_id, [])),
        validations=related.validations.get(row.execution_id, []),
        artifacts_generated=related.artifacts.get(row.execution_id, []),
        human_interactions=related.interactions.get(row.execution_id, []),
        approval=related.pending.get(row.execution_id),
        form=form_of(connection, checkpoint, row),
        progress=progress.progress(row),
        usage=usage_view(related.usage.get(row.execution_id, NO_USAGE)),
        available_commands=for_execution(run, aggregate, now, is_stale=row.execution_id in related.stale)
        if is_live
        else [],
        warnings=[],
    )


def active_seconds_until(now: datetime, active_seconds: float, active_since: datetime | None) -> float:
    since = max(0.0, (now - active_since).total_seconds()) if active_since is not None else 0.0
    return active_seconds + since


def _errors(row: Row, attempts: list[AttemptError]) -> ErrorDetails:
    last = LastError(timestamp=row.last_error_at, **row.last_error) if row.last_error is not None else None
    return ErrorDetails(error_count=row.error_count, last_error=last, attempts=attempts)


_H = sa.table(
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
    interactions: defaultdict[str, list[Interaction]] = defaultdict(list)
    query = sa.select(_H).where(_H.c.execution_id.in_(execution_ids)).order_by(_H.c.timestamp)
    for row in connection.execute(query):
        interactions[row.execution_id].append(
            Interaction(
                interaction_id=row.interaction_id,
                timestamp=row.timestamp,
                type=row.type,
                user_input=row.user_input,
                system_response=row.system_response,
                actor=row.actor,
            )
        )
    return interactions


V = t.events.c

_RETRY_EVENTS = frozenset({EventType.EXECUTION_RETRIED.value, EventType.EXECUTION_VALIDATION_RETRIED.value})

_ERROR_EVENTS = (*sorted(_RETRY_EVENTS), EventType.EXECUTION_FAILED.value)


def attempt_errors(connection: Connection, run_id: str, ids: Sequence[str]) -> dict[str, list[AttemptError]]:
    """Errors of failed attempts by execution, oldest first."""
    errors: defaultdict[str, list[AttemptError]] = defaultdict(list)
    if not ids:
        return errors
    query = sa.select(V.execution_id, V.event_type, V.timestamp, V.metadata).where(
        V.chain == run_id, V.execution_id.in_(ids), V.event_type.in_(_ERROR_EVENTS)
    )
    for row in connection.execute(query.order_by(V.seq)):
        earlier = errors[row.execution_id]
        error = _error(row, earlier[-1].attempt_number if earlier else 0)
        if error is not None:
            earlier.append(error)
    return errors


def _error(row: Row, last_attempt: int) -> AttemptError | None:
    """The error in an event. None for a manual retry, because an earlier event contains its error."""
    metadata = row.metadata
    is_invalid = row.event_type == EventType.EXECUTION_VALIDATION_RETRIED.value
    message = metadata.get("reason") if is_invalid else metadata.get("error")
    if message is None:
        return None
    number = metadata.get("attempt_number")  # of the next attempt, if the event is a retry
    if number is not None and row.event_type in _RETRY_EVENTS:
        number -= 1
    return AttemptError(
        attempt_number=number or last_attempt + 1,
        timestamp=row.timestamp,
        error_type=metadata.get("error_type") or ("not_valid" if is_invalid else ""),
        error_message=message,
        stack_trace=metadata.get("stack_trace") or "",
    )
