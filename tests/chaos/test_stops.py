"""Agents that are cancelled, timed out or stopped release the provider and their processes at once."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.models.fake_provider import FakeProvider, ProviderRequest
from tests.adapters.models.replies import Answer, NoReply, Reply, ToolCall, too_many
from tests.chaos.councils import CHAT, CLAUDE, server_with, text_of
from tests.chaos.server import Server
from tests.isolation import limit
from tests.mentions import mentions
from tests.runners.script_samples import alive, running, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(200)]
SAMPLE = str(Path(__file__).parents[1] / "runners" / "mcp_sample.py")
AT_ONCE = 1.0  # seconds
TIMEOUT_MINUTES = 0.2
STOPS = ("cancelled", "late", "stopped")
SPAWNS = (
    "import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    "time.sleep(600)"
)


def reply(request: ProviderRequest) -> Reply:
    """Reply according to the task."""
    text = text_of(request)
    stop = next(stop for stop in STOPS if f"stop {stop}" in text)
    if "be silent" in text:
        return NoReply()
    if "begin" in text:
        return Answer("A few words, and then nothing more for a long time.", chunk_delay=600.0)
    if "put off" in text:
        return too_many("50")
    if "run code" in text:
        return Answer(tool_calls=(ToolCall("run_python", {"code": SPAWNS}),))
    return Answer(tool_calls=(ToolCall(f"{stop}_hang", {"mark": mark(stop)}),))


def mark(stop: str) -> str:
    return f"stops-{os.getpid()}-{stop}"


@dataclass
class StopTest:
    """Executions that never end by themselves, one of each kind for each way to stop them."""

    server: Server
    provider: FakeProvider
    runs: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    executions: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def start(self, stop: str) -> None:
        kinds: dict[str, dict[str, Any]] = {
            "be silent": {"model": CLAUDE},
            "begin": {"model": CHAT},
            "put off": {"model": CLAUDE},
            "run code": {"model": CHAT, "tools": ["code_execution"]},
            "use a server": {"model": CLAUDE, "tools": [f"mcp:{stop}"]},
        }
        for kind, agent in kinds.items():
            execution: dict[str, Any] = {"mode": "agentic", "agent_config": {"agent": agent}}
            if stop == "late":
                execution["timeout_config"] = {"enabled": True, "timeout_minutes": TIMEOUT_MINUTES}
            checkpoint = {"key": "work", "prompt": f"{kind}, stop {stop}", "execution": execution, "outputs": ["a.md"]}
            document = {"pipeline_name": kind, "config": {"auto_advance": True}, "checkpoints": [checkpoint]}
            pipeline_id = self.server.call("POST", "/api/pipelines", document, expect=201)["pipeline_id"]
            run = self.server.call("POST", "/api/runs", {"pipeline_id": pipeline_id}, expect=201)["run_id"]
            self.runs[stop, kind] = run
            self.executions[stop, kind] = self.executions_of(run)[0]["execution_id"]

    def executions_of(self, run_id: str) -> list[dict[str, Any]]:
        return self.server.call("GET", f"/api/runs/{run_id}/checkpoints", expect=200)["items"]

    def request_count(self, stop: str) -> int:
        return sum(f"stop {stop}" in text_of(request) for request in tuple(self.provider.requests))

    def code(self, stop: str) -> list[str]:
        assert self.server.process is not None
        return alive(self.executions[stop, "run code"], self.server.process.pid)

    def until_in_progress(self, stop: str) -> None:
        """Wait until all have sent a request, and a program and an MCP server run, each with a child process."""
        wait_until(
            lambda: self.request_count(stop) >= 5 and len(self.code(stop)) >= 2 and len(running(mark(stop))) >= 2, 60
        )

    def until_released(self, stop: str, disconnects: int, since: float) -> None:
        """Wait until the connections and processes are gone. `since` is a time of the monotonic clock."""
        wait_until(
            lambda: len(self.provider.disconnects) >= disconnects and not self.code(stop) and not running(mark(stop))
        )
        assert time.monotonic() - since < limit(AT_ONCE), stop
        assert len(self.provider.disconnects) == disconnects


@pytest.fixture
def stop_test(provider_in_thread: FakeProvider, tmp_path: Path) -> Iterator[StopTest]:
    provider_in_thread.respond = reply
    servers = {stop: {"command": sys.executable, "args": [SAMPLE], "env": {"SAMPLE_KEY": mark(stop)}} for stop in STOPS}
    server = server_with(provider_in_thread, tmp_path, CAIRN_MCP_SERVERS=json.dumps(servers))
    server.start()
    server.call("POST", "/api/tools/discover", expect=200)
    for stop in STOPS:
        path = f"/api/tools/mcp%3A{stop}%2Fhang"
        digest = server.call("GET", path, expect=200)["digest"]
        server.call("PUT", path, {"effect": "reads", "digest": digest}, expect=200)
    yield StopTest(server, provider_in_thread)
    server.kill()


def test_stopped_executions_release_connections_and_processes_at_once(stop_test: StopTest) -> None:
    stop_test.start("cancelled")
    stop_test.until_in_progress("cancelled")
    assert stop_test.provider.disconnects == []
    # Cancelled: two have an open connection to the provider, one waits for a retry.
    started = time.monotonic()
    for (stop, _), run in stop_test.runs.items():
        if stop == "cancelled":
            stop_test.server.call("POST", f"/api/runs/{run}/cancel", expect=200)
    stop_test.until_released("cancelled", 2, started)

    stop_test.start("late")
    stop_test.until_in_progress("late")
    assert len(stop_test.provider.disconnects) == 2
    # Timed out: the event has the exact time.
    failed_at = {kind: timed_out_at(stop_test, run) for (stop, kind), run in stop_test.runs.items() if stop == "late"}
    wait_until(
        lambda: len(stop_test.provider.disconnects) >= 4 and not stop_test.code("late") and not running(mark("late"))
    )
    assert time.time() - max(failed_at.values()) < limit(AT_ONCE) + 0.5  # the status was polled in between
    wall = time.time() - time.monotonic()
    silent, streaming = sorted(failed_at[kind] - wall for kind in ("be silent", "begin"))
    first, second = stop_test.provider.disconnects[2:]
    assert (-0.5 < first - silent < limit(AT_ONCE), -0.5 < second - streaming < limit(AT_ONCE)) == (True, True)

    stop_test.start("stopped")
    stop_test.until_in_progress("stopped")
    # Stopped with the server.
    assert stop_test.server.process is not None
    pid, started = stop_test.server.process.pid, time.monotonic()
    stop_test.server.process.send_signal(signal.SIGTERM)
    wait_until(lambda: len(stop_test.provider.disconnects) >= 6 and not alive("", pid) and not running(mark("stopped")))
    assert time.monotonic() - started < limit(AT_ONCE)
    assert stop_test.server.wait_for_exit() == 0
    assert [stop_test.request_count(stop) for stop in STOPS] == [5, 5, 5], "no request was repeated"

    # The next start continues: answered requests are not repeated, but the tools are called again.
    stop_test.server.start()
    wait_until(lambda: stop_test.request_count("stopped") == 8, 60)
    stop_test.until_in_progress("stopped")
    # A killed server can't end its processes: the next start does.
    leftover = running(mark("stopped"))
    assert len(leftover) >= 2
    stop_test.server.kill()
    stop_test.server.start()
    assert not set(leftover) & set(running(mark("stopped")))
    assert [stop_test.request_count(stop) for stop in STOPS[:2]] == [5, 5]
    stop_test.until_in_progress("stopped")
    assert stop_test.server.stop() == 0
    assert not running(mark("stopped"))


def timed_out_at(stop_test: StopTest, run_id: str) -> float:
    """When the execution timed out, in seconds since the epoch."""
    stop_test.server.wait_for_run(run_id, "paused")
    events = stop_test.server.call("GET", f"/api/events?run_id={run_id}&limit=100", expect=200)["items"]
    (failed,) = [event for event in events if event["event_type"] == "execution_failed"]
    assert failed["metadata"]["error"] == mentions("12")
    return datetime.fromisoformat(failed["timestamp"]).timestamp()
