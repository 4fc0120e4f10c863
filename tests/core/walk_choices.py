"""Choices for random walks: plans, and commands that make sense or don't."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cairn.core import transitions
from cairn.core.budget import Budget
from cairn.core.commands import (
    ActionDecided,
    ActionHeld,
    ActionProposed,
    ActionRequest,
    ActionResumed,
    ApprovalExpired,
    ArchiveRun,
    ArtifactOutput,
    AssignApproval,
    BudgetReached,
    CancelExecution,
    CancelRun,
    Command,
    Decide,
    EscalationDue,
    ExecutionBlocked,
    ExecutionFailed,
    ExecutionFinished,
    ExecutionInterrupted,
    ExecutionTimedOut,
    InputRequested,
    IterationLimitReached,
    PauseRun,
    ReminderDue,
    RequestRework,
    RestartRun,
    ResultInvalid,
    ResumeRun,
    RetryDue,
    RetryExecution,
    ReworkRequested,
    RollBack,
    RunTimedOut,
    SetBudget,
    StartExecution,
    StartRun,
    UndoRollback,
    WarnBudget,
)
from cairn.core.execution import Execution, Failure
from cairn.core.plan import Checkpoint, CheckpointPolicy, Plan
from cairn.core.rule_verdict import ApprovalTerms, RiskLevel, RuleVerdict
from cairn.core.run import Run
from cairn.core.states import (
    ActionState,
    ApprovalKind,
    ApprovalStatus,
    ExecutionMode,
    ExecutionState,
    OnBlocker,
    OnExpiry,
    OnFailure,
    OnInvalid,
    PassDecision,
    RunStatus,
    WaitingOn,
)

DELAYS = (WaitingOn.RETRY_DELAY, WaitingOn.EXTERNAL_BLOCKER)
ERROR = Failure("fault", "it broke")
OUTPUT = ArtifactOutput("artifact", "result", "c" * 64, 3)


def plan(pick: Callable[[Sequence[Any]], Any]) -> Plan:
    """Return any plan a definition can have."""
    checkpoints: list[Checkpoint] = []
    deciding, stage = pick([False, True]), 0
    for position in range(pick([1, 2, 3, 3, 4, 5])):
        decides = deciding and pick([True, False, False])
        joins = bool(checkpoints) and not decides and not checkpoints[-1].decides and pick([False, True])
        stage += 0 if joins else 1
        needs: tuple[str, ...] = ()
        if checkpoints and pick([False, False, False, True]):
            earlier = [checkpoint.key for checkpoint in checkpoints]
            needs = tuple(sorted({pick(earlier), pick(earlier)}))
        checkpoints.append(Checkpoint(f"c{position}", position, f"s{stage}", needs, decides))
    second = pick([False, True])
    return Plan(
        tuple(checkpoints),
        {checkpoint.key: policy(pick) for checkpoint in checkpoints},
        auto_advance=pick([False, True]),
        run_timeout=pick([None, None, 90.0]),
        require_second_pass=second,
        max_restarts=pick([1, 2] if second else [0, 1, 2]),
        max_rework_depth=2,
        max_reworks=4,
        max_interruptions=1,
        on_blocker=pick(list(OnBlocker)),
    )


def book(pick: Callable[[Sequence[Any]], Any], plan: Plan) -> dict[tuple[str, ApprovalKind], RuleVerdict]:
    """Return any active rules, as verdicts by checkpoint and kind."""
    found: dict[tuple[str, ApprovalKind], RuleVerdict] = {}
    for checkpoint in plan.checkpoints:
        for kind in ApprovalKind:
            asks = pick([None, None, None, True, False])
            if asks is None:
                continue
            terms = ApprovalTerms(
                required_approvals=pick([1, 1, 2]),
                timeout=pick([None, 3600.0]),
                on_expiry=pick(list(OnExpiry)),
                escalate_after=pick([None, 60.0]),
                escalate_to=("cleo",),
            )
            terms = terms if asks else ApprovalTerms()  # an approving rule has no terms
            found[checkpoint.key, kind] = RuleVerdict(asks, f"rule {len(found)}", "global", 1, terms=terms)
    return found


def policy(pick: Callable[[Sequence[Any]], Any]) -> CheckpointPolicy:
    return CheckpointPolicy(
        mode=pick([ExecutionMode.AGENTIC, ExecutionMode.SCRIPT, ExecutionMode.HUMAN_ONLY]),
        requires_start_approval=pick([False, False, False, True]),
        requires_completion_approval=pick([False, False, True]),
        max_auto_retries=pick([0, 1, 2]),
        on_failure=pick(list(OnFailure)),
        timeout=pick([None, 60.0]),
        on_timeout=pick(list(OnFailure)),
        max_revisions=pick([0, 1, 2]),
        on_invalid=pick(list(OnInvalid)),
        max_validation_retries=pick([0, 1, 2]),
        digest="form",
    )


def finishes(run: Run) -> list[Command]:
    found: list[Command] = []
    for e in working(run):
        decisions = tuple(PassDecision) if run.plan[e.key].decides else (None,)
        for pass_decision in decisions:
            found += [
                ExecutionFinished(e.id, e.dispatch, "x", (OUTPUT,), pass_decision),
                ExecutionFinished(e.id, e.dispatch, "y", (), pass_decision),
            ]
    return found


def reports(run: Run) -> list[Command]:
    found = finishes(run)
    for e in working(run):
        x, n = e.id, e.dispatch
        found += [
            ExecutionFailed(x, n, ERROR),
            ResultInvalid(x, n, "x", (OUTPUT,)),
            ResultInvalid(x, n, "y"),
            InputRequested(x, n, WaitingOn.QUESTION),
            InputRequested(x, n, WaitingOn.SCRIPT_INPUT),
            *_action_reports(e),
            ExecutionBlocked(x, n),
            IterationLimitReached(x, n, "x", (OUTPUT,)),
            IterationLimitReached(x, n),
            BudgetReached(x, n, "spent"),
            ExecutionInterrupted(x, n),
        ]
        for checkpoint in run.plan.checkpoints:
            found.append(ReworkRequested(x, n, checkpoint.key, "why", "what"))
            found.append(ReworkRequested(x, n, checkpoint.key, digest="x", outputs=(OUTPUT,)))
    return found


def _action_reports(e: Execution) -> list[Command]:
    """A judged action, or actions that can't start now."""
    x, n = e.id, e.dispatch
    asked = action_request(f"action {n}")
    auto = replace(asked, verdict=RuleVerdict(requires_approval=False))
    unknown = replace(asked, action=f"action {n - 1}", kind=ApprovalKind.OUTCOME)
    return [
        ActionProposed(x, n, ActionState.WAITING, asked, "why", "x", (OUTPUT,)),
        ActionProposed(x, n, ActionState.WAITING, replace(asked, verdict=TIMED)),
        ActionProposed(x, n, ActionState.APPROVED, auto),
        ActionProposed(x, n, ActionState.PROPOSED, reason="stopped"),
        *(ActionProposed(x, n, state) for state in (ActionState.REFUSED, ActionState.REUSED, ActionState.TEST)),
        ActionHeld(x, n, "paused"),
        ActionHeld(x, n, is_over=True),
        ActionHeld(x, n, "unknown", (unknown,)),
        ActionHeld(x, n, "both", (asked, unknown)),
    ]


