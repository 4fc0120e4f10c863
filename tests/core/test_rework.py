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
from tests.core.harness import RESULT, Harness, plan_of
from tests.mentions import mentions


def with_requested_rework(key: str = "a", policies: dict[str, CheckpointPolicy] | None = None) -> Harness:
    """`b` is running and has sent `key` back."""
    harness = Harness(plan_of("a", "b", "c", policies=policies))
    harness.finish("a", "a1")
    harness.send(ReworkRequested(harness.e("b").id, 1, key, "a figure is wrong", "Add it up again"), "worker")
    return harness


def with_pending_completion() -> Harness:
    """`b` waits for completion approval."""
    harness = Harness(
        plan_of("a", "b", policies={"b": CheckpointPolicy(requires_completion_approval=True, timeout=60.0)})
    )
    harness.finish("a", "a1")
    harness.finish("b", "b1", after=50)
    return harness


# ---- requested by a runner ---------------------------------------------------------------------------
def test_the_requester_waits_for_a_new_execution_of_the_earlier_checkpoint() -> None:
    harness = with_requested_rework()
    rework, asker = harness.e("a"), harness.e("b")
    assert (rework.state, rework.is_rework, rework.parent_execution) == (ExecutionState.WORKING, True, asker.id)
    assert (rework.position, rework.requires_new_approval) == (0, True)
    assert (asker.state, asker.waiting_on) == (ExecutionState.WAITING, WaitingOn.REWORK)
    assert harness.run.reworks == 1
    assert harness.run.complete == frozenset()
    assert harness.event_types == ["execution_waiting", "rework_requested", "execution_created", "execution_dispatched"]
    assert rework.rework == Rework("b", "Add it up again", "a figure is wrong")
    assert harness.event_detail(EventType.REWORK_REQUESTED) == {
        "checkpoint": "a",
        "reason": "a figure is wrong",
        "prompt": "Add it up again",
        "requested_by": "b",
    }
    assert harness.event_detail(EventType.EXECUTION_CREATED)["parent_execution_id"] == asker.id


def test_a_finished_rework_resumes_its_requester() -> None:
    harness = with_requested_rework()
    rework = harness.e("a")
    harness.finish("a", "a2")
    assert harness.run.latest("a") == harness.e("a")
    assert (harness.e("b").state, harness.e("b").dispatch, harness.e("b").attempt) == (ExecutionState.WORKING, 2, 1)
    assert harness.event_detail(EventType.REWORK_ENDED) == {
        "checkpoint": "a",
        "status": "completed",
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
    harness = Harness(plan_of("a", "b"))
    harness.finish("a", "a1")
    artifact = ArtifactOutput("artifact-2", "plan", "d" * 64, 4)
    harness.send(ReworkRequested(harness.e("b").id, 1, "a", "no tests", "Add tests", "b1", (artifact,)), "worker")
    asker = harness.e("b")
    assert (asker.digest, asker.outputs, asker.waiting_on) == ("b1", ("artifact-2",), WaitingOn.REWORK)
    assert harness.effects(StageArtifacts) == [StageArtifacts(asker.id)]
    assert harness.event_types[0] == "artifacts_created"
    harness.finish("a", "a2")
    harness.finish("b", "b2")
    assert harness.e("b").outputs == (RESULT.id,)


def test_a_rework_starts_automatically_without_auto_advance() -> None:
    harness = Harness(plan_of("a", "b", auto_advance=False))
    harness.finish("a")
    harness.send(StartExecution(harness.e("b").id))
    harness.send(ReworkRequested(harness.e("b").id, 1, "a"), "worker")
    assert harness.e("a").state is ExecutionState.WORKING


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("nowhere", mentions("'nowhere'")),
        ("c", mentions("'c'")),
        ("b", mentions("'b'")),
    ],
)
def test_an_impossible_rework_is_refused_and_its_requester_continues(key: str, reason: str) -> None:
    harness = with_requested_rework(key)
    assert (harness.states["b"], harness.e("b").dispatch, harness.run.reworks) == ("WORKING", 2, 0)
    assert harness.event_detail(EventType.REWORK_ENDED) == {
        "checkpoint": key,
        "status": "refused",
        "reason": reason,
        "requested_by": "b",
        "execution_id": None,
        "artifacts": [],
    }
    harness.refuses(ReworkRequested(harness.e("b").id, 1, key), StaleCommand)


