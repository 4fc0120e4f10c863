"""The events of each command, with all details."""

from __future__ import annotations

from typing import Any

from cairn.core.commands import (
    ApprovalExpired,
    ArchiveRun,
    CancelRun,
    ExecutionInterrupted,
    InputRequested,
    PauseRun,
    ResultInvalid,
    ResumeRun,
    RetryExecution,
    ReworkRequested,
    RollBack,
    UndoRollback,
)
from cairn.core.events import EventType as T
from cairn.core.execution import Failure
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ApprovalKind, OnFailure, OnInvalid, WaitingOn
from tests.core.harness import RESULT, Harness, plan_of, require_approval_for
from tests.mentions import mentions


def event_rows(harness: Harness) -> list[tuple[Any, ...]]:
    """Return type, checkpoint, whether an approval is named, rollback and all details of each event."""
    keys = {e.id: e.key for e in harness.run.executions.values()}
    return [
        (event.type, keys.get(event.execution or ""), event.approval is not None, event.rollback, dict(event.detail))
        for event in harness.last.events
    ]


def test_events_from_start_to_approval() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(requires_completion_approval=True)}))
    assert event_rows(harness) == [
        (T.RUN_STARTED, None, False, None, {"from": "not_started", "to": "in_progress"}),
        (T.EXECUTION_CREATED, "a", False, None, {"checkpoint": "a", "position": 0}),
        (
            T.EXECUTION_DISPATCHED,
            "a",
            False,
            None,
            {"checkpoint": "a", "dispatch_number": 1, "attempt_number": 1},
        ),
    ]
    harness.finish("a", "digest")
    artifact = {
        "artifact_record_id": RESULT.id,
        "name": RESULT.name,
        "checksum": RESULT.checksum,
        "size_bytes": RESULT.size,
    }
    requested = {"kind": "completion", "digest": "digest", "required_approvals": 1, "reason": ""}
    assert event_rows(harness) == [
        (T.ARTIFACTS_CREATED, "a", False, None, {"artifacts": [artifact]}),
        (T.EXECUTION_AWAITING_COMPLETION_APPROVAL, "a", False, None, {"checkpoint": "a", "digest": "digest"}),
        (T.APPROVAL_REQUESTED, "a", True, None, requested),
    ]
    harness.answer("a", "approve", feedback="good")
    decided = {"kind": "completion", "decision": "approve", "digest": "digest", "feedback": "good"}
    assert event_rows(harness) == [
        (T.APPROVAL_APPROVED, "a", True, None, decided),
        (T.EXECUTION_COMPLETED, "a", False, None, {"checkpoint": "a", "digest": "digest"}),
        (T.ARTIFACTS_PROMOTED, "a", False, None, {"artifact_record_ids": [RESULT.id]}),
        (T.RUN_COMPLETED, None, False, None, {"from": "in_progress", "to": "completed"}),
    ]


def test_events_of_an_error_its_retry_and_the_final_failure() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(max_auto_retries=1, on_failure=OnFailure.FAIL_RUN)}))
    harness.fail("a", Failure("network", "no route", "line 3"))
    error = {"error_type": "network", "error": "no route"}
    retried = {"checkpoint": "a", "attempt_number": 2, **error, "stack_trace": "line 3"}
    assert event_rows(harness) == [
        (T.EXECUTION_RETRIED, "a", False, None, retried),
        (T.EXECUTION_WAITING, "a", False, None, {"checkpoint": "a", "waiting_on": "retry_delay"}),
    ]
    harness.retry_due("a")
    harness.fail("a", Failure("network", "no route"))
    failed = {"checkpoint": "a", "attempt_number": 2, **error}
    assert event_rows(harness) == [
        (T.EXECUTION_FAILED, "a", False, None, failed),
        (T.RUN_FAILED, None, False, None, {"from": "in_progress", "to": "failed", "reason": mentions("a")}),
    ]
    harness.send(RetryExecution(harness.e("a").id, 2))
    assert event_rows(harness)[:2] == [
        (T.RUN_REOPENED, None, False, None, {"from": "failed", "to": "in_progress", "transition": "retry"}),
        (T.EXECUTION_RETRIED, "a", False, None, {"checkpoint": "a", "attempt_number": 3}),
    ]


