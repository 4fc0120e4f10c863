"""Tables of all legal transitions. Nothing else sets a status."""

from __future__ import annotations

from enum import StrEnum

from cairn.core.events import EventType
from cairn.core.states import ApprovalKind, ApprovalStatus, ExecutionState, RunStatus


class RunTransition(StrEnum):
    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    COMPLETE = "complete"
    FAIL = "fail"
    CANCEL = "cancel"
    RETRY = "retry"  # a failed execution is retried
    ROLL_BACK = "roll back"  # to an earlier checkpoint
    RESTART = "restart"  # start the next pass
    REWORK = "rework"  # a completed checkpoint is repeated
    DISMISS = "dismiss"  # a user cancels an execution


class ExecutionTransition(StrEnum):
    REQUEST_START_APPROVAL = "request_start_approval"
    REJECT_START = "reject_start"
    MAKE_READY = "make_ready"  # for a runner or a person's form, unless the run is paused
    DISPATCH = "dispatch"  # hand it to a runner
    WAIT = "wait"  # `waiting_on` says why
    REQUEST_COMPLETION_APPROVAL = "request_completion_approval"
    COMPLETE = "complete"
    FAIL = "fail"
    CANCEL = "cancel"


RV, V, R, S, K, A = RunTransition, ExecutionTransition, RunStatus, ExecutionState, ApprovalKind, ApprovalStatus

RUN: dict[RunStatus, dict[RunTransition, RunStatus]] = {
    R.NOT_STARTED: {RV.START: R.IN_PROGRESS, RV.CANCEL: R.CANCELLED},
    R.IN_PROGRESS: {
        RV.PAUSE: R.PAUSED,
        RV.COMPLETE: R.COMPLETED,
        RV.FAIL: R.FAILED,
        RV.CANCEL: R.CANCELLED,
        RV.RETRY: R.IN_PROGRESS,
        RV.ROLL_BACK: R.IN_PROGRESS,
        RV.RESTART: R.IN_PROGRESS,
        RV.REWORK: R.IN_PROGRESS,
        RV.DISMISS: R.IN_PROGRESS,
    },
    R.PAUSED: {
        RV.RESUME: R.IN_PROGRESS,
        RV.FAIL: R.FAILED,
        RV.CANCEL: R.CANCELLED,
        RV.RETRY: R.IN_PROGRESS,
        RV.ROLL_BACK: R.IN_PROGRESS,
        RV.RESTART: R.IN_PROGRESS,
        RV.REWORK: R.PAUSED,
        RV.DISMISS: R.PAUSED,
    },
    R.FAILED: {
        RV.RETRY: R.IN_PROGRESS,
        RV.ROLL_BACK: R.IN_PROGRESS,
        RV.RESTART: R.IN_PROGRESS,
        RV.DISMISS: R.IN_PROGRESS,
    },
    R.COMPLETED: {RV.ROLL_BACK: R.IN_PROGRESS, RV.RESTART: R.IN_PROGRESS, RV.REWORK: R.IN_PROGRESS},
    R.CANCELLED: {RV.ROLL_BACK: R.IN_PROGRESS},
}

EXECUTION: dict[ExecutionState, dict[ExecutionTransition, ExecutionState]] = {
    S.PENDING: {V.REQUEST_START_APPROVAL: S.AWAITING_START_APPROVAL, V.MAKE_READY: S.READY, V.CANCEL: S.CANCELLED},
    S.AWAITING_START_APPROVAL: {
        V.MAKE_READY: S.READY,
        V.REJECT_START: S.PENDING,
        V.FAIL: S.FAILED,
        V.CANCEL: S.CANCELLED,
    },
    S.READY: {V.DISPATCH: S.WORKING, V.WAIT: S.WAITING, V.CANCEL: S.CANCELLED},
    S.WORKING: {
        V.MAKE_READY: S.READY,
        V.WAIT: S.WAITING,
        V.REQUEST_COMPLETION_APPROVAL: S.AWAITING_COMPLETION_APPROVAL,
        V.COMPLETE: S.COMPLETED,
        V.FAIL: S.FAILED,
        V.CANCEL: S.CANCELLED,
    },
    S.WAITING: {
        V.MAKE_READY: S.READY,
        V.WAIT: S.WAITING,
        V.REQUEST_COMPLETION_APPROVAL: S.AWAITING_COMPLETION_APPROVAL,
        V.COMPLETE: S.COMPLETED,
        V.FAIL: S.FAILED,
        V.CANCEL: S.CANCELLED,
    },
    S.AWAITING_COMPLETION_APPROVAL: {
        V.MAKE_READY: S.READY,
        V.WAIT: S.WAITING,
        V.COMPLETE: S.COMPLETED,
        V.FAIL: S.FAILED,
        V.CANCEL: S.CANCELLED,
    },
    S.FAILED: {V.MAKE_READY: S.READY, V.REQUEST_START_APPROVAL: S.AWAITING_START_APPROVAL, V.CANCEL: S.CANCELLED},
    S.COMPLETED: {},
    S.CANCELLED: {},
}

