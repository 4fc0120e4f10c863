"""Each read runs in one thread, with a single hop."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import iscoroutinefunction

from fastapi.dependencies.models import Dependant

from cairn.api.app import operation_routes


def filled(dependant: Dependant) -> Iterator[Dependant]:
    for inner in dependant.dependencies:
        yield inner
        yield from filled(inner)


def test_dependencies_are_coroutines() -> None:
    """FastAPI runs each synchronous dependency, handler and serialization in a thread of its own."""
    assert [route.path for route in operation_routes() if not iscoroutinefunction(route.endpoint)] == []
    blocking = {
        str(dependency.call)
        for route in operation_routes()
        for dependency in filled(route.dependant)
        if not iscoroutinefunction(dependency.call)
    }
    assert blocking == set()
