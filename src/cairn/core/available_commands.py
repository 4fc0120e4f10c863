"""The commands that are available now, found by deciding them without saving."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from cairn.core import rollback
from cairn.core.commands import (
    CancelExecution,
    CancelRun,
    Command,
    CommandContext,
    PauseRun,
    RequestRework,
    RestartRun,
    ResumeRun,
    RetryExecution,
    StartExecution,
    StartRun,
)
from cairn.core.decide import decide
from cairn.core.errors import CommandRefused
from cairn.core.execution import Execution
from cairn.core.run import Run
from cairn.core.states import CLOSED, ApprovalKind, ApprovalStatus, ExecutionState
from cairn.core.transitions import DECISIONS, RUN, RunTransition

_BY_KIND = {
    ApprovalKind.START: ("approve-start", "reject"),
    ApprovalKind.COMPLETION: ("approve-complete", "revise"),
    ApprovalKind.ACTION: ("approve", "revise"),
    ApprovalKind.INPUT: ("submit",),
}


def for_run(run: Run, at: datetime, over_budget: str = "") -> list[str]:
    """The commands that users can send to the run, as the API names them. `over_budget`: why it can't be resumed."""
    if run.archived_by is not None:
        return []
    commands: dict[RunTransition, Command] = {
        RunTransition.START: StartRun(),
        RunTransition.PAUSE: PauseRun(),
        RunTransition.RESUME: ResumeRun(),
        RunTransition.CANCEL: CancelRun(),
        RunTransition.RESTART: RestartRun(run.pass_number),
    }
    found = [name for name, command in commands.items() if _is_accepted(run, command, at, over_budget)]
    if run.status in CLOSED:
        found.append(RunTransition.RETRY)  # starts the next version, with the same input
    if can_roll_back(run):
        found.append(RunTransition.ROLL_BACK)
    return [transition.value for transition in RunTransition if transition in found]


def can_roll_back(run: Run) -> bool:
    done = {e.position for e in run.current if e.state is ExecutionState.COMPLETED}
    return any(_can_roll_back_to(run, target) for target in (-1, *sorted(done)))


def _can_roll_back_to(run: Run, target: int) -> bool:
    try:
        rollback.check(run, target, with_runs=False)
    except CommandRefused:
        return False
    return True


def for_execution(run: Run, execution: Execution, at: datetime, *, is_stale: bool = False) -> list[str]:
    if run.archived_by is not None or execution.archived_by is not None:
        return []
    decisions = [name for approval in run.pending_of(execution.id) for name in _BY_KIND.get(approval.kind, ())]
    commands: dict[str, Command] = {
        "start": StartExecution(execution.id),
        "retry": RetryExecution(execution.id, execution.attempt),
        "cancel": CancelExecution(execution.id),
    }
    latest = run.latest(execution.key)
    if is_stale and latest is not None and latest.id == execution.id:
        commands["rerun"] = RequestRework(execution.key)
    found = [*decisions, *(name for name, command in commands.items() if _is_accepted(run, command, at))]
    return [*found, "rework"] if can_request_rework(run, execution) else found


def can_request_rework(run: Run, execution: Execution) -> bool:
    """Whether a user can send an earlier checkpoint back on behalf of this execution."""
    if RunTransition.REWORK not in RUN[run.status] or execution.id not in run.index.current:
        return False
    if execution.state not in (ExecutionState.AWAITING_COMPLETION_APPROVAL, ExecutionState.COMPLETED):
        return False
    active = run.active_keys
    return any(done.position < execution.position and key not in active for key, done in run.index.done.items())


def for_approval(kind: ApprovalKind, status: ApprovalStatus, is_archived: bool) -> list[str]:
    return list(DECISIONS[kind]) if status is ApprovalStatus.PENDING and not is_archived else []


def _is_accepted(run: Run, command: Command, at: datetime, over_budget: str = "") -> bool:
    try:
        decide(run, command, CommandContext(at, "", UUID(int=0), over_budget=over_budget))
    except CommandRefused:
        return False
    return True
