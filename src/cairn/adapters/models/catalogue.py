"""The model catalogue: models by `provider:model`, through pydantic-ai.

pydantic-ai is imported when the first model is chosen, because the import takes seconds.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from cairn.adapters.models.errors import MASKED, explain, refusal_error
from cairn.adapters.models.prices import Price, PriceTable
from cairn.adapters.models.providers import (
    SIMULATED,
    ProviderConnection,
    ProviderOptions,
    ProviderRegistry,
    is_installed,
)
from cairn.ports.models import (
    ChosenModel,
    ModelCallContext,
    ModelError,
    ModelErrorKind,
    ModelTest,
    ProviderState,
    TokenUsage,
)

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from cairn.adapters.models.retrying_model import CandidateModel, RetryPolicy

DEFAULT_MODEL = "anthropic:claude-sonnet-4-5-20250929"  # if Anthropic's key is set
DEFAULT_SUCCESSOR = "anthropic:claude-sonnet-5-5"  # last fallback, because providers retire models
DEFAULT_WITHOUT_KEY = f"{SIMULATED}:default"
TEST_PROMPT = "Reply with exactly one word: ready"
MAX_TEST_TOKENS = 256  # including reasoning
# Providers that always report a finish reason. A response without one is incomplete.
REPORTS_FINISH = frozenset({"anthropic", "openai", "openai-responses", "azure-responses"})


class SimulatedModels(Protocol):
    def __call__(self, name: str, settings: Mapping[str, Any], call_context: ModelCallContext) -> Model: ...


@dataclass(frozen=True, slots=True)
class ModelPolicy:
    """The model settings of the installation."""

    default: str | None = None
    fallbacks: tuple[str, ...] = ()
    max_tokens: int = 8000
    temperature: float = 0.7
    timeout: float = 120.0  # seconds without data
    max_attempts: int = 3
    retry_delay: float = 1.0  # seconds
    max_wait: float = 60.0  # seconds
    providers: Mapping[str, ProviderOptions] = field(default_factory=dict[str, ProviderOptions])
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])


class _CachedModel:
    """A model whose connections are opened on first use."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._lock = asyncio.Lock()
        self._is_open = False

    async def open(self) -> None:
        if self._is_open:
            return
        async with self._lock:
            if not self._is_open:
                await self.model.__aenter__()
                self._is_open = True

    async def close(self) -> None:
        if self._is_open:
            self._is_open = False
            await self.model.__aexit__(None, None, None)


