"""Handlers that read, run in one thread each."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from starlette.concurrency import run_in_threadpool


def unhindered(handler: Callable[..., Any]) -> Callable[..., Any]:
    """The handler as a coroutine. FastAPI itself would go to a thread twice, for its answer too."""
    if iscoroutinefunction(handler):
        return handler

    @wraps(handler)
    async def handle(**given: Any) -> Any:
        return await run_in_threadpool(handler, **given)

    return handle