TIMED = RuleVerdict(
    True, "careful", "global", 1, terms=ApprovalTerms(timeout=3600.0, escalate_after=60.0, escalate_to=("cleo",))
)


def action_request(action: str) -> ActionRequest:
    verdict = RuleVerdict(requires_approval=True)
    return ActionRequest(action, ApprovalKind.ACTION, "act", "transfer", RiskLevel.HIGH, verdict=verdict)


def decisions(run: Run) -> list[Command]:
    found: list[Command] = []
    for n, a in enumerate(run.pending):
        for decision, status in transitions.DECISIONS[a.kind].items():
            if a.action is None:
                found.append(Decide(a.id, decision, a.digest, answer=f"{n}"))
            else:
                found += [ActionDecided(a.id, decision, status), ActionDecided(a.id, decision, None, "other")]
    return found


def resumptions(run: Run) -> list[Command]:
    """What held actions back is gone, with and without another decision of people."""
    waiting = [e for e in run.open if e.waiting_on is WaitingOn.ACTION_APPROVAL]
    found: list[Command] = [ActionResumed(e.id) for e in waiting]
    asked = action_request("action 1")
    for request in (asked, replace(asked, kind=ApprovalKind.OUTCOME)):
        found += [ActionResumed(e.id, (request,)) for e in waiting]
    return found


