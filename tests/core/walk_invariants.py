"""Invariants that hold after every command."""

from __future__ import annotations

from cairn.core.approval import APPROVING_DECISIONS, Approval
from cairn.core.commands import (
    ApprovalExpired,
    ArchiveRun,
    CancelExecution,
    Command,
    CommandContext,
    ExecutionInterrupted,
    ExecutionTimedOut,
    Report,
    RequestRework,
    RestartRun,
    RetryDue,
    RetryExecution,
    RollBack,
    RunTimedOut,
    Timer,
    UndoRollback,
)
from cairn.core.decide import ORDER, Decision
from cairn.core.draft import Draft
from cairn.core.effects import (
    ArchiveFiles,
    ArchivePass,
    CreateWorkspace,
    DeleteWorkspaces,
    Dispatch,
    Effect,
    FileEffect,
    MoveToErrored,
    PromoteArtifacts,
    RestoreFiles,
    ScheduleTimer,
    StageArtifacts,
    StopExecution,
)
from cairn.core.events import Event, EventType
from cairn.core.execution import Execution, ExecutionIndex
from cairn.core.run import Run
from cairn.core.settle import settle
from cairn.core.states import (
    APPROVED_STATUSES,
    CLOSED,
    LIVE,
    OPEN,
    ApprovalKind,
    ApprovalStatus,
    ExecutionState,
    RunStatus,
    WaitingOn,
)
from tests.core.spec_tables import EXECUTION_MAY_BECOME, RUN_MAY_BECOME

PERSON_WAITS = {
    WaitingOn.HUMAN_FORM: ApprovalKind.INPUT,
    WaitingOn.SCRIPT_INPUT: ApprovalKind.INPUT,
    WaitingOn.QUESTION: ApprovalKind.INPUT,
    WaitingOn.VALIDATION_FEEDBACK: ApprovalKind.VALIDATION,
    WaitingOn.ESCALATION: ApprovalKind.ESCALATION,
}
REOPENS = (RollBack, RestartRun, RetryExecution, RequestRework, UndoRollback, CancelExecution)
STATE_EVENTS = {
    ExecutionState.PENDING: {EventType.EXECUTION_CREATED, EventType.EXECUTION_START_REJECTED},
    ExecutionState.AWAITING_START_APPROVAL: {EventType.EXECUTION_AWAITING_START_APPROVAL},
    ExecutionState.READY: {EventType.EXECUTION_READY},
    ExecutionState.WORKING: {EventType.EXECUTION_DISPATCHED},
    ExecutionState.WAITING: {EventType.EXECUTION_WAITING},
    ExecutionState.AWAITING_COMPLETION_APPROVAL: {EventType.EXECUTION_AWAITING_COMPLETION_APPROVAL},
    ExecutionState.COMPLETED: {EventType.EXECUTION_COMPLETED},
    ExecutionState.FAILED: {EventType.EXECUTION_FAILED},
    ExecutionState.CANCELLED: {EventType.EXECUTION_CANCELLED},
}
ALL_STATE_EVENTS = set[EventType]().union(*STATE_EVENTS.values())
TIMED = {WaitingOn.RETRY_DELAY, WaitingOn.EXTERNAL_BLOCKER}


class Ledger:
    """The effects requested so far."""

    def __init__(self) -> None:
        self.workspaces: set[str] = set()
        self.dispatched: set[tuple[str, int]] = set()
        self.promoted: set[str] = set()
        self.archives: set[str] = set()
        self.timers: set[Timer] = set()
        self.shown: set[tuple[str, str]] = set()
        self.statuses: set[tuple[str, str]] = set()
        self.attempt_keys: dict[str, list[str]] = {}  # attempt keys of each execution, in order


# ---- one decision --------------------------------------------------------------------------------
def check_decision(ledger: Ledger, before: Run, command: Command, decision: Decision) -> None:
    after = decision.run
    assert decision.events
    _check_events(before, after, decision.events)
    _check_moves(ledger, before, command, decision)
    _check_attempt_keys(ledger, before, command, after)
    _check_effects(ledger, before, after, decision.effects)
    if before.status in CLOSED:
        assert isinstance(command, (*REOPENS, ArchiveRun)), command
    if before.archived_by is not None:
        assert isinstance(command, UndoRollback), command


