"""One instance of a checkpoint in a run, and how those of a pass stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from cairn.core.frozen import Replaceable
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import OPEN, SHOWN, ExecutionState, ExecutionStatus, PassDecision, WaitingOn

LONGEST_TRACE = 8_000  # characters of it in an event


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, in words for people."""

    type: str
    message: str
    trace: str = ""
    is_final: bool = field(default=False, compare=False)  # the same again would fail again: it is not retried

    @property
    def event_fields(self) -> dict[str, str]:
        """As events tell it: of a long trace the end, which says what happened."""
        told = {"error_type": self.type, "error": self.message}
        return told | {"stack_trace": self.trace[-LONGEST_TRACE:]} if self.trace else told


@dataclass(frozen=True, slots=True)
class Rework:
    """Why the work of a checkpoint was sent back, and by whom."""

    requested_by: str  # the key of the checkpoint that asked, or the person
    prompt: str = ""  # what is to be done now
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PendingRework:
    """A rework that an execution asked for beyond the limit: people grant it or not."""

    key: str
    prompt: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Execution(Replaceable):
    id: str
    key: str
    position: int
    pass_number: int
    ordinal: int  # its number among all that the run has made: orders executions of one run
    policy: CheckpointPolicy = field(default_factory=CheckpointPolicy)
    definition: int = 1  # revision of the definition that it is carried out by
    state: ExecutionState = ExecutionState.PENDING
    waiting_on: WaitingOn | None = None
    dispatch: int = 0  # never reset; names the runner that may report
    attempt: int = 1
    revision: int = 0
    retries_used: int = 0  # automatic ones, since a person last intervened
    validations_used: int = 0
    interruptions: int = 0  # in this attempt
    start_approved: bool = False
    answered: bool = False  # the form of this revision has been filled in
    answer: str | None = None  # checksum of the last answer that was given
    manual_start: bool = False  # waits for a person, whatever auto_advance says
    requires_new_approval: bool = False  # earlier approvals of equal content do not count
    digest: str | None = None  # of what it has produced
    outputs: tuple[str, ...] = ()  # artifact records that stand for it, staged or promoted
    pass_decision: PassDecision | None = None  # of a deciding checkpoint, or of the people who were asked
    rework: Rework | None = None
    parent_execution: str | None = None  # parent_execution_id
    pending_rework: PendingRework | None = None
    action_outcome_unknown: bool = False  # whether an action of its own was carried out is not known
    archived_by: str | None = None  # rollback id
    has_workspace: bool = True
    errors: int = 0
    last_error: Failure | None = None
    created_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    failed_at: datetime | None = None
    due_at: datetime | None = None  # when a delay that it waits for is over
    active_since: datetime | None = None
    active_seconds: float = 0.0  # seconds with a runner, in this attempt

    @property
    def status(self) -> ExecutionStatus:
        return SHOWN[self.state]

    @property
    def is_rework(self) -> bool:
        return self.rework is not None

    @property
    def attempt_key(self) -> str:
        return attempt_key_of(self.attempt, self.retries_used, self.validations_used, self.revision)


def attempt_key_of(attempt: int, retries_used: int, validations_used: int, revision: int) -> str:
    """What is said in one scope belongs together, and counts until the next one begins.

    A person's try, a revision and another try after a failed validation begin anew; the next attempt after a fault
    goes on, so that nothing is paid for twice.
    """
    return f"a{attempt - retries_used - validations_used}.r{revision}.v{validations_used}"


class ExecutionIndex(NamedTuple):
    """The executions of one pass that are not archived, in the order they were made, by what one asks of them."""

    current: dict[str, Execution]
    open: dict[str, Execution]
    failed: dict[str, Execution]
    done: dict[str, Execution]  # by key: the completed execution whose artifacts stand for it

    @classmethod
    def of(cls, executions: Iterable[Execution], pass_number: int) -> ExecutionIndex:
        current = {e.id: e for e in executions if e.pass_number == pass_number and e.archived_by is None}
        return cls(
            current,
            {e.id: e for e in current.values() if e.state in OPEN},
            {e.id: e for e in current.values() if e.state is ExecutionState.FAILED},
            {e.key: e for e in current.values() if e.state is ExecutionState.COMPLETED},
        )

    def with_execution(self, e: Execution) -> ExecutionIndex:
        """With one that is made, goes on or ends, where looking at all of them again would take longer."""
        before = self.current.get(e.id)
        goes_on = before is None or before.state in OPEN or before.state is e.state
        if not goes_on or e.archived_by is not None or e.state is ExecutionState.FAILED:
            return ExecutionIndex.of((self.current | {e.id: e}).values(), e.pass_number)
        still_open, done = self.open, self.done
        if e.state in OPEN:
            still_open = still_open | {e.id: e}
        elif e.id in still_open:
            still_open = {o.id: o for o in still_open.values() if o.id != e.id}
        if e.state is ExecutionState.COMPLETED and (e.key not in done or done[e.key].ordinal <= e.ordinal):
            done = done | {e.key: e}
        return ExecutionIndex(self.current | {e.id: e}, still_open, self.failed, done)
