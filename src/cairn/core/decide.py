"""The one door: a command comes in; the new run, its events and its effects go out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from cairn.core import messages as m
from cairn.core import reports, rework, rollback
from cairn.core.answers import decide_approval
from cairn.core.draft import Draft
from cairn.core.errors import Refused, Stale
from cairn.core.model import LIVE, Kind, Run, RunStatus, State, WaitingOn
from cairn.core.moves import RunVerb, Verb, possible_for
from cairn.core.outcomes import cancel_open, request_pause
from cairn.core.settle import begin, begin_pass, settle


@dataclass(frozen=True, slots=True)
class Decision:
    run: Run
    events: tuple[m.Event, ...]
    effects: tuple[m.Effect, ...]


def decide(run: Run, command: m.Command, given: m.Given) -> Decision:
    """What the command does. Refused or stale, it raises and nothing has changed."""
    if run.archived_by is not None and not isinstance(command, m.UndoRollback | m.TakeRunAway):
        raise Stale("The run is archived by a rollback; undo that first.", ("undo the rollback",))
    d = Draft(run, given)
    _carry_out(d, command)
    settle(d)
    return Decision(d.run, tuple(d.events), tuple(d.effects))


def _carry_out(d: Draft, command: m.Command) -> None:
    match command:
        case m.StartRun():
            d.move_run(RunVerb.START)
        case m.PauseRun():
            _pause(d)
        case m.ResumeRun():
            _resume(d)
        case m.CancelRun():
            cancel_open(d, "the run was cancelled")
            d.move_run(RunVerb.CANCEL, pause_requested=False)
        case m.RestartRun():
            _restart(d, command)
        case m.RollBack():
            rollback.roll_back(d, command.rollback, command.target, command.with_runs)
        case m.TakeRunAway():
            rollback.take_run_away(d, command.rollback)
        case m.UndoRollback():
            rollback.undo(d, command.rollback)
        case m.StartExecution():
            _start_execution(d, command)
        case m.RetryExecution():
            _retry(d, command)
        case m.CancelExecution():
            _cancel_execution(d, command)
        case m.AskRework():
            _ask_rework(d, command)
        case m.Decide():
            decide_approval(d, command)
        case m.Finished():
            reports.finished(d, command)
        case m.Failed():
            reports.failed(d, command)
        case m.Invalid():
            reports.invalid(d, command)
        case m.InputWanted():
            reports.input_wanted(d, command)
        case m.ActionProposed():
            reports.action_proposed(d, command)
        case m.ReworkWanted():
            reports.rework_wanted(d, command)
        case m.Blocked():
            reports.blocked(d, command)
        case m.LimitReached():
            reports.limit_reached(d, command)
        case m.Interrupted():
            reports.interrupted(d, command)
        case m.RetryDue():
            reports.retry_due(d, command)
        case m.TimedOut():
            reports.timed_out(d, command)
        case m.ApprovalExpired():
            reports.approval_expired(d, command)
        case m.RunTimedOut():
            reports.run_timed_out(d, command)
        case _:
            assert_never(command)


# ---- people, the run -------------------------------------------------------------------------------
def _pause(d: Draft) -> None:
    if d.run.status is not RunStatus.IN_PROGRESS:
        status = d.run.status
        raise Refused(f"The run is {status.value}: it is not possible to pause it now.", possible_for(status))
    if d.run.pause_requested:
        raise Refused(
            "A pause has been asked for already; it holds when the current work is done.", ("resume", "cancel")
        )
    request_pause(d)


def _resume(d: Draft) -> None:
    if d.run.failed:
        names = ", ".join(sorted(e.key for e in d.run.failed))
        possible = ("retry the execution", "cancel the execution", "roll back", "cancel")
        raise Refused(
            f"A checkpoint has failed ({names}): retry or dismiss it, roll back, or cancel the run.", possible
        )
    if d.run.status is RunStatus.IN_PROGRESS and d.run.pause_requested:
        d.run = replace(d.run, pause_requested=False)
        d.tell(m.EventType.PAUSE_WITHDRAWN)
    else:
        d.move_run(RunVerb.RESUME)


def _restart(d: Draft, c: m.RestartRun) -> None:
    if c.pass_number != d.run.pass_number:
        raise Stale(f"Pass {d.run.pass_number} has begun already.")
    d.move_run(RunVerb.RESTART, pause_requested=False)
    begin_pass(d, "restarted by hand")


# ---- people, one execution -------------------------------------------------------------------------
def _start_execution(d: Draft, c: m.StartExecution) -> None:
    e = reports.current(d, c.execution)
    if e.state is not State.PENDING:
        raise Refused(f"The execution is {e.status.value}: it does not wait for a start.")
    if not d.run.goes_on:
        raise Refused(f"The run is {d.run.status.value}: nothing starts now.", possible_for(d.run.status))
    begin(d, e, by_itself=True)


def _retry(d: Draft, c: m.RetryExecution) -> None:
    e = reports.current(d, c.execution)
    if e.state is not State.FAILED:
        raise Refused(f"The execution is {e.status.value}: only a failed one can be retried.")
    if e.attempt != c.attempt:
        raise Stale(f"Attempt {e.attempt} is the current one, not {c.attempt}.")
    d.move_run(RunVerb.RETRY, pause_requested=False)
    d.tell(m.EventType.EXECUTION_RETRIED, execution=e, checkpoint=e.key, attempt_number=e.attempt + 1)
    fresh = replace(
        e,
        policy=d.run.plan.policy(e.key),
        definition=d.run.plan.revision,
        attempt=e.attempt + 1,
        revision=0,
        retries_used=0,
        validations_used=0,
        interruptions=0,
        worked=0.0,
        answered=False,
        digest=None,
        outputs=(),
        ruling=None,
        wants=None,
        has_workspace=True,
    )
    d.effects.append(m.MakeWorkspace(e.id))
    d.put(fresh)
    if fresh.policy.ask_start and not e.start_approved:
        d.ask(d.move(fresh, Verb.ASK_START), Kind.START, fresh.policy.digest)
    else:
        d.go(fresh)


def _cancel_execution(d: Draft, c: m.CancelExecution) -> None:
    e = reports.current(d, c.execution)
    if e.state not in LIVE:
        raise Refused(f"The execution is {e.status.value}: there is nothing to cancel.")
    if e.state is State.PENDING and not e.is_rework:
        raise Refused("The execution has not started: there is nothing to cancel.", ("start",))
    d.move_run(RunVerb.DISMISS)
    rework.cancel_with_reworks(d, e, "cancelled by hand")
    if e.is_rework:
        rework.tell_asker(d, e, "cancelled")
    else:
        d.make(e.key, by_hand=True)


def _ask_rework(d: Draft, c: m.AskRework) -> None:
    asker = reports.current(d, c.asker) if c.asker else None
    rework.check(d.run, c.key, asker)
    if asker is not None and asker.state not in (State.COMPLETION_ASKED, State.COMPLETED):
        raise Refused("Only work that awaits approval or is completed can be looked at and sent back.")
    d.move_run(RunVerb.REWORK)
    if asker is not None and asker.state is State.COMPLETION_ASKED:
        d.withdraw(asker)
        d.move(asker, Verb.WAIT, waiting_on=WaitingOn.REWORK)
    rework.send_back(d, c.key, asker, c.reason)