def _check_events(before: Run, after: Run, events: tuple[Event, ...]) -> None:
    """Check that events name existing items and that every status change has one."""
    reported = {event.execution: event.type for event in events if event.type in ALL_STATE_EVENTS}
    for e in after.executions.values():
        was = before.executions.get(e.id)
        if was is None or (was.state, was.dispatch, was.waiting_on) != (e.state, e.dispatch, e.waiting_on):
            assert reported[e.id] in STATE_EVENTS[e.state], (e, reported[e.id])
    if before.status is not after.status:
        assert after.status.value in [event.detail.get("to") for event in events]
    for event in events:
        assert event.execution is None or event.execution in after.executions
        assert event.approval is None or after.approvals[event.approval].execution == event.execution
        assert event.rollback is None or any(r.id == event.rollback for r in after.rollbacks)


def _check_moves(ledger: Ledger, before: Run, command: Command, decision: Decision) -> None:
    after = decision.run
    if before.status is not after.status:
        ledger.statuses.add((before.status.value, after.status.value))
        if not isinstance(command, UndoRollback | ArchiveRun):
            steps = RUN_MAY_BECOME[before.status]
            through = {end for step in steps for end in RUN_MAY_BECOME[step]}  # reopened and ended at once
            assert after.status in steps | through, (before.status, after.status)
    for e in before.executions.values():
        new = after.executions[e.id]
        assert new.dispatch >= e.dispatch
        assert new.attempt >= e.attempt
        assert (new.key, new.position, new.pass_number, new.ordinal) == (e.key, e.position, e.pass_number, e.ordinal)
        if e.status is not new.status:
            ledger.shown.add((e.status.value, new.status.value))
            assert new.status in EXECUTION_MAY_BECOME[e.status], (e.status, new.status)
        _check_stops(command, decision, e, new)


def _check_stops(command: Command, decision: Decision, e: Execution, new: Execution) -> None:
    """Check that running executions are stopped if they no longer count, except one that reported itself."""
    stop = StopExecution(e.id, e.dispatch)
    own = isinstance(command, Report) and not isinstance(command, ExecutionInterrupted) and command.execution == e.id
    continues = new.state is ExecutionState.WORKING and new.dispatch == e.dispatch
    must_stop = e.state is ExecutionState.WORKING and not continues and not own
    assert decision.effects.count(stop) == int(must_stop), (command, e, new)


def _check_attempt_keys(ledger: Ledger, before: Run, command: Command, after: Run) -> None:
    """Check that only users, revisions and validations change an attempt key, and that no key is used twice."""
    for e in after.executions.values():
        keys, was = ledger.attempt_keys.setdefault(e.id, []), before.executions.get(e.id)
        if not keys or keys[-1] != e.attempt_key:
            assert e.attempt_key not in keys
            keys.append(e.attempt_key)
        if was is not None and e.attempt != was.attempt and e.retries_used > was.retries_used:
            assert e.attempt_key == was.attempt_key, "an automatic retry keeps its attempt key"
        elif was is not None and (e.attempt, e.revision) != (was.attempt, was.revision):
            assert e.attempt_key != was.attempt_key, command


def _check_effects(ledger: Ledger, before: Run, after: Run, effects: tuple[Effect, ...]) -> None:
    order = [ORDER.get(type(effect), 1) for effect in effects]
    assert order == sorted(order)
    for effect in effects:
        match effect:
            case Dispatch(execution, dispatch):
                e = after.executions[execution]
                assert after.can_dispatch
                assert (e.state, e.dispatch) == (ExecutionState.WORKING, dispatch)
                assert (execution, dispatch) not in ledger.dispatched
                ledger.dispatched.add((execution, dispatch))
            case ScheduleTimer(wait, timer):
                assert wait >= 0
                ledger.timers.add(timer)
            case StopExecution(execution, dispatch):
                assert (execution, dispatch) in ledger.dispatched
            case ArchivePass(pass_number):
                assert before.pass_number <= pass_number < after.pass_number
            case _:
                _check_files(ledger, after, effect)


