"""Only one decision counts, and only for the displayed content."""

from __future__ import annotations

from cairn.core.commands import ApprovalExpired, CancelRun, Decide
from cairn.core.errors import StaleCommand
from cairn.core.events import EventType
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ApprovalStatus
from tests.core.harness import Harness, plan_of
from tests.mentions import mentions


def with_pending_completion() -> Harness:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(requires_completion_approval=True)}))
    harness.finish("a")
    return harness


def test_one_decision_counts_and_the_others_are_refused() -> None:
    harness = with_pending_completion()
    approval = harness.pending_approval("a").id
    harness.send(Decide(approval, "approve"), "bob")
    error = harness.refuses(Decide(approval, "reject"))
    assert error.message == mentions("approved", "bob")
    harness.refuses(Decide("nowhere", "approve"))


def test_a_decision_of_another_approval_kind_is_refused() -> None:
    harness = with_pending_completion()
    error = harness.refuses(Decide(harness.pending_approval("a").id, "accept"))
    assert error.message == mentions("'accept'", "completion")
    assert error.suggestions == ("approve", "revise", "reject")


def test_a_decision_on_other_content_is_stale() -> None:
    harness = with_pending_completion()
    harness.refuses(Decide(harness.pending_approval("a").id, "approve", "another"), StaleCommand)
    harness.answer("a", "approve", digest="d")
    assert harness.states == {"a": "COMPLETED"}


def test_a_cancelled_execution_withdraws_its_approval() -> None:
    harness = with_pending_completion()
    approval = harness.pending_approval("a").id
    harness.send(CancelRun())
    assert harness.run.approvals[approval].status is ApprovalStatus.WITHDRAWN
    assert harness.event_detail(EventType.APPROVAL_WITHDRAWN) == {"kind": "completion", "reason": mentions()}
    error = harness.refuses(Decide(approval, "approve"))
    assert error.message == mentions("withdrawn")
    harness.refuses(ApprovalExpired(approval, 1), StaleCommand)
