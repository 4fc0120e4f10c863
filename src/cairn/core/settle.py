"""Apply automatic transitions: start the next executions, pause or complete the run. `settle` is idempotent."""

from __future__ import annotations

from cairn.core import approval_requests
from cairn.core.commands import ExecutionTimedOut, RunTimedOut
from cairn.core.draft import Draft, seconds_between
from cairn.core.effects import ArchivePass, Dispatch, ScheduleTimer
from cairn.core.events import EventType
from cairn.core.execution import Execution
from cairn.core.plan import Checkpoint
from cairn.core.run import Rollback, Run
from cairn.core.states import (
    ApprovalKind,
    ExecutionMode,
    ExecutionState,
    PassDecision,
    RollbackTrigger,
    RunStatus,
    WaitingOn,
)
from cairn.core.transitions import ExecutionTransition, RunTransition


def settle(d: Draft) -> None:
    if d.run.archived_by is None and d.run.status is RunStatus.IN_PROGRESS:
        if d.run.pause_requested:
            _pause_when_idle(d)
        else:
            _advance(d)
    _track_active_time(d)


def _pause_when_idle(d: Draft) -> None:
    """Pause the run once no runner is working, unless it is complete."""
    if d.run.is_working:
        return
    if is_finished(d.run) and not next_pass_reason(d.run):
        d.move_run(RunTransition.COMPLETE)
    else:
        d.move_run(RunTransition.PAUSE, d.run.over_budget)


def _advance(d: Draft) -> None:
    if reason := next_pass_reason(d.run):
        start_pass(d, reason)
    if ready := ready_checkpoints(d.run):
        starts = d.run.plan.auto_advance or is_first(d.run)
        for checkpoint in ready:
            e = d.create(checkpoint.key, requires_new_approval=requires_new_approval(d.run, checkpoint))
            start(d, e, automatic=starts)
    for e in d.run.open:
        if e.state is ExecutionState.READY:
            _dispatch(d, e)
    if is_finished(d.run):
        d.move_run(RunTransition.COMPLETE)
    elif not d.run.open:
        d.move_run(RunTransition.PAUSE, "only failed checkpoints are left")


def _track_active_time(d: Draft) -> None:
    """Track the active time of a run, in which a runner is working."""
    run, at = d.run, d.context.at
    if run.active_since is None and run.is_working:
        d.run = run.replace(active_since=at, timer_generation=run.timer_generation + 1)
        if run.plan.run_timeout is not None:
            d.effects.append(
                ScheduleTimer(max(0.0, run.plan.run_timeout - run.active_seconds), RunTimedOut(d.run.timer_generation))
            )
    elif run.active_since is not None and not run.is_working:
        d.run = run.replace(
            active_since=None, active_seconds=run.active_seconds + seconds_between(run.active_since, at)
        )


def ready_checkpoints(run: Run) -> tuple[Checkpoint, ...]:
    """Checkpoints that can start now. A checkpoint with only cancelled executions can start again."""
    plan, active = run.plan, run.active_keys
    started = run.index.done.keys() | active
    if len(started) == len(plan.checkpoints):
        return ()
    done = run.index.done.keys() - active
    current_stage = next(stage for stage, keys in plan.stages.items() if not done.issuperset(keys))
    return tuple(
        c
        for c in plan.checkpoints
        if c.key not in started and (done.issuperset(c.needs) if c.needs else c.stage == current_stage)
    )


def is_first(run: Run) -> bool:
    """Whether this pass has no executions yet."""
    return all(e.pass_number != run.pass_number for e in run.executions.values())