# An undo restores the status from before the rollback. A pause is requested again, because a runner may be working.
RESTORED: dict[RunStatus, RunStatus] = {status: status for status in RunStatus} | {R.PAUSED: R.IN_PROGRESS}

# These transitions keep a requested pause. Every other transition of the run cancels the request.
KEEPS_PAUSE: frozenset[RunTransition] = frozenset({RV.REWORK, RV.DISMISS})

# The available decisions by kind, and the resulting status.
DECISIONS: dict[ApprovalKind, dict[str, ApprovalStatus]] = {
    K.START: {"approve": A.APPROVED, "refuse": A.REJECTED},
    K.COMPLETION: {"approve": A.APPROVED, "revise": A.REVISION_REQUESTED, "reject": A.REJECTED},
    K.ACTION: {"approve": A.APPROVED, "modify": A.APPROVED, "revise": A.REVISION_REQUESTED, "reject": A.REJECTED},
    K.OUTCOME: {
        "happened": A.APPROVED,
        "did_not_happen": A.REJECTED,
        "send_again": A.APPROVED,
        "give_up": A.REJECTED,
    },
    K.VALIDATION: {"accept": A.APPROVED, "feedback": A.REVISION_REQUESTED, "reject": A.REJECTED},
    K.ESCALATION: {"retry": A.APPROVED, "restart": A.APPROVED, "accept": A.APPROVED, "fail": A.REJECTED},
    K.INPUT: {"answer": A.APPROVED, "decline": A.REJECTED},
}

# The event of each transition. A run that keeps its status records none.
RUN_EVENTS: dict[RunTransition, EventType] = {
    RV.START: EventType.RUN_STARTED,
    RV.PAUSE: EventType.RUN_PAUSED,
    RV.RESUME: EventType.RUN_RESUMED,
    RV.COMPLETE: EventType.RUN_COMPLETED,
    RV.FAIL: EventType.RUN_FAILED,
    RV.CANCEL: EventType.RUN_CANCELLED,
}
EXECUTION_EVENTS: dict[ExecutionTransition, EventType] = {
    V.REQUEST_START_APPROVAL: EventType.EXECUTION_AWAITING_START_APPROVAL,
    V.REJECT_START: EventType.EXECUTION_START_REJECTED,
    V.DISPATCH: EventType.EXECUTION_DISPATCHED,
    V.WAIT: EventType.EXECUTION_WAITING,
    V.REQUEST_COMPLETION_APPROVAL: EventType.EXECUTION_AWAITING_COMPLETION_APPROVAL,
    V.COMPLETE: EventType.EXECUTION_COMPLETED,
    V.FAIL: EventType.EXECUTION_FAILED,
    V.CANCEL: EventType.EXECUTION_CANCELLED,
}

# The transitions that users can request. They are suggested when another transition is refused.
USER_TRANSITIONS: frozenset[RunTransition] = frozenset(
    {RV.START, RV.PAUSE, RV.RESUME, RV.CANCEL, RV.RETRY, RV.ROLL_BACK, RV.RESTART}
)


def available_transitions(status: RunStatus) -> tuple[str, ...]:
    return tuple(transition.value for transition in RUN[status] if transition in USER_TRANSITIONS)
