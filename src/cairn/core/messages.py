"""Commands come in; events and effects go out. All frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from cairn.core.model import Fault, Ruling, WaitingOn


@dataclass(frozen=True, slots=True)
class Given:
    """What comes with every command: when, who, and the id that ids of new things are made from."""

    at: datetime
    by: str
    command_id: UUID


@dataclass(frozen=True, slots=True)
class Output:
    """An artifact that a runner has produced; its content is in the store already or comes in the same transaction."""

    id: str
    name: str
    checksum: str
    size: int


# ---- commands: people, the run -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StartRun:
    """Begin: the first checkpoints start by themselves."""


@dataclass(frozen=True, slots=True)
class PauseRun:
    """Ask for a pause; it holds when no runner works."""


@dataclass(frozen=True, slots=True)
class ResumeRun:
    """Go on, or withdraw a pause that does not hold yet."""


@dataclass(frozen=True, slots=True)
class CancelRun:
    """Stop and cancel everything that is open."""


@dataclass(frozen=True, slots=True)
class RestartRun:
    """Begin the next pass."""

    pass_number: int  # the pass it leaves


@dataclass(frozen=True, slots=True)
class RollBack:
    """Archive what stands above the target."""

    rollback: str
    target: int
    with_runs: bool = False  # part of a rollback that archives later runs


@dataclass(frozen=True, slots=True)
class TakeRunAway:
    """Archive the whole run, as part of a rollback to an earlier one."""

    rollback: str


@dataclass(frozen=True, slots=True)
class UndoRollback:
    """Put back what a rollback took from this run."""

    rollback: str


# ---- commands: people, one execution -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StartExecution:
    execution: str


@dataclass(frozen=True, slots=True)
class RetryExecution:
    execution: str
    attempt: int  # the failed attempt that was looked at


@dataclass(frozen=True, slots=True)
class CancelExecution:
    """Cancel an open one, or dismiss a failed one."""

    execution: str


@dataclass(frozen=True, slots=True)
class AskRework:
    """A person sends a completed checkpoint back, for an execution that was looked at or for nobody."""

    key: str
    asker: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Decide:
    """Answer an approval; rules use it too (`by` is then `rule:…`)."""

    approval: str
    decision: str  # see moves.DECISIONS
    digest: str | None = None  # of what was shown; None binds to what is current
    feedback: str = ""
    answer: str | None = None  # checksum of what was filled in, or of the modified parameters
    modified: str | None = None  # digest of the modified parameters


# ---- commands: runners; each ends its dispatch -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finished:
    execution: str
    dispatch: int
    digest: str
    outputs: tuple[Output, ...] = ()
    ruling: Ruling | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    execution: str
    dispatch: int
    error: Fault


@dataclass(frozen=True, slots=True)
class Invalid:
    """The result failed validation."""

    execution: str
    dispatch: int
    digest: str
    outputs: tuple[Output, ...] = ()
    error: Fault = field(default_factory=lambda: Fault("invalid", "the result failed validation"))


@dataclass(frozen=True, slots=True)
class InputWanted:
    execution: str
    dispatch: int
    waiting_on: WaitingOn  # script_input or question
    digest: str = ""  # of what is asked


@dataclass(frozen=True, slots=True)
class ActionProposed:
    execution: str
    dispatch: int
    digest: str  # of the action's parameters


@dataclass(frozen=True, slots=True)
class ReworkWanted:
    """The work of an earlier checkpoint has to be done again first."""

    execution: str
    dispatch: int
    key: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Blocked:
    """Something outside is missing."""

    execution: str
    dispatch: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LimitReached:
    """A limit on iterations or recoveries is reached: people are asked."""

    execution: str
    dispatch: int
    digest: str | None = None
    outputs: tuple[Output, ...] = ()


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The worker died, or its job was taken over."""

    execution: str
    dispatch: int


# ---- commands: timers; sent by SendLater, fenced, never cancelled ------------------------------


@dataclass(frozen=True, slots=True)
class RetryDue:
    execution: str
    dispatch: int


@dataclass(frozen=True, slots=True)
class TimedOut:
    execution: str
    dispatch: int


@dataclass(frozen=True, slots=True)
class ApprovalExpired:
    approval: str
    period: int


@dataclass(frozen=True, slots=True)
class RunTimedOut:
    clock: int


Report = (
    Finished | Failed | Invalid | InputWanted | ActionProposed | ReworkWanted | Blocked | LimitReached | Interrupted
)
Timer = RetryDue | TimedOut | ApprovalExpired | RunTimedOut
Command = (
    StartRun
    | PauseRun
    | ResumeRun
    | CancelRun
    | RestartRun
    | RollBack
    | TakeRunAway
    | UndoRollback
    | StartExecution
    | RetryExecution
    | CancelExecution
    | AskRework
    | Decide
    | Report
    | Timer
)


# ---- events ------------------------------------------------------------------------------------


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
    PASS_BEGUN = "pass_begun"
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


# ---- effects: carried out after the commit, in this order, idempotent by their ids --------------


@dataclass(frozen=True, slots=True)
class Stop:
    """Kill the runner and its processes; file effects of the same decision wait for it."""

    execution: str
    dispatch: int


@dataclass(frozen=True, slots=True)
class MakeWorkspace:
    execution: str


@dataclass(frozen=True, slots=True)
class Stage:
    """What was produced lies ready to be looked at."""

    execution: str


@dataclass(frozen=True, slots=True)
class Promote:
    """Staged artifacts take their permanent names."""

    execution: str


@dataclass(frozen=True, slots=True)
class MoveToErrored:
    execution: str


@dataclass(frozen=True, slots=True)
class DropWorkspaces:
    executions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Archive:
    rollback: str


@dataclass(frozen=True, slots=True)
class Unarchive:
    rollback: str


@dataclass(frozen=True, slots=True)
class SetPassAside:
    pass_number: int


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Hand the execution to a runner."""

    execution: str
    dispatch: int


@dataclass(frozen=True, slots=True)
class SendLater:
    """A timer: this very command, later."""

    after: float
    command: Timer


FileEffect = MakeWorkspace | Stage | Promote | MoveToErrored | DropWorkspaces | Archive | Unarchive | SetPassAside
Effect = Stop | FileEffect | Dispatch | SendLater
