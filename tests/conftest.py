"""Plugins for all tests. No test calls a model provider, so the API keys of the environment are removed."""

import asyncio
import atexit
import os
import shutil
import tempfile
from collections.abc import Callable

from uvicorn.loops.auto import auto_loop_factory

from cairn.adapters.models.providers import KNOWN
from cairn.worker import tune_garbage_collection

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
# The journals of actions are outside the data folders. Servers in tests inherit this folder.
os.environ["CAIRN_JOURNAL_DIR"] = tempfile.mkdtemp(prefix="cairn-journals-")
atexit.register(shutil.rmtree, os.environ["CAIRN_JOURNAL_DIR"], ignore_errors=True)


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run tests on the event loop that the server uses, because others have different bugs."""
    return {"served": auto_loop_factory()}


def pytest_collection_finish() -> None:
    """Exclude imported objects from garbage collection, which would take a sixth of the time."""
    tune_garbage_collection()
