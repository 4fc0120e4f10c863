"""The outcomes that runners return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from cairn.core.execution import Failure
from cairn.core.states import PassDecision, WaitingOn
from cairn.ports.files import ProducedFile, StoredFile
from cairn.ports.tools import ToolPin


@dataclass(frozen=True, slots=True)
class ValidationFinding:
    """One place where a result differs from its declaration."""

    path: str
    message: str
    expected: str = ""  # empty if the message says it all
    actual: str = ""


@dataclass(frozen=True, slots=True)
class ValidationVerdict:
    """The result of one check of a result."""

    check: str  # schema: the declaration; lenient: a model judged near misses; custom: the author's prompt
    passed: bool
    findings: tuple[ValidationFinding, ...] = ()
    reason: str = ""  # given by the model
    model: str | None = None
    is_simulated: bool = False


@dataclass(frozen=True, slots=True)
class Produced:
    """The work is complete."""

    artifacts: tuple[ProducedFile | StoredFile, ...]
    output: Any = None  # added to the run's context if there is no JSON artifact
    pass_decision: PassDecision | None = None
    verdicts: tuple[ValidationVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Errored:
    """The work failed and may be retried."""

    error: Failure


@dataclass(frozen=True, slots=True)
class InvalidResult:
    """The work is complete, but failed validation."""

    artifacts: tuple[ProducedFile | StoredFile, ...]
    error: Failure
    verdicts: tuple[ValidationVerdict, ...] = field(default=(), compare=False)
    # The outcome if a model accepts the violations of the schema.
    lenient_result: Produced | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class NeedsInput:
    """The work needs an answer from people before it can continue."""

    waiting_on: WaitingOn
    question: Any
    call: RecordedCall | None = None  # recorded with the report; its arguments contain the question

    @property
    def question_text(self) -> str:
        """The question in words, or the prompt of a form for parameters."""
        is_object = isinstance(self.question, Mapping)
        question: Mapping[str, Any] = cast("Mapping[str, Any]", self.question) if is_object else {}
        texts: list[Any] = [question.get("question"), question.get("prompt")]
        return next((text for text in texts if isinstance(text, str)), "")


@dataclass(frozen=True, slots=True)
class NeedsRework:
    """An earlier checkpoint has to be reworked first; then the work is dispatched again."""

    key: str
    prompt: str
    reason: str
    artifacts: tuple[ProducedFile | StoredFile, ...] = ()  # staged so far
    call: RecordedCall | None = None  # recorded with the report
    inputs_content: bytes | None = None  # the content of `call.inputs_checksum`


@dataclass(frozen=True, slots=True)
class ProposesAction:
    """The work proposes an action. After the decision it is dispatched again."""

    operation_type: str
    parameters: Mapping[str, Any]
    reasoning: str = ""
    confidence: float | None = None  # from 0 to 1
    risk_level: str | None = None  # as rated by the proposer
    supporting_data: Any = None
    artifacts: tuple[ProducedFile | StoredFile, ...] = ()  # staged so far
    call: RecordedCall | None = None  # recorded with the report
    inputs_content: bytes | None = None  # the content of `call.inputs_checksum`
    instance: str | None = None  # distinguishes an intended second action from a repetition
    is_held: bool = False  # the call is already recorded and approved, but its action can't start now
    tool: ToolPin | None = None  # if the action is the call of a tool: its version


@dataclass(frozen=True, slots=True)
class OverBudget:
    """The budget allows no further model call. The work is dispatched again once the budget is raised."""

    reason: str  # the message of `BudgetExhausted`


Outcome = Produced | Errored | InvalidResult | NeedsInput | NeedsRework | ProposesAction | OverBudget


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call by a script, function or agent that had to wait, and its result."""

    number: int  # in this revision, from 1
    kind: str  # rework, action or question
    arguments: Mapping[str, Any]
    result: Mapping[str, Any] | None  # None while it is pending
    inputs_checksum: str | None = None  # of the inputs that the script could read at the time of the call
