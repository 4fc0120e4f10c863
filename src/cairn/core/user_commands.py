"""What people ask of a run and of one execution."""

from __future__ import annotations

from typing import Any, assert_never

from cairn.core import approval_decisions, rework, rollback
from cairn.core.budget import Budget
from cairn.core.commands import (
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
from cairn.core.reports import current
from cairn.core.settle import begin, start_pass
from cairn.core.states import CLOSED, LIVE, ExecutionState, RunStatus, WaitingOn
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
            rollback.take_run_away(d, command.rollback)
        case UndoRollback():
            rollback.undo(d, command.rollback)
        case SetBudget():
            _set_budget(d, command.budget)
        case WarnBudget():
            _warn_of_budget(d, command.reason)
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
            _ask_rework(d, command)
        case Decide():
            approval_decisions.answer(d, command)
        case AssignApproval():
            approval_decisions.hand_over(d, command)
        case _:
            assert_never(command)


# ---- the run ---------------------------------------------------------------------------------------
def _pause(d: Draft) -> None:
    status = d.run.status
    if status is not RunStatus.IN_PROGRESS:
        raise CommandRefused(
            f"The run is {status.value}: it is not possible to pause it now.", available_transitions(status)
        )
    if d.run.pause_requested:
        raise CommandRefused(
            "A pause has been asked for; it holds when the current work is done.", ("resume", "cancel")
        )
    d.request_pause("asked for")


def _resume(d: Draft) -> None:
    held = d.run.pause_requested or d.run.status is RunStatus.PAUSED
    if held and d.run.failed:
        names = ", ".join(sorted(e.key for e in d.run.failed))
        raise CommandRefused(
            f"A checkpoint has failed ({names}): retry or dismiss it, roll back, or cancel the run.",
            ("retry the execution", "cancel the execution", "roll back", "cancel"),
        )
    if d.run.over_budget and d.context.over_budget:
        raise CommandRefused(
            f"{d.context.over_budget} Raise the budget of the run, or the one in the definition, then resume.",
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
            f"The run is {status.value}: it has nothing to use a budget for.", available_transitions(status)
        )
    if budget == before:
        raise AlreadyApplied("The run has this budget already.")
    d.run = d.run.replace(budget=budget, budget_warned=False)
    detail: dict[str, Any] = {"from": before.as_dict, "to": budget.as_dict}
    d.record(EventType.BUDGET_UPDATED, **detail)


def _warn_of_budget(d: Draft, reason: str) -> None:
    if d.run.budget_warned or d.run.status in CLOSED:
        raise StaleCommand("People have been told already.")
    d.run = d.run.replace(budget_warned=True)
    d.record(EventType.BUDGET_WARNING, reason=reason)


def _restart(d: Draft, c: RestartRun) -> None:
    if c.pass_number < d.run.pass_number:
        raise AlreadyApplied(f"Pass {d.run.pass_number} has begun already.")
    if c.pass_number > d.run.pass_number:
        raise StaleCommand(f"The run is in pass {d.run.pass_number}.")
    d.move_run(RunTransition.RESTART)
    start_pass(d, "restarted by hand")


# ---- one execution -----------------------------------------------------------------------------------
def _start(d: Draft, c: StartExecution) -> None:
    e = current(d, c.execution)
    if e.state is not ExecutionState.PENDING:
        raise CommandRefused(f"The execution is {e.status.value}: it does not wait for a start.")
    if d.run.pause_requested:
        raise CommandRefused("A pause has been asked for: nothing starts now.", ("resume", "cancel"))
    if not d.run.can_dispatch:
        raise CommandRefused(
            f"The run is {d.run.status.value}: nothing starts now.", available_transitions(d.run.status)
        )
    begin(d, e, by_itself=True)


def _retry(d: Draft, c: RetryExecution) -> None:
    """The same execution with all its budgets, an empty workspace and the newest definition."""
    e = current(d, c.execution)
    if c.attempt < e.attempt:
        raise AlreadyApplied(
            f"Attempt {c.attempt} has been tried again already: attempt {e.attempt} is the current one."
        )
    if e.state is not ExecutionState.FAILED:
        raise CommandRefused(f"The execution is {e.status.value}: only a failed one can be retried.")
    if c.attempt > e.attempt:
        raise StaleCommand(f"Attempt {e.attempt} is the current one, not {c.attempt}.")
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
            action_outcome_unknown=False,
            has_workspace=True,
        )
    )
    d.effects.append(CreateWorkspace(e.id))
    begin(d, e, by_itself=True)


def _cancel(d: Draft, c: CancelExecution) -> None:
    e = current(d, c.execution)
    if e.state not in LIVE:
        raise CommandRefused(f"The execution is {e.status.value}: there is nothing to cancel.")
    if e.state is ExecutionState.PENDING and not e.is_rework:
        raise CommandRefused("The execution has not started: there is nothing to cancel.", ("start",))
    d.move_run(RunTransition.DISMISS)
    rework.cancel_with_reworks(d, e, "cancelled by hand")
    if e.is_rework:
        error = e.last_error if e.state is ExecutionState.FAILED else None  # one that is dismissed has failed for good
        rework.notify_requester(
            d, e, "failed" if error else "cancelled", error.message if error else "cancelled by hand"
        )
    else:
        d.create(e.key, manual_start=True, requires_new_approval=e.requires_new_approval)


def _ask_rework(d: Draft, c: RequestRework) -> None:
    if d.is_repeated:
        raise AlreadyApplied("This rework has been asked for already.")
    asker = current(d, c.requester) if c.requester else None
    rework.check(d.run, c.key, asker)
    if asker is not None and asker.state not in (ExecutionState.AWAITING_COMPLETION_APPROVAL, ExecutionState.COMPLETED):
        raise CommandRefused("Only work that awaits approval or is completed can be looked at and sent back.")
    d.move_run(RunTransition.REWORK)
    if asker is not None and asker.state is ExecutionState.AWAITING_COMPLETION_APPROVAL:
        d.withdraw(asker, "an earlier checkpoint was sent back")
        asker = d.move(asker, ExecutionTransition.WAIT, waiting_on=WaitingOn.REWORK, active_seconds=0.0, answered=False)
    rework.create_rework(d, c.key, asker, Rework(d.context.by, c.prompt, c.reason))
