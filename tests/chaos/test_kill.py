"""A run continues after any number of kills at any time. Nothing is lost or counted twice."""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from cairn.core.plan import Plan
from tests.chaos.server import Server
from tests.effort import chance, effort
from tests.runners.script_samples import wait_until

STEP = 0.12  # seconds
MAX_KILLS = Plan(()).max_interruptions  # that an attempt survives
pytestmark = [pytest.mark.chaos, pytest.mark.prove, pytest.mark.timeout(3600)]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.kill()


def pipeline(checkpoints: int) -> dict[str, object]:
    steps = [
        {
            "key": f"step_{number}",
            "execution": {
                "mode": "function",
                "function_config": {"function": "chaos.step", "parameters": {"number": number, "seconds": STEP}},
                "retry_config": {"max_auto_retries": 0},
            },
        }
        for number in range(checkpoints)
    ]
    steps[-1]["execution"]["function_config"] = {  # type: ignore[index]
        "function": "chaos.wait",
        "parameters": {"number": checkpoints - 1},
    }
    return {"pipeline_name": "Killed", "config": {"auto_advance": True}, "checkpoints": steps}


def test_a_run_survives_repeated_kills(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """Kills the server only after the work was dispatched again, and no more often than an attempt survives."""
    kills, rng = effort().server_kills, chance("kills")
    checkpoints = max(20, kills)
    server.start()
    pipeline_id = server.call("POST", "/api/pipelines", pipeline(checkpoints), expect=201)["pipeline_id"]
    run_id = server.call("POST", "/api/runs", {"pipeline_id": pipeline_id}, expect=201)["run_id"]
    watcher, hits, booting = RunWatcher(server.data / "cairn.db", run_id), 0, 0
    for _ in range(kills):
        if server.process is None and watcher.interruptions < MAX_KILLS - 1 and rng.random() < 0.2:
            server.spawn()  # and kill it while it starts, during repair and recovery
            time.sleep(rng.uniform(0.0, 0.5))
            booting += 1
        else:
            if server.process is None:
                server.start()
            watcher.until_dispatched()
            if watcher.interruptions == MAX_KILLS:
                watcher.until_next()
            time.sleep(rng.uniform(0.0, 2 * STEP))
        server.kill()
        watcher.look()
        hits += watcher.working is not None
    (server.folder / "go").touch()
    server.start()
    run = server.wait_for_run(run_id, "completed")
    with capsys.disabled():
        print(f"\n{kills} kills, {hits} hit an execution in progress, {booting} a start")  # noqa: T201
    assert hits >= kills // 2
    check(server, run, checkpoints)


class RunWatcher:
    """Reads the state of a run from the database, with or without a server."""

    def __init__(self, database: Path, run_id: str) -> None:
        self._database = database
        self._run_id = run_id
        self.dispatches = 0  # of all executions
        self.working: str | None = None  # the execution in progress at the last look
        self.interruptions = 0  # of its attempt

    def look(self) -> None:
        self.dispatches, self.working, self.interruptions = self._read()

    def until_dispatched(self) -> None:
        """Wait until an execution was dispatched, for the first time or again."""
        previous = self.dispatches
        wait_until(lambda: self._read()[0] > previous and self._read()[1] is not None)
        self.look()

    def until_next(self) -> None:
        """Wait until another execution is in progress."""
        previous = self.working
        wait_until(lambda: self._read()[1] not in (previous, None))
        self.look()

    def _read(self) -> tuple[int, str | None, int]:
        connection = sqlite3.connect(self._database)
        try:
            columns = "execution_id, state, dispatch_number, interruptions"
            query = f"SELECT {columns} FROM checkpoint_executions WHERE run_id = ?"
            rows = connection.execute(query, (self._run_id,)).fetchall()
        finally:
            connection.close()
        dispatches = sum(row[2] for row in rows)
        for name, state, _, deaths in rows:
            if state == "working":
                return dispatches, name, deaths
        return dispatches, None, 0


def check(server: Server, run: dict[str, object], checkpoints: int) -> None:
    run_id = run["run_id"]
    executions = server.call("GET", f"/api/runs/{run_id}/checkpoints?limit=500", expect=200)["items"]
    assert [(e["checkpoint_position"], e["status"], e["attempt_number"]) for e in executions] == [
        (n, "completed", 1) for n in range(checkpoints)
    ]
    artifacts = server.call("GET", f"/api/artifacts/list?run_id={run_id}&limit=500", expect=200)["items"]
    assert Counter(a["checkpoint_position"] for a in artifacts) == Counter(range(checkpoints))
    root = server.data / "pipelines" / str(run["pipeline_id"])
    contents = [json.loads(path.read_text()) for path in root.glob("runs/v1/*/outputs/*.json")]
    total = [sum(range(n + 1)) for n in range(checkpoints)]
    assert sorted((c["number"], c["sum"]) for c in contents) == list(enumerate(total))
    events = server.call("GET", f"/api/events?run_id={run_id}&limit=500", expect=200)["items"]
    counts = Counter(e["event_type"] for e in events)
    expected = {"run_started": 1, "run_completed": 1}
    expected |= dict.fromkeys(("execution_created", "execution_completed", "artifacts_created"), checkpoints)
    assert {name: counts[name] for name in expected} == expected
    assert server.call("GET", f"/api/events/verify?run_id={run_id}", expect=200)["is_valid"]
    assert server.stop() == 0
    doctor = server.doctor()
    assert doctor.returncode == 0, doctor.stdout
    assert not list(root.glob(".temp/exec_*"))
    assert not list(root.glob(".archived/drift_*")), "a file of Cairn's own was mistaken for a user's"
