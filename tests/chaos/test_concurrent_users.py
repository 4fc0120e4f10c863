"""Many hands at once on the same runs, and a server that is killed meanwhile. Everything is answered, the trail
holds, the files are those of the database, and nothing of Cairn's own is taken for a user's."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.concurrent_users import Hands
from tests.chaos.server import Server
from tests.effort import effort, seed
from tests.isolation import PATIENCE
from tests.runners.script_samples import until

pytestmark = [pytest.mark.chaos, pytest.mark.prove, pytest.mark.timeout(3600)]
HANDS = 6
REQUESTS = 400  # from one kill to the next


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.kill()


def perhaps(key: str, seconds: float = 0.05, fails: float = 0.0, **more: Any) -> dict[str, Any]:
    config = {"function": "chaos.perhaps", "parameters": {"seconds": seconds, "fails": fails}}
    retries = {"max_auto_retries": 1, "retry_delay_seconds": 0}
    return {
        "key": key,
        "execution": {"mode": "function", "function_config": config, "retry_config": retries},
        **more,
    }


PIPELINES = {
    "By itself": [perhaps("first"), perhaps("second", fails=0.2), perhaps("third", 0.5)],
    "Approved": [perhaps("first", approve="both"), perhaps("second", approve="complete"), perhaps("third")],
    "Filled in": [perhaps("first"), {"key": "second", "form": ["text"], "approve": "complete"}, perhaps("third")],
    "Side by side": [
        perhaps("first"),
        perhaps("second", 0.3, needs=["first"]),
        perhaps("third", 0.3, needs=["first"], fails=0.2),
        perhaps("fourth", needs=["second", "third"], approve="complete"),
    ],
}


def test_many_hands_and_a_server_that_is_killed(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    server.start()
    definitions = [
        {"pipeline_name": name, "config": {"auto_advance": name != "Approved"}, "checkpoints": checkpoints}
        for name, checkpoints in PIPELINES.items()
    ]
    made = {server.call("POST", "/api/pipelines", each, expect=201)["pipeline_id"]: each for each in definitions}
    hands = Hands(server, made)
    with hands.at_work(HANDS, seed()):
        for _ in range(effort().soak_kills):
            until_answered(hands, REQUESTS)
            server.kill()
            server.start()
        until_answered(hands, REQUESTS)
    for pipeline in made:
        server.call("POST", f"/api/pipelines/{pipeline}/restore")
    until_nothing_is_at_work(server)
    with capsys.disabled():
        print(f"\n{HANDS} hands, {effort().soak_kills} kills: {dict(sorted(hands.answers.items()))}")  # noqa: T201
    assert hands.faults == []
    assert min(hands.answers[200], hands.answers[201], hands.answers[409]) > 20
    for run in runs(server):
        assert server.call("GET", f"/api/events/verify?run_id={run}", expect=200)["valid"]
    assert server.stop() == 0
    diagnosis = server.doctor()
    assert diagnosis.returncode == 0, diagnosis.stdout
    assert workspaces(server) == expected_workspaces(server)
    assert not list(server.data.glob("pipelines/*/.archived/drift_*")), "nothing of Cairn's own is taken for a user's"
    assert " ERROR " not in (server.folder / "server.log").read_text()


def until_answered(hands: Hands, more: int) -> None:
    least = hands.answers.total() + more
    until(lambda: hands.faults or hands.answers.total() >= least, 10 * PATIENCE)


def runs(server: Server) -> list[str]:
    return [row[0] for row in rows(server, "SELECT run_id FROM pipeline_runs")]


def until_nothing_is_at_work(server: Server, seconds: float = 60) -> None:
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