def _check_files(ledger: Ledger, after: Run, effect: FileEffect) -> None:
    match effect:
        case CreateWorkspace(execution):
            assert execution in after.executions
            assert execution not in ledger.workspaces
            ledger.workspaces.add(execution)
        case MoveToErrored(execution):
            assert after.executions[execution].state in (ExecutionState.FAILED, ExecutionState.CANCELLED)
            ledger.workspaces.remove(execution)
        case DeleteWorkspaces(executions):
            assert len(set(executions)) == len(executions) > 0
            assert ledger.workspaces.issuperset(executions)
            ledger.workspaces.difference_update(executions)
        case StageArtifacts(execution):
            assert after.executions[execution].outputs
            assert after.executions[execution].state in (
                ExecutionState.AWAITING_COMPLETION_APPROVAL,
                ExecutionState.WAITING,
            )
        case PromoteArtifacts(execution):
            assert execution not in ledger.promoted
            assert after.executions[execution].state is ExecutionState.COMPLETED
            ledger.promoted.add(execution)
        case ArchiveFiles(rollback):
            assert rollback not in ledger.archives
            ledger.archives.add(rollback)
        case RestoreFiles(rollback):
            ledger.archives.remove(rollback)
        case ArchivePass():
            raise AssertionError("a pass is archived once")


# ---- the current run -------------------------------------------------------------------------------
def check_run(ledger: Ledger, run: Run, context: CommandContext) -> None:
    _check_status(run)
    _check_clock(ledger, run)
    _check_checkpoints(run)
    for e in run.executions.values():
        _check_execution(ledger, run, e)
    for a in run.approvals.values():
        _check_approval(ledger, run, a)
    assert {r.id for r in run.rollbacks if not r.undone} == ledger.archives
    fresh = ExecutionIndex.from_executions(run.executions.values(), run.pass_number)
    assert run.index == fresh
    assert [list(part) for part in (run.index.current, run.index.open, run.index.failed)] == [
        list(part) for part in (fresh.current, fresh.open, fresh.failed)
    ]
    settled = Draft(run, context)
    settle(settled)
    assert (settled.run, settled.events, settled.effects) == (run, [], [])


def _check_status(run: Run) -> None:
    assert run.restart_count == run.pass_number - 1
    assert not (run.open and (run.status in CLOSED or run.status is RunStatus.NOT_STARTED))
    if run.status is RunStatus.PAUSED:
        assert not run.is_working
    if run.over_budget:
        assert run.pause_requested or run.status is RunStatus.PAUSED
    if run.pause_requested:
        assert run.status is RunStatus.IN_PROGRESS
        assert run.is_working
    if run.status is RunStatus.COMPLETED:
        assert not run.failed
        assert run.complete == run.plan.by_key.keys()
    assert (run.completed_at is not None) == (run.status in CLOSED)
    assert (run.paused_at is not None) == (run.status is RunStatus.PAUSED)
    if run.status is RunStatus.IN_PROGRESS:
        assert run.started_at is not None
        assert run.open
    if run.archived_by is not None:
        assert run.status in CLOSED
        assert [r.id for r in run.rollbacks if not r.undone][-1] == run.archived_by


def _check_clock(ledger: Ledger, run: Run) -> None:
    working = any(e.state is ExecutionState.WORKING for e in run.executions.values())
    assert working == run.is_working == (run.active_since is not None)
    if working and run.plan.run_timeout is not None:
        assert RunTimedOut(run.timer_generation) in ledger.timers


def _check_checkpoints(run: Run) -> None:
    for checkpoint in run.plan.checkpoints:
        mine = [e for e in run.current if e.key == checkpoint.key]
        plain = [e for e in mine if not e.is_rework and e.state is not ExecutionState.CANCELLED]
        reworks = [e for e in mine if e.is_rework and e.state in LIVE]
        assert len(plain) <= 1, plain
        assert len(reworks) <= 1, reworks
        if reworks:
            assert plain
            assert plain[0].state is ExecutionState.COMPLETED


