"""What reads is handed to a thread at most once, and a short run not at all where it is at hand."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from inspect import iscoroutinefunction
from typing import Any

import pytest
from fastapi.dependencies.models import Dependant

from cairn.api.openapi import api_routes
from cairn.services.runs.queries import detail as run_detail
from cairn.services.runs.queries.detail import SHORT
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


@pytest.mark.parametrize("most", [SHORT, 0])
@pytest.mark.parametrize("what", ["run", "execution"])
async def test_what_is_short_is_read_at_once_where_it_is_at_hand(
    house: House, monkeypatch: pytest.MonkeyPatch, what: str, most: int
) -> None:
    """A run of many executions goes to a thread: everybody else would wait for it."""
    run = await house.run(await house.pipeline())
    (execution,) = (await house.get(f"/api/runs/{run['run_id']}/checkpoints"))["items"]
    where: list[int] = []
    original = getattr(house.cairn.reading, what)

    def read(*given: Any) -> Any:
        where.append(threading.get_ident())
        return original(*given)

    monkeypatch.setattr(house.cairn.reading, what, read)
    monkeypatch.setattr(run_detail, "SHORT", most)
    addresses = {"run": f"/api/runs/{run['run_id']}", "execution": f"/api/executions/{execution['execution_id']}"}
    await house.get(addresses[what])
    assert (where == [threading.get_ident()]) == (most > 0 and house.cairn.database.kind == "sqlite")
