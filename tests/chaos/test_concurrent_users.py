"""Concurrent users on the same runs, while the server is killed.

All requests get a response, the event chains are intact, the files equal the database, and none of Cairn's own files
is mistaken for a user's.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.concurrent_users import ConcurrentUsers
from tests.chaos.server import Server
from tests.effort import effort, seed
from tests.isolation import PATIENCE
from tests.runners.script_samples import wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.prove, pytest.mark.timeout(3600)]
USERS = 6
REQUESTS = 400  # between two kills


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.kill()


def perhaps(key: str, seconds: float = 0.05, fails: float = 0.0, **count: Any) -> dict[str, Any]:
    config = {"function": "chaos.perhaps", "parameters": {"seconds": seconds, "fails": fails}}
    retries = {"max_auto_retries": 1, "retry_delay_seconds": 0}
    return {
        "key": key,
        "execution": {"mode": "function", "function_config": config, "retry_config": retries},
        **count,
    }


PIPELINES = {
    "Automatic": [perhaps("first"), perhaps("second", fails=0.2), perhaps("third", 0.5)],
    "Approved": [perhaps("first", approve="both"), perhaps("second", approve="complete"), perhaps("third")],
    "Form": [perhaps("first"), {"key": "second", "form": ["text"], "approve": "complete"}, perhaps("third")],
    "Parallel": [
        perhaps("first"),
        perhaps("second", 0.3, needs=["first"]),
        perhaps("third", 0.3, needs=["first"], fails=0.2),
        perhaps("fourth", needs=["second", "third"], approve="complete"),
    ],
}


def test_concurrent_users_while_the_server_is_killed(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    server.start()
    definitions = [
        {"pipeline_name": name, "config": {"auto_advance": name != "Approved"}, "checkpoints": checkpoints}
        for name, checkpoints in PIPELINES.items()
    ]
    pipelines = {
        server.call("POST", "/api/pipelines", definition, expect=201)["pipeline_id"]: definition
        for definition in definitions
    }
    users = ConcurrentUsers(server, pipelines)
    with users.acting(USERS, seed()):
        for _ in range(effort().soak_kills):
            wait_for_requests(users, REQUESTS)
            server.kill()
            server.start()
        wait_for_requests(users, REQUESTS)
    for pipeline in pipelines:
        server.call("POST", f"/api/pipelines/{pipeline}/restore")
    wait_until_idle(server)
    with capsys.disabled():
        print(f"\n{USERS} users, {effort().soak_kills} kills: {dict(sorted(users.responses.items()))}")  # noqa: T201
    assert users.errors == []
    assert min(users.responses[200], users.responses[201], users.responses[409]) > 20
    for run in runs(server):
        assert server.call("GET", f"/api/events/verify?run_id={run}", expect=200)["is_valid"]
    assert server.stop() == 0
    doctor = server.doctor()
    assert doctor.returncode == 0, doctor.stdout
    assert workspaces(server) == expected_workspaces(server)
    assert not list(server.data.glob("pipelines/*/.archived/drift_*")), (
        "a file of Cairn's own was mistaken for a user's"
    )
    assert " ERROR " not in (server.folder / "server.log").read_text()


def wait_for_requests(users: ConcurrentUsers, count: int) -> None:
    target = users.responses.total() + count
    wait_until(lambda: users.errors or users.responses.total() >= target, 10 * PATIENCE)


def runs(server: Server) -> list[str]:
    return [row[0] for row in rows(server, "SELECT run_id FROM pipeline_runs")]


def wait_until_idle(server: Server, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    at_work = "SELECT execution_id FROM checkpoint_executions WHERE state = 'working'"
    while found := rows(server, at_work):
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


def workspaces(server: Server) -> set[str]:
    return {path.name.removeprefix("exec_") for path in server.data.glob("pipelines/*/.temp/exec_*")}


def expected_workspaces(server: Server) -> set[str]:
    return {row[0] for row in rows(server, "SELECT execution_id FROM checkpoint_executions WHERE has_workspace = 1")}


def rows(server: Server, query: str) -> list[tuple[str, ...]]:
    connection = sqlite3.connect(server.data / "cairn.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()