def _check_execution(ledger: Ledger, run: Run, e: Execution) -> None:
    assert e.has_workspace == (e.id in ledger.workspaces), e
    assert (e.state is ExecutionState.WAITING) == (e.waiting_on is not None)
    assert (e.state is ExecutionState.WORKING) == (e.active_since is not None)
    assert (e.state is ExecutionState.COMPLETED) == (e.completed_at is not None)
    assert (e.state is ExecutionState.COMPLETED) == (e.id in ledger.promoted)
    assert (e.state is ExecutionState.FAILED) == (e.failed_at is not None)
    assert (e.waiting_on in TIMED) == (e.due_at is not None)
    if e.state is ExecutionState.FAILED:
        assert e.last_error is not None
    if e.id not in run.index.current or run.status in CLOSED:
        assert not e.has_workspace
    if e.state in OPEN:
        assert e.id in run.index.current, "an execution of an earlier pass or an archive is open"
        _check_open(ledger, run, e)
    else:
        assert not run.pending_of(e.id)


def _check_open(ledger: Ledger, run: Run, e: Execution) -> None:
    assert e.has_workspace
    if e.state is not ExecutionState.PENDING:
        assert all(run.latest(key) for key in run.plan.prerequisites[e.key]), ("its prerequisites are not complete", e)
        assert (
            e.start_approved
            or e.state is ExecutionState.AWAITING_START_APPROVAL
            or not e.policy.requires_start_approval
        ), (
            "its start was never approved",
            e,
        )
    kinds = [a.kind for a in run.pending_of(e.id)]
    match e.state:
        case ExecutionState.AWAITING_START_APPROVAL:
            assert kinds == [ApprovalKind.START]
        case ExecutionState.AWAITING_COMPLETION_APPROVAL:
            assert kinds == [ApprovalKind.COMPLETION]
            assert e.policy.requires_completion_approval or run.pending_of(e.id)[0].rule
        case ExecutionState.WAITING if e.waiting_on is WaitingOn.ACTION_APPROVAL:
            _check_asked_once(run, e)
        case ExecutionState.WAITING if kind := PERSON_WAITS.get(e.waiting_on or WaitingOn.REWORK):
            assert kinds == [kind]
        case _:
            assert kinds == []
    match e.state:
        case ExecutionState.READY:
            assert not run.can_dispatch
        case ExecutionState.WORKING:
            assert (e.id, e.dispatch) in ledger.dispatched
            assert e.policy.timeout is None or ExecutionTimedOut(e.id, e.dispatch) in ledger.timers
        case ExecutionState.WAITING if e.waiting_on in TIMED:
            assert RetryDue(e.id, e.dispatch) in ledger.timers
        case ExecutionState.WAITING if e.waiting_on is WaitingOn.REWORK:
            children = [o for o in run.current if o.parent_execution == e.id and o.is_rework and o.state in LIVE]
            assert children, ("no rework is open", e)
        case _:
            pass


def _check_asked_once(run: Run, e: Execution) -> None:
    """An execution can wait for several actions, or for none if they may not start now."""
    asked = [(a.action, a.kind) for a in run.pending_of(e.id)]
    assert {kind for _, kind in asked} <= {ApprovalKind.ACTION, ApprovalKind.OUTCOME}
    assert None not in dict(asked)
    assert len(asked) == len(set(asked)), "people are asked once"


def _check_approval(ledger: Ledger, run: Run, a: Approval) -> None:
    assert a.execution in run.executions
    assert (a.closed_at is None) == (a.status is ApprovalStatus.PENDING)
    assert (a.action is not None) == (a.kind in (ApprovalKind.ACTION, ApprovalKind.OUTCOME))
    if a.status is ApprovalStatus.PENDING:
        assert a.expires_at is None or ApprovalExpired(a.id, a.period) in ledger.timers
    if a.action is not None:
        return  # its votes are counted by the seats of the action
    counted = [vote.by for vote in a.votes if vote.decision in APPROVING_DECISIONS]
    assert len(counted) == len(set(counted)), "a person counts once"
    if a.status is ApprovalStatus.PENDING:
        assert len(a.approved_by) < a.required_approvals
    if a.status in APPROVED_STATUSES and a.votes[-1].decision in APPROVING_DECISIONS:
        assert len(a.approved_by) >= a.required_approvals
        assert a.digest == a.votes[-1].digest
