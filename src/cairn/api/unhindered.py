"""Handlers that read and block, run so that nobody waits for them longer than need be."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool

T = TypeVar("T")
H = TypeVar("H", bound=Callable[..., Any])


def small(handler: H) -> H:
    """It reads one run, or one execution of it: mostly that takes less than to hand it to a thread."""
    handler.is_small = True  # pyright: ignore[reportFunctionMemberAccess]
    return handler


def unhindered(handler: Callable[..., Any]) -> Callable[..., Any]:
    """The handler as a coroutine. FastAPI itself would go to a thread twice, for its answer too."""
    if iscoroutinefunction(handler):
        return handler
    is_small = getattr(handler, "is_small", False)

    @wraps(handler)
    async def handle(**given: Any) -> Any:
        if is_small and given["services"].reading.is_at_hand(given.get("run_id") or given["execution_id"]):
            return handler(**given)
        return await run_in_threadpool(handler, **given)

    return handle


async def looked(services: Any, read: Callable[..., T], id: str, *given: Any) -> T:
    """What is read of a run, or of an execution."""
    return read(id, *given) if services.reading.is_at_hand(id) else await run_in_threadpool(read, id, *given)
