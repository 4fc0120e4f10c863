"""One decision counts, for the content that was shown."""

from __future__ import annotations

from cairn.core.commands import ApprovalExpired, CancelRun, Decide
from cairn.core.errors import StaleCommand
from cairn.core.events import EventType
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ApprovalStatus
from tests.core.desk import Desk, plan_of
from tests.mentions import mentions


def asked_completion() -> Desk:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(ask_completion=True)}))
    desk.finish("a")
    return desk


def test_one_decision_counts_and_the_others_are_refused() -> None:
    desk = asked_completion()
    approval = desk.asked("a").id
    desk.send(Decide(approval, "approve"), "bob")
    refused = desk.refuses(Decide(approval, "reject"))
    assert refused.message == mentions("approved", "bob")
    desk.refuses(Decide("nowhere", "approve"))


def test_a_decision_of_another_approval_kind_is_refused() -> None:
    desk = asked_completion()
    refused = desk.refuses(Decide(desk.asked("a").id, "accept"))
    assert refused.message == mentions("'accept'", "completion")
    assert refused.possible == ("approve", "revise", "reject")


def test_a_decision_on_other_content_is_stale() -> None:
    desk = asked_completion()
    desk.refuses(Decide(desk.asked("a").id, "approve", "another"), StaleCommand)
    desk.answer("a", "approve", digest="d")
    assert desk.states == {"a": "COMPLETED"}


def test_a_cancelled_execution_withdraws_its_approval() -> None:
    desk = asked_completion()
    approval = desk.asked("a").id
    desk.send(CancelRun())
    assert desk.run.approvals[approval].status is ApprovalStatus.WITHDRAWN
    assert desk.detail(EventType.APPROVAL_WITHDRAWN) == {"kind": "completion", "reason": mentions()}
    refused = desk.refuses(Decide(approval, "approve"))
    assert refused.message == mentions("withdrawn")
    desk.refuses(ApprovalExpired(approval, 1), StaleCommand)
