"""The user's journey against a real server, on the embedded database and on PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.server import TOKEN, Server

JOURNEY = Path(__file__).parent / "journey.py"
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


@pytest.fixture
def server(new_database_url: str, database_kind: str, tmp_path: Path) -> Iterator[Server]:
    """On an empty database."""
    url = {"CAIRN_DATABASE_URL": new_database_url} if database_kind == "postgresql" else {}
    server = Server(tmp_path, False, **url)
    server.start()
    yield server
    server.kill()


def test_the_journey_passes(server: Server) -> None:
    journey = subprocess.run(
        [sys.executable, str(JOURNEY), server.address, TOKEN, str(server.data)],
        capture_output=True,
        text=True,
        check=False,
    )
    failed = [line for line in journey.stdout.splitlines() if line.startswith("FAIL")]
    assert (journey.returncode, failed, journey.stderr) == (0, [], "")
    assert server.stop() == 0
    diagnosis = server.doctor()
    assert diagnosis.returncode == 0, diagnosis.stdout