def approvals(run: Run) -> list[Command]:
    found: list[Command] = []
    for a in run.pending:
        for decision, status in transitions.DECISIONS[a.kind].items():
            if decision in YES and a.action is None:
                found.append(Decide(a.id, decision, a.digest))
            elif decision in YES:
                found.append(ActionDecided(a.id, decision, status))
    return found


YES = ("approve", "accept", "answer", "happened")


def timers(run: Run) -> list[Command]:
    timed = [a for a in run.pending if a.expires_at is not None]
    found: list[Command] = [ApprovalExpired(a.id, a.period) for a in timed]
    found += [ReminderDue(a.id, a.period) for a in timed]
    found += [EscalationDue(a.id) for a in run.pending if a.terms.escalate_after is not None]
    found += [RetryDue(e.id, e.dispatch) for e in run.open if e.waiting_on in DELAYS]
    found += [ExecutionTimedOut(e.id, e.dispatch) for e in working(run) if e.policy.timeout is not None]
    return found


def requests(run: Run) -> list[Command]:
    """Return common user commands."""
    if run.status is RunStatus.NOT_STARTED:
        return [StartRun()]
    found: list[Command] = [PauseRun() if run.can_dispatch else ResumeRun()]
    found += [StartExecution(e.id) for e in run.open if e.state is ExecutionState.PENDING]
    found += [RetryExecution(e.id, e.attempt) for e in run.failed]
    found += [AssignApproval(a.id, ("dora",)) for a in run.pending]
    found += [SetBudget(Budget(max_calls=run.created_count)), SetBudget(Budget()), WarnBudget("most is used")]
    return found


def interruptions(run: Run) -> list[Command]:
    """Return user commands that interrupt or undo work."""
    name = f"R{run.created_count}"
    found: list[Command] = [CancelRun(), RestartRun(run.pass_number), ArchiveRun(name)]
    if run.plan.run_timeout is not None:
        found.append(RunTimedOut(run.timer_generation))
    for target in range(-1, len(run.plan.checkpoints)):
        found += [RollBack(name, target), RollBack(name, target), RollBack(name, target, with_runs=True)]
    found += [UndoRollback(r.id) for r in run.rollbacks] * 2
    found += [CancelExecution(e.id) for e in run.current]
    for checkpoint in run.plan.checkpoints:
        found.append(RequestRework(checkpoint.key))
        found += [RequestRework(checkpoint.key, e.id) for e in run.current if e.position > checkpoint.position]
    return found


def late(run: Run) -> list[Command]:
    """Return commands that are late, repeated, early, or for items that no longer exist."""
    found: list[Command] = [StartRun(), PauseRun(), ResumeRun(), CancelRun(), UndoRollback("none")]
    found += [RunTimedOut(run.timer_generation - 1), RestartRun(run.pass_number - 1), Decide("none", "approve")]
    for e in run.executions.values():
        for n in (e.dispatch, e.dispatch - 1, e.dispatch + 1):
            found += [
                ExecutionFinished(e.id, n, "z", pass_decision=PassDecision.COMPLETE),
                ExecutionFailed(e.id, n, ERROR),
                ResultInvalid(e.id, n, "z"),
                ExecutionTimedOut(e.id, n),
                RetryDue(e.id, n),
                InputRequested(e.id, n, WaitingOn.QUESTION),
                ReworkRequested(e.id, n, "c0"),
                ExecutionInterrupted(e.id, n),
                IterationLimitReached(e.id, n),
                BudgetReached(e.id, n, "spent"),
                *_action_reports(e.replace(dispatch=n)),
            ]
        found += [StartExecution(e.id), RetryExecution(e.id, e.attempt), CancelExecution(e.id)]
    for a in run.approvals.values():
        found += [Decide(a.id, decision) for decision in ("approve", "reject", "accept", "answer")]
        found += [ApprovalExpired(a.id, 1), Decide(a.id, "approve", "old"), AssignApproval(a.id, ())]
        found += [ReminderDue(a.id, 1), EscalationDue(a.id)]
        found.append(ActionDecided(a.id, "approve", ApprovalStatus.APPROVED))
    found += [ArchiveRun(r.id) for r in run.rollbacks] + [RollBack(r.id, -1) for r in run.rollbacks]
    return found


def working(run: Run) -> list[Execution]:
    return [e for e in run.open if e.state is ExecutionState.WORKING]
