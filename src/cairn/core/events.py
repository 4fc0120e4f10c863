"""What has happened: lines of the audit trail. Who and when come with the command. All frozen."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple


class EventType(StrEnum):
    RUN_STARTED = "run_started"  # somebody started it
    RUN_PAUSED = "run_paused"  # nothing starts until it is resumed
    RUN_RESUMED = "run_resumed"  # goes on
    RUN_COMPLETED = "run_completed"  # every checkpoint is complete
    RUN_FAILED = "run_failed"  # ended by a failure, a rejection or a deadline
    RUN_CANCELLED = "run_cancelled"  # ended by somebody
    RUN_REOPENED = "run_reopened"  # in progress again, by retry, roll_back, restart, rework or dismiss
    RUN_ARCHIVED = "run_archived"  # taken away by a rollback to an earlier run
    RUN_RESTORED = "run_restored"  # put back by undoing that rollback
    PAUSE_REQUESTED = "pause_requested"  # holds when no runner works
    PAUSE_WITHDRAWN = "pause_withdrawn"  # the request no longer stands, and why
    BUDGET_CHANGED = "budget_changed"  # what the run may use, by somebody
    BUDGET_NEARLY_SPENT = "budget_nearly_spent"  # most of it is used
    BUDGET_SPENT = "budget_spent"  # no model is asked any more: the run pauses
    PASS_BEGUN = "pass_begun"  # noqa: S105 - the next pass, and why
    EXECUTION_MADE = "execution_made"  # a checkpoint's turn has come, or it is done again
    EXECUTION_START_ASKED = "execution_start_asked"  # waits for approval to start
    EXECUTION_START_REFUSED = "execution_start_refused"  # put back to pending
    EXECUTION_READY = "execution_ready"  # goes to a runner when the run goes on
    EXECUTION_DISPATCHED = "execution_dispatched"  # handed to a runner
    EXECUTION_WAITING = "execution_waiting"  # without a runner, for what `waiting_on` says
    EXECUTION_COMPLETION_ASKED = "execution_completion_asked"  # the result waits for approval
    EXECUTION_COMPLETED = "execution_completed"  # its artifacts stand
    EXECUTION_FAILED = "execution_failed"  # given up, with the error
    EXECUTION_CANCELLED = "execution_cancelled"  # does not count, and why
    EXECUTION_ARCHIVED = "execution_archived"  # taken away by a rollback
    EXECUTION_RESTORED = "execution_restored"  # put back by undoing that rollback
    EXECUTION_RETRIED = "execution_retried"  # the next attempt, after a fault or by a person
    EXECUTION_REVISED = "execution_revised"  # done again with a person's feedback
    EXECUTION_REVALIDATED = "execution_revalidated"  # done again, as the result was not valid
    EXECUTION_INTERRUPTED = "execution_interrupted"  # the worker died
    RULING_CHANGED = "ruling_changed"  # a deciding checkpoint's decision became another one, by a limit of the plan
    ARTIFACTS_CREATED = "artifacts_created"  # what a runner has produced
    ARTIFACTS_PROMOTED = "artifacts_promoted"  # they took their permanent names
    APPROVAL_ASKED = "approval_asked"  # a question is put to people
    APPROVAL_GIVEN = "approval_given"  # one of several that are needed
    APPROVAL_KEPT = "approval_kept"  # equal content was approved before
    APPROVAL_REMINDED = "approval_reminded"  # half of the time to decide is over
    APPROVAL_ESCALATED = "approval_escalated"  # nobody decided in time: others are brought in
    APPROVAL_ASSIGNED = "approval_assigned"  # handed over to others
    APPROVAL_APPROVED = "approval_approved"  # answered with yes, or with what was asked for
    APPROVAL_AUTO_APPROVED = "approval_auto_approved"  # the same, by a rule
    APPROVAL_REJECTED = "approval_rejected"  # answered with no
    APPROVAL_REVISION_REQUESTED = "approval_revision_requested"  # it has to be done again
    APPROVAL_TIMEOUT = "approval_timeout"  # nobody decided in time
    APPROVAL_WITHDRAWN = "approval_withdrawn"  # what it was about has been taken away
    REWORK_ASKED = "rework_asked"  # an earlier checkpoint is sent back
    REWORK_TOLD = "rework_told"  # who asked goes on, with how it ended
    ROLLBACK_MADE = "rollback_made"  # with what was taken away
    ROLLBACK_UNDONE = "rollback_undone"  # with the status that is back


class Event(NamedTuple):
    type: EventType
    execution: str | None
    approval: str | None
    rollback: str | None
    detail: Mapping[str, Any]
