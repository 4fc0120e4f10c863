"""Sending work back to an earlier checkpoint."""

from __future__ import annotations

import pytest

from cairn.core.commands import (
    ArtifactOutput,
    CancelRun,
    Decide,
    ExecutionTimedOut,
    RequestRework,
    ReworkRequested,
    StartExecution,
)
from cairn.core.effects import ScheduleTimer, StageArtifacts
from cairn.core.errors import AlreadyApplied, StaleCommand
from cairn.core.events import EventType
from cairn.core.execution import PendingRework, Rework
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ApprovalStatus, ExecutionMode, ExecutionState, OnFailure, RunStatus, WaitingOn
from tests.core.desk import RESULT, Desk, plan_of
from tests.mentions import mentions


def wanted(key: str = "a", policies: dict[str, CheckpointPolicy] | None = None) -> Desk:
    """`b` works and has sent `key` back."""
    desk = Desk(plan_of("a", "b", "c", policies=policies))
    desk.finish("a", "a1")
    desk.send(ReworkRequested(desk.e("b").id, 1, key, "a figure is wrong", "Add it up again"), "worker")
    return desk


def looked_at() -> Desk:
    """`b` is up for approval."""
    desk = Desk(plan_of("a", "b", policies={"b": CheckpointPolicy(ask_completion=True, timeout=60.0)}))
    desk.finish("a", "a1")
    desk.finish("b", "b1", after=50)
    return desk


# ---- a runner asks -----------------------------------------------------------------------------------
def test_the_requester_waits_for_a_new_execution_of_the_earlier_checkpoint() -> None:
    desk = wanted()
    rework, asker = desk.e("a"), desk.e("b")
    assert (rework.state, rework.is_rework, rework.asked_by) == (ExecutionState.WORKING, True, asker.id)
    assert (rework.position, rework.asks_anew) == (0, True)
    assert (asker.state, asker.waiting_on) == (ExecutionState.WAITING, WaitingOn.REWORK)
    assert desk.run.reworks == 1
    assert desk.run.complete == frozenset()
    assert desk.told == ["execution_waiting", "rework_asked", "execution_made", "execution_dispatched"]
    assert rework.rework == Rework("b", "Add it up again", "a figure is wrong")
    assert desk.detail(EventType.REWORK_ASKED) == {
        "checkpoint": "a",
        "reason": "a figure is wrong",
        "prompt": "Add it up again",
        "requested_by": "b",
    }
    assert desk.detail(EventType.EXECUTION_MADE)["parent_execution_id"] == asker.id


def test_a_finished_rework_resumes_its_requester() -> None:
    desk = wanted()
    rework = desk.e("a")
    desk.finish("a", "a2")
    assert desk.run.latest("a") == desk.e("a")
    assert (desk.e("b").state, desk.e("b").dispatch, desk.e("b").attempt) == (ExecutionState.WORKING, 2, 1)
    assert desk.detail(EventType.REWORK_TOLD) == {
        "checkpoint": "a",
        "ended": "completed",
        "reason": "",
        "requested_by": "b",
        "execution_id": rework.id,
        "artifacts": [
            {
                "artifact_record_id": RESULT.id,
                "name": "result",
                "format": "json",
                "checksum": "c" * 64,
                "size_bytes": 3,
            }
        ],
    }


def test_a_rework_sees_the_results_of_its_requester() -> None:
    desk = Desk(plan_of("a", "b"))
    desk.finish("a", "a1")
    made = ArtifactOutput("artifact-2", "plan", "d" * 64, 4)
    desk.send(ReworkRequested(desk.e("b").id, 1, "a", "no tests", "Add tests", "b1", (made,)), "worker")
    asker = desk.e("b")
    assert (asker.digest, asker.outputs, asker.waiting_on) == ("b1", ("artifact-2",), WaitingOn.REWORK)
    assert desk.did(StageArtifacts) == [StageArtifacts(asker.id)]
    assert desk.told[0] == "artifacts_created"
    desk.finish("a", "a2")
    desk.finish("b", "b2")
    assert desk.e("b").outputs == (RESULT.id,)


