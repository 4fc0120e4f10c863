"""Many agents at once: how quick the API stays meanwhile. A real server, the simulated provider at its usual pace."""

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

from bench.house import quantile

AT_ONCE = 100
CALLERS = 1  # who ask at the same time, each again after a moment
WATCHERS = 10  # who follow a run as it happens
PAUSE = 0.01  # seconds
PACE = "400"  # characters a second, as by default
NEARLY = 0.9  # of them are still at work
TOKEN = "bench"
AGENTS = [{"name": name, "role": f"You are {how}."} for name, how in (("Ann", "careful"), ("Ben", "quick"))]
PIPELINE: dict[str, Any] = {
    "pipeline_name": "Crowd",
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


async def crowd(many: int = AT_ONCE, *, to_the_end: bool = True) -> dict[str, float]:
    """Milliseconds of requests while so many executions talk, and how it went."""
    with tempfile.TemporaryDirectory(prefix="cairn-crowd-") as folder:
        async with served(Path(folder), many) as client:
            pipeline_id = (await _call(client, "POST", "/api/pipelines", PIPELINE))["pipeline_id"]
            taken: list[float] = []
            found = await _while_they_talk(client, pipeline_id, many, taken)
            if to_the_end:
                while await _count(client, pipeline_id, "in_progress"):  # noqa: ASYNC110 - another process does it
                    await asyncio.sleep(0.2)
                completed = await _count(client, pipeline_id, "completed")
                assert completed == many, f"{completed} of {many} are completed"
            return {
                **found,
                "requests": len(taken),
                "request_p50_ms": round(quantile(taken, 0.5), 1),
                "request_p95_ms": round(quantile(taken, 0.95), 1),
                "request_max_ms": round(max(taken), 1),
            }


async def _while_they_talk(
    client: httpx.AsyncClient, pipeline_id: str, many: int, taken: list[float]
) -> dict[str, float]:
    """Requests, for as long as nearly all are at work."""
    begun = time.perf_counter()
    start_run = ("POST", "/api/runs", {"pipeline_id": pipeline_id})
    runs: list[str] = [(await _call(client, *start_run))["run_id"] for _ in range(many)]
    start = (time.perf_counter() - begun) * 1000 / many
    over, pieces = asyncio.Event(), list[str]()

    async def ask(number: int) -> None:
        while not over.is_set():
            run = runs[number % many]
            paths = (
                f"/api/runs/{run}",
                f"/api/runs/{run}/checkpoints",
                "/api/pipelines",
                "/api/approvals",
                "/api/runs",
            )
            since = time.perf_counter()
            await _call(client, "GET", paths[number % len(paths)])
            taken.append((time.perf_counter() - since) * 1000)
            number += CALLERS
            await asyncio.sleep(PAUSE)

    async def watch(run: str) -> None:
        async with client.stream("GET", f"/api/runs/{run}/stream", timeout=None) as stream:
            async for line in stream.aiter_lines():
                pieces.append(line) if line.startswith("event: ") else None

    watching = [asyncio.ensure_future(watch(run)) for run in runs[:WATCHERS]]
    asking = [asyncio.ensure_future(ask(number)) for number in range(CALLERS)]
    at_work = await _count(client, pipeline_id, "in_progress")
    few = int(many * (1 - NEARLY)) + 1
    while await _count(client, pipeline_id, "completed", few) < few:  # noqa: ASYNC110 - another process does it
        await asyncio.sleep(0.2)
    over.set()
    await asyncio.gather(*asking)
    for one in watching:
        one.cancel()
    await asyncio.gather(*watching, return_exceptions=True)
    return {"executions": many, "at_work": at_work, "start_ms": round(start, 1), "events_told": len(pieces)}


async def _count(client: httpx.AsyncClient, pipeline_id: str, status: str, most: int = 500) -> int:
    found = await _call(client, "GET", f"/api/runs?pipeline_id={pipeline_id}&status={status}&limit={most}")
    return len(found["items"])


async def _call(client: httpx.AsyncClient, method: str, path: str, body: Any = None) -> Any:
    answer = await client.request(method, path, json=body)
    answer.raise_for_status()
    return answer.json()


@asynccontextmanager
async def served(folder: Path, runners: int) -> AsyncGenerator[httpx.AsyncClient]:
    """A server of its own, and a client for it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "CAIRN_ADMIN_TOKEN": TOKEN,
        "CAIRN_MAX_CONCURRENT_EXECUTIONS": str(runners),
        "CAIRN_SIMULATION_CHARS_PER_SECOND": PACE,
    }
    environment = {**os.environ, **settings}
    command = [str(Path(sys.executable).parent / "cairn"), "serve", "--port", str(port), "--data-dir", str(folder)]
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        while not (line := await process.stdout.readline()).startswith(b"Open "):
            assert line, "the server did not start"
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
            yield client
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
