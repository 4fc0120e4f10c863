"""What every test may use. No test asks a provider: the keys of whoever runs them are not for them."""

import asyncio
import os
from collections.abc import Callable

from uvicorn.loops.auto import auto_loop_factory

from cairn.adapters.models.providers import KNOWN
from cairn.worker import collect_seldom

pytest_plugins = [
    "tests.databases",
    "tests.effort",
    "tests.isolation",
    "tests.ordering",
    "tests.adapters.models.fixtures",
]

for _name in {key for known in KNOWN.values() for key in known.keys}:
    os.environ.pop(_name, None)
os.environ.setdefault("CAIRN_SIMULATION_CHARS_PER_SECOND", "0")


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Tests run on the loop that the server runs on: another one has other faults."""
    return {"served": auto_loop_factory()}


def pytest_collection_finish() -> None:
    """What is imported stays. Python would look through all of it again and again: a sixth of all the time."""
    collect_seldom()