def test_a_rework_starts_automatically_without_auto_advance() -> None:
    desk = Desk(plan_of("a", "b", auto_advance=False))
    desk.finish("a")
    desk.send(StartExecution(desk.e("b").id))
    desk.send(ReworkRequested(desk.e("b").id, 1, "a"), "worker")
    assert desk.e("a").state is ExecutionState.WORKING


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("nowhere", mentions("'nowhere'")),
        ("c", mentions("'c'")),
        ("b", mentions("'b'")),
    ],
)
def test_an_impossible_rework_is_refused_and_its_requester_continues(key: str, why: str) -> None:
    desk = wanted(key)
    assert (desk.states["b"], desk.e("b").dispatch, desk.run.reworks) == ("WORKING", 2, 0)
    assert desk.detail(EventType.REWORK_TOLD) == {
        "checkpoint": key,
        "ended": "refused",
        "reason": why,
        "requested_by": "b",
        "execution_id": None,
        "artifacts": [],
    }
    desk.refuses(ReworkRequested(desk.e("b").id, 1, key), StaleCommand)


def test_one_open_rework_per_checkpoint() -> None:
    desk = Desk(plan_of("a", ("b", "c")))
    desk.finish("a")
    desk.send(ReworkRequested(desk.e("b").id, 1, "a"), "worker")
    desk.send(ReworkRequested(desk.e("c").id, 1, "a"), "worker")
    assert desk.states["c"] == "WORKING"
    assert desk.detail(EventType.REWORK_TOLD)["reason"] == mentions("'a'")
    desk.refuses(RequestRework("a"))


def test_later_checkpoints_wait_for_a_rework() -> None:
    desk = Desk(plan_of("a", "b", "c"))
    desk.finish("a")
    desk.send(RequestRework("a"))
    desk.finish("b")
    assert desk.states == {"a": "WORKING", "b": "COMPLETED"}
    desk.finish("a")
    assert desk.states == {"a": "COMPLETED", "b": "COMPLETED", "c": "WORKING"}


def test_a_checkpoint_directly_follows_its_needs_or_the_stage_before() -> None:
    plan = plan_of("a", ("b", "c"), "d", needs={"c": ("a",), "d": ("b",)})
    assert plan.follows == {"a": (), "b": ("a",), "c": ("a",), "d": ("b",)}
    assert plan_of("a", ("b", "c"), "d").follows["d"] == ("b", "c")


# ---- limits ----------------------------------------------------------------------------------------
def test_rework_past_ten_per_run_is_escalated() -> None:
    desk = Desk(plan_of("a", "b", max_reworks=1))
    desk.finish("a")
    desk.send(ReworkRequested(desk.e("b").id, 1, "a"), "worker")
    desk.finish("a")
    desk.send(ReworkRequested(desk.e("b").id, 2, "a"), "worker")
    assert (desk.e("b").waiting_on, desk.e("b").wants) == (WaitingOn.ESCALATION, PendingRework("a"))
    assert desk.asked("b").reason == mentions("1")


def test_rework_past_a_depth_of_three_is_escalated() -> None:
    desk = Desk(plan_of("a", "b", "c", "d", "e"))
    for key in "abcd":
        desk.finish(key)
    for asker, key in (("e", "d"), ("d", "c"), ("c", "b")):
        desk.send(ReworkRequested(desk.e(asker).id, 1, key), "worker")
    assert desk.run.depth(desk.e("b")) == 3
    desk.send(ReworkRequested(desk.e("b").id, 1, "a"), "worker")
    assert desk.e("b").waiting_on is WaitingOn.ESCALATION
    assert desk.asked("b").reason == mentions("3")
    desk.answer("b", "accept")  # it goes on without
    for key in "bcd":
        desk.finish(key)
    assert desk.states["e"] == "WORKING"


@pytest.mark.parametrize("reason", ["", "a figure is wrong"])
@pytest.mark.parametrize("decision", ["retry", "accept", "fail", "restart"])
def test_a_rework_over_the_limit_is_granted_or_refused(decision: str, reason: str) -> None:
    desk = Desk(plan_of("a", "b", max_reworks=0))
    desk.finish("a")
    desk.send(ReworkRequested(desk.e("b").id, 1, "a", reason, "Add it up again"), "worker")
    asker, wish = desk.e("b"), PendingRework("a", "Add it up again", reason)
    assert asker.wants == wish
    desk.answer("b", decision, feedback="so be it")
    assert desk.run.executions[asker.id].wants == {"fail": wish, "restart": wish}.get(decision)
    match decision:
        case "retry":
            assert (desk.e("a").state, desk.e("b").waiting_on) == (ExecutionState.WORKING, WaitingOn.REWORK)
            assert desk.run.reworks == 1
            assert desk.e("a").rework == Rework("b", "Add it up again", reason or "so be it")
            assert desk.e("a").asked_by == asker.id
        case "accept":
            assert desk.states == {"a": "COMPLETED", "b": "WORKING"}
            assert desk.detail(EventType.REWORK_TOLD) == {
                "checkpoint": "a",
                "ended": "refused",
                "reason": "so be it",
                "requested_by": "b",
                "execution_id": None,
                "artifacts": [],
            }
        case "fail":
            assert (desk.states["b"], desk.run.status) == ("FAILED", RunStatus.PAUSED)
        case _:
            assert (desk.run.pass_number, desk.states) == (2, {"a": "WORKING"})


