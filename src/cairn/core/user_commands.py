"""Commands of users for a run or an execution."""

from __future__ import annotations

from typing import Any, assert_never

from cairn.core import approval_decisions, rework, rollback
from cairn.core.budget import Budget
from cairn.core.commands import (
    ActionDecided,
    ActionResumed,
    ArchiveRun,
    AssignApproval,
    CancelExecution,
    CancelRun,
    Decide,
    ExecutionCommand,
    PauseRun,
    RequestRework,
    RestartRun,
    ResumeRun,
    RetryExecution,
    RollBack,
    RunCommand,
    SetBudget,
    StartExecution,
    StartRun,
    UndoRollback,
    WarnBudget,
)
from cairn.core.draft import Draft
from cairn.core.effects import CreateWorkspace
from cairn.core.errors import AlreadyApplied, CommandRefused, StaleCommand
from cairn.core.events import EventType
from cairn.core.execution import Rework
from cairn.core.reports import current_execution
from cairn.core.settle import start, start_pass
from cairn.core.states import CLOSED, LIVE, ExecutionState, RunStatus, WaitingOn, label
from cairn.core.transitions import ExecutionTransition, RunTransition, available_transitions


def command_run(d: Draft, command: RunCommand) -> None:
    match command:
        case StartRun():
            d.move_run(RunTransition.START)
        case PauseRun():
            _pause(d)
        case ResumeRun():
            _resume(d)
        case CancelRun():
            d.cancel_open("the run was cancelled")
            d.move_run(RunTransition.CANCEL)
        case RestartRun():
            _restart(d, command)
        case RollBack():
            rollback.roll_back(d, command)
        case ArchiveRun():
            rollback.archive_run(d, command.rollback)
        case UndoRollback():
            rollback.undo(d, command.rollback)
        case SetBudget():
            _set_budget(d, command.budget)
        case WarnBudget():
            _warn_budget(d, command.reason)
        case _:
            assert_never(command)


def command_execution(d: Draft, command: ExecutionCommand) -> None:
    match command:
        case StartExecution():
            _start(d, command)
        case RetryExecution():
            _retry(d, command)
        case CancelExecution():
            _cancel(d, command)
        case RequestRework():
            _request_rework(d, command)
        case Decide():
            approval_decisions.decide(d, command)
        case ActionDecided():
            approval_decisions.apply_action_decision(d, command)
        case ActionResumed():
            approval_decisions.resume_action(d, command)
        case AssignApproval():
            approval_decisions.assign(d, command)
        case _:
            assert_never(command)


def _pause(d: Draft) -> None:
    status = d.run.status
    if status is not RunStatus.IN_PROGRESS:
        raise CommandRefused(f"The run is {label(status)}. You can't pause it now.", available_transitions(status))
    if d.run.pause_requested:
        raise CommandRefused(
            "A pause is already requested. The run pauses when the current work is done.", ("resume", "cancel")
        )
    d.request_pause("requested by a user")


def _resume(d: Draft) -> None:
    is_pausing = d.run.pause_requested or d.run.status is RunStatus.PAUSED
    if is_pausing and d.run.failed:
        names = ", ".join(sorted(e.key for e in d.run.failed))
        raise CommandRefused(
            f"A checkpoint has failed: {names}. Retry or dismiss it, roll back, or cancel the run.",
            ("retry the execution", "cancel the execution", "roll back", "cancel"),
        )
    if d.run.over_budget and d.context.over_budget:
        raise CommandRefused(
            f"{d.context.over_budget} Raise the budget of the run or of its definition, then resume.",
            ("raise the budget", "cancel"),
        )
    if d.run.pause_requested:
        d.run = d.run.replace(pause_requested=False, over_budget="")
        d.record(EventType.PAUSE_CANCELLED, reason="resume")
    else:
        d.move_run(RunTransition.RESUME)


def _set_budget(d: Draft, budget: Budget) -> None:
    status, before = d.run.status, d.run.budget
    if status in CLOSED:
        raise CommandRefused(
            f"The run is {label(status)}. You can't change its budget anymore.", available_transitions(status)
        )
    if budget == before:
        raise AlreadyApplied("The run already has this budget.")
    d.run = d.run.replace(budget=budget, budget_warned=False)
    detail: dict[str, Any] = {"from": before.as_dict, "to": budget.as_dict}
    d.record(EventType.BUDGET_UPDATED, **detail)


