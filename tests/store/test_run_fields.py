"""Every field of the run aggregate is stored."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from cairn.core.approval import Approval, Vote
from cairn.core.budget import Budget
from cairn.core.decide import Decision
from cairn.core.execution import Execution, Failure, PendingRework, Rework
from cairn.core.rule_verdict import ApprovalTerms, EvaluatedRule, RiskLevel
from cairn.core.run import Rollback, Run
from cairn.core.states import (
    ApprovalKind,
    ApprovalStatus,
    ExecutionState,
    OnExpiry,
    PassDecision,
    RollbackTrigger,
    RunStatus,
    WaitingOn,
)
from cairn.store import Database, blobs, save_run
from tests.store.samples import NOON, create_run, make_document


def test_every_field_of_a_run_is_stored(database: Database) -> None:
    """A field that is added to the aggregate and not stored fails here."""
    harness = create_run(database, make_document("a", "b", "c"))
    answer = harness.database.transact_now(lambda c: blobs.put(c, b"answer"))
    first = Execution("e1", "a", 0, 3, 1, harness.loaded.run.plan.policy("a"))
    second = Execution(
        id="e2",
        key="b",
        position=1,
        pass_number=3,
        ordinal=2,
        policy=harness.loaded.run.plan.policy("b"),
        state=ExecutionState.WAITING,
        waiting_on=WaitingOn.QUESTION,
        dispatch=4,
        attempt=5,
        revision=6,
        retries_used=7,
        validations_used=8,
        interruptions=9,
        start_approved=True,
        answered=True,
        answer=answer,
        manual_start=True,
        requires_new_approval=True,
        digest="digest",
        outputs=("o1", "o2"),
        pass_decision=PassDecision.ESCALATE,
        rework=Rework("a", "do it again \0", "it was wrong"),
        parent_execution="e1",
        pending_rework=PendingRework("c", "so", "because"),
        has_actions=True,
        archived_by="rollback",
        has_workspace=False,
        errors=10,
        last_error=Failure("type", "message \0", "trace"),
        created_at=NOON + timedelta(seconds=1),
        started_at=NOON + timedelta(seconds=2),
        completed_at=NOON + timedelta(seconds=3),
        failed_at=NOON + timedelta(seconds=4),
        due_at=NOON + timedelta(seconds=5),
        active_since=NOON + timedelta(seconds=6),
        active_seconds=0.1 + 0.2,
    )
    vote = Vote("bob", NOON + timedelta(microseconds=7), "modify", "words", "d2", answer)
    plain = Approval("p1", "e1", ApprovalKind.START, "d", NOON)
    action_approval = Approval(
        id="p2",
        execution="e2",
        kind=ApprovalKind.ACTION,
        digest="d2",
        requested_at=NOON,
        status=ApprovalStatus.TIMEOUT,
        terms=ApprovalTerms(2, ("b",), True, 60.5, OnExpiry.ESCALATE, 30.5, ("c",), ("teams",), ("d",)),
        assigned_to=("b", "c"),
        votes=(vote, replace(vote, by="ann")),
        period=2,
        expires_at=NOON + timedelta(days=1),
        closed_at=NOON + timedelta(days=2),
        reason="because",
        attempt=3,
        action="a1",
        reused_from="p1",
        reminded_period=2,
        escalated=True,
        rule="careful",
        scope="global",
        rules_revision=3,
        priority=7,
        audit=True,
        operation_type="send_email",
        risk=RiskLevel.HIGH,
        confidence=0.87,
        evaluated_rules=(EvaluatedRule("careful", "global", "checkpoints", "requires approval"),),
    )
    rollback = Rollback(
        id="r",
        created_count=1,
        pass_number=2,
        status_before=RunStatus.FAILED,
        target=3,
        archived=("e2",),
        stopped=("e1",),
        triggered_by=RollbackTrigger.CHECKPOINT_FAILURE,
        undone=True,
        completed_before=NOON,
    )
    run = Run(
        id=harness.loaded.facts.run_id,
        plan=harness.loaded.run.plan,
        status=RunStatus.PAUSED,
        pass_number=3,
        restart_count=2,
        pause_requested=True,
        executions={"e1": first, "e2": second},
        approvals={"p1": plain, "p2": action_approval},
        rollbacks=(rollback,),
        reworks=4,
        created_count=5,
        archived_by="rollback",
        timer_generation=6,
        active_since=NOON,
        active_seconds=1 / 3,
        started_at=NOON + timedelta(hours=1),
        completed_at=NOON + timedelta(hours=2),
        paused_at=NOON + timedelta(hours=3),
        last_resumed_at=NOON + timedelta(hours=4),
        budget=Budget(Decimal("2.500000001"), 7, 8),
        over_budget="spent",
        budget_warned=True,
    )
    assert [unset(value) for value in (run, second, action_approval, vote, rollback)] == [
        [],
        ["definition"],
        [],
        [],
        [],
    ]
    harness.database.transact_now(lambda c: save_run(c, harness.loaded, Decision(run, (), ()), harness.context()))
    assert harness.load().run == run


def unset(value: Any) -> list[str]:
    """Fields with their default value, whose loss would go unnoticed."""
    found: list[str] = []
    for each in fields(value):
        default = each.default_factory() if callable(each.default_factory) else each.default
        if getattr(value, each.name) == default:
            found.append(each.name)
    return found
