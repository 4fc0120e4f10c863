"""The server is killed while scripts run, and the API stays fast with a queue of scripts. Real servers and clocks."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.server import Server
from tests.effort import effort
from tests.isolation import limit
from tests.runners.script_samples import alive, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(200)]
TEN = 10
SLOW = """
import os, subprocess, sys, time


def main(ctx):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (ctx.workspace / f"started_{ctx.attempt}_{time.monotonic_ns()}").touch()
    time.sleep(1.5)
    ctx.stage("value.json", {"n": len(list(ctx.workspace.iterdir()))})
"""
QUICK = "import time\n\n\ndef main(ctx):\n    time.sleep(0.05)\n    return {}\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path, CAIRN_MAX_CONCURRENT_SCRIPTS=str(TEN))
    yield server
    server.kill()


def stage(many: int, source: str, output: str) -> dict[str, Any]:
    """A pipeline of scripts that run side by side."""
    execution = {"mode": "script", "script_config": {"script_source": source}}
    checkpoints = [{"key": f"s{n}", "stage": "all", "execution": execution, "outputs": [output]} for n in range(many)]
    return {"pipeline_name": "Many", "config": {"auto_advance": True}, "checkpoints": checkpoints}


def started_scripts(server: Server) -> int:
    return len(list((server.data / "pipelines").glob("*/.temp/*/workspace/started_*")))


def test_a_kill_while_ten_scripts_run(server: Server) -> None:
    server.start()
    pipeline_id = server.call("POST", "/api/pipelines", stage(TEN, SLOW, "value.json"), expect=201)["pipeline_id"]
    run_id = server.call("POST", "/api/runs", {"pipeline_id": pipeline_id}, expect=201)["run_id"]
    wait_until(lambda: started_scripts(server) == TEN, 30)
    assert server.process is not None
    pid = server.process.pid
    assert len(alive("", pid)) >= 2 * TEN
    server.kill()
    wait_until(lambda: not alive("", pid))  # no server ends them: they end by themselves
    server.start()
    server.wait_for_run(run_id, "completed")
    assert server.process is not None
    pid = server.process.pid
    wait_until(lambda: not alive("", pid))
    executions = server.call("GET", f"/api/runs/{run_id}/checkpoints?limit=500", expect=200)["items"]
    assert [(e["status"], e["attempt_number"], e["dispatch_number"]) for e in executions] == [("completed", 1, 2)] * TEN
    assert [len(e["artifacts_generated"]) for e in executions] == [1] * TEN
    assert server.stop() == 0
    assert server.doctor().returncode == 0


@pytest.mark.prove
def test_the_api_stays_fast_with_many_queued_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = Server(tmp_path)
    server.start()
    try:
        pipeline_id = server.call(
            "POST", "/api/pipelines", stage(effort().queued_scripts, QUICK, "out.json"), expect=201
        )["pipeline_id"]
        run_id = server.call("POST", "/api/runs", {"pipeline_id": pipeline_id}, expect=201)["run_id"]
        times: list[float] = []
        paths = (f"/api/runs/{run_id}", "/api/pipelines", "/api/approvals", f"/api/runs/{run_id}/checkpoints?limit=10")
        while (status := server.call("GET", f"/api/runs/{run_id}", expect=200)["status"]) != "completed":
            assert status == "in_progress", server.log_tail()
            for path in paths:
                started = time.perf_counter()
                server.call("GET", path, expect=200)
                times.append(time.perf_counter() - started)
                time.sleep(0.01)
        p95 = statistics.quantiles(times, n=20)[-1]
        with capsys.disabled():
            print(f"\n{effort().queued_scripts} scripts queued: P95 of {len(times)} requests is {p95 * 1000:.0f} ms")  # noqa: T201
        assert p95 < limit(0.1)
    finally:
        server.kill()
