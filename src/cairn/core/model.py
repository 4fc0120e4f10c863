"""The run aggregate: frozen values, and the questions one may ask them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property


class RunStatus(StrEnum):
    NOT_STARTED = "not_started"  # made, nobody has started it
    IN_PROGRESS = "in_progress"  # goes on, or waits for somebody
    PAUSED = "paused"  # nothing starts until it is resumed
    COMPLETED = "completed"  # every checkpoint is complete
    FAILED = "failed"  # ended by a failure or a rejection
    CANCELLED = "cancelled"  # ended by somebody


class State(StrEnum):
    """An execution's state. READY, WORKING and WAITING are shown as `in_progress`."""

    PENDING = "pending"  # its turn has come, a person has to start it
    START_ASKED = "waiting_approval_to_start"  # somebody has to allow the start
    READY = "ready"  # goes to a runner as soon as the run goes on
    WORKING = "working"  # a runner holds the current dispatch
    WAITING = "waiting"  # no runner; `waiting_on` says what for
    COMPLETION_ASKED = "waiting_approval_to_complete"  # the result is up for approval
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


OPEN = frozenset({State.PENDING, State.START_ASKED, State.READY, State.WORKING, State.WAITING, State.COMPLETION_ASKED})
LIVE = OPEN | {State.FAILED}
SHOWN = {state: ExecutionStatus.IN_PROGRESS for state in (State.READY, State.WORKING, State.WAITING)} | {
    state: ExecutionStatus(state.value) for state in State if state not in (State.READY, State.WORKING, State.WAITING)
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


class Kind(StrEnum):
    START = "start"  # may it start?
    COMPLETION = "completion"  # does the result count?
    ACTION = "action"  # may the proposed action be carried out?
    VALIDATION = "validation"  # the result failed validation: what now?
    ESCALATION = "escalation"  # people have to decide how it goes on
    INPUT = "input"  # something has to be filled in or answered


class ApprovalStatus(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    AUTO_APPROVED = "auto_approved"
    REJECTED = "rejected"
    REVISION_REQUESTED = "revision_requested"
    TIMEOUT = "timeout"
    WITHDRAWN = "withdrawn"


AGREED = frozenset({ApprovalStatus.APPROVED, ApprovalStatus.AUTO_APPROVED})


class Mode(StrEnum):
    AGENTIC = "agentic"  # agents do it
    SCRIPT = "script"  # a script does it, in a process of its own
    FUNCTION = "function"  # a function registered in Python does it, in this process
    HUMAN_ONLY = "human_only"  # a person fills in a form


class OnFailure(StrEnum):
    PAUSE_PIPELINE = "pause_pipeline"
    ROLLBACK_CHECKPOINT = "rollback_checkpoint"
    FAIL_RUN = "fail_run"


class OnInvalid(StrEnum):
    RETRY = "retry"
    ASK_HUMAN = "ask_human"
    FAIL_CHECKPOINT = "fail_checkpoint"


class OnExpiry(StrEnum):
    FAIL = "fail"
    CANCEL = "cancel"
    ESCALATE = "escalate"


class OnBlocker(StrEnum):
    WAIT = "wait"
    ESCALATE = "escalate"


class Ruling(StrEnum):
    """What a deciding checkpoint answers for the pass."""

    COMPLETE = "COMPLETE"
    RESTART = "RESTART"
    ESCALATE = "ESCALATE"


class RollbackTrigger(StrEnum):
    USER_REQUEST = "user_request"
    CHECKPOINT_FAILURE = "checkpoint_failure"


@dataclass(frozen=True, slots=True)
class Policy:
    """How one checkpoint is carried out: what an edit of the definition may change while a run goes on."""

    mode: Mode = Mode.AGENTIC
    ask_start: bool = False
    ask_completion: bool = False
    max_auto_retries: int = 0
    retry_delay: float = 5.0
    on_failure: OnFailure = OnFailure.PAUSE_PIPELINE
    timeout: float | None = None
    on_timeout: OnFailure = OnFailure.PAUSE_PIPELINE
    max_revisions: int = 3
    on_invalid: OnInvalid = OnInvalid.RETRY
    max_validation_retries: int = 2
    approvers: int = 1
    period: float | None = None
    on_expiry: OnExpiry = OnExpiry.FAIL
    digest: str = ""  # of the checkpoint's definition: what a person sees who lets it start or fills it in


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A place in the graph that a run started with."""

    key: str
    position: int
    stage: str
    needs: tuple[str, ...] = ()
    decides: bool = False
    id: str = ""  # checkpoint_id
    name: str = ""


@dataclass(frozen=True)
class Plan:
    """The graph a run started with, and the newest policies for what is made from now on (D3)."""

    checkpoints: tuple[Checkpoint, ...]
    policies: Mapping[str, Policy] = field(default_factory=dict[str, Policy])
    revision: int = 1  # of the definition that the policies are from
    auto_advance: bool = False
    run_timeout: float | None = None
    require_second_pass: bool = False
    max_restarts: int = 3
    max_rework_depth: int = 3
    max_reworks: int = 10
    max_interruptions: int = 3
    on_blocker: OnBlocker = OnBlocker.ESCALATE

    @cached_property
    def by_key(self) -> dict[str, Checkpoint]:
        return {checkpoint.key: checkpoint for checkpoint in self.checkpoints}

    def __getitem__(self, key: str) -> Checkpoint:
        return self.by_key[key]

    def policy(self, key: str) -> Policy:
        return self.policies.get(key) or Policy()

    @cached_property
    def stages(self) -> dict[str, tuple[str, ...]]:
        """Keys by stage, in order."""
        found: dict[str, list[str]] = {}
        for checkpoint in self.checkpoints:
            found.setdefault(checkpoint.stage, []).append(checkpoint.key)
        return {stage: tuple(keys) for stage, keys in found.items()}

    @cached_property
    def deciders(self) -> tuple[Checkpoint, ...]:
        return tuple(checkpoint for checkpoint in self.checkpoints if checkpoint.decides)

    @cached_property
    def needed(self) -> dict[str, frozenset[str]]:
        """For each key, the keys that must be complete before it starts."""
        found: dict[str, frozenset[str]] = {}
        before: set[str] = set()
        for keys in self.stages.values():
            barrier = frozenset(before)
            for key in keys:
                own = self.by_key[key].needs
                found[key] = frozenset(own) if own else barrier
            before.update(keys)
        return found


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong, in words for people."""

    type: str
    message: str
    trace: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    id: str
    key: str
    position: int
    pass_number: int
    ordinal: int  # how many things the run had made before it: orders executions of one run
    policy: Policy = field(default_factory=Policy)
    definition: int = 1  # revision of the definition that it is carried out by
    state: State = State.PENDING
    waiting_on: WaitingOn | None = None
    dispatch: int = 0  # never reset; names the runner that may report
    attempt: int = 1
    revision: int = 0
    retries_used: int = 0  # automatic ones, since a person last intervened
    validations_used: int = 0
    interruptions: int = 0
    start_approved: bool = False
    answered: bool = False  # the form of this revision has been filled in
    answer: str | None = None  # checksum of the last answer that was given
    by_hand: bool = False  # waits for a person, whatever auto_advance says
    asks_anew: bool = False  # earlier approvals of equal content do not count
    digest: str | None = None  # of what it has produced
    outputs: tuple[str, ...] = ()  # artifact records that stand for it, staged or promoted
    ruling: Ruling | None = None  # of a deciding checkpoint
    is_rework: bool = False
    asked_by: str | None = None  # parent_execution_id
    wants: str | None = None  # key of the rework that it asked for beyond the limit
    archived_by: str | None = None  # rollback id
    has_workspace: bool = True
    errors: int = 0
    last_error: Fault | None = None
    created_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    failed_at: datetime | None = None
    due_at: datetime | None = None  # when a delay that it waits for is over
    working_since: datetime | None = None
    worked: float = 0.0  # seconds with a runner, in this attempt

    @property
    def status(self) -> ExecutionStatus:
        return SHOWN[self.state]


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's (or rule's) answer to an approval."""

    by: str
    at: datetime
    decision: str
    feedback: str = ""
    digest: str = ""  # what it was bound to
    answer: str | None = None  # checksum of what was filled in or modified


@dataclass(frozen=True, slots=True)
class Approval:
    id: str
    execution: str
    kind: Kind
    digest: str  # of what is shown
    asked_at: datetime
    status: ApprovalStatus = ApprovalStatus.PENDING
    needed: int = 1
    votes: tuple[Vote, ...] = ()
    period: int = 1
    expires_at: datetime | None = None
    closed_at: datetime | None = None
    reason: str = ""

    @property
    def agreeing(self) -> frozenset[str]:
        """Those whose agreement counts: given for what is shown now."""
        return frozenset(
            vote.by for vote in self.votes if vote.decision in ("approve", "modify") and vote.digest == self.digest
        )


@dataclass(frozen=True, slots=True)
class Rollback:
    """What one rollback did to this run."""

    id: str
    made_at: int  # how many things the run had made
    pass_number: int
    status_before: RunStatus
    target: int | None  # position; None when the whole run went
    archived: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()  # those that were open: they come back cancelled
    triggered_by: RollbackTrigger = RollbackTrigger.USER_REQUEST
    undone: bool = False


@dataclass(frozen=True)
class Run:
    id: str
    plan: Plan
    status: RunStatus = RunStatus.NOT_STARTED
    pass_number: int = 1
    restart_count: int = 0
    pause_requested: bool = False
    executions: Mapping[str, Execution] = field(default_factory=dict[str, Execution])
    approvals: Mapping[str, Approval] = field(default_factory=dict[str, Approval])
    rollbacks: tuple[Rollback, ...] = ()
    reworks: int = 0
    issued: int = 0  # how many things it has made
    archived_by: str | None = None  # rollback id
    clock: int = 0  # counts the times that work began after none was done
    working_since: datetime | None = None
    worked: float = 0.0  # seconds with a runner at work
    started_at: datetime | None = None
    completed_at: datetime | None = None
    paused_at: datetime | None = None
    last_resumed_at: datetime | None = None

    @cached_property
    def current(self) -> tuple[Execution, ...]:
        """Executions of this pass that are not archived, in the order they were made."""
        return tuple(e for e in self.executions.values() if e.pass_number == self.pass_number and e.archived_by is None)

    @cached_property
    def open(self) -> tuple[Execution, ...]:
        return tuple(e for e in self.current if e.state in OPEN)

    @cached_property
    def failed(self) -> tuple[Execution, ...]:
        return tuple(e for e in self.current if e.state is State.FAILED)

    @cached_property
    def working(self) -> bool:
        return any(e.state is State.WORKING for e in self.open)

    @property
    def goes_on(self) -> bool:
        """May anything be started or dispatched?"""
        return self.status is RunStatus.IN_PROGRESS and not self.pause_requested

    def latest(self, key: str) -> Execution | None:
        """The completed execution whose artifacts stand for `key` in this pass."""
        done = [e for e in self.current if e.key == key and e.state is State.COMPLETED]
        return done[-1] if done else None

    @cached_property
    def complete(self) -> frozenset[str]:
        """Keys that are completed and not being reworked."""
        done = {e.key for e in self.current if e.state is State.COMPLETED}
        return frozenset(done - {e.key for e in self.current if e.state in LIVE})

    def pending_of(self, execution: str) -> tuple[Approval, ...]:
        return tuple(
            a for a in self.approvals.values() if a.execution == execution and a.status is ApprovalStatus.PENDING
        )

    def depth(self, execution: Execution) -> int:
        """How many reworks deep an execution stands."""
        asker = self.executions.get(execution.asked_by) if execution.asked_by else None
        return int(execution.is_rework) + (self.depth(asker) if asker else 0)