def start(d: Draft, e: Execution, *, automatic: bool) -> None:
    """Request approval to start, make the execution ready, or wait until a user starts it. Approval starts it."""
    requires_approval, digest = e.policy.requires_start_approval, e.policy.digest
    verdict = (
        None
        if e.start_approved
        else approval_requests.required_verdict(d, e, ApprovalKind.START, digest, flag=requires_approval)
    )
    if verdict is not None:
        approval_requests.request(
            d, d.move(e, ExecutionTransition.REQUEST_START_APPROVAL), ApprovalKind.START, digest, verdict
        )
    elif requires_approval and not e.start_approved:
        d.make_ready(e, start_approved=True)
    elif automatic:
        d.make_ready(e)


def _dispatch(d: Draft, e: Execution) -> None:
    """Hand the execution to a runner, or to a person with a form."""
    if e.started_at is None:
        d.delete_workspaces(_earlier_completed(d.run, e))
    if e.policy.mode is ExecutionMode.HUMAN_ONLY and not e.answered:
        approval_requests.request_input(
            d, d.move(e, ExecutionTransition.WAIT, waiting_on=WaitingOn.HUMAN_FORM), ApprovalKind.INPUT, e.policy.digest
        )
        return
    e = d.move(e, ExecutionTransition.DISPATCH)
    d.effects.append(Dispatch(e.id, e.dispatch))
    if e.policy.timeout is not None:
        d.effects.append(
            ScheduleTimer(max(0.0, e.policy.timeout - e.active_seconds), ExecutionTimedOut(e.id, e.dispatch))
        )


def _earlier_completed(run: Run, e: Execution) -> tuple[Execution, ...]:
    """Completed executions of earlier stages, which no longer need their workspaces."""
    plan = run.plan
    stage = plan[e.key].stage
    return tuple(
        o
        for o in run.index.current.values()
        if o.has_workspace
        and o.state is ExecutionState.COMPLETED
        and o.position < e.position
        and plan[o.key].stage != stage
    )


def is_finished(run: Run) -> bool:
    index = run.index
    return len(index.done) == len(run.plan.checkpoints) and not index.open and not index.failed


def next_pass_reason(run: Run) -> str | None:
    """Why the next pass has to start. None if it doesn't."""
    for checkpoint in run.plan.deciders:
        done = run.latest(checkpoint.key)
        if done is not None and done.pass_decision is PassDecision.RESTART and checkpoint.key not in run.active_keys:
            return f"{checkpoint.key} decided RESTART"
    for e in run.index.open.values():
        if e.state is ExecutionState.READY and e.pass_decision is PassDecision.RESTART:
            return f"people decided RESTART at {e.key}"
    if run.plan.require_second_pass and run.pass_number == 1 and not run.plan.deciders and is_finished(run):
        return "a second pass is required"
    return None


def start_pass(d: Draft, reason: str) -> None:
    d.cancel_open("the next pass starts")
    d.delete_workspaces(d.run.current)
    d.effects.append(ArchivePass(d.run.pass_number))
    d.run = d.run.replace(pass_number=d.run.pass_number + 1, restart_count=d.run.restart_count + 1)
    d.record(EventType.PASS_STARTED, pass_number=d.run.pass_number, reason=reason)


def requires_new_approval(run: Run, checkpoint: Checkpoint) -> bool:
    """The first checkpoint that a user's rollback archived needs approval again, even for equal content."""
    return any(
        rollback.pass_number == run.pass_number
        and rollback.triggered_by is RollbackTrigger.USER_REQUEST
        and not rollback.undone
        and _first_position(run, rollback) == checkpoint.position
        and not _completed_since(run, rollback, checkpoint.key)
        for rollback in run.rollbacks
    )


def _first_position(run: Run, rollback: Rollback) -> int | None:
    """The first position after the target. Failed and cancelled executions before it don't count."""
    positions = (run.executions[archived].position for archived in rollback.archived)
    return min((p for p in positions if rollback.target is not None and p > rollback.target), default=None)


def _completed_since(run: Run, rollback: Rollback, key: str) -> bool:
    return any(
        e.key == key and e.ordinal > rollback.created_count and e.state is ExecutionState.COMPLETED
        for e in run.executions.values()
    )
