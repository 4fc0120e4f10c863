"""What follows from a state by itself: what starts, what ends, what pauses. `settle` is an idempotent fixed point."""

from __future__ import annotations

from dataclasses import replace

from cairn.core.draft import Draft
from cairn.core.messages import EventType, RunTimedOut, SendLater, SetPassAside
from cairn.core.model import Checkpoint, Execution, Kind, RollbackTrigger, Ruling, Run, RunStatus, State
from cairn.core.moves import RunVerb, Verb


def settle(d: Draft) -> None:
    if d.run.archived_by is None:
        while d.run.status is RunStatus.IN_PROGRESS:
            if d.run.pause_requested:
                _hold(d)
                break
            if reason := wants_pass(d.run):
                begin_pass(d, reason)
                continue
            _advance(d)
            break
    _keep_time(d)


def _hold(d: Draft) -> None:
    """A requested pause holds when no runner works; completing comes before it (D69)."""
    if d.run.working:
        return
    done = is_finished(d.run) and not wants_pass(d.run)
    d.move_run(RunVerb.COMPLETE if done else RunVerb.PAUSE, pause_requested=False)


def _advance(d: Draft) -> None:
    run = d.run
    first = not any(e.pass_number == run.pass_number for e in run.executions.values())
    for checkpoint in ready(run):
        e = d.make(checkpoint.key, asks_anew=asks_anew(run, checkpoint))
        begin(d, e, by_itself=first or run.plan.auto_advance)
    for e in d.run.open:
        if e.state is State.READY:
            d.hand_out(e)
    if is_finished(d.run):
        d.move_run(RunVerb.COMPLETE)
    elif not d.run.open and d.run.failed:
        d.move_run(RunVerb.PAUSE)


def _keep_time(d: Draft) -> None:
    """A run's own clock goes while a runner is at work (D18)."""
    run, at = d.run, d.given.at
    if run.working and run.working_since is None:
        d.run = replace(run, working_since=at, clock=run.clock + 1)
        if run.plan.run_timeout is not None:
            d.effects.append(SendLater(max(0.0, run.plan.run_timeout - run.worked), RunTimedOut(d.run.clock)))
    elif not run.working and run.working_since is not None:
        d.run = replace(run, working_since=None, worked=run.worked + (at - run.working_since).total_seconds())


def ready(run: Run) -> tuple[Checkpoint, ...]:
    """Checkpoints whose turn has come. A cancelled execution does not count: its checkpoint is due again (D52)."""
    taken = {e.key for e in run.current if e.state is not State.CANCELLED}
    done, plan = run.complete, run.plan
    if len(taken) == len(plan.checkpoints):
        return ()
    reached: set[str] = set()  # stages whose turn has come: all before them are complete
    for stage, keys in plan.stages.items():
        reached.add(stage)
        if not done.issuperset(keys):
            break
    return tuple(
        c
        for c in plan.checkpoints
        if c.key not in taken and (done.issuperset(c.needs) if c.needs else c.stage in reached)
    )


def begin(d: Draft, e: Execution, by_itself: bool) -> None:
    """Its turn has come: ask, start, or wait for somebody to start it (X2)."""
    if e.policy.ask_start and not e.start_approved:
        d.ask(d.move(e, Verb.ASK_START), Kind.START, e.policy.digest)
    elif by_itself:
        d.go(e)


def is_finished(run: Run) -> bool:
    return len(run.complete) == len(run.plan.checkpoints) and not run.open


def wants_pass(run: Run) -> str | None:
    """Why the next pass has to begin, if it has to."""
    deciders = run.plan.deciders
    for checkpoint in deciders:
        done = run.latest(checkpoint.key)
        if done is not None and done.ruling is Ruling.RESTART:
            return f"{checkpoint.key} decided RESTART"
    if not deciders and run.plan.require_second_pass and run.pass_number == 1 and is_finished(run):
        return "a second pass is required"
    return None


def begin_pass(d: Draft, reason: str) -> None:
    for e in d.run.open:
        d.cancel(e, "the next pass begins")
    d.drop_workspaces(d.run.current)
    d.effects.append(SetPassAside(d.run.pass_number))
    d.run = replace(d.run, pass_number=d.run.pass_number + 1, restart_count=d.run.restart_count + 1)
    d.tell(EventType.PASS_BEGUN, pass_number=d.run.pass_number, reason=reason)


def asks_anew(run: Run, checkpoint: Checkpoint) -> bool:
    """The first thing that a person's rollback took away is asked about again, even for equal content (D60)."""
    for rollback in run.rollbacks:
        if rollback.triggered_by is not RollbackTrigger.USER_REQUEST or rollback.undone:
            continue
        taken = [run.executions[i] for i in rollback.archived]
        positions = [e.position for e in taken if e.pass_number == run.pass_number]
        if positions and min(positions) == checkpoint.position:
            return True
    return False
