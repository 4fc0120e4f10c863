"""One decision counts, for what was looked at: H4, D24, D25."""

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


def test_one_decision_counts_and_the_others_get_a_clear_answer_h4() -> None:
    desk = asked_completion()
    approval = desk.asked("a").id
    desk.send(m.Decide(approval, "approve"), "bob")
    refused = desk.refuses(m.Decide(approval, "reject"))
    assert refused.message == mentions("approved", "bob")
    desk.refuses(m.Decide("nowhere", "approve"))


def test_an_answer_that_does_not_fit_the_kind_is_refused_d22() -> None:
    desk = asked_completion()
    refused = desk.refuses(m.Decide(desk.asked("a").id, "accept"))
    assert refused.message == mentions("'accept'", "completion")
    assert refused.possible == ("approve", "revise", "reject")


def test_a_decision_about_other_content_is_stale_d25() -> None:
    desk = asked_completion()
    desk.refuses(m.Decide(desk.asked("a").id, "approve", "another"), Stale)
    desk.answer("a", "approve", digest="d")
    assert desk.states == {"a": "COMPLETED"}


def test_what_is_taken_away_withdraws_its_approval_d24() -> None:
    desk = asked_completion()
    approval = desk.asked("a").id
    desk.send(m.CancelRun())
    assert desk.run.approvals[approval].status is ApprovalStatus.WITHDRAWN
    assert desk.detail(m.EventType.APPROVAL_WITHDRAWN) == {"kind": "completion", "reason": mentions()}
    refused = desk.refuses(m.Decide(approval, "approve"))
    assert refused.message == mentions("withdrawn")
    desk.refuses(m.ApprovalExpired(approval, 1), Stale)
