"""What may come next in a walk: plans, and commands that make sense and that do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cairn.core import messages as m
from cairn.core import moves
from cairn.core.model import (
    Action,
    Budget,
    Checkpoint,
    Execution,
    Fault,
    Kind,
    Mode,
    OnBlocker,
    OnExpiry,
    OnFailure,
    OnInvalid,
    Plan,
    Policy,
    Risk,
    Ruling,
    Run,
    RunStatus,
    State,
    Terms,
    WaitingOn,
)
from cairn.core.verdict import Verdict

DELAYS = (WaitingOn.RETRY_DELAY, WaitingOn.EXTERNAL_BLOCKER)
ERROR = Fault("fault", "it broke")
OUTPUT = m.Output("artifact", "result", "c" * 64, 3)


def plan(pick: Callable[[Sequence[Any]], Any]) -> Plan:
    """Any plan that a definition may lead to."""
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


def book(pick: Callable[[Sequence[Any]], Any], plan: Plan) -> dict[tuple[str, Kind], Verdict]:
    """Any rules that may be in force, by what they say about a checkpoint."""
    found: dict[tuple[str, Kind], Verdict] = {}
    for checkpoint in plan.checkpoints:
        for kind in Kind:
            asks = pick([None, None, None, True, False])
            if asks is None:
                continue
            terms = Terms(
                needed=pick([1, 1, 2]),
                period=pick([None, 3600.0]),
                on_expiry=pick(list(OnExpiry)),
                escalate_after=pick([None, 60.0]),
                escalate_to=("cleo",),
            )
            terms = terms if asks else Terms()  # whoever approves asks nobody
            found[checkpoint.key, kind] = Verdict(asks, f"rule {len(found)}", "global", 1, terms=terms)
    return found


def policy(pick: Callable[[Sequence[Any]], Any]) -> Policy:
    return Policy(
        mode=pick([Mode.AGENTIC, Mode.SCRIPT, Mode.HUMAN_ONLY]),
        ask_start=pick([False, False, False, True]),
        ask_completion=pick([False, False, True]),
        max_auto_retries=pick([0, 1, 2]),
        on_failure=pick(list(OnFailure)),
        timeout=pick([None, 60.0]),
        on_timeout=pick(list(OnFailure)),
        max_revisions=pick([0, 1, 2]),
        on_invalid=pick(list(OnInvalid)),
        max_validation_retries=pick([0, 1, 2]),
        digest="form",
    )


def finishes(run: Run) -> list[m.Command]:
    found: list[m.Command] = []
    for e in working(run):
        rulings = tuple(Ruling) if run.plan[e.key].decides else (None,)
        for ruling in rulings:
            found += [
                m.Finished(e.id, e.dispatch, "x", (OUTPUT,), ruling),
                m.Finished(e.id, e.dispatch, "y", (), ruling),
            ]
    return found


def reports(run: Run) -> list[m.Command]:
    found = finishes(run)
    for e in working(run):
        x, n = e.id, e.dispatch
        found += [
            m.Failed(x, n, ERROR),
            m.Invalid(x, n, "x", (OUTPUT,)),
            m.Invalid(x, n, "y"),
            m.InputWanted(x, n, WaitingOn.QUESTION),
            m.InputWanted(x, n, WaitingOn.SCRIPT_INPUT),
            *(m.ActionProposed(x, n, "act", Action("act", {}, risk)) for risk in (Risk.LOW, Risk.HIGH)),
            m.OutcomeUnknown(x, n, "why"),
            m.Blocked(x, n),
            m.LimitReached(x, n, "x", (OUTPUT,)),
            m.LimitReached(x, n),
            m.BudgetReached(x, n, "spent"),
            m.Interrupted(x, n),
        ]
        for checkpoint in run.plan.checkpoints:
            found.append(m.ReworkWanted(x, n, checkpoint.key, "why", "what"))
            found.append(m.ReworkWanted(x, n, checkpoint.key, digest="x", outputs=(OUTPUT,)))
    return found


def decisions(run: Run) -> list[m.Command]:
    return [
        m.Decide(a.id, decision, a.digest, modified=f"{a.digest}'" if decision == "modify" else None, answer=f"{n}")
        for n, a in enumerate(run.pending)
        for decision in moves.DECISIONS[a.kind]
    ]


def agreements(run: Run) -> list[m.Command]:
    return [m.Decide(a.id, yes, a.digest) for a in run.pending for yes in moves.DECISIONS[a.kind] if yes in YES]


YES = ("approve", "accept", "answer")


def timers(run: Run) -> list[m.Command]:
    timed = [a for a in run.pending if a.expires_at is not None]
    found: list[m.Command] = [m.ApprovalExpired(a.id, a.period) for a in timed]
    found += [m.ReminderDue(a.id, a.period) for a in timed]
    found += [m.EscalationDue(a.id) for a in run.pending if a.terms.escalate_after is not None]
    found += [m.RetryDue(e.id, e.dispatch) for e in run.open if e.waiting_on in DELAYS]
    found += [m.TimedOut(e.id, e.dispatch) for e in working(run) if e.policy.timeout is not None]
    return found


def requests(run: Run) -> list[m.Command]:
    """What people often ask for."""
    if run.status is RunStatus.NOT_STARTED:
        return [m.StartRun()]
    found: list[m.Command] = [m.PauseRun() if run.goes_on else m.ResumeRun()]
    found += [m.StartExecution(e.id) for e in run.open if e.state is State.PENDING]
    found += [m.RetryExecution(e.id, e.attempt) for e in run.failed]
    found += [m.HandOver(a.id, ("dora",)) for a in run.pending]
    found += [m.SetBudget(Budget(max_calls=run.issued)), m.SetBudget(Budget()), m.WarnOfBudget("most is used")]
    return found


def upheavals(run: Run) -> list[m.Command]:
    """What people ask for when something has gone wrong."""
    name = f"R{run.issued}"
    found: list[m.Command] = [m.CancelRun(), m.RestartRun(run.pass_number), m.TakeRunAway(name)]
    if run.plan.run_timeout is not None:
        found.append(m.RunTimedOut(run.clock))
    for target in range(-1, len(run.plan.checkpoints)):
        found += [m.RollBack(name, target), m.RollBack(name, target), m.RollBack(name, target, with_runs=True)]
    found += [m.UndoRollback(r.id) for r in run.rollbacks] * 2
    found += [m.CancelExecution(e.id) for e in run.current]
    for checkpoint in run.plan.checkpoints:
        found.append(m.AskRework(checkpoint.key))
        found += [m.AskRework(checkpoint.key, e.id) for e in run.current if e.position > checkpoint.position]
    return found


def late(run: Run) -> list[m.Command]:
    """What comes late, twice, early, or for what is gone."""
    found: list[m.Command] = [m.StartRun(), m.PauseRun(), m.ResumeRun(), m.CancelRun(), m.UndoRollback("none")]
    found += [m.RunTimedOut(run.clock - 1), m.RestartRun(run.pass_number - 1), m.Decide("none", "approve")]
    for e in run.executions.values():
        for n in (e.dispatch, e.dispatch - 1, e.dispatch + 1):
            found += [
                m.Finished(e.id, n, "z", ruling=Ruling.COMPLETE),
                m.Failed(e.id, n, ERROR),
                m.Invalid(e.id, n, "z"),
                m.TimedOut(e.id, n),
                m.RetryDue(e.id, n),
                m.InputWanted(e.id, n, WaitingOn.QUESTION),
                m.ReworkWanted(e.id, n, "c0"),
                m.Interrupted(e.id, n),
                m.LimitReached(e.id, n),
                m.BudgetReached(e.id, n, "spent"),
            ]
        found += [m.StartExecution(e.id), m.RetryExecution(e.id, e.attempt), m.CancelExecution(e.id)]
    for a in run.approvals.values():
        found += [m.Decide(a.id, decision) for decision in ("approve", "reject", "accept", "answer")]
        found += [m.ApprovalExpired(a.id, 1), m.Decide(a.id, "approve", "old"), m.HandOver(a.id, ())]
        found += [m.ReminderDue(a.id, 1), m.EscalationDue(a.id)]
    found += [m.TakeRunAway(r.id) for r in run.rollbacks] + [m.RollBack(r.id, -1) for r in run.rollbacks]
    return found


def working(run: Run) -> list[Execution]:
    return [e for e in run.open if e.state is State.WORKING]
