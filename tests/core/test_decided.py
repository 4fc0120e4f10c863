"""One decision counts, for the content that was shown."""

from __future__ import annotations

from cairn.core import messages as m
from cairn.core.errors import Stale
from cairn.core.model import (
    ApprovalStatus,
    Policy,
)
from tests.core.desk import Desk, plan_of
from tests.mentions import mentions


def asked_completion() -> Desk:
    desk = Desk(plan_of("a", policies={"a": Policy(ask_completion=True)}))
    desk.finish("a")
    return desk


def test_one_decision_counts_and_the_others_are_refused() -> None:
    desk = asked_completion()
    approval = desk.asked("a").id
    desk.send(m.Decide(approval, "approve"), "bob")
    refused = desk.refuses(m.Decide(approval, "reject"))
    assert refused.message == mentions("approved", "bob")
    desk.refuses(m.Decide("nowhere", "approve"))


def test_a_decision_of_another_approval_kind_is_refused() -> None:
    desk = asked_completion()
    refused = desk.refuses(m.Decide(desk.asked("a").id, "accept"))
    assert refused.message == mentions("'accept'", "completion")
    assert refused.possible == ("approve", "revise", "reject")


def test_a_decision_on_other_content_is_stale() -> None:
    desk = asked_completion()
    desk.refuses(m.Decide(desk.asked("a").id, "approve", "another"), Stale)
    desk.answer("a", "approve", digest="d")
    assert desk.states == {"a": "COMPLETED"}


def test_a_cancelled_execution_withdraws_its_approval() -> None:
    desk = asked_completion()
    approval = desk.asked("a").id
    desk.send(m.CancelRun())
    assert desk.run.approvals[approval].status is ApprovalStatus.WITHDRAWN
    assert desk.detail(m.EventType.APPROVAL_WITHDRAWN) == {"kind": "completion", "reason": mentions()}
    refused = desk.refuses(m.Decide(approval, "approve"))
    assert refused.message == mentions("withdrawn")
    desk.refuses(m.ApprovalExpired(approval, 1), Stale)
