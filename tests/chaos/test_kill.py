"""A run continues after any number of kills at any moment; nothing is lost or counted twice."""

from __future__ import annotations

import json
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.server import Server

CHECKPOINTS = 20
KILLS = 50
pytestmark = [pytest.mark.chaos, pytest.mark.timeout(400)]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.kill()


def pipeline() -> dict[str, object]:
    steps = [
        {
            "key": f"step_{number}",
            "execution": {
                "mode": "function",
                "function_config": {"function": "chaos.step", "parameters": {"number": number, "seconds": 0.12}},
                # A worker that dies again and again on one attempt makes it a fault: there are more attempts.
                "retry_config": {"max_auto_retries": 5, "retry_delay_seconds": 0},
            },
        }
        for number in range(CHECKPOINTS)
    ]
    steps[-1]["execution"]["function_config"] = {  # type: ignore[index]
        "function": "chaos.wait",
        "parameters": {"number": CHECKPOINTS - 1},
    }
    return {"pipeline_name": "Killed", "config": {"auto_advance": True}, "checkpoints": steps}


def test_fifty_kills_during_a_run_of_twenty_checkpoints(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    server.start()
    pipeline_id = server.call("POST", "/api/pipelines", pipeline(), expect=201)["pipeline_id"]
    run_id = server.call("POST", "/api/runs", {"pipeline_id": pipeline_id}, expect=201)["run_id"]
    hits = booting = 0
    for kill in range(KILLS):
        if kill:
            if moments.random() < 0.2:  # also while it starts: migrations, repair, recovery
                server.spawn()
                time.sleep(moments.uniform(0.2, 1.5))
                booting += 1
            else:
                server.start()
        time.sleep(moments.uniform(0.0, 0.3))
        server.kill()
        hits += in_progress(server.data / "cairn.db", run_id)
    (server.folder / "go").touch()
    server.start()
    run = server.until_run_is(run_id, "completed")
    with capsys.disabled():
        print(f"\n{KILLS} kills (seed {seed}), {hits} hit an execution in progress, {booting} a start")  # noqa: T201
    assert hits >= KILLS // 2
    check(server, run)


def in_progress(database: Path, run_id: str) -> bool:
    """Whether the killed process was carrying something out."""
    with sqlite3.connect(database) as connection:
        found = connection.execute(
            "SELECT count(*) FROM checkpoint_executions WHERE run_id = ? AND state = 'working'", (run_id,)
        ).fetchone()
    connection.close()
    return bool(found[0])


def check(server: Server, run: dict[str, object]) -> None:
    run_id = run["run_id"]
    executions = server.call("GET", f"/api/runs/{run_id}/checkpoints?limit=500", expect=200)["items"]
    assert [(e["checkpoint_position"], e["status"]) for e in executions] == [
        (n, "completed") for n in range(CHECKPOINTS)
    ]
    artifacts = server.call("GET", f"/api/artifacts/list?run_id={run_id}&limit=500", expect=200)["items"]
    assert Counter(a["checkpoint_position"] for a in artifacts) == Counter(range(CHECKPOINTS))
    root = server.data / "pipelines" / str(run["pipeline_id"])
    contents = [json.loads(path.read_text()) for path in root.glob("runs/v1/*/outputs/*.json")]
    total = [sum(range(n + 1)) for n in range(CHECKPOINTS)]
    assert sorted((c["number"], c["sum"]) for c in contents) == list(enumerate(total))
    events = server.call("GET", f"/api/events?run_id={run_id}&limit=500", expect=200)["items"]
    counts = Counter(e["event_type"] for e in events)
    expected = {"run_started": 1, "run_completed": 1}
    expected |= dict.fromkeys(("execution_made", "execution_completed", "artifacts_created"), CHECKPOINTS)
    assert {name: counts[name] for name in expected} == expected
    assert server.call("GET", f"/api/events/verify?run_id={run_id}", expect=200)["valid"]
    assert server.stop() == 0
    diagnosis = server.doctor()
    assert diagnosis.returncode == 0, diagnosis.stdout
    assert not list(root.glob(".temp/exec_*"))
    assert not list(root.glob(".archived/drift_*")), "nothing of Cairn's own is taken for a user's"
