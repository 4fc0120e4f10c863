"""Estimate the remaining time of a run from earlier runs of the same definition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from statistics import median

import sqlalchemy as sa

from cairn.core.execution import Execution
from cairn.core.run import Run
from cairn.core.states import ExecutionState, RunStatus
from cairn.store import Connection, RunFacts
from cairn.store import tables as t

_MAX_RUNS = 10  # earlier runs to evaluate


def durations(connection: Connection, facts: RunFacts) -> dict[str, float]:
    """Median seconds from the creation of an execution to its completion, by checkpoint key."""
    r, e = t.pipeline_runs.c, t.checkpoint_executions.c
    earlier = (
        sa.select(r.run_id)
        .where(
            r.pipeline_id == facts.pipeline_id,
            r.pipeline_definition_version == facts.definition_version,
            r.status == RunStatus.COMPLETED.value,
            r.archived_by.is_(None),
            r.is_test.is_(False),
            r.run_id != facts.run_id,
        )
        .order_by(r.created_at.desc())
        .limit(_MAX_RUNS)
    )
    runs = list(connection.execute(earlier).scalars())
    if not runs:
        return {}
    query = sa.select(e.key, e.created_at, e.completed_at).where(
        e.run_id.in_(runs),
        e.state == ExecutionState.COMPLETED.value,
        e.archived_by.is_(None),
        e.completed_at.is_not(None),
    )
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    for key, created_at, completed_at in connection.execute(query):
        if created_at is not None:
            seconds[key].append((completed_at - created_at).total_seconds())
    return {key: median(values) for key, values in seconds.items()}


def seconds_left(run: Run, durations: Mapping[str, float], now: datetime) -> float | None:
    """The longest path through the remaining checkpoints. None if the duration of one of them is unknown."""
    left: dict[str, float] = {}
    complete = run.complete
    for checkpoint in run.plan.checkpoints:
        before = max((left[key] for key in run.plan.prerequisites[checkpoint.key]), default=0.0)
        if checkpoint.key in complete:
            left[checkpoint.key] = before
            continue
        if checkpoint.key not in durations:
            return None
        spent = max((_age(e, now) for e in run.open if e.key == checkpoint.key), default=0.0)
        left[checkpoint.key] = before + max(0.0, durations[checkpoint.key] - spent)
    return max(left.values(), default=0.0)


def _age(execution: Execution, now: datetime) -> float:
    return (now - execution.created_at).total_seconds() if execution.created_at else 0.0
