"""An answer on its way that is asked for again if it breaks off; like `model_patience`, imported only when needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from datetime import datetime
from typing import Protocol

import anyio
from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.usage import RequestUsage

from cairn.adapters.models.errors import timeout


class StreamSource(Protocol):
    """Where streams come from: one after the other, until one goes to its end."""

    @property
    def silence(self) -> float | None: ...

    @property
    def name(self) -> str:
        """Of the model that is asked now."""
        ...

    def open(self) -> AbstractAsyncContextManager[StreamedResponse]: ...

    def finish(self, response: ModelResponse) -> ModelResponse:
        """The answer as it is handed on; raises if it is not whole."""
        ...

    async def after(self, error: Exception) -> None:
        """Wait until it makes sense to open another; raises if it never will."""
        ...


class RestartingStream(StreamedResponse):
    """Begins anew with the first part when the stream behind it breaks off: consumers see its parts start again."""

    _now: StreamedResponse

    def __init__(self, parameters: ModelRequestParameters, source: StreamSource) -> None:
        super().__init__(parameters)
        self._source = source
        self._stack = AsyncExitStack()
        self._is_stopped = False

    async def begin(self) -> None:
        """Open a stream, however many tries it takes."""
        while True:
            try:
                self._now = await self._stack.enter_async_context(self._source.open())
            except Exception as error:  # noqa: BLE001 - what is not a provider's fault is raised again there
                await self._source.after(error)
            else:
                return

    async def end(self) -> None:
        self._is_stopped = True
        with anyio.CancelScope(shield=True):
            await self._stack.aclose()

    def __aiter__(self) -> AsyncIterator[ModelResponseStreamEvent]:
        # The streams behind it tell of ends of parts and of final results already.
        if self._event_iterator is None:
            self._event_iterator = self._get_event_iterator()
        return self._event_iterator

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        while True:
            events = aiter(self._now)
            try:
                while (event := await self._pull(events)) is not None:
                    yield event
                self._source.finish(self._now.get())
            except Exception as error:
                if self._is_stopped:
                    raise
                with suppress(Exception):
                    await self._stack.aclose()
                await self._source.after(error)
                await self.begin()
            else:
                self._finished = True
                return

    async def _pull(self, events: AsyncIterator[ModelResponseStreamEvent]) -> ModelResponseStreamEvent | None:
        """The next one; None: that was all."""
        try:
            async with asyncio.timeout(self._source.silence):
                return await anext(events)
        except StopAsyncIteration:
            return None
        except TimeoutError:
            raise timeout(self._source.name) from None

    # ---- of the stream that is behind it now ----------------------------------------------------------
    def get(self) -> ModelResponse:
        response = self._now.get()
        return self._source.finish(response) if self._finished else response

    async def close_stream(self) -> None:
        self._is_stopped = True
        await self._now.close_stream()

    def get_stream_cancel_errors(self) -> tuple[type[BaseException], ...]:
        return self._now.get_stream_cancel_errors()

    @property
    def usage(self) -> RequestUsage:
        return self._now.usage

    @property
    def model_name(self) -> str:
        return self._now.model_name

    @property
    def provider_name(self) -> str | None:
        return self._now.provider_name

    @property
    def provider_url(self) -> str | None:
        return self._now.provider_url

    @property
    def timestamp(self) -> datetime:
        return self._now.timestamp
