"""The states of runs, executions and approvals, and the choices of a definition."""

from __future__ import annotations

from enum import StrEnum


class RunStatus(StrEnum):
    NOT_STARTED = "not_started"  # created, not started
    IN_PROGRESS = "in_progress"  # working, or waiting for people
    PAUSED = "paused"  # no execution starts until it is resumed
    COMPLETED = "completed"  # every checkpoint is completed
    FAILED = "failed"  # ended by a failure, a rejection or a timeout
    CANCELLED = "cancelled"  # ended by a user


class ExecutionState(StrEnum):
    """The state of an execution. READY, WORKING and WAITING are shown as `in_progress`."""

    PENDING = "pending"  # a person has to start it
    AWAITING_START_APPROVAL = "waiting_approval_to_start"  # the start needs approval
    READY = "ready"  # dispatched unless the run is paused
    WORKING = "working"  # a runner has the current dispatch
    WAITING = "waiting"  # without a runner; `waiting_on` says why
    AWAITING_COMPLETION_APPROVAL = "waiting_approval_to_complete"  # the result needs approval
    COMPLETED = "completed"  # its artifacts are final
    FAILED = "failed"  # a person can retry it
    CANCELLED = "cancelled"  # ignored from now on


class ExecutionStatus(StrEnum):
    """The state of an execution that people see."""

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
LIVE = OPEN | {ExecutionState.FAILED}  # neither completed nor cancelled
IN_PROGRESS = frozenset({ExecutionState.READY, ExecutionState.WORKING, ExecutionState.WAITING})
STATUS_OF = {
    state: ExecutionStatus.IN_PROGRESS if state in IN_PROGRESS else ExecutionStatus(state.value)
    for state in ExecutionState
}


def label(status: RunStatus | ExecutionStatus) -> str:
    """The status as text, for messages."""
    return status.value.replace("_", " ")


class WaitingOn(StrEnum):
    HUMAN_FORM = "human_form"  # a person fills in the checkpoint's form
    SCRIPT_INPUT = "script_input"  # a person provides the parameters of a script
    ACTION_APPROVAL = "action_approval"  # an action needs a decision, or may not start now
    VALIDATION_FEEDBACK = "validation_feedback"  # a person decides on an invalid result
    QUESTION = "question"  # people answer a question of an agent
    ESCALATION = "escalation"  # people decide how to continue
    REWORK = "rework"  # an earlier checkpoint is being reworked
    RETRY_DELAY = "retry_delay"  # until the next attempt
    EXTERNAL_BLOCKER = "external_blocker"  # something outside Cairn is missing


class ApprovalKind(StrEnum):
    START = "start"  # start the execution?
    COMPLETION = "completion"  # accept the result?
    ACTION = "action"  # execute the proposed action?
    VALIDATION = "validation"  # accept a result that failed validation?
    OUTCOME = "outcome"  # was the action executed?
    ESCALATION = "escalation"  # how to continue?
    INPUT = "input"  # a form or a question


class ApprovalStatus(StrEnum):
    PENDING = "pending"  # waiting for a decision
    APPROVED = "approved"  # approved, or the requested input was submitted
    AUTO_APPROVED = "auto_approved"  # approved by a rule
    REJECTED = "rejected"  # rejected
    REVISION_REQUESTED = "revision_requested"  # to be repeated with feedback
    TIMEOUT = "timeout"  # no decision in time
    WITHDRAWN = "withdrawn"  # its subject no longer exists


APPROVED_STATUSES = frozenset({ApprovalStatus.APPROVED, ApprovalStatus.AUTO_APPROVED})


class ActionEffect(StrEnum):
    """What an action does outside of Cairn."""

    READS = "reads"  # reads from a place that an admin named; not in the ledger
    SENDS = "sends"  # sends its arguments to a place that they choose, and changes nothing there
    CHANGES = "changes"  # changes something


class ActionState(StrEnum):
    PROPOSED = "proposed"  # not judged yet: actions are stopped or held, or too many are waiting
    WAITING = "waiting"  # people decide
    APPROVED = "approved"  # may start once, after another check
    REFUSED = "refused"  # by people, or because it is not allowed
    REUSED = "reused"  # an earlier result is used instead
    TEST = "test"  # of a test run: nothing leaves Cairn
    STARTED = "started"  # recorded before the first byte is sent
    HANDED_OVER = "handed_over"  # the proposer has the approved parameters and carries it out
    DONE = "done"
    FAILED = "failed"  # certainly not done
    UNKNOWN = "unknown"  # it may or may not have been done
    WITHDRAWN = "withdrawn"  # its execution was repeated, archived or ended
    EXPIRED = "expired"  # no decision in time


EXECUTED = frozenset({ActionState.STARTED, ActionState.HANDED_OVER, ActionState.DONE, ActionState.UNKNOWN})
NOT_STARTED = frozenset({ActionState.PROPOSED, ActionState.WAITING, ActionState.APPROVED})


class ExecutionMode(StrEnum):
    AGENTIC = "agentic"  # agents
    SCRIPT = "script"  # a script in a separate process
    FUNCTION = "function"  # a registered Python function, in this process
    HUMAN_ONLY = "human_only"  # a form for a person


class OnFailure(StrEnum):
    PAUSE_PIPELINE = "pause_pipeline"  # pause once no runner is working
    ROLLBACK_CHECKPOINT = "rollback_checkpoint"  # archive the failed execution; a person starts the next one
    FAIL_RUN = "fail_run"  # cancel open executions and fail the run


class OnInvalid(StrEnum):
    RETRY = "retry"  # retry with the findings
    ASK_HUMAN = "ask_human"  # a person accepts it, gives feedback or rejects it
    FAIL_CHECKPOINT = "fail_checkpoint"  # fail


class OnExpiry(StrEnum):
    FAIL = "fail"  # like a rejection
    CANCEL = "cancel"  # cancel the run
    ESCALATE = "escalate"  # one more period with more approvers, then fail


class OnBlocker(StrEnum):
    WAIT = "wait"  # retry after the retry delay
    ESCALATE = "escalate"  # ask people


class PassDecision(StrEnum):
    """How a deciding checkpoint ends the pass."""

    COMPLETE = "COMPLETE"  # continue, or complete the run
    RESTART = "RESTART"  # start the next pass
    ESCALATE = "ESCALATE"  # let people decide


class RollbackTrigger(StrEnum):
    USER_REQUEST = "user_request"  # requested by a user
    CHECKPOINT_FAILURE = "checkpoint_failure"  # because of `on_failure` or `on_timeout`