class PydanticAiModels:
    def __init__(
        self,
        policy: ModelPolicy,
        read_secret: Callable[[str], str | None],
        environment: Mapping[str, str],
        simulated_models: SimulatedModels,
    ) -> None:
        """`read_secret` raises LookupError if the secret cannot be decrypted."""
        self._policy = policy
        self._providers = ProviderRegistry(policy.providers, read_secret, environment)
        self._prices = PriceTable(policy.prices, self._providers.kinds)
        self._simulated_models = simulated_models
        self._cached: dict[tuple[str, ProviderConnection], _CachedModel] = {}
        self._cache_lock = threading.Lock()

    # Choosing
    @property
    def default(self) -> str:
        if self._policy.default:
            return full_name(self._policy.default)
        try:
            has_key = self._providers.connection("anthropic").key is not None
        except ModelError:
            has_key = True  # the error is raised when the model is chosen
        return DEFAULT_MODEL if has_key else DEFAULT_WITHOUT_KEY

    def choose(
        self,
        name: str | None = None,
        settings: Mapping[str, Any] | None = None,
        call_context: ModelCallContext | None = None,
    ) -> ChosenModel:
        from cairn.adapters.models.retrying_model import RetryPolicy

        settings = settings or {}
        retry_policy = RetryPolicy(self._policy.max_attempts, self._policy.max_wait, self._policy.retry_delay)
        return self._choose(
            name, settings, call_context or ModelCallContext(), self._fallbacks(name, settings), retry_policy
        )

    def _fallbacks(self, name: str | None, settings: Mapping[str, Any]) -> tuple[str, ...]:
        fallbacks = tuple(settings.get("fallbacks", self._policy.fallbacks))
        return fallbacks if name or self._policy.default else (*fallbacks, DEFAULT_SUCCESSOR)

    def _names(self, name: str | None, fallbacks: Sequence[str]) -> list[str]:
        """The full names of a model and its fallbacks. Simulated and real models don't replace each other."""
        chosen = full_name(name) if name else self.default
        if is_simulated(chosen):
            return [chosen]
        others = (full_name(fallback) for fallback in fallbacks)
        return list(dict.fromkeys((chosen, *(other for other in others if not is_simulated(other)))))

    def _choose(
        self,
        name: str | None,
        settings: Mapping[str, Any],
        call_context: ModelCallContext,
        fallbacks: Sequence[str],
        retry_policy: RetryPolicy,
    ) -> ChosenModel:
        from cairn.adapters.models.retrying_model import RetryingModel

        chosen, *others = self._names(name, fallbacks)
        candidates = [self._candidate(chosen, settings, call_context)]
        candidates += [
            candidate for other in others if (candidate := self._fallback(other, settings, call_context)) is not None
        ]
        model = RetryingModel(candidates, retry_policy, self.explain, call_context.notify)
        return ChosenModel(chosen, model, settings, is_simulated(chosen))

    def _fallback(
        self, name: str, settings: Mapping[str, Any], call_context: ModelCallContext
    ) -> CandidateModel | None:
        try:
            return self._candidate(name, settings, call_context)
        except ModelError as error:
            call_context.notify(f"{error} This fallback is skipped.")
            return None

    def _candidate(self, name: str, settings: Mapping[str, Any], call_context: ModelCallContext) -> CandidateModel:
        from cairn.adapters.models.retrying_model import CandidateModel

        if is_simulated(name):
            return CandidateModel(name, self._simulated_models(name, settings, call_context))
        provider, _, model = name.partition(":")
        connection = self._providers.connection(provider)
        with self._cache_lock:
            cached = self._cached.get((name, connection))
            if cached is None:
                cached = self._cached[name, connection] = _CachedModel(
                    self._providers.create_model(provider, model, connection)
                )
        defaults = self._default_settings(cached.model, settings)
        timeout = None if "timeout" in defaults else self._policy.timeout
        return CandidateModel(name, cached.model, defaults, timeout, connection.kind in REPORTS_FINISH, cached.open)

    def _default_settings(self, model: Model, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The defaults that this model supports."""
        profile: Mapping[str, Any] = model.profile
        unsupported = {*model.unsupported_settings, *profile.get("openai_unsupported_model_settings", ())}
        has_reasoning = any("thinking" in key or "reasoning" in key for key in settings)
        if (
            has_reasoning
            or profile.get("anthropic_disallows_sampling_settings")
            or profile.get("openai_supports_reasoning")
        ):
            unsupported.add("temperature")
        defaults = {
            "max_tokens": self._policy.max_tokens,
            "temperature": self._policy.temperature,
            "timeout": self._policy.timeout,
            "max_retries": 0,  # RetryingModel retries and reports each attempt
        }
        return {key: value for key, value in defaults.items() if key not in unsupported}

    # Information
    def explain(self, error: BaseException, model: str) -> ModelError | None:
        explained = explain(error, model)
        message = str(explained)
        keys = [connection.key for _, connection in self._cached if connection.key]
        if explained is None or not any(key in message for key in keys):
            return explained
        for key in keys:
            message = message.replace(key, MASKED)
        return ModelError(
            explained.kind,
            message,
            model=explained.model,
            retry_after=explained.retry_after,
        )

    def cost(self, model: str, tokens: TokenUsage) -> Decimal | None:
        return self._prices.cost(model, tokens)

    def unpriced_models(self, name: str | None = None, settings: Mapping[str, Any] | None = None) -> Sequence[str]:
        try:
            names = self._names(name, self._fallbacks(name, settings or {}))
        except ModelError:
            return []  # an invalid name, which `choose` reports
        return [model for model in names if self.cost(model, TokenUsage(input=1, output=1)) is None]

    @property
    def prices(self) -> str:
        return self._prices.description

    def retirement_date(self, name: str) -> str | None:
        provider, _, model = name.partition(":")
        if self._providers.kinds.get(provider, provider) != "anthropic" or not is_installed("anthropic"):
            return None
        from anthropic.resources.messages.messages import DEPRECATED_MODELS

        return DEPRECATED_MODELS.get(model)

    def providers(self) -> Sequence[ProviderState]:
        simulated = ProviderState(SIMULATED, is_installed=True, requires_key=False, has_key=False)
        return [*self._providers.states(), simulated]

    async def test(self, name: str | None = None) -> ModelTest:
        started = time.monotonic()
        failed_attempts: list[str] = []
        name = name or self.default
        try:
            name = full_name(name)
            chosen = await asyncio.to_thread(self._choose_for_test, name, failed_attempts.append)
            started = time.monotonic()  # choosing imports pydantic-ai the first time
            result = await self._call(chosen)
        except ModelError as error:
            return ModelTest(
                name,
                time.monotonic() - started,
                is_simulated=is_simulated(name),
                error=error,
                failed_attempts=tuple(failed_attempts),
            )
        return replace(result, seconds=time.monotonic() - started, failed_attempts=tuple(failed_attempts))

    def _choose_for_test(self, name: str, notify: Callable[[str], None]) -> ChosenModel:
        """Without retries and fallbacks, so that the test shows the state of this model."""
        from cairn.adapters.models.retrying_model import RetryPolicy

        call_context = ModelCallContext(notify=notify)
        return self._choose(name, {"max_tokens": MAX_TEST_TOKENS}, call_context, (), RetryPolicy(max_attempts=1))

    async def _call(self, chosen: ChosenModel) -> ModelTest:
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.messages import ModelRequest
        from pydantic_ai.settings import ModelSettings

        from cairn.adapters.models.retrying_model import tokens_of

        settings = ModelSettings(max_tokens=MAX_TEST_TOKENS)
        messages = [ModelRequest.user_text_prompt(TEST_PROMPT)]
        try:
            async with model_request_stream(chosen.model, messages, model_settings=settings) as stream:
                async for _ in stream:
                    pass
            response = stream.get()
        except Exception as error:
            explained = self.explain(error, chosen.name)
            if explained is None:
                raise
            raise explained from error
        if response.finish_reason == "content_filter":
            raise refusal_error(chosen.name)
        tokens = tokens_of(response)
        cost = self.cost(chosen.name, tokens)
        return ModelTest(chosen.name, 0.0, response.text or "", tokens, cost, chosen.is_simulated)

    async def close(self) -> None:
        cached, self._cached = list(self._cached.values()), {}
        for model in cached:
            await model.close()


def is_simulated(name: str) -> bool:
    return name.partition(":")[0] == SIMULATED


def full_name(name: str) -> str:
    """Return `provider:model`. The provider can be omitted for Claude models."""
    provider, colon, model = name.partition(":")
    if colon and provider and model:
        return name
    if not colon and name.startswith("claude-"):
        return f"anthropic:{name}"
    message = f"Invalid model name {name!r}. Use provider:model, such as {DEFAULT_MODEL} or {DEFAULT_WITHOUT_KEY}."
    raise ModelError(ModelErrorKind.NOT_CONFIGURED, message, model=name)
