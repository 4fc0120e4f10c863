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
from tests.runners.script_samples import alive, running, until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(200)]
SAMPLE = str(Path(__file__).parents[1] / "runners" / "mcp_sample.py")
AT_ONCE = 1.0  # seconds
MINUTES = 0.2  # for what runs out of time
WAYS = ("cancelled", "late", "stopped")
SPAWNS = (
    "import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    "time.sleep(600)"
)


def reply(asked: ProviderRequest) -> Reply:
    """By what stands in the task."""
    text = text_of(asked)
    way = next(way for way in WAYS if f"way {way}" in text)
    if "be silent" in text:
        return NoReply()
    if "begin" in text:
        return Answer("A few words, and then nothing more for a long time.", chunk_delay=600.0)
    if "put off" in text:
        return too_many("50")
    if "run code" in text:
        return Answer(tool_calls=(ToolCall("run_python", {"code": SPAWNS}),))
    return Answer(tool_calls=(ToolCall(f"{way}_hang", {"mark": mark(way)}),))


def mark(way: str) -> str:
    return f"stops-{os.getpid()}-{way}"


@dataclass
class Stage:
    """Executions that would never end, one of each kind, for each way to stop them."""

    server: Server
    provider: FakeProvider
    runs: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    executions: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def begin(self, way: str) -> None:
        kinds: dict[str, dict[str, Any]] = {
            "be silent": {"model": CLAUDE},
            "begin": {"model": CHAT},
            "put off": {"model": CLAUDE},
            "run code": {"model": CHAT, "tools": ["code_execution"]},
            "use a server": {"model": CLAUDE, "tools": [f"mcp:{way}"]},
        }
        for kind, agent in kinds.items():
            execution: dict[str, Any] = {"mode": "agentic", "agent_config": {"agent": agent}}
            if way == "late":
                execution["timeout_config"] = {"enabled": True, "timeout_minutes": MINUTES}
            checkpoint = {"key": "work", "prompt": f"{kind}, way {way}", "execution": execution, "outputs": ["a.md"]}
            document = {"pipeline_name": kind, "config": {"auto_advance": True}, "checkpoints": [checkpoint]}
            pipeline_id = self.server.call("POST", "/api/pipelines", document, expect=201)["pipeline_id"]
            run = self.server.call("POST", "/api/runs", {"pipeline_id": pipeline_id}, expect=201)["run_id"]
            self.runs[way, kind] = run
            self.executions[way, kind] = self.executions_of(run)[0]["execution_id"]

    def executions_of(self, run_id: str) -> list[dict[str, Any]]:
        return self.server.call("GET", f"/api/runs/{run_id}/checkpoints", expect=200)["items"]

    def asked(self, way: str) -> int:
        return sum(f"way {way}" in text_of(asked) for asked in tuple(self.provider.requests))

    def code(self, way: str) -> list[str]:
        assert self.server.process is not None
        return alive(self.executions[way, "run code"], self.server.process.pid)

    def until_under_way(self, way: str) -> None:
        """All have asked; a program runs, and a server of tools, each with another process that it has started."""
        until(lambda: self.asked(way) >= 5 and len(self.code(way)) >= 2 and len(running(mark(way))) >= 2, 60)

    def until_let_go(self, way: str, hung_up: int, since: float) -> None:
        """`since` on the monotonic clock."""
        until(lambda: len(self.provider.disconnects) >= hung_up and not self.code(way) and not running(mark(way)))
        assert time.monotonic() - since < limit(AT_ONCE), way
        assert len(self.provider.disconnects) == hung_up


@pytest.fixture
def stage(provider_in_thread: FakeProvider, tmp_path: Path) -> Iterator[Stage]:
    provider_in_thread.respond = reply
    servers = {way: {"command": sys.executable, "args": [SAMPLE], "env": {"SAMPLE_KEY": mark(way)}} for way in WAYS}
    server = server_with(provider_in_thread, tmp_path, CAIRN_MCP_SERVERS=json.dumps(servers))
    server.start()
    yield Stage(server, provider_in_thread)
    server.kill()


def test_what_is_under_way_is_let_go_at_once(stage: Stage) -> None:
    stage.begin("cancelled")
    stage.until_under_way("cancelled")
    assert stage.provider.disconnects == []
    # Cancelled: two were talking with the provider, one was waiting to ask again.
    began = time.monotonic()
    for (way, _), run in stage.runs.items():
        if way == "cancelled":
            stage.server.call("POST", f"/api/runs/{run}/cancel", expect=200)
    stage.until_let_go("cancelled", 2, began)

    stage.begin("late")
    stage.until_under_way("late")
    assert len(stage.provider.disconnects) == 2
    # Out of time: the server tells when that was, to the microsecond.
    ended = {kind: out_of_time(stage, run) for (way, kind), run in stage.runs.items() if way == "late"}
    until(lambda: len(stage.provider.disconnects) >= 4 and not stage.code("late") and not running(mark("late")))
    assert time.time() - max(ended.values()) < limit(AT_ONCE) + 0.5  # its end was looked for in between
    wall = time.time() - time.monotonic()
    silent, begun = sorted(ended[kind] - wall for kind in ("be silent", "begin"))
    first, second = stage.provider.disconnects[2:]
    assert (-0.5 < first - silent < limit(AT_ONCE), -0.5 < second - begun < limit(AT_ONCE)) == (True, True)

    stage.begin("stopped")
    stage.until_under_way("stopped")
    # With the server.
    assert stage.server.process is not None
    pid, began = stage.server.process.pid, time.monotonic()
    stage.server.process.send_signal(signal.SIGTERM)
    until(lambda: len(stage.provider.disconnects) >= 6 and not alive("", pid) and not running(mark("stopped")))
    assert time.monotonic() - began < limit(AT_ONCE)
    assert stage.server.ended() == 0
    assert [stage.asked(way) for way in WAYS] == [5, 5, 5], "nobody has asked again"

    # Started again it goes on: what was answered is not asked again, only the tools are used once more.
    stage.server.start()
    until(lambda: stage.asked("stopped") == 8, 60)
    stage.until_under_way("stopped")
    # Killed, it cannot end them: a program that hangs is ended when the next one starts.
    left = running(mark("stopped"))
    assert len(left) >= 2
    stage.server.kill()
    stage.server.start()
    assert not set(left) & set(running(mark("stopped")))
    assert [stage.asked(way) for way in WAYS[:2]] == [5, 5]
    stage.until_under_way("stopped")
    assert stage.server.stop() == 0
    assert not running(mark("stopped"))


def out_of_time(stage: Stage, run_id: str) -> float:
    """When an execution was given up, in seconds since the epoch."""
    stage.server.until_run_is(run_id, "paused")
    events = stage.server.call("GET", f"/api/events?run_id={run_id}&limit=100", expect=200)["items"]
    (failed,) = [event for event in events if event["event_type"] == "execution_failed"]
    assert failed["metadata"]["error"] == mentions("12")
    return datetime.fromisoformat(failed["timestamp"]).timestamp()
