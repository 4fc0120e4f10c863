"""Choose the next command that brings a run closer to completion, from any state."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from cairn.core.approval import Approval
from cairn.core.commands import (
    ActionDecided,
    ActionResumed,
    Command,
    CommandContext,
    Decide,
    ExecutionFinished,
    ResumeRun,
    RetryDue,
    RetryExecution,
    RollBack,
    StartExecution,
    StartRun,
    UndoRollback,
)
from cairn.core.decide import decide
from cairn.core.execution import Execution
from cairn.core.run import Run
from cairn.core.states import ApprovalKind, ApprovalStatus, ExecutionState, PassDecision, RunStatus, WaitingOn
from tests.core.walk_choices import DELAYS

LATER = datetime(2027, 1, 1, tzinfo=UTC)
ANSWERS = {
    ApprovalKind.START: "approve",
    ApprovalKind.COMPLETION: "approve",
    ApprovalKind.ACTION: "approve",
    ApprovalKind.OUTCOME: "happened",
    ApprovalKind.VALIDATION: "accept",
    ApprovalKind.INPUT: "answer",
}


def next_command(run: Run, n: int) -> Command:
    if run.archived_by is not None:
        return UndoRollback(run.archived_by)
    done = max((e.position for e in run.current if e.state is ExecutionState.COMPLETED), default=-1)
    match run.status:
        case RunStatus.NOT_STARTED:
            return StartRun()
        case RunStatus.CANCELLED:
            return RollBack(f"F{n}", done)
        case RunStatus.FAILED | RunStatus.PAUSED:
            if run.failed:
                return RetryExecution(run.failed[0].id, run.failed[0].attempt)
            return ResumeRun() if run.status is RunStatus.PAUSED else RollBack(f"F{n}", done)
        case _:
            return _next(run, n)


def _next(run: Run, n: int) -> Command:
    waiting = sorted(run.open, key=lambda e: (e.state is not ExecutionState.WORKING, e.state is ExecutionState.PENDING))
    for e in waiting:
        if e.state is ExecutionState.WORKING:
            return ExecutionFinished(e.id, e.dispatch, f"d{n}", pass_decision=PassDecision.COMPLETE)
        for a in run.pending_of(e.id):
            if a.action is not None:
                return ActionDecided(a.id, ANSWERS[a.kind], ApprovalStatus.APPROVED)
            return Decide(a.id, ANSWERS.get(a.kind) or _escalated(run, e, a), a.digest)
        if e.waiting_on is WaitingOn.ACTION_APPROVAL:
            return ActionResumed(e.id)
        if e.waiting_on in DELAYS:
            return RetryDue(e.id, e.dispatch)
        if e.state is ExecutionState.PENDING:
            return StartExecution(e.id)
    if run.failed:
        return RetryExecution(run.failed[0].id, run.failed[0].attempt)
    raise AssertionError(f"a dead end: {run}")


def _escalated(run: Run, e: Execution, a: Approval) -> str:
    first = run.plan[e.key].decides and run.plan.require_second_pass and run.pass_number == 1
    if e.pending_rework or (e.digest and not first):
        return "accept"
    return "restart" if first and e.digest else "retry"


def run_to_completion(run: Run) -> int:
    for n in range(400):
        if run.status is RunStatus.COMPLETED and run.archived_by is None:
            return n
        context = CommandContext(LATER + timedelta(seconds=n), f"driver {n}", UUID(int=2**64 + n))
        run = decide(run, next_command(run, n), context).run
    raise AssertionError(f"no end: {run.status} in pass {run.pass_number}, open {run.open}")
