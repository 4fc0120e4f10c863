"""The commands that users, rules, runners and timers send to a run. All are frozen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from cairn.core.budget import Budget
from cairn.core.execution import Failure
from cairn.core.frozen import Replaceable
from cairn.core.rule_verdict import NO_VERDICT, Judge, RiskLevel, RuleVerdict, no_rules
from cairn.core.states import ActionState, ApprovalKind, ApprovalStatus, PassDecision, WaitingOn


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """An artifact in the metadata of events."""

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
    """The sender, time and id of a command, and the rules, budget and artifacts that its transaction sees.

    New ids are derived from the id of the command.
    """

    at: datetime
    by: str
    command_id: UUID
    judge: Judge = field(default=no_rules, compare=False)  # evaluates the active rules
    starter: str = ""  # who started the run
    identities: frozenset[str] | None = None  # users, roles and groups that the sender can decide as; None: all
    over_budget: str = ""  # why the budget allows no model call now; empty if it does
    artifacts: ArtifactLookup = field(default=no_artifacts, compare=False)


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """The approval to create for an action."""

    action: str  # its id
    kind: ApprovalKind  # action, or outcome if it is unknown whether it happened
    digest: str  # of what people see
    operation_type: str
    risk: RiskLevel
    confidence: float | None = None
    verdict: RuleVerdict = NO_VERDICT
    reason: str = ""
    assigned_to: tuple[str, ...] = ()  # who is asked; empty: any approver


@dataclass(frozen=True, slots=True)
class ArtifactOutput:
    """An artifact that a runner has produced. Its content is already stored, or saved in the same transaction."""

    id: str
    name: str
    checksum: str
    size: int


# Commands of users for a run.


@dataclass(frozen=True, slots=True)
class StartRun:
    """Start the run. The first checkpoints start on their own."""


@dataclass(frozen=True, slots=True)
class PauseRun:
    """Request a pause. The run pauses once no runner is working."""


@dataclass(frozen=True, slots=True)
class ResumeRun:
    """Resume the run, or cancel a pause request."""


@dataclass(frozen=True, slots=True)
class CancelRun:
    """Stop and cancel all open executions."""


@dataclass(frozen=True, slots=True)
class RestartRun:
    """Start the next pass."""

    pass_number: int  # the pass to leave


@dataclass(frozen=True, slots=True)
class RollBack:
    """Archive the executions after the target."""

    rollback: str
    target: int  # position of the last checkpoint to keep; -1 archives all
    with_runs: bool = False  # part of a rollback that archives later runs
    reason: str = ""
    hold: bool = False  # leave the run paused


@dataclass(frozen=True, slots=True)
class ArchiveRun:
    """Archive the whole run, as part of a rollback to an earlier one."""

    rollback: str


@dataclass(frozen=True, slots=True)
class UndoRollback:
    """Restore the parts of this run that a rollback archived."""

    rollback: str


@dataclass(frozen=True, slots=True)
class SetBudget:
    """Set the budget of the run. Other limits come from the definition."""

    budget: Budget


@dataclass(frozen=True, slots=True)
class WarnBudget:
    """Notify people, once, that most of the budget is used."""

    reason: str


# Commands of users for an execution.


@dataclass(frozen=True, slots=True)
class StartExecution:
    execution: str


@dataclass(frozen=True, slots=True)
class RetryExecution:
    execution: str
    attempt: int  # the failed attempt to retry


@dataclass(frozen=True, slots=True)
class CancelExecution:
    """Cancel an open execution, or dismiss a failed one."""

    execution: str


@dataclass(frozen=True, slots=True)
class RequestRework:
    """A user sends a completed checkpoint back, optionally on behalf of a requesting execution."""

    key: str
    requester: str | None = None
    reason: str = ""
    prompt: str = ""  # the new task


@dataclass(frozen=True, slots=True)
class Decide:
    """Decide on an approval. Rules send it too, with `rule:…` as the sender."""

    approval: str
    decision: str  # see transitions.DECISIONS
    digest: str | None = None  # of the content that was shown; None: the current content
    feedback: str = ""
    answer: str | None = None  # checksum of the form answers


@dataclass(frozen=True, slots=True)
class ActionDecided:
    """People have voted on an action. `status` closes its approval; without it, more votes are needed."""

    approval: str
    decision: str
    status: ApprovalStatus | None = None
    digest: str = ""  # of what was shown
    feedback: str = ""
    answer: str | None = None  # checksum of the modified parameters
    required: int = 1  # seats
    filled: int = 1
    assigned_to: tuple[str, ...] | None = None  # who can fill the seats after a modification; None: unchanged


@dataclass(frozen=True, slots=True)
class ActionResumed:
    """The obstacle of a held action is gone: its execution continues, or people are asked."""

    execution: str
    requests: tuple[ActionRequest, ...] = ()
    withdrawn: tuple[str, ...] = ()  # approvals that no one can decide any more


@dataclass(frozen=True, slots=True)
class AssignApproval:
    """Assign an approval to other people."""

    approval: str
    assigned_to: tuple[str, ...]
    reason: str = ""


# Reports of runners. Each ends its dispatch.


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
    error: Failure = field(default_factory=lambda: Failure("invalid_output", "the result failed validation"))


@dataclass(frozen=True, slots=True)
class InputRequested:
    execution: str
    dispatch: int
    waiting_on: WaitingOn  # script_input or question
    digest: str = ""  # of the question
    question: str = ""  # its text


@dataclass(frozen=True, slots=True)
class ActionProposed:
    execution: str
    dispatch: int
    state: ActionState  # after it was judged
    request: ActionRequest | None = None  # the approval that people or a rule give
    reason: str = ""
    result_digest: str | None = None  # of the result so far
    outputs: tuple[ArtifactOutput, ...] = ()


@dataclass(frozen=True, slots=True)
class ActionHeld:
    """The execution can't continue: an action may not start now, or its outcome is unknown."""

    execution: str
    dispatch: int
    reason: str = ""
    requests: tuple[ActionRequest, ...] = ()
    is_over: bool = False  # nothing holds the execution any more, so it continues


