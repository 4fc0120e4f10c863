"""The models that agents think with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pydantic_ai.models import Model


class ModelErrorKind(StrEnum):
    """Why a model gave no answer that can be used."""

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
    {ModelErrorKind.RATE_LIMIT, ModelErrorKind.OVERLOAD, ModelErrorKind.NETWORK, ModelErrorKind.TIMEOUT}
)


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """What one call has used."""

    input: int = 0  # all of it, cached or not
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class ModelError(Exception):
    """A model gave no answer; the message says in plain words what, and what to do."""

    def __init__(
        self,
        kind: ModelErrorKind,
        message: str,
        *,
        model: str = "",
        retry_after: float | None = None,
        tokens: TokenUsage | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.model = model
        self.retry_after = retry_after  # seconds, where the provider says so
        self.tokens = tokens  # that were used all the same, as far as it is known

    @property
    def is_transient(self) -> bool:
        """Whether the same request may well be answered later."""
        return self.kind in TRANSIENT


ANSWERED_BY = "cairn_model"  # in the metadata of a ModelResponse: `provider:model` of who gave it, fallbacks included


def _tell_nobody(_words: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class ModelCallContext:
    """What a model is asked for. No provider is told; scripts of the simulated one go by it."""

    execution_id: str = ""
    attempt: int = 1
    checkpoint: str = ""  # its key
    notify: Callable[[str], None] = _tell_nobody  # each try that failed, and what is done now; in words, without keys


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A model that is ready to be asked.

    Asked, it retries transient faults by itself, then takes the fallbacks in turn; what it raises is a ModelFault. If
    an answer breaks off midway it is asked for again: a stream then begins anew with its first part. One that the
    provider's filter stopped comes as it is, with `content_filter` as the reason for its end.
    """

    name: str  # `provider:model`
    model: Model
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of pydantic-ai's ModelSettings
    is_simulated: bool = False


@dataclass(frozen=True, slots=True)
class ProviderState:
    """A provider, and whether it can be used here; never its key."""

    name: str
    is_installed: bool
    requires_key: bool
    has_key: bool
    key_names: tuple[str, ...] = ()  # environment variables, and secrets, that hold it
    key_source: str | None = None  # environment or secret
    base_url: str | None = None  # where it was set
    hint: str = ""  # what to do where it cannot be used

    @property
    def is_ready(self) -> bool:
        return not self.hint


@dataclass(frozen=True, slots=True)
class ModelTest:
    """What came of one small call."""

    name: str
    seconds: float
    text: str = ""
    tokens: TokenUsage | None = None
    cost: Decimal | None = None
    is_simulated: bool = False
    fault: ModelError | None = None
    told: tuple[str, ...] = ()  # tries before it


class ModelCatalogue(Protocol):
    def choose(
        self,
        name: str | None = None,
        settings: Mapping[str, Any] | None = None,
        call_context: ModelCallContext | None = None,
    ) -> ChosenModel:
        """The model of this name, or the default one; ModelFault if it cannot be had.

        `settings` are a definition's `model_settings`. The first time takes a second or two: do it in a thread.
        """
        ...

    def explain(self, error: BaseException, model: str) -> ModelError | None:
        """What the error of a call means; None: it is none of a provider's."""
        ...

    def cost(self, model: str, tokens: TokenUsage) -> Decimal | None:
        """In US dollars, by the price table; None: nobody knows the price. What is simulated costs nothing."""
        ...

    @property
    def default(self) -> str:
        """The model of whoever names none."""
        ...

    @property
    def prices(self) -> str:
        """Whose prices `cost` goes by, and of when."""
        ...

    def ends_on(self, name: str) -> str | None:
        """When its provider ends the model, as far as it is known."""
        ...

    def providers(self) -> Sequence[ProviderState]: ...

    async def try_out(self, name: str | None = None) -> ModelTest:
        """One small call. A fault is told, not raised."""
        ...

    async def close(self) -> None:
        """Hang up."""
        ...