def test_one_open_rework_per_checkpoint() -> None:
    harness = Harness(plan_of("a", ("b", "c")))
    harness.finish("a")
    harness.send(ReworkRequested(harness.e("b").id, 1, "a"), "worker")
    harness.send(ReworkRequested(harness.e("c").id, 1, "a"), "worker")
    assert harness.states["c"] == "WORKING"
    assert harness.event_detail(EventType.REWORK_ENDED)["reason"] == mentions("'a'")
    harness.refuses(RequestRework("a"))


def test_later_checkpoints_wait_for_a_rework() -> None:
    harness = Harness(plan_of("a", "b", "c"))
    harness.finish("a")
    harness.send(RequestRework("a"))
    harness.finish("b")
    assert harness.states == {"a": "WORKING", "b": "COMPLETED"}
    harness.finish("a")
    assert harness.states == {"a": "COMPLETED", "b": "COMPLETED", "c": "WORKING"}


def test_a_checkpoint_directly_follows_its_needs_or_the_stage_before() -> None:
    plan = plan_of("a", ("b", "c"), "d", needs={"c": ("a",), "d": ("b",)})
    assert plan.predecessors == {"a": (), "b": ("a",), "c": ("a",), "d": ("b",)}
    assert plan_of("a", ("b", "c"), "d").predecessors["d"] == ("b", "c")


# ---- limits ----------------------------------------------------------------------------------------
def test_rework_past_ten_per_run_is_escalated() -> None:
    harness = Harness(plan_of("a", "b", max_reworks=1))
    harness.finish("a")
    harness.send(ReworkRequested(harness.e("b").id, 1, "a"), "worker")
    harness.finish("a")
    harness.send(ReworkRequested(harness.e("b").id, 2, "a"), "worker")
    assert (harness.e("b").waiting_on, harness.e("b").pending_rework) == (WaitingOn.ESCALATION, PendingRework("a"))
    assert harness.pending_approval("b").reason == mentions("1")


def test_rework_past_a_depth_of_three_is_escalated() -> None:
    harness = Harness(plan_of("a", "b", "c", "d", "e"))
    for key in "abcd":
        harness.finish(key)
    for requester, key in (("e", "d"), ("d", "c"), ("c", "b")):
        harness.send(ReworkRequested(harness.e(requester).id, 1, key), "worker")
    assert harness.run.rework_depth(harness.e("b")) == 3
    harness.send(ReworkRequested(harness.e("b").id, 1, "a"), "worker")
    assert harness.e("b").waiting_on is WaitingOn.ESCALATION
    assert harness.pending_approval("b").reason == mentions("3")
    harness.answer("b", "accept")  # it continues without the rework
    for key in "bcd":
        harness.finish(key)
    assert harness.states["e"] == "WORKING"


@pytest.mark.parametrize("reason", ["", "a figure is wrong"])
@pytest.mark.parametrize("decision", ["retry", "accept", "fail", "restart"])
def test_a_rework_over_the_limit_is_granted_or_refused(decision: str, reason: str) -> None:
    harness = Harness(plan_of("a", "b", max_reworks=0))
    harness.finish("a")
    harness.send(ReworkRequested(harness.e("b").id, 1, "a", reason, "Add it up again"), "worker")
    asker, wish = harness.e("b"), PendingRework("a", "Add it up again", reason)
    assert asker.pending_rework == wish
    harness.answer("b", decision, feedback="so be it")
    assert harness.run.executions[asker.id].pending_rework == {"fail": wish, "restart": wish}.get(decision)
    match decision:
        case "retry":
            assert (harness.e("a").state, harness.e("b").waiting_on) == (ExecutionState.WORKING, WaitingOn.REWORK)
            assert harness.run.reworks == 1
            assert harness.e("a").rework == Rework("b", "Add it up again", reason or "so be it")
            assert harness.e("a").parent_execution == asker.id
        case "accept":
            assert harness.states == {"a": "COMPLETED", "b": "WORKING"}
            assert harness.event_detail(EventType.REWORK_ENDED) == {
                "checkpoint": "a",
                "status": "refused",
                "reason": "so be it",
                "requested_by": "b",
                "execution_id": None,
                "artifacts": [],
            }
        case "fail":
            assert (harness.states["b"], harness.run.status) == ("FAILED", RunStatus.PAUSED)
        case _:
            assert (harness.run.pass_number, harness.states) == (2, {"a": "WORKING"})


