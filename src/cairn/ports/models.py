"""The models that agents think with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pydantic_ai.models import Model


class ModelFaultKind(StrEnum):
    """Why a model gave no answer that can be used (A7)."""

    NOT_CONFIGURED = "not_configured"  # unknown name, no key, a part that is not installed
    AUTHENTICATION = "authentication"
    NOT_FOUND = "not_found"
    QUOTA = "quota"  # the account has nothing left
    RATE_LIMIT = "rate_limit"
    OVERLOAD = "overload"
    NETWORK = "network"
    TIMEOUT = "timeout"
    REFUSAL = "refusal"
    CONTEXT_TOO_LONG = "context_too_long"
    BAD_ANSWER = "bad_answer"  # a tool call or an output that cannot be read, again and again
    REJECTED = "rejected"  # the provider does not accept the request


TRANSIENT = frozenset(
    {ModelFaultKind.RATE_LIMIT, ModelFaultKind.OVERLOAD, ModelFaultKind.NETWORK, ModelFaultKind.TIMEOUT}
)


class ModelFault(Exception):
    """A model gave no answer; the message says in plain words what, and what to do."""

    def __init__(
        self, kind: ModelFaultKind, message: str, *, model: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.model = model
        self.retry_after = retry_after  # seconds, where the provider says so

    @property
    def is_transient(self) -> bool:
        """Whether the same request may well be answered later."""
        return self.kind in TRANSIENT


@dataclass(frozen=True, slots=True)
class Tokens:
    """What one call has used."""

    input: int = 0  # all of it, cached or not
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model that is ready to be asked."""

    name: str  # `provider:model`
    model: Model
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of pydantic-ai's ModelSettings
    is_simulated: bool = False


class Models(Protocol):
    def choose(self, name: str | None = None, settings: Mapping[str, Any] | None = None) -> Chosen:
        """The model of this name, or the default one; ModelFault if it cannot be had."""
        ...

    def explain(self, error: BaseException, model: str) -> ModelFault | None:
        """What the error of a call means; None: it is none of a provider's."""
        ...

    def cost(self, model: str, tokens: Tokens) -> Decimal | None:
        """In US dollars, by the price table; None: nobody knows the price. What is simulated costs nothing."""
        ...
