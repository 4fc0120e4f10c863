"""Models by `provider:model`, through pydantic-ai. The library is imported with the first use."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from cairn.adapters.models.errors import MASKED, explain, refusal
from cairn.adapters.models.prices import Price, Prices
from cairn.adapters.models.providers import SIMULATED, ProviderFactory, ProviderRegistry, ProviderRule, is_installed
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

    from cairn.adapters.models.retrying_model import CandidateModel

ANTHROPIC = "anthropic:claude-sonnet-4-5-20250929"  # with a key and no other wish
SUCCESSOR = "anthropic:claude-sonnet-5-5"  # its last fallback: the provider ends models after a year or so
NO_KEY_AT_ALL = f"{SIMULATED}:default"
QUESTION = "Reply with exactly one word: ready"
SHORT = 256  # tokens that a trial may take, thoughts included
# Providers whose answers always say why they ended: without that, the rest is missing.
SAYS_END = frozenset({"anthropic", "openai", "openai-responses", "azure-responses"})


class SimulatedModels(Protocol):
    def __call__(self, name: str, settings: Mapping[str, Any], call_context: ModelCallContext) -> Model: ...


@dataclass(frozen=True, slots=True)
class ModelPolicy:
    """What the settings say of models."""

    default: str | None = None
    fallbacks: tuple[str, ...] = ()
    max_tokens: int = 8000
    temperature: float = 0.7
    silence: float = 120.0  # seconds after which a try is given up
    tries: int = 3
    first_wait: float = 1.0
    longest_wait: float = 60.0
    providers: Mapping[str, ProviderRule] = field(default_factory=dict[str, ProviderRule])
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])


class _CachedModel:
    """A model with its connections."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._entering = asyncio.Lock()
        self._is_entered = False

    async def enter(self) -> None:
        if self._is_entered:
            return
        async with self._entering:
            if not self._is_entered:
                await self.model.__aenter__()
                self._is_entered = True

    async def leave(self) -> None:
        if self._is_entered:
            self._is_entered = False
            await self.model.__aexit__(None, None, None)


