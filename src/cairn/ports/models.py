"""Language models for agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pydantic_ai.models import Model


class ModelErrorKind(StrEnum):
    """Why a call to a model failed."""

    NOT_CONFIGURED = "not_configured"  # unknown name, missing key or missing client library
    AUTHENTICATION = "authentication"
    NOT_FOUND = "not_found"
    QUOTA = "quota"  # the account has no credit left
    RATE_LIMIT = "rate_limit"
    OVERLOAD = "overload"
    NETWORK = "network"
    TIMEOUT = "timeout"
    REFUSAL = "refusal"
    CONTEXT_TOO_LONG = "context_too_long"
    BAD_ANSWER = "bad_answer"  # tool calls or outputs are invalid, even after corrections
    REJECTED = "rejected"  # the provider rejects the request


TRANSIENT = frozenset(
    {ModelErrorKind.RATE_LIMIT, ModelErrorKind.OVERLOAD, ModelErrorKind.NETWORK, ModelErrorKind.TIMEOUT}
)


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that one call used."""

    input: int = 0  # including cached tokens
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class ModelError(Exception):
    """A call to a model failed. The message says what happened and what to do."""

    def __init__(
        self,
        kind: ModelErrorKind,
        message: str,
        *,
        model: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.model = model
        self.retry_after = retry_after  # seconds, if the provider names a delay

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed later."""
        return self.kind in TRANSIENT


ANSWERED_BY = "cairn_model"  # metadata key of a ModelResponse: `provider:model` that answered, possibly a fallback


def _ignore(_message: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class ModelCallContext:
    """The execution that a call is made for. It is not sent to providers, but used by the simulated model."""

    execution_id: str = ""
    attempt: int = 1
    checkpoint: str = ""  # key of the checkpoint
    notify: Callable[[str], None] = _ignore  # called after each failed attempt, with a message for people


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model that is ready for calls.

    It retries transient errors, then uses its fallbacks in order, and finally raises ModelError. If an answer breaks
    off, it is requested again, and a stream starts again with its first part. The stream's `failed_attempts` have the
    usage of answers that broke off or were cancelled. An answer that the content filter of the provider stopped is
    returned with the finish reason `content_filter`.
    """

    name: str  # `provider:model`
    model: Model
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])  # pydantic-ai's ModelSettings
    is_simulated: bool = False


@dataclass(frozen=True, slots=True)
class ProviderState:
    """A provider and whether it is ready to use. Never contains its key."""

    name: str
    is_installed: bool
    requires_key: bool
    has_key: bool
    key_names: tuple[str, ...] = ()  # environment variables or secrets that can hold the key
    key_source: str | None = None  # environment or secret
    base_url: str | None = None  # if configured
    hint: str = ""  # what to do if the provider is not ready

    @property
    def is_ready(self) -> bool:
        return not self.hint


@dataclass(frozen=True, slots=True)
class ModelTest:
    """The result of a test call."""

    name: str
    seconds: float
    text: str = ""
    tokens: TokenUsage | None = None
    cost: Decimal | None = None
    is_simulated: bool = False
    error: ModelError | None = None
    failed_attempts: tuple[str, ...] = ()  # messages


class ModelCatalogue(Protocol):
    def choose(
        self,
        name: str | None = None,
        settings: Mapping[str, Any] | None = None,
        call_context: ModelCallContext | None = None,
    ) -> ChosenModel:
        """Return the model with this name, or the default model. Raises ModelError if it is not available.

        `settings` are the `model_settings` of a definition. Call it in a thread, because the first call takes seconds.
        """
        ...

    def explain(self, error: BaseException, model: str) -> ModelError | None:
        """Turn an exception of a call into a ModelError. None if it does not come from a provider."""
        ...

    def cost(self, model: str, tokens: TokenUsage) -> Decimal | None:
        """The cost in US dollars, or None if the price is unknown. Simulated calls cost nothing."""
        ...

    def unpriced_models(self, name: str | None = None, settings: Mapping[str, Any] | None = None) -> Sequence[str]:
        """The models that `choose` can return with these arguments, as a fallback too, and whose price is unknown."""
        ...

    @property
    def default(self) -> str:
        """The model of agents that don't name one."""
        ...

    @property
    def prices(self) -> str:
        """The source and date of the prices."""
        ...

    def retirement_date(self, name: str) -> str | None:
        """The date on which the provider retires the model, if known."""
        ...

    def providers(self) -> Sequence[ProviderState]: ...

    async def test(self, name: str | None = None) -> ModelTest:
        """Make one small call. Errors are returned, not raised."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
