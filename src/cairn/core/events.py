"""What has happened: lines of the audit trail. Who and when come with the command. All frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class EventType(StrEnum):
    RUN_STARTED = "run_started"
    RUN_PAUSED = "run_paused"
    RUN_RESUMED = "run_resumed"
    RUN_COMPLETED = "run_completed"
    RUN_FAILED = "run_failed"
    RUN_CANCELLED = "run_cancelled"
    RUN_REOPENED = "run_reopened"  # in progress again, by retry, roll_back, restart, rework or dismiss
    RUN_ARCHIVED = "run_archived"  # taken away by a rollback to an earlier run
    RUN_RESTORED = "run_restored"  # put back by undoing that rollback
    PAUSE_REQUESTED = "pause_requested"
    PAUSE_WITHDRAWN = "pause_withdrawn"
    PASS_BEGUN = "pass_begun"  # noqa: S105 - no password
    EXECUTION_MADE = "execution_made"  # a checkpoint's turn has come, or it is done again
    EXECUTION_START_ASKED = "execution_start_asked"
    EXECUTION_START_REFUSED = "execution_start_refused"
    EXECUTION_READY = "execution_ready"  # goes to a runner when the run goes on
    EXECUTION_DISPATCHED = "execution_dispatched"
    EXECUTION_WAITING = "execution_waiting"
    EXECUTION_COMPLETION_ASKED = "execution_completion_asked"
    EXECUTION_COMPLETED = "execution_completed"
    EXECUTION_FAILED = "execution_failed"
    EXECUTION_CANCELLED = "execution_cancelled"
    EXECUTION_ARCHIVED = "execution_archived"
    EXECUTION_RESTORED = "execution_restored"
    EXECUTION_RETRIED = "execution_retried"
    EXECUTION_REVISED = "execution_revised"
    EXECUTION_REVALIDATED = "execution_revalidated"
    EXECUTION_INTERRUPTED = "execution_interrupted"
    RULING_CHANGED = "ruling_changed"  # a deciding checkpoint's decision became another one, by a limit of the plan
    ARTIFACTS_CREATED = "artifacts_created"
    ARTIFACTS_PROMOTED = "artifacts_promoted"
    APPROVAL_ASKED = "approval_asked"
    APPROVAL_GIVEN = "approval_given"  # one of several that are needed
    APPROVAL_KEPT = "approval_kept"  # equal content was approved before
    APPROVAL_ESCALATED = "approval_escalated"
    APPROVAL_APPROVED = "approval_approved"
    APPROVAL_AUTO_APPROVED = "approval_auto_approved"
    APPROVAL_REJECTED = "approval_rejected"
    APPROVAL_REVISION_REQUESTED = "approval_revision_requested"
    APPROVAL_TIMEOUT = "approval_timeout"
    APPROVAL_WITHDRAWN = "approval_withdrawn"
    REWORK_ASKED = "rework_asked"
    REWORK_TOLD = "rework_told"
    ROLLBACK_MADE = "rollback_made"
    ROLLBACK_UNDONE = "rollback_undone"


@dataclass(frozen=True, slots=True)
class Event:
    type: EventType
    execution: str | None = None
    approval: str | None = None
    rollback: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])
