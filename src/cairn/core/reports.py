"""Reports of runners. Each report ends its dispatch. A late report is a StaleCommand and changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import assert_never

from cairn.core import approval_requests, rework
from cairn.core.commands import (
    ActionHeld,
    ActionProposed,
    ActionRequest,
    BudgetReached,
    ExecutionBlocked,
    ExecutionFailed,
    ExecutionFinished,
    ExecutionInterrupted,
    ExecutionTimedOut,
    InputRequested,
    IterationLimitReached,
    Report,
    ResultInvalid,
    RetryDue,
    ReworkRequested,
)
from cairn.core.draft import Draft
from cairn.core.effects import ScheduleTimer
from cairn.core.errors import CommandRefused, StaleCommand
from cairn.core.events import EventType
from cairn.core.execution import Execution, Failure, PendingRework, Rework
from cairn.core.outcomes import accept_result, escalate, fail_for_good, retry_or_fail
from cairn.core.states import (
    ActionState,
    ApprovalKind,
    ApprovalStatus,
    ExecutionState,
    OnBlocker,
    OnInvalid,
    WaitingOn,
)
from cairn.core.transitions import ExecutionTransition


def current_execution(d: Draft, id: str) -> Execution:
    e = d.run.index.current.get(id)
    if e is None:
        raise StaleCommand("The execution is no longer part of the current pass: the run was restarted or rolled back.")
    return e


def working_execution(d: Draft, report: Report | ExecutionTimedOut) -> Execution:
    """The working execution of a report. This is the fence: a report with an outdated dispatch number is stale."""
    e = current_execution(d, report.execution)
    if e.state is not ExecutionState.WORKING or e.dispatch != report.dispatch:
        raise StaleCommand("This dispatch has ended.")
    return e


def apply(d: Draft, report: Report) -> None:
    e = working_execution(d, report)
    match report:
        case ExecutionFinished():
            accept_result(d, d.set_result(e, report.digest, report.outputs), report.pass_decision)
        case ExecutionFailed():
            retry_or_fail(d, e, report.error)
        case ResultInvalid():
            _invalid(d, d.set_result(e, report.digest, report.outputs), report.error)
        case InputRequested():
            e = d.move(e, ExecutionTransition.WAIT, waiting_on=report.waiting_on)
            approval_requests.request_input(d, e, ApprovalKind.INPUT, report.digest, report.question)
        case ActionProposed():
            _action_proposed(d, e, report)
        case ActionHeld():
            _action_held(d, e, report)
        case ReworkRequested():
            _rework_requested(d, e, report)
        case ExecutionBlocked():
            _blocked(d, e, report.reason)
        case IterationLimitReached():
            escalate(
                d, d.set_result(e, report.digest, report.outputs), "The execution has reached its iteration limit."
            )
        case BudgetReached():
            _budget_reached(d, e, report.reason)
        case ExecutionInterrupted():
            _interrupted(d, e)
        case _:
            assert_never(report)


def _invalid(d: Draft, e: Execution, error: Failure) -> None:
    policy = e.policy
    if policy.on_invalid is OnInvalid.FAIL_CHECKPOINT or e.validations_used >= policy.max_validation_retries:
        fail_for_good(d, e, policy.on_failure, error)
        return
    e = d.update(e.replace(errors=e.errors + 1, last_error=error))
    if policy.on_invalid is OnInvalid.ASK_HUMAN:
        e = d.move(e, ExecutionTransition.WAIT, waiting_on=WaitingOn.VALIDATION_FEEDBACK)
        d.stage(e)
        approval_requests.request_input(d, e, ApprovalKind.VALIDATION, e.digest or "", error.message)
    else:
        validate_again(d, e, error.message)


def validate_again(d: Draft, e: Execution, reason: str) -> None:
    """Retry with the findings of the validation."""
    d.record(EventType.EXECUTION_VALIDATION_RETRIED, e, checkpoint=e.key, attempt_number=e.attempt + 1, reason=reason)
    used = e.validations_used + 1
    d.make_ready(e, attempt=e.attempt + 1, validations_used=used, interruptions=0, active_seconds=0.0, answered=False)


def _action_proposed(d: Draft, e: Execution, report: ActionProposed) -> None:
    if report.outputs:
        e = d.set_result(e, report.result_digest, report.outputs)
    e = d.update(e.replace(has_actions=True))
    if report.state in (ActionState.PROPOSED, ActionState.WAITING):
        wait_for_action(d, e, report.reason, (report.request,) if report.request is not None else ())
        return
    if report.request is not None:
        approval_requests.request_action(d, e, report.request)
    d.make_ready(e)


def _action_held(d: Draft, e: Execution, report: ActionHeld) -> None:
    if report.is_over:
        d.make_ready(e)
    else:
        wait_for_action(d, e, report.reason, report.requests)


def wait_for_action(d: Draft, e: Execution, reason: str, requests: Sequence[ActionRequest]) -> None:
    """Wait until the actions of the execution are decided or may start. Ask people at most once for each action."""
    e = d.move(e, ExecutionTransition.WAIT, reason, waiting_on=WaitingOn.ACTION_APPROVAL)
    d.stage(e)
    request_actions(d, e, requests)


def request_actions(d: Draft, e: Execution, requests: Sequence[ActionRequest]) -> None:
    """Ask people, unless they are asked already. Another question about the same action no longer applies."""
    wanted = {request.action: request.kind for request in requests}
    for a in d.run.pending_of(e.id):
        if a.action is not None and wanted.get(a.action, a.kind) is not a.kind:
            d.close(a, ApprovalStatus.WITHDRAWN, reason="another decision on the action is needed")
    asked = {a.action for a in d.run.pending_of(e.id)}
    for request in requests:
        if request.action not in asked:
            approval_requests.request_action(d, e, request)


def _rework_requested(d: Draft, e: Execution, report: ReworkRequested) -> None:
    """Create the rework, let people decide beyond the limit, or refuse it if it is not possible."""
    if report.outputs:
        e = d.set_result(e, report.digest, report.outputs)
    try:
        rework.check(d.run, report.key, e)
    except CommandRefused as refused:
        rework.refuse(d, e, report.key, refused.message)
        return
    if limit := rework.over_limit(d.run, e):
        escalate(d, d.update(e.replace(pending_rework=PendingRework(report.key, report.prompt, report.reason))), limit)
        return
    e = d.move(e, ExecutionTransition.WAIT, waiting_on=WaitingOn.REWORK)
    d.stage(e)
    rework.create_rework(d, report.key, e, Rework(e.key, report.prompt, report.reason))


def _blocked(d: Draft, e: Execution, reason: str) -> None:
    if d.run.plan.on_blocker is OnBlocker.ESCALATE:
        escalate(d, e, reason or "Something that the execution needs is missing.")
        return
    delay = e.policy.retry_delay
    due = d.context.at + timedelta(seconds=delay)
    d.move(e, ExecutionTransition.WAIT, reason, waiting_on=WaitingOn.EXTERNAL_BLOCKER, due_at=due)
    d.effects.append(ScheduleTimer(delay, RetryDue(e.id, e.dispatch)))


def _budget_reached(d: Draft, e: Execution, reason: str) -> None:
    """Pause the run. Once it is resumed with a higher budget, the execution is dispatched again."""
    if not d.run.over_budget:
        d.record(EventType.BUDGET_EXHAUSTED, e, checkpoint=e.key, reason=reason)
    d.run = d.run.replace(over_budget=reason)
    d.request_pause(reason)
    d.make_ready(e)


def _interrupted(d: Draft, e: Execution) -> None:
    """Dispatch the execution again, up to a limit per attempt. Processes that the worker left running are stopped."""
    d.stop(e)
    d.record(EventType.EXECUTION_INTERRUPTED, e, checkpoint=e.key, dispatch_number=e.dispatch)
    # It is unknown when the worker died, so the time since then doesn't count for the execution or the run.
    e = d.update(e.replace(active_since=d.context.at))
    d.run = d.run.replace(active_since=None)
    if e.interruptions < d.run.plan.max_interruptions:
        d.make_ready(e, interruptions=e.interruptions + 1)
    else:
        count = e.interruptions + 1
        retry_or_fail(d, e, Failure("interrupted", f"The worker stopped {count} times during this attempt."))
