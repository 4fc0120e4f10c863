"""What is possible now: asked of the core itself, on paper."""

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
from cairn.core.states import ApprovalKind, ApprovalStatus, ExecutionState, RunStatus
from cairn.core.transitions import DECISIONS, RUN, RunTransition

ENDED = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})
_BY_KIND = {
    ApprovalKind.START: ("approve-start", "reject"),
    ApprovalKind.COMPLETION: ("approve-complete", "revise"),
    ApprovalKind.ACTION: ("approve", "revise"),
    ApprovalKind.INPUT: ("submit",),
}


def for_run(run: Run, at: datetime, over_budget: str = "") -> list[str]:
    """What a person may ask of the run, in the words of the API. A spent budget keeps it from being resumed."""
    if run.archived_by is not None:
        return []
    commands: dict[RunTransition, Command] = {
        RunTransition.START: StartRun(),
        RunTransition.PAUSE: PauseRun(),
        RunTransition.RESUME: ResumeRun(),
        RunTransition.CANCEL: CancelRun(),
        RunTransition.RESTART: RestartRun(run.pass_number),
    }
    found = [verb for verb, command in commands.items() if _is_accepted(run, command, at, over_budget)]
    if run.status in ENDED:
        found.append(RunTransition.RETRY)  # the next version, with the same input
    if can_roll_back(run):
        found.append(RunTransition.ROLL_BACK)
    return [verb.value for verb in RunTransition if verb in found]


def can_roll_back(run: Run) -> bool:
    done = {e.position for e in run.current if e.state is ExecutionState.COMPLETED}
    return any(_has_way_back(run, target) for target in (-1, *sorted(done)))


def _has_way_back(run: Run, target: int) -> bool:
    try:
        rollback.check(run, target, with_runs=False)
    except CommandRefused:
        return False
    return True


def for_execution(run: Run, execution: Execution, at: datetime, *, is_stale: bool = False) -> list[str]:
    if run.archived_by is not None or execution.archived_by is not None:
        return []
    asked = [verb for approval in run.pending_of(execution.id) for verb in _BY_KIND.get(approval.kind, ())]
    commands: dict[str, Command] = {
        "start": StartExecution(execution.id),
        "retry": RetryExecution(execution.id, execution.attempt),
        "cancel": CancelExecution(execution.id),
    }
    stands = run.latest(execution.key)
    if is_stale and stands is not None and stands.id == execution.id:
        commands["rerun"] = RequestRework(execution.key)
    found = [*asked, *(verb for verb, command in commands.items() if _is_accepted(run, command, at))]
    return [*found, "rework"] if can_send_back(run, execution) else found


def can_send_back(run: Run, asker: Execution) -> bool:
    """Whether a person who looks at it may send any earlier checkpoint back."""
    if RunTransition.REWORK not in RUN[run.status] or asker.id not in run.index.current:
        return False
    if asker.state not in (ExecutionState.AWAITING_COMPLETION_APPROVAL, ExecutionState.COMPLETED):
        return False
    live = run.active_keys
    return any(done.position < asker.position and key not in live for key, done in run.index.done.items())


def for_approval(kind: ApprovalKind, status: ApprovalStatus, is_archived: bool) -> list[str]:
    return list(DECISIONS[kind]) if status is ApprovalStatus.PENDING and not is_archived else []


def _is_accepted(run: Run, command: Command, at: datetime, over_budget: str = "") -> bool:
    try:
        decide(run, command, CommandContext(at, "", UUID(int=0), over_budget=over_budget))
    except CommandRefused:
        return False
    return True
