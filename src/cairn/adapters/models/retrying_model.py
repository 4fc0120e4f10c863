"""A model that does not give up at once: it tries again what may pass, then the fallbacks in turn.

This module imports the agent library: it is itself imported only when a model is chosen.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext

from cairn.adapters.models.errors import broken_off, timeout
from cairn.adapters.models.restarting_stream import RestartingStream
from cairn.ports.models import ANSWERED_BY, ModelError, TokenUsage
from cairn.ports.models import ModelErrorKind as Kind

log = logging.getLogger(__name__)

# What another model may well answer to.
ELSEWHERE = frozenset(set(Kind) - {Kind.REFUSAL, Kind.BAD_ANSWER})
Explain = Callable[[BaseException, str], ModelError | None]
OURS = frozenset({"simulation", "fallbacks"})  # settings that no provider is given


async def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    tries: int = 3  # of one model, for what may pass
    longest_wait: float = 60.0  # seconds: a provider that asks for more is not waited for
    first_wait: float = 1.0  # seconds, then twice as long each time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    def wait(self, number: int, asked: float | None) -> float | None:
        """Before another try; None: not within a call."""
        if asked is not None:
            return asked if asked <= self.longest_wait else None
        backoff = min(self.first_wait * 2 ** (number - 1), self.longest_wait)
        return backoff * (0.5 + self.chance() / 2)


@dataclass(frozen=True, slots=True)
class CandidateModel:
    """One model of those that may answer."""

    name: str  # `provider:model`
    model: Model
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])  # where nobody says otherwise
    silence: float | None = None  # seconds, where its client does not watch the time itself
    says_end: bool = False  # an answer without a reason for its end is not whole
    enter: Callable[[], Awaitable[None]] = _nothing  # before it is used


class RetryRound:
    """The tries of one request: whose turn it is, and what has gone wrong so far."""

    def __init__(
        self, candidates: Sequence[CandidateModel], patience: RetryPolicy, explain: Explain, told: Callable[[str], None]
    ) -> None:
        self._candidates = candidates
        self._patience = patience
        self._explain = explain
        self._told = told
        self._at, self._tries = 0, 1
        self._faults: list[tuple[ModelError, int]] = []  # the last of each candidate, and after how many tries

    @property
    def candidate(self) -> CandidateModel:
        return self._candidates[self._at]

    def finish(self, response: ModelResponse) -> ModelResponse:
        """The answer, with who gave it; a fault if it is not whole."""
        candidate = self.candidate
        if candidate.says_end and (response.finish_reason is None or response.state == "incomplete"):
            fault = broken_off(candidate.name)
            fault.tokens = tokens_of(response)
            raise fault
        return replace(response, metadata={**(response.metadata or {}), ANSWERED_BY: candidate.name})

    async def after(self, error: Exception) -> None:
        """Wait until it makes sense to ask `candidate`; raises if nobody is left."""
        fault = self._explain(error, self.candidate.name)
        if fault is None:
            raise error
        wait = self._patience.wait(self._tries, fault.retry_after) if fault.is_transient else None
        if wait is not None and self._tries < self._patience.tries:
            self._tries += 1
            self._tell(f"{fault} Tried again in {wait:.1f} s ({self._tries} of {self._patience.tries}).")
            await self._patience.sleep(wait)
            return
        self._faults.append((fault, self._tries))
        if self._at + 1 == len(self._candidates) or fault.kind not in ELSEWHERE:
            raise self._summary() from error
        self._at, self._tries = self._at + 1, 1
        self._tell(f"{fault} Taking {self.candidate.name} instead.")

    def _tell(self, words: str) -> None:
        log.warning("%s", words)
        self._told(words)

    def _summary(self) -> ModelError:
        """What may pass counts: asked again later, that model may answer."""
        chief = next((fault for fault, _ in self._faults if fault.is_transient), self._faults[0][0])
        told = " ".join(f"{fault} Tried {tries} times." if tries > 1 else str(fault) for fault, tries in self._faults)
        return ModelError(chief.kind, told, model=chief.model, retry_after=chief.retry_after, tokens=chief.tokens)


def tokens_of(response: ModelResponse) -> TokenUsage:
    usage = response.usage
    return TokenUsage(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)


class RetryingModel(WrapperModel):
    """The candidates as one model."""

    def __init__(
        self, candidates: Sequence[CandidateModel], patience: RetryPolicy, explain: Explain, told: Callable[[str], None]
    ) -> None:
        super().__init__(candidates[0].model)
        self._candidates = tuple(candidates)
        self._patience = patience
        self._explain = explain
        self._told = told

    # Each candidate has a profile of its own, and prepares what it is given when it is asked.
    def prepare_messages(
        self,
        messages: list[ModelMessage],
        model_request_parameters: ModelRequestParameters | None = None,  # noqa: ARG002 - the signature is the library's
    ) -> list[ModelMessage]:
        return messages

    def prepare_request(
        self, model_settings: ModelSettings | None, model_request_parameters: ModelRequestParameters
    ) -> tuple[ModelSettings | None, ModelRequestParameters]:
        return model_settings, model_request_parameters

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        asking = _ModelRequest(self._round(), messages, model_settings, model_request_parameters)
        while True:
            try:
                return await asking.whole()
            except Exception as error:  # noqa: BLE001 - what is not a provider's fault is raised again there
                await asking.after(error)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        asking = _ModelRequest(self._round(), messages, model_settings, model_request_parameters, run_context)
        stream = RestartingStream(model_request_parameters, asking)
        try:
            await stream.begin()
            yield stream
        finally:
            await stream.end()

    def _round(self) -> RetryRound:
        return RetryRound(self._candidates, self._patience, self._explain, self._told)


@dataclass(frozen=True)
class _ModelRequest:
    """One request, to whoever's turn it is."""

    round: RetryRound
    messages: list[ModelMessage]
    given: ModelSettings | None
    parameters: ModelRequestParameters
    run_context: RunContext[Any] | None = None

    @property
    def silence(self) -> float | None:
        return self.round.candidate.silence

    @property
    def name(self) -> str:
        return self.round.candidate.name

    @property
    def _settings(self) -> ModelSettings:
        merged = {**self.round.candidate.defaults, **(self.given or {})}
        return cast("ModelSettings", {name: value for name, value in merged.items() if name not in OURS})

    def _prepared(self, model: Model) -> list[ModelMessage]:
        return model.prepare_messages(self.messages, self.parameters)

    async def whole(self) -> ModelResponse:
        candidate = self.round.candidate
        await candidate.enter()
        try:
            async with asyncio.timeout(candidate.silence):
                response = await candidate.model.request(
                    self._prepared(candidate.model), self._settings, self.parameters
                )
        except TimeoutError:
            raise timeout(candidate.name) from None
        return self.round.finish(response)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[StreamedResponse]:
        candidate = self.round.candidate
        await candidate.enter()
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(candidate.silence):
                    stream = await stack.enter_async_context(
                        candidate.model.request_stream(
                            self._prepared(candidate.model), self._settings, self.parameters, self.run_context
                        )
                    )
            except TimeoutError:
                raise timeout(candidate.name) from None
            yield stream

    def finish(self, response: ModelResponse) -> ModelResponse:
        return self.round.finish(response)

    async def after(self, error: Exception) -> None:
        await self.round.after(error)