class PydanticAiModels:
    def __init__(
        self,
        rules: ModelPolicy,
        secret: Callable[[str], str | None],
        environment: Mapping[str, str],
        simulates: SimulatedModels,
    ) -> None:
        """`secret` opens one of the store; LookupError says why it cannot."""
        self._rules = rules
        self._providers = ProviderRegistry(rules.providers, secret, environment)
        self._prices = Prices(rules.prices, self._providers.kinds)
        self._simulates = simulates
        self._held: dict[tuple[str, ProviderFactory], _CachedModel] = {}
        self._making = threading.Lock()

    # ---- choosing ------------------------------------------------------------------------------------
    @property
    def default(self) -> str:
        if self._rules.default:
            return full_name(self._rules.default)
        try:
            has_key = self._providers.way("anthropic").key is not None
        except ModelError:
            has_key = True  # it is there and cannot be opened: whoever asks is told so
        return ANTHROPIC if has_key else NO_KEY_AT_ALL

    def choose(
        self,
        name: str | None = None,
        settings: Mapping[str, Any] | None = None,
        call_context: ModelCallContext | None = None,
    ) -> ChosenModel:
        from cairn.adapters.models.retrying_model import RetryPolicy

        given = settings or {}
        fallbacks = tuple(given.get("fallbacks", self._rules.fallbacks))
        if not name and not self._rules.default:
            fallbacks = (*fallbacks, SUCCESSOR)
        patience = RetryPolicy(self._rules.tries, self._rules.longest_wait, self._rules.first_wait)
        return self._choose(name, given, call_context or ModelCallContext(), fallbacks, patience)

    def _choose(
        self,
        name: str | None,
        given: Mapping[str, Any],
        call_context: ModelCallContext,
        fallbacks: Sequence[str],
        patience: Any,
    ) -> ChosenModel:
        from cairn.adapters.models.retrying_model import RetryingModel

        wanted = full_name(name) if name else self.default
        candidates = [self._candidate(wanted, given, call_context)]
        if not is_simulated(wanted):  # nothing simulated stands in for what is not, nor the other way round
            others = dict.fromkeys(full_name(other) for other in fallbacks)
            candidates += [
                candidate
                for other in others
                if other != wanted and not is_simulated(other)
                if (candidate := self._fallback(other, given, call_context)) is not None
            ]
        model = RetryingModel(candidates, patience, self.explain, call_context.notify)
        return ChosenModel(wanted, model, given, is_simulated(wanted))

    def _fallback(self, name: str, given: Mapping[str, Any], call_context: ModelCallContext) -> CandidateModel | None:
        try:
            return self._candidate(name, given, call_context)
        except ModelError as fault:
            call_context.notify(f"{fault} It is no fallback as it is.")
            return None

    def _candidate(self, name: str, given: Mapping[str, Any], call_context: ModelCallContext) -> CandidateModel:
        from cairn.adapters.models.retrying_model import CandidateModel

        if is_simulated(name):
            return CandidateModel(name, self._simulates(name, given, call_context))
        provider, _, model = name.partition(":")
        way = self._providers.way(provider)
        with self._making:  # several threads may want the same one
            held = self._held.get((name, way))
            if held is None:
                held = self._held[name, way] = _CachedModel(self._providers.make(provider, model, way))
        defaults = self._defaults(held.model, given)
        silence = None if "timeout" in defaults else self._rules.silence
        return CandidateModel(name, held.model, defaults, silence, way.kind in SAYS_END, held.enter)

    def _defaults(self, model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
        """What is sent where nobody says otherwise, and only what the model takes."""
        profile: Mapping[str, Any] = model.profile
        refused = {*model.unsupported_settings, *profile.get("openai_unsupported_model_settings", ())}
        thinks = any("thinking" in key or "reasoning" in key for key in given)
        if thinks or profile.get("anthropic_disallows_sampling_settings") or profile.get("openai_supports_reasoning"):
            refused.add("temperature")
        wished = {
            "max_tokens": self._rules.max_tokens,
            "temperature": self._rules.temperature,
            "timeout": self._rules.silence,
            "max_retries": 0,  # tries are made, and told of, here
        }
        return {key: value for key, value in wished.items() if key not in refused}

    # ---- telling -------------------------------------------------------------------------------------
    def explain(self, error: BaseException, model: str) -> ModelError | None:
        fault = explain(error, model)
        words = str(fault)
        keys = [way.key for _, way in self._held if way.key]
        if fault is None or not any(key in words for key in keys):
            return fault
        for key in keys:
            words = words.replace(key, MASKED)
        return ModelError(fault.kind, words, model=fault.model, retry_after=fault.retry_after, tokens=fault.tokens)

    def cost(self, model: str, tokens: TokenUsage) -> Decimal | None:
        return self._prices.cost(model, tokens)

    @property
    def prices(self) -> str:
        return self._prices.told

    def ends_on(self, name: str) -> str | None:
        provider, _, model = name.partition(":")
        if self._providers.kinds.get(provider, provider) != "anthropic" or not is_installed("anthropic"):
            return None
        from anthropic.resources.messages.messages import DEPRECATED_MODELS

        return DEPRECATED_MODELS.get(model)

    def providers(self) -> Sequence[ProviderState]:
        simulated = ProviderState(SIMULATED, is_installed=True, wants_key=False, has_key=False)
        return [*self._providers.states(), simulated]

    async def try_out(self, name: str | None = None) -> ModelTest:
        begun = time.monotonic()
        told: list[str] = []
        wanted = name or self.default
        try:
            wanted = full_name(wanted)
            chosen = await asyncio.to_thread(self._for_trial, wanted, told.append)
            begun = time.monotonic()  # the first time the library has to be read
            answer = await self._ask(chosen)
        except ModelError as fault:
            return ModelTest(
                wanted, time.monotonic() - begun, is_simulated=is_simulated(wanted), fault=fault, told=tuple(told)
            )
        return replace(answer, seconds=time.monotonic() - begun, told=tuple(told))

    def _for_trial(self, name: str, told: Callable[[str], None]) -> ChosenModel:
        """This very model, once: whoever tries it wants to know how it does."""
        from cairn.adapters.models.retrying_model import RetryPolicy

        return self._choose(name, {"max_tokens": SHORT}, ModelCallContext(notify=told), (), RetryPolicy(tries=1))

    async def _ask(self, chosen: ChosenModel) -> ModelTest:
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.messages import ModelRequest
        from pydantic_ai.settings import ModelSettings

        from cairn.adapters.models.retrying_model import tokens_of

        settings = ModelSettings(max_tokens=SHORT)
        messages = [ModelRequest.user_text_prompt(QUESTION)]
        try:
            async with model_request_stream(chosen.model, messages, model_settings=settings) as stream:
                async for _ in stream:
                    pass
            response = stream.get()
        except Exception as error:
            fault = self.explain(error, chosen.name)
            if fault is None:
                raise
            raise fault from error
        if response.finish_reason == "content_filter":
            raise refusal(chosen.name)
        tokens = tokens_of(response)
        cost = self.cost(chosen.name, tokens)
        return ModelTest(chosen.name, 0.0, response.text or "", tokens, cost, chosen.is_simulated)

    async def close(self) -> None:
        held, self._held = list(self._held.values()), {}
        for one in held:
            await one.leave()


def is_simulated(name: str) -> bool:
    return name.partition(":")[0] == SIMULATED


def full_name(name: str) -> str:
    """`provider:model`; what Anthropic's models are called is enough for them."""
    provider, colon, model = name.partition(":")
    if colon and provider and model:
        return name
    if not colon and name.startswith("claude-"):
        return f"anthropic:{name}"
    words = f"{name!r} is no model: a model is named provider:model, such as {ANTHROPIC} or {NO_KEY_AT_ALL}."
    raise ModelError(ModelErrorKind.NOT_CONFIGURED, words, model=name)