@dataclass(frozen=True, slots=True)
class ReworkRequested:
    """An earlier checkpoint must be repeated first. It sees the requester's result so far."""

    execution: str
    dispatch: int
    key: str
    reason: str = ""
    prompt: str = ""  # what to do now
    digest: str | None = None
    outputs: tuple[ArtifactOutput, ...] = ()


@dataclass(frozen=True, slots=True)
class ExecutionBlocked:
    """The execution needs something outside Cairn that is missing."""

    execution: str
    dispatch: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class IterationLimitReached:
    """A limit on iterations or recoveries is reached, so people decide how to continue."""

    execution: str
    dispatch: int
    digest: str | None = None
    outputs: tuple[ArtifactOutput, ...] = ()


@dataclass(frozen=True, slots=True)
class BudgetReached:
    """The budget allows no further model call, so the run pauses until the budget is raised."""

    execution: str
    dispatch: int
    reason: str  # which budget, and how much of it is used


@dataclass(frozen=True, slots=True)
class ExecutionInterrupted:
    """The worker stopped, or another one took over its job."""

    execution: str
    dispatch: int


# Commands of timers, sent by ScheduleTimer. Timers are never cancelled, so a late command can be stale.


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
    """Let the people of `escalate_to` decide too."""

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
ExecutionCommand = (
    StartExecution
    | RetryExecution
    | CancelExecution
    | RequestRework
    | Decide
    | ActionDecided
    | ActionResumed
    | AssignApproval
)
Report = (
    ExecutionFinished
    | ExecutionFailed
    | ResultInvalid
    | InputRequested
    | ActionProposed
    | ActionHeld
    | ReworkRequested
    | ExecutionBlocked
    | IterationLimitReached
    | BudgetReached
    | ExecutionInterrupted
)
Timer = RetryDue | ExecutionTimedOut | ApprovalExpired | EscalationDue | ReminderDue | RunTimedOut
Command = RunCommand | ExecutionCommand | Report | Timer
