"""Events of a run, for the audit log. The command says who caused them and when."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple


class EventType(StrEnum):
    RUN_STARTED = "run_started"  # started by a user
    RUN_PAUSED = "run_paused"  # no execution starts until the run is resumed
    RUN_RESUMED = "run_resumed"  # executions start again
    RUN_COMPLETED = "run_completed"  # every checkpoint is completed
    RUN_FAILED = "run_failed"  # ended by a failure, a rejection or a deadline
    RUN_CANCELLED = "run_cancelled"  # ended by a user
    RUN_REOPENED = "run_reopened"  # in progress again; `transition` is retry, roll_back, restart, rework or dismiss
    RUN_ARCHIVED = "run_archived"  # archived by a rollback to an earlier run
    RUN_RESTORED = "run_restored"  # restored because that rollback was undone
    PAUSE_REQUESTED = "pause_requested"  # the run pauses once no runner is working
    PAUSE_CANCELLED = "pause_cancelled"  # the request no longer applies, with the reason
    BUDGET_UPDATED = "budget_updated"  # a user changed the limits of the run
    BUDGET_WARNING = "budget_warning"  # most of the budget is used
    BUDGET_EXHAUSTED = "budget_exhausted"  # no further model can be called, so the run pauses
    PASS_STARTED = "pass_started"  # noqa: S105 - the next pass, with the reason
    EXECUTION_CREATED = "execution_created"  # for a checkpoint that is due or repeated
    EXECUTION_AWAITING_START_APPROVAL = "execution_awaiting_start_approval"  # needs approval to start
    EXECUTION_START_REJECTED = "execution_start_rejected"  # back to pending
    EXECUTION_READY = "execution_ready"  # dispatched to a runner unless the run is paused
    EXECUTION_DISPATCHED = "execution_dispatched"  # a runner is working on it
    EXECUTION_WAITING = "execution_waiting"  # no runner is working on it; `waiting_on` says why
    EXECUTION_AWAITING_COMPLETION_APPROVAL = "execution_awaiting_completion_approval"  # the result needs approval
    EXECUTION_COMPLETED = "execution_completed"  # its artifacts are final
    EXECUTION_FAILED = "execution_failed"  # failed for good, with the error
    EXECUTION_CANCELLED = "execution_cancelled"  # cancelled, with the reason
    EXECUTION_ARCHIVED = "execution_archived"  # archived by a rollback
    EXECUTION_RESTORED = "execution_restored"  # restored because that rollback was undone
    EXECUTION_RETRIED = "execution_retried"  # the next attempt, after an error or requested by a user
    EXECUTION_REVISED = "execution_revised"  # repeated with a user's feedback
    EXECUTION_VALIDATION_RETRIED = "execution_validation_retried"  # repeated because the result was invalid
    EXECUTION_INTERRUPTED = "execution_interrupted"  # the worker stopped
    PASS_DECISION_OVERRIDDEN = "pass_decision_overridden"  # noqa: S105 - because of a limit in the definition
    ARTIFACTS_CREATED = "artifacts_created"  # produced by a runner
    ARTIFACTS_PROMOTED = "artifacts_promoted"  # available under their permanent names
    APPROVAL_REQUESTED = "approval_requested"  # people are asked to decide
    APPROVAL_VOTE_CAST = "approval_vote_cast"  # one of several required approvals
    APPROVAL_REUSED = "approval_reused"  # the same content was approved before
    APPROVAL_REMINDER_DUE = "approval_reminder_due"  # half of the time to decide has passed
    APPROVAL_ESCALATED = "approval_escalated"  # no decision in time, so more people can decide
    APPROVAL_ASSIGNED = "approval_assigned"  # assigned to other people
    APPROVAL_APPROVED = "approval_approved"  # approved, or the requested input was submitted
    APPROVAL_AUTO_APPROVED = "approval_auto_approved"  # approved by a rule
    APPROVAL_REJECTED = "approval_rejected"  # rejected
    APPROVAL_REVISION_REQUESTED = "approval_revision_requested"  # has to be repeated
    APPROVAL_TIMEOUT = "approval_timeout"  # no decision in time
    APPROVAL_WITHDRAWN = "approval_withdrawn"  # its subject no longer exists
    REWORK_REQUESTED = "rework_requested"  # an earlier checkpoint is sent back
    REWORK_ENDED = "rework_ended"  # the requester continues; `status` is the outcome
    ROLLBACK_INITIATED = "rollback_initiated"  # with the archived executions
    ROLLBACK_UNDONE = "rollback_undone"  # with the restored status


class Event(NamedTuple):
    type: EventType
    execution: str | None
    approval: str | None
    rollback: str | None
    detail: Mapping[str, Any]