def test_a_rework_that_is_granted_too_late_is_refused() -> None:
    desk = Desk(plan_of("a", "b", max_reworks=0))
    desk.finish("a")
    desk.send(ReworkRequested(desk.e("b").id, 1, "a"), "worker")
    desk.send(RequestRework("a"))
    desk.refuses(Decide(desk.asked("b").id, "retry"))
    assert desk.asked("b").status is ApprovalStatus.PENDING


# ---- a person asks -------------------------------------------------------------------------------------
def test_a_user_sends_work_back_for_an_execution_waiting_for_approval() -> None:
    desk = looked_at()
    approval = desk.asked("b").id
    desk.send(RequestRework("a", desk.e("b").id, "it is too long", "Make it short"))
    assert desk.e("a").rework == Rework("ann", "Make it short", "it is too long")
    assert desk.run.approvals[approval].status is ApprovalStatus.WITHDRAWN
    assert (desk.e("b").waiting_on, desk.e("a").asked_by) == (WaitingOn.REWORK, desk.e("b").id)
    desk.finish("a", "a2")
    assert desk.states == {"a": "COMPLETED", "b": "WORKING"}
    assert (
        ScheduleTimer(60.0, ExecutionTimedOut(desk.e("b").id, 2)) in desk.last.effects
    )  # its whole time, for it begins anew
    assert desk.detail(EventType.REWORK_TOLD)["requested_by"] == "ann"


def test_a_form_waiting_for_approval_is_filled_in_again_after_a_rework() -> None:
    desk = Desk(plan_of("a", "b", policies={"b": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, ask_completion=True)}))
    desk.finish("a")
    desk.answer("b", "answer")
    desk.finish("b")
    desk.send(RequestRework("a", desk.e("b").id))
    desk.finish("a")
    assert desk.e("b").waiting_on is WaitingOn.HUMAN_FORM


def test_a_completed_run_is_reopened_until_the_rework_ends() -> None:
    desk = Desk(plan_of("a", "b"))
    desk.finish("a")
    desk.finish("b")
    asker = desk.e("b")
    desk.send(RequestRework("a", asker.id))
    assert (desk.run.status, desk.states) == (RunStatus.IN_PROGRESS, {"a": "WORKING", "b": "COMPLETED"})
    desk.finish("a", "a2")
    assert desk.run.status is RunStatus.COMPLETED
    assert desk.run.executions[asker.id].state is ExecutionState.COMPLETED
    assert "rework_told" not in desk.told


def test_a_repeated_rework_command_counts_once() -> None:
    desk = Desk(plan_of("a", "b"))
    desk.finish("a")
    desk.finish("b")
    asked = RequestRework("a", desk.e("b").id)
    desk.send(asked)
    sent = desk.sent
    desk.sent = sent - 1  # the same command id
    desk.refuses(asked, AlreadyApplied)
    desk.finish("a", "a2")
    desk.sent = sent - 1
    desk.refuses(asked, AlreadyApplied)
    assert len(desk.all("a")) == 2


def test_reworks_by_users_are_counted_but_not_limited() -> None:
    desk = Desk(plan_of("a", max_reworks=1))
    desk.finish("a")
    for count in (1, 2, 3):
        desk.send(RequestRework("a"))
        assert desk.run.reworks == count
        desk.finish("a")


def test_only_earlier_completed_work_can_be_sent_back() -> None:
    desk = Desk(plan_of("a", "b", "c"))
    desk.finish("a")
    a, b = desk.e("a").id, desk.e("b").id
    desk.refuses(RequestRework("a", a))
    desk.refuses(RequestRework("a", b))
    desk.refuses(RequestRework("b"))
    desk.refuses(RequestRework("nowhere"))
    desk.refuses(RequestRework("a", "nowhere"), StaleCommand)


@pytest.mark.parametrize("on_failure", [OnFailure.FAIL_RUN, OnFailure.PAUSE_PIPELINE])
def test_a_failed_or_cancelled_run_has_no_rework(on_failure: OnFailure) -> None:
    desk = Desk(plan_of("a", "b", policies={"b": CheckpointPolicy(on_failure=on_failure)}))
    desk.finish("a")
    desk.fail("b")
    if on_failure is OnFailure.PAUSE_PIPELINE:
        desk.send(CancelRun())
    desk.refuses(RequestRework("a"))
