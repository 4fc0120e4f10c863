"""API latency while many agents work, on a real server with the simulated provider at its default speed."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from bench.app import quantile

AGENTS_AT_WORK = 100
CALLERS = 1  # concurrent API clients
WATCHERS = 10  # clients that follow a run's event stream
PAUSE = 0.01  # seconds between the requests of a client
CHARS_PER_SECOND = "400"  # the default
STILL_WORKING = 0.9  # measure until fewer agents than this share are working
TOKEN = "bench"
AGENTS = [{"name": name, "role": f"You are {how}."} for name, how in (("Ann", "careful"), ("Ben", "quick"))]
PIPELINE: dict[str, Any] = {
    "pipeline_name": "Concurrent agents",
    "config": {"auto_advance": True},
    "checkpoints": [
        {
            "key": "talk",
            "prompt": "Weigh whether to build a bridge or a ferry, and write down why.",
            "execution": {
                "mode": "agentic",
                "agent_config": {
                    "model": "simulated:default",
                    "creation_mode": "predefined",
                    "discussion_mode": "debate",
                    "max_turns": 14,
                    "agents": AGENTS,
                    "tools": ["file_operations"],
                },
            },
            "outputs": ["report.md"],
        }
    ],
}


async def measure_api(agents: int = AGENTS_AT_WORK, *, until_completed: bool = True) -> dict[str, float]:
    """Measure request latency in milliseconds while this many executions stream messages."""
    with tempfile.TemporaryDirectory(prefix="cairn-agents-") as folder:
        async with running_server(Path(folder), agents) as client:
            pipeline_id = (await _call(client, "POST", "/api/pipelines", PIPELINE))["pipeline_id"]
            times: list[float] = []
            counts = await _request_while_working(client, pipeline_id, agents, times)
            if until_completed:
                while await _count(client, pipeline_id, "in_progress"):  # noqa: ASYNC110 - the server is another process
                    await asyncio.sleep(0.2)
                completed = await _count(client, pipeline_id, "completed")
                assert completed == agents, f"{completed} of {agents} runs completed"
            return {
                **counts,
                "requests": len(times),
                "request_p50_ms": round(quantile(times, 0.5), 1),
                "request_p95_ms": round(quantile(times, 0.95), 1),
                "request_max_ms": round(max(times), 1),
            }


async def _request_while_working(
    client: httpx.AsyncClient, pipeline_id: str, agents: int, times: list[float]
) -> dict[str, float]:
    """Send requests for as long as nearly all agents are working."""
    started = time.perf_counter()
    start_run = ("POST", "/api/runs", {"pipeline_id": pipeline_id})
    runs: list[str] = [(await _call(client, *start_run))["run_id"] for _ in range(agents)]
    start = (time.perf_counter() - started) * 1000 / agents
    finished, messages = asyncio.Event(), list[str]()

    async def send_requests(number: int) -> None:
        while not finished.is_set():
            run = runs[number % agents]
            paths = (
                f"/api/runs/{run}",
                f"/api/runs/{run}/checkpoints",
                "/api/pipelines",
                "/api/approvals",
                "/api/runs",
            )
            since = time.perf_counter()
            await _call(client, "GET", paths[number % len(paths)])
            times.append((time.perf_counter() - since) * 1000)
            number += CALLERS
            await asyncio.sleep(PAUSE)

    async def watch(run: str) -> None:
        async with client.stream("GET", f"/api/runs/{run}/stream", timeout=None) as stream:
            async for line in stream.aiter_lines():
                messages.append(line) if line.startswith("event: ") else None

    watching = [asyncio.ensure_future(watch(run)) for run in runs[:WATCHERS]]
    requesting = [asyncio.ensure_future(send_requests(number)) for number in range(CALLERS)]
    at_work = await _count(client, pipeline_id, "in_progress")
    enough = int(agents * (1 - STILL_WORKING)) + 1
    while await _count(client, pipeline_id, "completed", enough) < enough:  # noqa: ASYNC110 - the server is another process
        await asyncio.sleep(0.2)
    finished.set()
    await asyncio.gather(*requesting)
    for task in watching:
        task.cancel()
    await asyncio.gather(*watching, return_exceptions=True)
    return {"executions": agents, "at_work": at_work, "start_ms": round(start, 1), "stream_messages": len(messages)}


async def _count(client: httpx.AsyncClient, pipeline_id: str, status: str, limit: int = 500) -> int:
    page = await _call(client, "GET", f"/api/runs?pipeline_id={pipeline_id}&status={status}&limit={limit}")
    return len(page["items"])


async def _call(client: httpx.AsyncClient, method: str, path: str, body: Any = None) -> Any:
    response = await client.request(method, path, json=body)
    response.raise_for_status()
    return response.json()


@asynccontextmanager
async def running_server(folder: Path, max_executions: int) -> AsyncGenerator[httpx.AsyncClient]:
    """Start a server in its own process and return a client for it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "CAIRN_ADMIN_TOKEN": TOKEN,
        "CAIRN_MAX_CONCURRENT_EXECUTIONS": str(max_executions),
        "CAIRN_SIMULATION_CHARS_PER_SECOND": CHARS_PER_SECOND,
    }
    environment = {**os.environ, **settings}
    command = [str(Path(sys.executable).parent / "cairn"), "serve", "--port", str(port), "--data-dir", str(folder)]
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        while not (line := await process.stdout.readline()).startswith(b"Open "):
            assert line, "The server did not start."
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
            yield client
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
