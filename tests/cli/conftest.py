"""A server for the tests of a module, and folders without one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.server import Server
from tests.cli.shell import ENVIRONMENT, HERE, Shell
from tests.databases import prepare

PIPELINE = """\
pipeline_name: Notes
pipeline_description: A form, then a function.
config: { auto_advance: true }
checkpoints:
  - key: write
    checkpoint_name: Write the notes
    form:
      - { name: text, type: multiline_text, label: What is new? }
      - { name: count, type: number, label: How many?, required: false }
      - { name: urgent, type: boolean, label: Is it urgent?, required: false }
      - { name: paper, type: file, label: A paper, required: false }
    outputs: [notes.json]
    approve: complete
    inputs: { include_previous_version: true }
  - key: echo
    checkpoint_name: Say it again
    function: cli.echo
    input_mapping: { text: write.text }
    outputs: [echo.json]
"""


@pytest.fixture(scope="session", autouse=True)
def functions_are_found() -> Iterator[None]:
    sys.path.insert(0, str(HERE))
    yield
    sys.path.remove(str(HERE))


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a fresh shell; times are those of Greenwich."""
    for name in tuple(os.environ):
        if name == "NO_COLOR" or (name.startswith("CAIRN_") and name != "CAIRN_SIMULATION_CHARS_PER_SECOND"):
            monkeypatch.delenv(name)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("served"), **ENVIRONMENT)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def served(server: Server) -> Shell:
    """Commands beside the server."""
    return Shell(server.data)


@pytest.fixture
def alone(tmp_path: Path) -> Shell:
    """Commands on a folder of their own."""
    prepare(tmp_path / "cairn-data")
    return Shell(tmp_path / "cairn-data")


@pytest.fixture(params=["served", "alone"])
def shell(request: pytest.FixtureRequest) -> Shell:
    """Commands with a server, and the same without."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def notes(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A definition whose name only this test has."""
    file = tmp_path / "notes.yaml"
    file.write_text(PIPELINE.replace("Notes", name_of(request), 1))
    return file


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return name_of(request)


def name_of(request: pytest.FixtureRequest) -> str:
    return f"Notes of {request.node.name.removeprefix('test_').replace('_', ' ')}"[:80]