def test_a_rework_that_is_granted_too_late_is_refused() -> None:
    harness = Harness(plan_of("a", "b", max_reworks=0))
    harness.finish("a")
    harness.send(ReworkRequested(harness.e("b").id, 1, "a"), "worker")
    harness.send(RequestRework("a"))
    harness.refuses(Decide(harness.pending_approval("b").id, "retry"))
    assert harness.pending_approval("b").status is ApprovalStatus.PENDING


# ---- requested by a user -----------------------------------------------------------------------------------
def test_a_user_sends_work_back_for_an_execution_waiting_for_approval() -> None:
    harness = with_pending_completion()
    approval = harness.pending_approval("b").id
    harness.send(RequestRework("a", harness.e("b").id, "it is too long", "Make it short"))
    assert harness.e("a").rework == Rework("ann", "Make it short", "it is too long")
    assert harness.run.approvals[approval].status is ApprovalStatus.WITHDRAWN
    assert (harness.e("b").waiting_on, harness.e("a").parent_execution) == (WaitingOn.REWORK, harness.e("b").id)
    harness.finish("a", "a2")
    assert harness.states == {"a": "COMPLETED", "b": "WORKING"}
    assert (
        ScheduleTimer(60.0, ExecutionTimedOut(harness.e("b").id, 2)) in harness.last.effects
    )  # the full timeout, because this is a new attempt
    assert harness.event_detail(EventType.REWORK_ENDED)["requested_by"] == "ann"


def test_a_form_waiting_for_approval_is_filled_in_again_after_a_rework() -> None:
    harness = Harness(
        plan_of(
            "a", "b", policies={"b": CheckpointPolicy(mode=ExecutionMode.HUMAN_ONLY, requires_completion_approval=True)}
        )
    )
    harness.finish("a")
    harness.answer("b", "answer")
    harness.finish("b")
    harness.send(RequestRework("a", harness.e("b").id))
    harness.finish("a")
    assert harness.e("b").waiting_on is WaitingOn.HUMAN_FORM


def test_a_completed_run_is_reopened_until_the_rework_ends() -> None:
    harness = Harness(plan_of("a", "b"))
    harness.finish("a")
    harness.finish("b")
    asker = harness.e("b")
    harness.send(RequestRework("a", asker.id))
    assert (harness.run.status, harness.states) == (RunStatus.IN_PROGRESS, {"a": "WORKING", "b": "COMPLETED"})
    harness.finish("a", "a2")
    assert harness.run.status is RunStatus.COMPLETED
    assert harness.run.executions[asker.id].state is ExecutionState.COMPLETED
    assert "rework_ended" not in harness.event_types


def test_a_repeated_rework_command_counts_once() -> None:
    harness = Harness(plan_of("a", "b"))
    harness.finish("a")
    harness.finish("b")
    command = RequestRework("a", harness.e("b").id)
    harness.send(command)
    sent = harness.sent
    harness.sent = sent - 1  # the same command id
    harness.refuses(command, AlreadyApplied)
    harness.finish("a", "a2")
    harness.sent = sent - 1
    harness.refuses(command, AlreadyApplied)
    assert len(harness.all("a")) == 2


def test_reworks_by_users_are_counted_but_not_limited() -> None:
    harness = Harness(plan_of("a", max_reworks=1))
    harness.finish("a")
    for count in (1, 2, 3):
        harness.send(RequestRework("a"))
        assert harness.run.reworks == count
        harness.finish("a")


def test_only_earlier_completed_work_can_be_sent_back() -> None:
    harness = Harness(plan_of("a", "b", "c"))
    harness.finish("a")
    a, b = harness.e("a").id, harness.e("b").id
    harness.refuses(RequestRework("a", a))
    harness.refuses(RequestRework("a", b))
    harness.refuses(RequestRework("b"))
    harness.refuses(RequestRework("nowhere"))
    harness.refuses(RequestRework("a", "nowhere"), StaleCommand)


@pytest.mark.parametrize("on_failure", [OnFailure.FAIL_RUN, OnFailure.PAUSE_PIPELINE])
def test_a_failed_or_cancelled_run_has_no_rework(on_failure: OnFailure) -> None:
    harness = Harness(plan_of("a", "b", policies={"b": CheckpointPolicy(on_failure=on_failure)}))
    harness.finish("a")
    harness.fail("b")
    if on_failure is OnFailure.PAUSE_PIPELINE:
        harness.send(CancelRun())
    harness.refuses(RequestRework("a"))
