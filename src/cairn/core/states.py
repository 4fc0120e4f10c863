"""The words for what a run, an execution and an approval can be, and for what a definition chooses."""

from __future__ import annotations

from enum import StrEnum


class RunStatus(StrEnum):
    NOT_STARTED = "not_started"  # made, nobody has started it
    IN_PROGRESS = "in_progress"  # goes on, or waits for somebody
    PAUSED = "paused"  # nothing starts until it is resumed
    COMPLETED = "completed"  # every checkpoint is complete
    FAILED = "failed"  # ended by a failure or a rejection
    CANCELLED = "cancelled"  # ended by somebody


class ExecutionState(StrEnum):
    """An execution's state. READY, WORKING and WAITING are shown as `in_progress`."""

    PENDING = "pending"  # its turn has come, a person has to start it
    AWAITING_START_APPROVAL = "waiting_approval_to_start"  # somebody has to allow the start
    READY = "ready"  # goes to a runner as soon as the run goes on
    WORKING = "working"  # a runner holds the current dispatch
    WAITING = "waiting"  # no runner; `waiting_on` says what for
    AWAITING_COMPLETION_APPROVAL = "waiting_approval_to_complete"  # the result is up for approval
    COMPLETED = "completed"  # its artifacts stand
    FAILED = "failed"  # given up; may be retried by a person
    CANCELLED = "cancelled"  # does not count


class ExecutionStatus(StrEnum):
    """What people see of an execution's state."""

    PENDING = "pending"
    WAITING_APPROVAL_TO_START = "waiting_approval_to_start"
    IN_PROGRESS = "in_progress"
    WAITING_APPROVAL_TO_COMPLETE = "waiting_approval_to_complete"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


CLOSED = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})
OPEN = frozenset(
    {
        ExecutionState.PENDING,
        ExecutionState.AWAITING_START_APPROVAL,
        ExecutionState.READY,
        ExecutionState.WORKING,
        ExecutionState.WAITING,
        ExecutionState.AWAITING_COMPLETION_APPROVAL,
    }
)
LIVE = OPEN | {ExecutionState.FAILED}
IN_PROGRESS = frozenset({ExecutionState.READY, ExecutionState.WORKING, ExecutionState.WAITING})
SHOWN = {
    state: ExecutionStatus.IN_PROGRESS if state in IN_PROGRESS else ExecutionStatus(state.value)
    for state in ExecutionState
}


class WaitingOn(StrEnum):
    HUMAN_FORM = "human_form"  # a person fills in the checkpoint's form
    SCRIPT_INPUT = "script_input"  # a person gives a script its parameters
    ACTION_APPROVAL = "action_approval"  # somebody decides on a proposed action
    VALIDATION_FEEDBACK = "validation_feedback"  # somebody looks at a result that failed validation
    QUESTION = "question"  # an agent has asked people something
    ESCALATION = "escalation"  # people have to say how it goes on
    REWORK = "rework"  # an earlier checkpoint is being done again
    RETRY_DELAY = "retry_delay"  # the next attempt is due later
    EXTERNAL_BLOCKER = "external_blocker"  # something outside is missing


class ApprovalKind(StrEnum):
    START = "start"  # may it start?
    COMPLETION = "completion"  # does the result count?
    ACTION = "action"  # may the proposed action be carried out?
    VALIDATION = "validation"  # the result failed validation: what now?
    ESCALATION = "escalation"  # people have to decide how it goes on
    INPUT = "input"  # something has to be filled in or answered


class ApprovalStatus(StrEnum):
    PENDING = "pending"  # somebody has to answer
    APPROVED = "approved"  # answered with yes, or with what was asked for
    AUTO_APPROVED = "auto_approved"  # the same, by a rule
    REJECTED = "rejected"  # answered with no
    REVISION_REQUESTED = "revision_requested"  # it has to be done again, with feedback
    TIMEOUT = "timeout"  # nobody answered in time
    WITHDRAWN = "withdrawn"  # what it was about has been taken away


AGREED = frozenset({ApprovalStatus.APPROVED, ApprovalStatus.AUTO_APPROVED})


class ExecutionMode(StrEnum):
    AGENTIC = "agentic"  # agents do it
    SCRIPT = "script"  # a script does it, in a process of its own
    FUNCTION = "function"  # a function registered in Python does it, in this process
    HUMAN_ONLY = "human_only"  # a person fills in a form


class OnFailure(StrEnum):
    PAUSE_PIPELINE = "pause_pipeline"  # let what works finish, then pause
    ROLLBACK_CHECKPOINT = "rollback_checkpoint"  # archive the failed one; a person starts it again
    FAIL_RUN = "fail_run"  # cancel what is open; the run has failed


class OnInvalid(StrEnum):
    RETRY = "retry"  # once more, with the findings
    ASK_HUMAN = "ask_human"  # somebody accepts it, gives feedback or rejects it
    FAIL_CHECKPOINT = "fail_checkpoint"  # give it up


class OnExpiry(StrEnum):
    FAIL = "fail"  # as if it had been rejected
    CANCEL = "cancel"  # cancel the run
    ESCALATE = "escalate"  # one more period with more approvers, then fail


class OnBlocker(StrEnum):
    WAIT = "wait"  # try again after the retry delay
    ESCALATE = "escalate"  # ask people


class PassDecision(StrEnum):
    """What a deciding checkpoint answers for the pass."""

    COMPLETE = "COMPLETE"  # go on, or end
    RESTART = "RESTART"  # begin the next pass
    ESCALATE = "ESCALATE"  # people have to decide


class RollbackTrigger(StrEnum):
    USER_REQUEST = "user_request"  # somebody asked for it
    CHECKPOINT_FAILURE = "checkpoint_failure"  # `on_failure` or `on_timeout` said so