def test_events_of_a_pause_and_its_cancellation() -> None:
    harness = Harness(plan_of("a", "b"))
    harness.send(PauseRun())
    assert event_rows(harness) == [(T.PAUSE_REQUESTED, None, False, None, {"reason": mentions()})]
    harness.send(ResumeRun())
    assert event_rows(harness) == [(T.PAUSE_CANCELLED, None, False, None, {"reason": "resume"})]
    harness.fail("a")
    assert event_rows(harness)[1:] == [
        (T.PAUSE_REQUESTED, None, False, None, {"reason": mentions("a")}),
        (T.RUN_PAUSED, None, False, None, {"from": "in_progress", "to": "paused"}),
    ]


def test_events_of_a_cancelled_run() -> None:
    harness = Harness(plan_of("a"))
    harness.send(CancelRun())
    reason = {"checkpoint": "a", "reason": mentions()}
    assert event_rows(harness) == [
        (T.EXECUTION_CANCELLED, "a", False, None, reason),
        (T.RUN_CANCELLED, None, False, None, {"from": "in_progress", "to": "cancelled"}),
    ]


def test_events_of_a_rejected_start() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(requires_start_approval=True)}))
    assert event_rows(harness)[2] == (T.EXECUTION_AWAITING_START_APPROVAL, "a", False, None, {"checkpoint": "a"})
    harness.answer("a", "refuse", feedback="too early")
    decided = {"kind": "start", "decision": "refuse", "digest": "", "feedback": "too early"}
    assert event_rows(harness) == [
        (T.APPROVAL_REJECTED, "a", True, None, decided),
        (T.EXECUTION_START_REJECTED, "a", False, None, {"checkpoint": "a", "reason": "too early"}),
    ]


def test_events_of_an_invalid_result_and_a_dead_worker() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(on_invalid=OnInvalid.RETRY)}))
    harness.send(ResultInvalid(harness.e("a").id, 1, "x", error=Failure("schema", "no title")), "worker")
    again = {"checkpoint": "a", "attempt_number": 2, "reason": "no title"}
    assert event_rows(harness)[0] == (T.EXECUTION_VALIDATION_RETRIED, "a", False, None, again)
    harness.send(ExecutionInterrupted(harness.e("a").id, 2), "worker")
    died = {"checkpoint": "a", "dispatch_number": 2}
    assert event_rows(harness)[0] == (T.EXECUTION_INTERRUPTED, "a", False, None, died)


def test_events_of_a_rollback_and_its_undo() -> None:
    harness = Harness(plan_of("a", "b"))
    harness.finish("a")
    harness.finish("b")
    b = harness.e("b")
    harness.send(RollBack("r", 0, reason="wrong figures"))
    reopened = {"from": "completed", "to": "in_progress", "reason": "wrong figures", "transition": "roll_back"}
    rollback = {"target": 0, "triggered_by": "user_request", "executions": [b.id], "reason": "wrong figures"}
    assert event_rows(harness)[:3] == [
        (T.RUN_REOPENED, None, False, None, reopened),
        (T.EXECUTION_ARCHIVED, "b", False, "r", {"checkpoint": "b"}),
        (T.ROLLBACK_INITIATED, None, False, "r", rollback),
    ]
    harness.send(UndoRollback("r"))
    cancelled = {"checkpoint": "b", "reason": mentions()}
    assert event_rows(harness) == [
        (T.EXECUTION_RESTORED, "b", False, "r", {"checkpoint": "b"}),
        (T.EXECUTION_CANCELLED, "b", False, None, cancelled),
        (T.ROLLBACK_UNDONE, None, False, "r", {"from": "in_progress", "to": "completed"}),
    ]


