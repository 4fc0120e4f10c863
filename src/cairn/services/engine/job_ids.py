"""Jobs are named after what they are for: one that is enqueued twice is there once."""

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
    """Who drives what was dispatched: the lane that reported takes the first, the others get lanes of their own."""
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
    """The execution at work that this job drives."""
    for execution, driver in loaded.drivers.items():
        if driver == job:
            e = loaded.run.executions[execution]
            if e.state is ExecutionState.WORKING and e.archived_by is None:
                return e
    return None
