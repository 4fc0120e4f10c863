"""Reads run in a thread, and are handed to one once only."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import iscoroutinefunction

from fastapi.dependencies.models import Dependant

from cairn.api.app import operation_routes


def filled(dependant: Dependant) -> Iterator[Dependant]:
    for inner in dependant.dependencies:
        yield inner
        yield from filled(inner)


def test_only_handlers_run_in_threads() -> None:
    """FastAPI hands what is no coroutine to a thread: each parameter, the handler, and its answer once more."""
    assert [route.path for route in operation_routes() if not iscoroutinefunction(route.endpoint)] == []
    blocking = {
        str(one.call)
        for route in operation_routes()
        for one in filled(route.dependant)
        if not iscoroutinefunction(one.call)
    }
    assert blocking == set()
