"""A model that retries transient errors, then switches to its fallbacks.

Imported only when a model is chosen, because it imports pydantic-ai.
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

from cairn.adapters.models.errors import incomplete_response, timeout_error
from cairn.adapters.models.restarting_stream import RestartingStream
from cairn.ports.models import ANSWERED_BY, ModelError, TokenUsage
from cairn.ports.models import ModelErrorKind as Kind

log = logging.getLogger(__name__)

# Errors after which another model may succeed.
FALLBACK_KINDS = frozenset(set(Kind) - {Kind.REFUSAL, Kind.BAD_ANSWER})
Explain = Callable[[BaseException, str], ModelError | None]
CAIRN_SETTINGS = frozenset({"simulation", "fallbacks"})  # not sent to providers


async def _do_nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    max_attempts: int = 3  # per model
    max_wait: float = 60.0  # seconds
    retry_delay: float = 1.0  # seconds, doubled for each retry
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random

    def wait_before_retry(self, attempt: int, retry_after: float | None) -> float | None:
        """The seconds to wait after this attempt. None if the provider requests more than `max_wait`."""
        if retry_after is not None:
            return retry_after if retry_after <= self.max_wait else None
        backoff = min(self.retry_delay * 2 ** (attempt - 1), self.max_wait)
        return backoff * (0.5 + self.random() / 2)


@dataclass(frozen=True, slots=True)
class CandidateModel:
    """The chosen model or one of its fallbacks."""

    name: str  # `provider:model`
    model: Model
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])  # settings unless the definition overrides them
    timeout: float | None = None  # seconds without data; None: the client has its own timeout
    reports_finish: bool = False  # a response without a finish reason is incomplete
    enter: Callable[[], Awaitable[None]] = _do_nothing  # opens its connections


class RetryRound:
    """The attempts of one request: the current candidate and the errors so far."""

    def __init__(
        self, candidates: Sequence[CandidateModel], policy: RetryPolicy, explain: Explain, notify: Callable[[str], None]
    ) -> None:
        self._candidates = candidates
        self._policy = policy
        self._explain = explain
        self._notify = notify
        self._index, self._attempt = 0, 1
        self._errors: list[tuple[ModelError, int]] = []  # the last error of each candidate, and its attempts

    @property
    def candidate(self) -> CandidateModel:
        return self._candidates[self._index]

    def complete(self, response: ModelResponse) -> ModelResponse:
        """Add the model's name to the response. Raises ModelError if the response is incomplete."""
        candidate = self.candidate
        if candidate.reports_finish and (response.finish_reason is None or response.state == "incomplete"):
            raise incomplete_response(candidate.name)
        return replace(response, metadata={**(response.metadata or {}), ANSWERED_BY: candidate.name})

    async def prepare_retry(self, exception: Exception) -> None:
        """Wait, or switch to the next candidate. Raises if no candidate is left or a retry is pointless."""
        error = self._explain(exception, self.candidate.name)
        if error is None:
            raise exception
        wait = self._policy.wait_before_retry(self._attempt, error.retry_after) if error.is_transient else None
        if wait is not None and self._attempt < self._policy.max_attempts:
            self._attempt += 1
            self._report(f"{error} Retrying in {wait:.1f} s (attempt {self._attempt} of {self._policy.max_attempts}).")
            await self._policy.sleep(wait)
            return
        self._errors.append((error, self._attempt))
        if self._index + 1 == len(self._candidates) or error.kind not in FALLBACK_KINDS:
            raise self._combined_error() from exception
        self._index, self._attempt = self._index + 1, 1
        self._report(f"{error} Falling back to {self.candidate.name}.")

    def _report(self, message: str) -> None:
        log.warning("%s", message)
        self._notify(message)

    def _combined_error(self) -> ModelError:
        """A transient error determines the kind, because that model may succeed later."""
        main = next((error for error, _ in self._errors if error.is_transient), self._errors[0][0])
        message = " ".join(
            f"{error} Failed after {attempts} attempts." if attempts > 1 else str(error)
            for error, attempts in self._errors
        )
        return ModelError(main.kind, message, model=main.model, retry_after=main.retry_after)


def tokens_of(response: ModelResponse) -> TokenUsage:
    usage = response.usage
    return TokenUsage(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)


class RetryingModel(WrapperModel):
    """Present the candidates as one model."""

    def __init__(
        self, candidates: Sequence[CandidateModel], policy: RetryPolicy, explain: Explain, notify: Callable[[str], None]
    ) -> None:
        super().__init__(candidates[0].model)
        self._candidates = tuple(candidates)
        self._policy = policy
        self._explain = explain
        self._notify = notify

    # Prepare nothing here: each candidate has its own profile and prepares the request itself.
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
        request = _ModelRequest(self._new_round(), messages, model_settings, model_request_parameters)
        while True:
            try:
                return await request.send()
            except Exception as error:  # noqa: BLE001 - prepare_retry raises errors that are not a provider's
                await request.prepare_retry(error)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        request = _ModelRequest(self._new_round(), messages, model_settings, model_request_parameters, run_context)
        stream = RestartingStream(model_request_parameters, request)
        try:
            await stream.open()
            yield stream
        finally:
            await stream.close()

    def _new_round(self) -> RetryRound:
        return RetryRound(self._candidates, self._policy, self._explain, self._notify)


@dataclass(frozen=True)
class _ModelRequest:
    """One request, sent to the current candidate of its round."""

    round: RetryRound
    messages: list[ModelMessage]
    settings: ModelSettings | None
    parameters: ModelRequestParameters
    run_context: RunContext[Any] | None = None

    @property
    def timeout(self) -> float | None:
        return self.round.candidate.timeout

    @property
    def name(self) -> str:
        return self.round.candidate.name

    @property
    def _merged_settings(self) -> ModelSettings:
        merged = {**self.round.candidate.defaults, **(self.settings or {})}
        return cast("ModelSettings", {name: value for name, value in merged.items() if name not in CAIRN_SETTINGS})

    def _prepared(self, model: Model) -> list[ModelMessage]:
        return model.prepare_messages(self.messages, self.parameters)

    async def send(self) -> ModelResponse:
        candidate = self.round.candidate
        await candidate.enter()
        try:
            async with asyncio.timeout(candidate.timeout):
                response = await candidate.model.request(
                    self._prepared(candidate.model), self._merged_settings, self.parameters
                )
        except TimeoutError:
            raise timeout_error(candidate.name) from None
        return self.round.complete(response)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[StreamedResponse]:
        candidate = self.round.candidate
        await candidate.enter()
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(candidate.timeout):
                    stream = await stack.enter_async_context(
                        candidate.model.request_stream(
                            self._prepared(candidate.model), self._merged_settings, self.parameters, self.run_context
                        )
                    )
            except TimeoutError:
                raise timeout_error(candidate.name) from None
            yield stream

    def complete(self, response: ModelResponse) -> ModelResponse:
        return self.round.complete(response)

    async def prepare_retry(self, error: Exception) -> None:
        await self.round.prepare_retry(error)
