"""One run with its checkpoints, progress, pending approvals and available commands."""

from __future__ import annotations

from collections.abc import Container, Mapping
from datetime import datetime

import sqlalchemy as sa

from cairn.core.available_commands import for_run
from cairn.core.execution import Execution
from cairn.core.plan import Checkpoint
from cairn.core.run import Run
from cairn.core.states import LIVE, ExecutionMode, ExecutionState, RunStatus
from cairn.definitions import CheckpointDefinition
from cairn.services.actors import Actor
from cairn.services.approvals.queries import lists as approvals
from cairn.services.costs.budgets import Budgets
from cairn.services.costs.price_check import PriceCheck
from cairn.services.costs.usage import run_budget_view
from cairn.services.engine.plans import DefinitionCache
from cairn.services.rework.staleness import queries as staleness
from cairn.services.runs.execution_views import Progress
from cairn.services.runs.queries import estimates, progress
from cairn.services.runs.queries.executions import active_seconds_until
from cairn.services.runs.queries.lists import R, summary_fields
from cairn.services.runs.views import Run as RunView
from cairn.services.runs.views import RunCheckpoint, RunProgress
from cairn.store import Connection, LoadedRun, model_usage
from cairn.store import tables as t

_ACTIVE = frozenset({RunStatus.IN_PROGRESS, RunStatus.PAUSED})


def get_run(
    connection: Connection,
    plans: DefinitionCache,
    budgets: Budgets,
    price_check: PriceCheck,
    loaded: LoadedRun,
    now: datetime,
    actor: Actor | None = None,
) -> RunView:
    """The run as `actor` sees it."""
    run, facts = loaded.run, loaded.facts
    query = sa.select(t.pipeline_runs, t.pipelines.c.pipeline_name).join_from(t.pipeline_runs, t.pipelines)
    row = connection.execute(query.where(R.run_id == facts.run_id)).one()
    pending = approvals.pending_of_run(connection, facts.run_id, approvals.ApprovalViewer(now, actor))
    open_executions = progress.open_executions_of_runs(connection, [row]).get(facts.run_id, [])
    budget = budgets.run_usage(connection, facts.run_id)
    return RunView(
        **summary_fields(row, len(pending), open_executions, model_usage.run_usage(connection, facts.run_id)),
        paused_at=row.paused_at,
        last_resumed_at=row.last_resumed_at,
        previous_run_id=row.previous_run_id,
        extends_from_run_version=row.extends_from_run_version,
        original_prompt=row.original_prompt or None,
        pass_number=row.pass_number,
        restart_count=row.restart_count,
        checkpoint_execution_history=[e.id for e in run.executions.values() if e.archived_by is None],
        rollback_history=[rollback.id for rollback in run.rollbacks],
        checkpoints=_checkpoints(connection, plans, loaded, {e.execution_id: e.progress for e in open_executions}, now),
        progress=_progress(connection, loaded, now),
        available_commands=for_run(run, now, budget.exhausted.message if budget.exhausted is not None else ""),
        pending_approvals=pending,
        budget=run_budget_view(budget),
        warnings=price_check.run_warnings(connection, loaded, budget),
    )


# Checkpoints
def _checkpoints(
    connection: Connection,
    plans: DefinitionCache,
    loaded: LoadedRun,
    progress_by_execution: Mapping[str, Progress | None],
    now: datetime,
) -> list[RunCheckpoint]:
    run, facts = loaded.run, loaded.facts
    counts = _artifact_counts(connection, facts.run_id)
    newest = plans.definition(connection, facts.pipeline_id, run.plan.revision).by_key
    original = plans.definition(connection, facts.pipeline_id, facts.definition_revision).by_key
    by_key = {e.key: e for e in sorted(run.current, key=_precedence)}
    stale = staleness.of_run(connection, facts.run_id).keys()
    return [
        _checkpoint(
            loaded,
            checkpoint,
            newest.get(checkpoint.key) or original[checkpoint.key],
            by_key.get(checkpoint.key),
            counts,
            progress_by_execution,
            stale,
            now,
        )
        for checkpoint in run.plan.checkpoints
    ]


def _precedence(execution: Execution) -> tuple[int, int]:
    """Sort key: a live execution of the checkpoint takes precedence, then a completed one, then the last one."""
    rank = 2 if execution.state in LIVE else 1 if execution.state is ExecutionState.COMPLETED else 0
    return rank, execution.ordinal


def _checkpoint(
    loaded: LoadedRun,
    checkpoint: Checkpoint,
    definition: CheckpointDefinition,
    e: Execution | None,
    counts: Mapping[str, int],
    progress_by_execution: Mapping[str, Progress | None],
    stale: Container[str],
    now: datetime,
) -> RunCheckpoint:
    policy = e.policy if e is not None else loaded.run.plan.policy(checkpoint.key)
    return RunCheckpoint(
        position=checkpoint.position,
        checkpoint_id=loaded.places[checkpoint.key].checkpoint_id,
        key=checkpoint.key,
        name=definition.checkpoint_name,
        description=definition.checkpoint_description,
        stage=checkpoint.stage,
        mode=ExecutionMode(policy.mode),
        needs=list(checkpoint.needs),
        requires_approval_to_start=policy.requires_start_approval,
        requires_approval_to_complete=policy.requires_completion_approval,
        execution_id=e.id if e else None,
        status=e.status if e else "upcoming",
        waiting_on=e.waiting_on if e else None,
        attempt_number=e.attempt if e else 1,
        revision_iteration=e.revision if e else 0,
        started_at=e.started_at if e else None,
        completed_at=e.completed_at if e else None,
        active_seconds=active_seconds_until(now, e.active_seconds, e.active_since) if e else 0.0,
        artifact_count=counts.get(e.id, 0) if e else 0,
        error_message=e.last_error.message if e and e.last_error and e.state in LIVE else None,
        retry_due_at=e.due_at if e else None,
        progress=progress_by_execution.get(e.id) if e else None,
        is_rework=e.is_rework if e else False,
        is_stale=e is not None and e.id in stale,
    )


def _artifact_counts(connection: Connection, run_id: str) -> dict[str, int]:
    a = t.artifacts.c
    query = (
        sa.select(a.execution_id, sa.func.count())
        .where(a.run_id == run_id, a.superseded_at.is_(None))
        .group_by(a.execution_id)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


# Progress
def _progress(connection: Connection, loaded: LoadedRun, now: datetime) -> RunProgress:
    run = loaded.run
    seconds_left: float | None = None
    if run.status in _ACTIVE:
        seconds_left = estimates.seconds_left(run, estimates.durations(connection, loaded.facts), now)
    return RunProgress(
        completed=len(run.complete),
        total=len(run.plan.checkpoints),
        elapsed_seconds=_elapsed(run, now),
        estimated_seconds_left=seconds_left,
        current=[loaded.places[e.key].name for e in sorted(run.open, key=lambda e: e.position)],
    )


def _elapsed(run: Run, now: datetime) -> float:
    if run.started_at is None:
        return 0.0
    return max(0.0, ((run.completed_at or now) - run.started_at).total_seconds())