def _warn_budget(d: Draft, reason: str) -> None:
    if d.run.budget_warned or d.run.status in CLOSED:
        raise StaleCommand("People have already been notified.")
    d.run = d.run.replace(budget_warned=True)
    d.record(EventType.BUDGET_WARNING, reason=reason)


def _restart(d: Draft, c: RestartRun) -> None:
    if c.pass_number < d.run.pass_number:
        raise AlreadyApplied(f"Pass {d.run.pass_number} has already started.")
    if c.pass_number > d.run.pass_number:
        raise StaleCommand(f"The run is in pass {d.run.pass_number}.")
    d.move_run(RunTransition.RESTART)
    start_pass(d, "restarted by a user")


def _start(d: Draft, c: StartExecution) -> None:
    e = current_execution(d, c.execution)
    if e.state is not ExecutionState.PENDING:
        raise CommandRefused(f"The execution is {label(e.status)}. You can only start a pending one.")
    if d.run.pause_requested:
        raise CommandRefused("A pause is requested, so nothing starts now.", ("resume", "cancel"))
    if not d.run.can_dispatch:
        raise CommandRefused(
            f"The run is {label(d.run.status)}, so nothing starts now.", available_transitions(d.run.status)
        )
    start(d, e, automatic=True)


def _retry(d: Draft, c: RetryExecution) -> None:
    """Run the same execution again, with the newest definition, all retries and an empty workspace."""
    e = current_execution(d, c.execution)
    if c.attempt < e.attempt:
        raise AlreadyApplied(f"Attempt {c.attempt} has already been retried. Attempt {e.attempt} is the current one.")
    if e.state is not ExecutionState.FAILED:
        raise CommandRefused(f"The execution is {label(e.status)}. You can only retry a failed one.")
    if c.attempt > e.attempt:
        raise StaleCommand(f"Attempt {e.attempt} is the current one, not attempt {c.attempt}.")
    d.move_run(RunTransition.RETRY)
    d.record(EventType.EXECUTION_RETRIED, e, checkpoint=e.key, attempt_number=e.attempt + 1)
    e = d.update(
        e.replace(
            policy=d.run.plan.policy(e.key),
            definition=d.run.plan.revision,
            attempt=e.attempt + 1,
            revision=0,
            retries_used=0,
            validations_used=0,
            interruptions=0,
            active_seconds=0.0,
            answered=False,
            digest=None,
            outputs=(),
            pass_decision=None,
            pending_rework=None,
            has_workspace=True,
        )
    )
    d.effects.append(CreateWorkspace(e.id))
    start(d, e, automatic=True)


def _cancel(d: Draft, c: CancelExecution) -> None:
    e = current_execution(d, c.execution)
    if e.state not in LIVE:
        raise CommandRefused(f"The execution is {label(e.status)}. There is nothing to cancel.")
    if e.state is ExecutionState.PENDING and not e.is_rework:
        raise CommandRefused("The execution hasn't started. There is nothing to cancel.", ("start",))
    d.move_run(RunTransition.DISMISS)
    rework.cancel_with_reworks(d, e, "cancelled by a user")
    if e.is_rework:
        error = e.last_error if e.state is ExecutionState.FAILED else None  # a dismissed rework has failed for good
        rework.notify_requester(
            d, e, "failed" if error else "cancelled", error.message if error else "cancelled by a user"
        )
    else:
        d.create(e.key, manual_start=True, requires_new_approval=e.requires_new_approval)


def _request_rework(d: Draft, c: RequestRework) -> None:
    if d.is_repeated:
        raise AlreadyApplied("This rework has already been requested.")
    requester = current_execution(d, c.requester) if c.requester else None
    rework.check(d.run, c.key, requester)
    if requester is not None and requester.state not in (
        ExecutionState.AWAITING_COMPLETION_APPROVAL,
        ExecutionState.COMPLETED,
    ):
        raise CommandRefused("You can only request rework from an execution that is completed or waiting for approval.")
    d.move_run(RunTransition.REWORK)
    if requester is not None and requester.state is ExecutionState.AWAITING_COMPLETION_APPROVAL:
        d.withdraw(requester, "an earlier checkpoint was sent back")
        requester = d.move(
            requester, ExecutionTransition.WAIT, waiting_on=WaitingOn.REWORK, active_seconds=0.0, answered=False
        )
    rework.create_rework(d, c.key, requester, Rework(d.context.by, c.prompt, c.reason))
