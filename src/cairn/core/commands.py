"""What people, rules, runners and timers may ask of a run. All frozen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from cairn.core.budget import Budget
from cairn.core.execution import Failure
from cairn.core.frozen import Replaceable
from cairn.core.rule_verdict import Judge, ProposedAction, no_rules
from cairn.core.states import PassDecision, WaitingOn


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """An artifact as events name it."""

    id: str
    name: str
    format: str
    checksum: str
    size: int


ArtifactLookup = Callable[[Sequence[str]], Sequence[ArtifactRef]]  # by record ids, in their order


def no_artifacts(_: Sequence[str]) -> Sequence[ArtifactRef]:
    return ()


@dataclass(frozen=True)
class CommandContext(Replaceable):
    """What comes with every command: when, who, the id that ids of new things are made from.

    `judge` and `artifacts` answer as the transaction of the command sees things.
    """

    at: datetime
    by: str
    command_id: UUID
    judge: Judge = field(default=no_rules, compare=False)  # the rules in force
    starter: str = ""  # who started the run
    counts_as: frozenset[str] | None = None  # names that this person answers to; None: every one
    over_budget: str = ""  # why no model may be asked now; empty: the budget allows it
    artifacts: ArtifactLookup = field(default=no_artifacts, compare=False)


@dataclass(frozen=True, slots=True)
class ArtifactOutput:
    """An artifact that a runner has produced; its content is in the store already or comes in the same transaction."""

    id: str
    name: str
    checksum: str
    size: int


# ---- people, the run -----------------------------------------------------------------


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
    target: int  # position of the last checkpoint that stays; -1 takes all
    with_runs: bool = False  # part of a rollback that archives later runs
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ArchiveRun:
    """Archive the whole run, as part of a rollback to an earlier one."""

    rollback: str


@dataclass(frozen=True, slots=True)
class UndoRollback:
    """Put back what a rollback took from this run."""

    rollback: str


@dataclass(frozen=True, slots=True)
class SetBudget:
    """Bound what the run may use from now on; what is left out is as the definition says."""

    budget: Budget


@dataclass(frozen=True, slots=True)
class WarnBudget:
    """Most of the budget is used: people are told, once."""

    reason: str


# ---- people, one execution -----------------------------------------------------------


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
class RequestRework:
    """A person sends a completed checkpoint back, for an execution that was looked at or for nobody."""

    key: str
    requester: str | None = None
    reason: str = ""
    prompt: str = ""  # what is to be done now


@dataclass(frozen=True, slots=True)
class Decide:
    """Answer an approval; rules use it too (`by` is then `rule:…`)."""

    approval: str
    decision: str  # see moves.DECISIONS
    digest: str | None = None  # of what was shown; None binds to what is current
    feedback: str = ""
    answer: str | None = None  # checksum of what was filled in, or of the modified parameters
    modified_digest: str | None = None  # digest of the modified parameters


@dataclass(frozen=True, slots=True)
class AssignApproval:
    """Let others decide an approval."""

    approval: str
    assigned_to: tuple[str, ...]
    reason: str = ""


# ---- runners; each ends its dispatch -------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExecutionFinished:
    execution: str
    dispatch: int
    digest: str
    outputs: tuple[ArtifactOutput, ...] = ()
    pass_decision: PassDecision | None = None


@dataclass(frozen=True, slots=True)
class ExecutionFailed:
    execution: str
    dispatch: int
    error: Failure


@dataclass(frozen=True, slots=True)
class ResultInvalid:
    """The result failed validation."""

    execution: str
    dispatch: int
    digest: str
    outputs: tuple[ArtifactOutput, ...] = ()
    error: Failure = field(default_factory=lambda: Failure("invalid", "the result failed validation"))


@dataclass(frozen=True, slots=True)
class InputRequested:
    execution: str
    dispatch: int
    waiting_on: WaitingOn  # script_input or question
    digest: str = ""  # of what is asked


@dataclass(frozen=True, slots=True)
class ActionProposed:
    execution: str
    dispatch: int
    digest: str  # of the action
    action: ProposedAction
    reasons: str = ""  # why it is as risky as it is
    result_digest: str | None = None  # digest of what it has made so far
    outputs: tuple[ArtifactOutput, ...] = ()


@dataclass(frozen=True, slots=True)
class ActionOutcomeUnknown:
    """An approved action was begun, and nobody knows whether it was carried out."""

    execution: str
    dispatch: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReworkRequested:
    """The work of an earlier checkpoint has to be done again first; it sees what the asker has made so far."""

    execution: str
    dispatch: int
    key: str
    reason: str = ""
    prompt: str = ""  # what is to be done now
    digest: str | None = None
    outputs: tuple[ArtifactOutput, ...] = ()


@dataclass(frozen=True, slots=True)
class ExecutionBlocked:
    """Something outside is missing."""

    execution: str
    dispatch: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class IterationLimitReached:
    """A limit on iterations or recoveries is reached: people are asked."""

    execution: str
    dispatch: int
    digest: str | None = None
    outputs: tuple[ArtifactOutput, ...] = ()


@dataclass(frozen=True, slots=True)
class BudgetReached:
    """The budget allows no further call of a model: the run pauses, and goes on with a higher one."""

    execution: str
    dispatch: int
    reason: str  # which budget, and how much of it


@dataclass(frozen=True, slots=True)
class ExecutionInterrupted:
    """The worker died, or its job was taken over."""

    execution: str
    dispatch: int


# ---- timers; sent by SendLater, fenced, never cancelled ------------------------------


@dataclass(frozen=True, slots=True)
class RetryDue:
    execution: str
    dispatch: int


@dataclass(frozen=True, slots=True)
class ExecutionTimedOut:
    execution: str
    dispatch: int


@dataclass(frozen=True, slots=True)
class ApprovalExpired:
    approval: str
    period: int


@dataclass(frozen=True, slots=True)
class EscalationDue:
    """Others are brought in."""

    approval: str


@dataclass(frozen=True, slots=True)
class ReminderDue:
    approval: str
    period: int


@dataclass(frozen=True, slots=True)
class RunTimedOut:
    timer_generation: int


RunCommand = (
    StartRun
    | PauseRun
    | ResumeRun
    | CancelRun
    | RestartRun
    | RollBack
    | ArchiveRun
    | UndoRollback
    | SetBudget
    | WarnBudget
)
ExecutionCommand = StartExecution | RetryExecution | CancelExecution | RequestRework | Decide | AssignApproval
Report = (
    ExecutionFinished
    | ExecutionFailed
    | ResultInvalid
    | InputRequested
    | ActionProposed
    | ActionOutcomeUnknown
    | ReworkRequested
    | ExecutionBlocked
    | IterationLimitReached
    | BudgetReached
    | ExecutionInterrupted
)
Timer = RetryDue | ExecutionTimedOut | ApprovalExpired | EscalationDue | ReminderDue | RunTimedOut
Command = RunCommand | ExecutionCommand | Report | Timer
