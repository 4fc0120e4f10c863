"""One decision counts, for what was looked at: H4, D24, D25."""

from __future__ import annotations

from cairn.core.commands import ApprovalExpired, CancelRun, Decide
from cairn.core.errors import StaleCommand
from cairn.core.events import EventType
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ApprovalStatus
from tests.core.desk import Desk, plan_of


def asked_completion() -> Desk:
    desk = Desk(plan_of("a", policies={"a": CheckpointPolicy(ask_completion=True)}))
    desk.finish("a")
    return desk


def test_one_decision_counts_and_the_others_get_a_clear_answer_h4() -> None:
    desk = asked_completion()
    approval = desk.asked("a").id
    desk.send(Decide(approval, "approve"), "bob")
    refused = desk.refuses(Decide(approval, "reject"))
    assert refused.message == "It is not asked any more: the approval is approved by bob."
    desk.refuses(Decide("nowhere", "approve"))


def test_an_answer_that_does_not_fit_the_kind_is_refused_d22() -> None:
    desk = asked_completion()
    refused = desk.refuses(Decide(desk.asked("a").id, "accept"))
    assert refused.message == "'accept' does not answer an approval of kind completion."
    assert refused.possible == ("approve", "revise", "reject")


def test_a_decision_about_other_content_is_stale_d25() -> None:
    desk = asked_completion()
    desk.refuses(Decide(desk.asked("a").id, "approve", "another"), StaleCommand)
    desk.answer("a", "approve", digest="d")
    assert desk.states == {"a": "COMPLETED"}


def test_what_is_taken_away_withdraws_its_approval_d24() -> None:
    desk = asked_completion()
    approval = desk.asked("a").id
    desk.send(CancelRun())
    assert desk.run.approvals[approval].status is ApprovalStatus.WITHDRAWN
    assert desk.detail(EventType.APPROVAL_WITHDRAWN) == {"kind": "completion", "reason": "the run was cancelled"}
    refused = desk.refuses(Decide(approval, "approve"))
    assert refused.message == "It is not asked any more: the approval is withdrawn."
    desk.refuses(ApprovalExpired(approval, 1), StaleCommand)
