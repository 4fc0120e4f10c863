"""Handlers that read and block, run so that nobody waits for them longer than need be."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool

T = TypeVar("T")
H = TypeVar("H", bound=Callable[..., Any])

FEW = 50  # items of a page that are read at once


def small(handler: H) -> H:
    """It reads few rows: where the database is at hand that takes less than to hand it to a thread."""
    handler.is_small = True  # pyright: ignore[reportFunctionMemberAccess]
    return handler


def unhindered(handler: Callable[..., Any]) -> Callable[..., Any]:
    """The handler as a coroutine. FastAPI itself would go to a thread twice, for its answer too."""
    if iscoroutinefunction(handler):
        return handler
    is_small = getattr(handler, "is_small", False)

    @wraps(handler)
    async def handle(**given: Any) -> Any:
        paging = given.get("paging")
        if is_small and given["services"].reading.is_at_hand and (paging is None or paging.limit <= FEW):
            return handler(**given)
        return await run_in_threadpool(handler, **given)

    return handle


async def looked(services: Any, read: Callable[..., T], *given: Any) -> T:
    """What a small read tells."""
    return read(*given) if services.reading.is_at_hand else await run_in_threadpool(read, *given)
