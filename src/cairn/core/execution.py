"""One instance of a checkpoint in a run, and an index of the executions of a pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from cairn.core.frozen import Replaceable
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import OPEN, STATUS_OF, ExecutionState, ExecutionStatus, PassDecision, WaitingOn

MAX_TRACE_LENGTH = 8_000  # characters, in an event


@dataclass(frozen=True, slots=True)
class Failure:
    """An error, as text for people."""

    type: str
    message: str
    trace: str = ""
    is_final: bool = field(default=False, compare=False)  # a retry would fail again

    @property
    def event_fields(self) -> dict[str, str]:
        """The fields for events. A long trace is truncated at the start, because its end shows the cause."""
        fields = {"error_type": self.type, "error": self.message}
        return fields | {"stack_trace": self.trace[-MAX_TRACE_LENGTH:]} if self.trace else fields


@dataclass(frozen=True, slots=True)
class Rework:
    """Why the work of a checkpoint was sent back, and by whom."""

    requested_by: str  # the key of a checkpoint, or a user
    prompt: str = ""  # the new task
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PendingRework:
    """A rework request beyond the limit. People decide whether to allow it."""

    key: str
    prompt: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Execution(Replaceable):
    id: str
    key: str
    position: int
    pass_number: int
    ordinal: int  # orders the executions of a run by creation
    policy: CheckpointPolicy = field(default_factory=CheckpointPolicy)
    definition: int = 1  # revision of the definition that it uses
    state: ExecutionState = ExecutionState.PENDING
    waiting_on: WaitingOn | None = None
    dispatch: int = 0  # never reset; only the runner with the current number can report
    attempt: int = 1
    revision: int = 0
    retries_used: int = 0  # automatic retries since the last intervention of a person
    validations_used: int = 0
    interruptions: int = 0  # in this attempt
    start_approved: bool = False
    answered: bool = False  # the form of this revision has been filled in
    answer: str | None = None  # checksum of the last answer
    manual_start: bool = False  # waits for a person even with auto_advance
    requires_new_approval: bool = False  # earlier approvals of equal content don't count
    digest: str | None = None  # of the result
    outputs: tuple[str, ...] = ()  # its current artifact records, staged or promoted
    pass_decision: PassDecision | None = None  # of a deciding checkpoint, or of people after an escalation
    rework: Rework | None = None
    parent_execution: str | None = None  # parent_execution_id
    pending_rework: PendingRework | None = None
    has_actions: bool = False  # it has proposed an action
    archived_by: str | None = None  # rollback id
    has_workspace: bool = True
    errors: int = 0
    last_error: Failure | None = None
    created_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    failed_at: datetime | None = None
    due_at: datetime | None = None  # when the delay that it waits for ends
    active_since: datetime | None = None
    active_seconds: float = 0.0  # with a runner at work, in this attempt

    @property
    def status(self) -> ExecutionStatus:
        return STATUS_OF[self.state]

    @property
    def is_rework(self) -> bool:
        return self.rework is not None

    @property
    def attempt_key(self) -> str:
        return attempt_key_of(self.attempt, self.retries_used, self.validations_used, self.revision)


def attempt_key_of(attempt: int, retries_used: int, validations_used: int, revision: int) -> str:
    """Messages with the same attempt key belong to one conversation.

    A manual retry, a revision and a retry after a failed validation start a new conversation. An automatic retry after
    an error continues it, so that no model call is paid for twice.
    """
    return f"a{attempt - retries_used - validations_used}.r{revision}.v{validations_used}"


class ExecutionIndex(NamedTuple):
    """The executions of one pass that are not archived, in the order of creation."""

    current: dict[str, Execution]
    open: dict[str, Execution]
    failed: dict[str, Execution]
    done: dict[str, Execution]  # by key: the completed execution whose artifacts are current

    @classmethod
    def from_executions(cls, executions: Iterable[Execution], pass_number: int) -> ExecutionIndex:
        current = {e.id: e for e in executions if e.pass_number == pass_number and e.archived_by is None}
        return cls(
            current,
            {e.id: e for e in current.values() if e.state in OPEN},
            {e.id: e for e in current.values() if e.state is ExecutionState.FAILED},
            {e.key: e for e in current.values() if e.state is ExecutionState.COMPLETED},
        )

    def with_execution(self, e: Execution) -> ExecutionIndex:
        """The index with one new or changed execution, without a scan of all executions where possible."""
        before = self.current.get(e.id)
        is_simple = before is None or before.state in OPEN or before.state is e.state
        if not is_simple or e.archived_by is not None or e.state is ExecutionState.FAILED:
            return ExecutionIndex.from_executions((self.current | {e.id: e}).values(), e.pass_number)
        still_open, done = self.open, self.done
        if e.state in OPEN:
            still_open = still_open | {e.id: e}
        elif e.id in still_open:
            still_open = {o.id: o for o in still_open.values() if o.id != e.id}
        if e.state is ExecutionState.COMPLETED and (e.key not in done or done[e.key].ordinal <= e.ordinal):
            done = done | {e.key: e}
        return ExecutionIndex(self.current | {e.id: e}, still_open, self.failed, done)
