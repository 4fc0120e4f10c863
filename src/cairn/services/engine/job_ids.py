"""Ids of jobs. They depend only on the purpose of the job, so that enqueueing it twice creates one job."""

from __future__ import annotations

from cairn.core.commands import (
    ApprovalExpired,
    EscalationDue,
    ExecutionTimedOut,
    ReminderDue,
    RetryDue,
    RunTimedOut,
    Timer,
)
from cairn.core.decide import Decision
from cairn.core.effects import Dispatch
from cairn.core.execution import Execution
from cairn.core.states import ExecutionState
from cairn.store import LoadedRun


def drivers_of(decision: Decision, lane: str | None) -> tuple[dict[str, str], tuple[str, ...]]:
    """The driver of each dispatched execution, and the new lanes. The reporting lane drives the first execution."""
    drivers: dict[str, str] = {}
    jobs: list[str] = []
    for effect in decision.effects:
        if not isinstance(effect, Dispatch):
            continue
        if lane is not None:
            drivers[effect.execution], lane = lane, None
        else:
            job = f"exec:{effect.execution}:{effect.dispatch}"
            drivers[effect.execution] = job
            jobs.append(job)
    return drivers, tuple(jobs)


def timer_id(run_id: str, command: Timer) -> str:
    match command:
        case RetryDue():
            return f"retry:{command.execution}:{command.dispatch}"
        case ExecutionTimedOut():
            return f"timeout:{command.execution}:{command.dispatch}"
        case ApprovalExpired():
            return f"expiry:{command.approval}:{command.period}"
        case EscalationDue():
            return f"escalation:{command.approval}"
        case ReminderDue():
            return f"reminder:{command.approval}:{command.period}"
        case RunTimedOut():
            return f"run-timeout:{run_id}:{command.timer_generation}"


def driven_by(loaded: LoadedRun, job: str) -> Execution | None:
    """The working execution that this job drives."""
    for execution_id, driver in loaded.drivers.items():
        if driver == job:
            e = loaded.run.executions[execution_id]
            if e.state is ExecutionState.WORKING and e.archived_by is None:
                return e
    return None
