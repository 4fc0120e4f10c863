"""What follows from a state by itself: what starts, what ends, what pauses. `settle` is an idempotent fixed point."""

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
    """A requested pause holds when no runner works; completing comes before it."""
    if d.run.is_working:
        return
    if is_finished(d.run) and not next_pass_reason(d.run):
        d.move_run(RunTransition.COMPLETE)
    else:
        d.move_run(RunTransition.PAUSE, d.run.over_budget)


def _advance(d: Draft) -> None:
    if reason := next_pass_reason(d.run):
        start_pass(d, reason)
    if due := ready_checkpoints(d.run):
        by_itself = d.run.plan.auto_advance or is_first(d.run)
        for checkpoint in due:
            begin(
                d, d.create(checkpoint.key, requires_new_approval=requires_new_approval(d.run, checkpoint)), by_itself
            )
    for e in d.run.open:
        if e.state is ExecutionState.READY:
            _dispatch(d, e)
    if is_finished(d.run):
        d.move_run(RunTransition.COMPLETE)
    elif not d.run.open:
        d.move_run(RunTransition.PAUSE, "only failed checkpoints are left")


def _track_active_time(d: Draft) -> None:
    """A run's own clock goes while a runner is at work."""
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
    """Checkpoints whose turn has come. A cancelled execution does not count: its checkpoint is due again."""
    plan, live = run.plan, run.active_keys
    taken = run.index.done.keys() | live
    if len(taken) == len(plan.checkpoints):
        return ()
    done = run.index.done.keys() - live
    reached = next(stage for stage, keys in plan.stages.items() if not done.issuperset(keys))  # all before are complete
    return tuple(
        c
        for c in plan.checkpoints
        if c.key not in taken and (done.issuperset(c.needs) if c.needs else c.stage == reached)
    )


def is_first(run: Run) -> bool:
    """Has nothing been made in this pass?"""
    return all(e.pass_number != run.pass_number for e in run.executions.values())


def begin(d: Draft, e: Execution, by_itself: bool) -> None:
    """Its turn has come: ask, start, or wait for somebody to start it. An approval is the start."""
    flag, digest = e.policy.requires_start_approval, e.policy.digest
    verdict = (
        None if e.start_approved else approval_requests.required_verdict(d, e, ApprovalKind.START, digest, flag=flag)
    )
    if verdict is not None:
        approval_requests.request(
            d, d.move(e, ExecutionTransition.REQUEST_START_APPROVAL), ApprovalKind.START, digest, verdict
        )
    elif flag and not e.start_approved:
        d.make_ready(e, start_approved=True)
    elif by_itself:
        d.make_ready(e)


def _dispatch(d: Draft, e: Execution) -> None:
    """Give it to whoever carries it out: a person with a form, or a runner."""
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
    """Completed executions of stages before this one: their workspaces are no longer needed."""
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
    standing = run.index
    return len(standing.done) == len(run.plan.checkpoints) and not standing.open and not standing.failed


def next_pass_reason(run: Run) -> str | None:
    """Why the next pass has to begin, if it has to."""
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
    d.cancel_open("the next pass begins")
    d.delete_workspaces(d.run.current)
    d.effects.append(ArchivePass(d.run.pass_number))
    d.run = d.run.replace(pass_number=d.run.pass_number + 1, restart_count=d.run.restart_count + 1)
    d.record(EventType.PASS_STARTED, pass_number=d.run.pass_number, reason=reason)


def requires_new_approval(run: Run, checkpoint: Checkpoint) -> bool:
    """The first thing that a person's rollback took away is asked about again, even for equal content."""
    return any(
        rollback.pass_number == run.pass_number
        and rollback.triggered_by is RollbackTrigger.USER_REQUEST
        and not rollback.undone
        and _lowest(run, rollback) == checkpoint.position
        and not _completed_since(run, rollback, checkpoint.key)
        for rollback in run.rollbacks
    )


def _lowest(run: Run, rollback: Rollback) -> int | None:
    """Where the first of what went stood. What had failed or was cancelled at or below the target does not count."""
    positions = (run.executions[taken].position for taken in rollback.archived)
    return min((p for p in positions if rollback.target is not None and p > rollback.target), default=None)


def _completed_since(run: Run, rollback: Rollback, key: str) -> bool:
    return any(
        e.key == key and e.ordinal > rollback.created_count and e.state is ExecutionState.COMPLETED
        for e in run.executions.values()
    )
