"""Shells with a server, which is shared by the tests of a module, and without one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.server import Server
from tests.cli.shell import ENVIRONMENT, FOLDER, Shell
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
def importable_functions() -> Iterator[None]:
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fresh environment in UTC."""
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
def server_shell(server: Server) -> Shell:
    """Runs commands on the server's data folder."""
    return Shell(server.data)


@pytest.fixture
def local_shell(tmp_path: Path) -> Shell:
    """Runs commands on a data folder without a server."""
    prepare(tmp_path / "cairn-data")
    return Shell(tmp_path / "cairn-data")


@pytest.fixture(params=["server_shell", "local_shell"])
def shell(request: pytest.FixtureRequest) -> Shell:
    """Runs the test with a server and without one."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def notes(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A definition file. The name of the pipeline is unique to the test."""
    file = tmp_path / "notes.yaml"
    file.write_text(PIPELINE.replace("Notes", name_of(request), 1))
    return file


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return name_of(request)


def name_of(request: pytest.FixtureRequest) -> str:
    return f"Notes of {request.node.name.removeprefix('test_').replace('_', ' ')}"[:80]
