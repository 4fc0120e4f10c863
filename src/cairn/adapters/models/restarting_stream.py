"""A streamed response that restarts if it breaks. Imported only when needed, like `retrying_model`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from datetime import UTC, datetime
from typing import Protocol

import anyio
from pydantic_ai.messages import ModelRequestAttempt, ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.usage import RequestUsage

from cairn.adapters.models.errors import timeout_error


class StreamSource(Protocol):
    """Opens streams for one request, until one of them completes."""

    @property
    def timeout(self) -> float | None:
        """The seconds without an event after which a stream is abandoned."""
        ...

    @property
    def name(self) -> str:
        """The current model."""
        ...

    def open(self) -> AbstractAsyncContextManager[StreamedResponse]: ...

    def complete(self, response: ModelResponse) -> ModelResponse:
        """Return the final response. Raises if it is incomplete."""
        ...

    async def prepare_retry(self, error: Exception) -> None:
        """Wait until another stream can be opened. Raises if retrying is pointless."""
        ...


class RestartingStream(StreamedResponse):
    """Opens a new stream when the current one breaks. Consumers then receive all parts again.

    `failed_attempts` has the streams that ended early, even the last one if it was cancelled, with their usage.
    """

    _current: StreamedResponse

    def __init__(self, parameters: ModelRequestParameters, source: StreamSource) -> None:
        super().__init__(parameters)
        self._source = source
        self._stack = AsyncExitStack()
        self._is_stopped = False
        self._opened_at: datetime | None = None  # None: no stream is open

    async def open(self) -> None:
        """Open a stream, with retries."""
        while True:
            try:
                self._current = await self._stack.enter_async_context(self._source.open())
            except Exception as error:  # noqa: BLE001 - prepare_retry raises errors that are not a provider's
                await self._source.prepare_retry(error)
            else:
                self._opened_at = datetime.now(UTC)
                return

    async def close(self) -> None:
        self._is_stopped = True
        if not self._finished:
            self._add_failed_attempt(None)
        with anyio.CancelScope(shield=True):
            await self._stack.aclose()

    def _add_failed_attempt(self, error: Exception | None) -> None:
        """Keep the usage of the current stream, which ended early."""
        if self._opened_at is None:
            return
        attempt = ModelRequestAttempt(
            model_name=self._source.name,
            outcome="error",
            error=None if error is None else f"{type(error).__name__}: {error}",
            timestamp=self._opened_at,
            duration=datetime.now(UTC) - self._opened_at,
            usage=self._current.usage,
        )
        self.failed_attempts = [*(self.failed_attempts or ()), attempt]
        self._opened_at = None

    def __aiter__(self) -> AsyncIterator[ModelResponseStreamEvent]:
        # The underlying streams already emit part-end and final-result events.
        if self._event_iterator is None:
            self._event_iterator = self._get_event_iterator()
        return self._event_iterator

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        while True:
            events = aiter(self._current)
            try:
                while (event := await self._next_event(events)) is not None:
                    yield event
                self._source.complete(self._current.get())
            except Exception as error:
                if self._is_stopped:
                    raise
                self._add_failed_attempt(error)
                with suppress(Exception):
                    await self._stack.aclose()
                await self._source.prepare_retry(error)
                await self.open()
            else:
                self._finished = True
                return

    async def _next_event(self, events: AsyncIterator[ModelResponseStreamEvent]) -> ModelResponseStreamEvent | None:
        """The next event, or None at the end of the stream."""
        try:
            async with asyncio.timeout(self._source.timeout):
                return await anext(events)
        except StopAsyncIteration:
            return None
        except TimeoutError:
            raise timeout_error(self._source.name) from None

    # Delegation to the current stream
    def get(self) -> ModelResponse:
        response = self._current.get()
        return self._source.complete(response) if self._finished else response

    async def close_stream(self) -> None:
        self._is_stopped = True
        await self._current.close_stream()

    def get_stream_cancel_errors(self) -> tuple[type[BaseException], ...]:
        return self._current.get_stream_cancel_errors()

    @property
    def usage(self) -> RequestUsage:
        return self._current.usage

    @property
    def model_name(self) -> str:
        return self._current.model_name

    @property
    def provider_name(self) -> str | None:
        return self._current.provider_name

    @property
    def provider_url(self) -> str | None:
        return self._current.provider_url

    @property
    def timestamp(self) -> datetime:
        return self._current.timestamp
