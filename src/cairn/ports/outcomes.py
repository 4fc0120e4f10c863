"""What a runner returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cairn.core.execution import Failure
from cairn.core.states import PassDecision, WaitingOn
from cairn.ports.files import ProducedFile, StoredFile


@dataclass(frozen=True, slots=True)
class ValidationFinding:
    """One place where something else came than was wanted."""

    path: str
    message: str
    expected: str = ""  # in words; empty where the message says all
    actual: str = ""


@dataclass(frozen=True, slots=True)
class ValidationVerdict:
    """What one check of a result has come to."""

    check: str  # schema: what is declared; lenient: a model, of near misses; custom: a model, by the author's prompt
    passed: bool
    findings: tuple[ValidationFinding, ...] = ()
    reason: str = ""  # in the model's words
    model: str | None = None
    is_simulated: bool = False


@dataclass(frozen=True, slots=True)
class Produced:
    """The work is done."""

    artifacts: tuple[ProducedFile | StoredFile, ...]
    output: Any = None  # what joins the run's context when no JSON artifact stands for it
    pass_decision: PassDecision | None = None
    verdicts: tuple[ValidationVerdict, ...] = ()  # of those who have looked at it


@dataclass(frozen=True, slots=True)
class Errored:
    """The work failed; it may be tried again."""

    error: Failure


@dataclass(frozen=True, slots=True)
class InvalidResult:
    """The work is done, and fails validation."""

    artifacts: tuple[ProducedFile | StoredFile, ...]
    error: Failure
    verdicts: tuple[ValidationVerdict, ...] = field(default=(), compare=False)
    # What it is if nothing but a schema stands against it.
    lenient_result: Produced | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class NeedsInput:
    """People have to answer before it can go on."""

    waiting_on: WaitingOn
    question: Any
    call: RecordedCall | None = None  # to be recorded with the report; its arguments say what is asked


@dataclass(frozen=True, slots=True)
class NeedsRework:
    """The work of an earlier checkpoint has to be done again first; then it is called again."""

    key: str
    prompt: str
    reason: str
    artifacts: tuple[ProducedFile | StoredFile, ...] = ()  # that it has staged so far
    call: RecordedCall | None = None  # to be recorded with the report
    inputs_content: bytes | None = None  # the content that `call.seen` names


@dataclass(frozen=True, slots=True)
class ProposesAction:
    """Something is to be done outside: once it is allowed, it is called again."""

    operation_type: str
    parameters: Mapping[str, Any]
    reasoning: str = ""
    confidence: float | None = None  # from 0 to 1
    risk_level: str | None = None  # as the proposer sees it
    supporting_data: Any = None
    artifacts: tuple[ProducedFile | StoredFile, ...] = ()  # that it has staged so far
    call: RecordedCall | None = None  # to be recorded with the report
    inputs_content: bytes | None = None  # the content that `call.seen` names


@dataclass(frozen=True, slots=True)
class OverBudget:
    """No further call of a model is allowed: it is called again when the budget is higher."""

    reason: str  # as `BudgetSpent` says it


Outcome = Produced | Errored | InvalidResult | NeedsInput | NeedsRework | ProposesAction | OverBudget


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call that waited for others, of a script, a function or an agent, and what came of it."""

    number: int  # in this revision, from 1
    kind: str  # rework, action or question
    arguments: Mapping[str, Any]
    result: Mapping[str, Any] | None  # None: nobody has answered yet
    inputs_checksum: str | None = None  # checksum of what the script could read until then
