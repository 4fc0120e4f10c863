"""What reads is handed to a thread at most once, and not at all where a few rows are at hand (SPEC §9)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from inspect import iscoroutinefunction
from typing import Any

import pytest
from fastapi.dependencies.models import Dependant

from cairn.api.openapi import api_routes
from cairn.api.unhindered import FEW
from tests.api.house import House


def filled(dependant: Dependant) -> Iterator[Dependant]:
    for inner in dependant.dependencies:
        yield inner
        yield from filled(inner)


def test_nothing_but_handlers_goes_to_a_thread() -> None:
    """FastAPI hands what is no coroutine to a thread: each parameter, the handler, and its answer once more."""
    assert [route.path for route in api_routes() if not iscoroutinefunction(route.endpoint)] == []
    blocking = {
        str(one.call) for route in api_routes() for one in filled(route.dependant) if not iscoroutinefunction(one.call)
    }
    assert blocking == set()


@pytest.mark.parametrize(("limit", "is_small"), [(FEW, True), (FEW + 1, False)])
async def test_a_small_page_is_read_at_once_where_it_is_at_hand(
    house: House, monkeypatch: pytest.MonkeyPatch, limit: int, is_small: bool
) -> None:
    where: list[int] = []
    original = house.cairn.reading.runs

    def runs(*given: Any) -> Any:
        where.append(threading.get_ident())
        return original(*given)

    monkeypatch.setattr(house.cairn.reading, "runs", runs)
    await house.get("/api/runs", limit=limit)
    is_here = where == [threading.get_ident()]
    assert is_here == (is_small and house.cairn.database.kind == "sqlite")