def test_events_of_a_rollback_after_a_failure() -> None:
    harness = Harness(plan_of("a", policies={"a": CheckpointPolicy(on_failure=OnFailure.ROLLBACK_CHECKPOINT)}))
    failed = harness.e("a")
    harness.fail("a")
    (rollback,) = harness.run.rollbacks
    metadata = {"target": -1, "triggered_by": "checkpoint_failure", "executions": [failed.id], "reason": mentions("a")}
    assert (T.ROLLBACK_INITIATED, None, False, rollback.id, metadata) in event_rows(harness)


def test_events_of_an_archived_and_restored_run() -> None:
    harness = Harness(plan_of("a"))
    harness.send(ArchiveRun("r"))
    assert event_rows(harness) == [
        (T.EXECUTION_CANCELLED, "a", False, None, {"checkpoint": "a", "reason": mentions()}),
        (T.RUN_CANCELLED, None, False, None, {"from": "in_progress", "to": "cancelled", "reason": mentions()}),
        (T.RUN_ARCHIVED, None, False, "r", {}),
    ]
    harness.send(UndoRollback("r"))
    assert event_rows(harness)[:2] == [
        (T.RUN_RESTORED, None, False, "r", {}),
        (T.ROLLBACK_UNDONE, None, False, "r", {"from": "cancelled", "to": "in_progress"}),
    ]


def test_events_of_a_rework() -> None:
    harness = Harness(plan_of("a", "b", max_reworks=1))
    harness.finish("a")
    asker = harness.e("b")
    harness.send(ReworkRequested(asker.id, 1, "a", "a figure is wrong", "Add it up again"), "worker")
    requested = {"checkpoint": "a", "reason": "a figure is wrong", "prompt": "Add it up again", "requested_by": "b"}
    created = {"checkpoint": "a", "position": 0, "parent_execution_id": asker.id}
    assert event_rows(harness)[:3] == [
        (T.EXECUTION_WAITING, "b", False, None, {"checkpoint": "b", "waiting_on": "rework"}),
        (T.REWORK_REQUESTED, "b", False, None, requested),
        (T.EXECUTION_CREATED, "a", False, None, created),
    ]
    harness.finish("a")
    ended = {
        "checkpoint": "a",
        "status": "completed",
        "reason": "",
        "requested_by": "b",
        "execution_id": harness.e("a").id,
        "artifacts": [
            {
                "artifact_record_id": "artifact-1",
                "name": "result",
                "format": "json",
                "checksum": "c" * 64,
                "size_bytes": 3,
            }
        ],
    }
    assert (T.REWORK_ENDED, "b", False, None, ended) in event_rows(harness)
    harness.send(ReworkRequested(asker.id, 2, "a"), "worker")
    reason = mentions("1")
    waits = {"checkpoint": "b", "waiting_on": "escalation", "reason": reason}
    assert event_rows(harness)[0] == (T.EXECUTION_WAITING, "b", False, None, waits)
    harness.answer("b", "accept", feedback="go on without")
    refused = ended | {"status": "refused", "reason": "go on without", "execution_id": None, "artifacts": []}
    assert event_rows(harness)[1] == (T.REWORK_ENDED, "b", False, None, refused)


def test_events_of_questions_and_deadlines() -> None:
    harness = Harness(plan_of("a"), judge=require_approval_for(ApprovalKind.INPUT, timeout=60.0))
    harness.send(InputRequested(harness.e("a").id, 1, WaitingOn.QUESTION, "question"), "worker")
    harness.send(ApprovalExpired(harness.pending_approval("a").id, 1), "timer")
    assert event_rows(harness)[0] == (T.APPROVAL_TIMEOUT, "a", True, None, {"kind": "input"})
