"""The measurements, each on a complete Cairn."""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import Any, cast

from bench.app import create_pipeline, run_to_end
from bench.bare_commit import BareCommit
from bench.run_sizes import REPEATS, SIZES, WARM_UP
from cairn.bootstrap import AppServices
from cairn.core.events import EventType
from cairn.documents import Value, decode_json, encode_json
from cairn.services.actors import ADMIN
from cairn.services.artifacts.queries import ArtifactFilter
from cairn.store import blobs
from cairn.store import tables as t

APPROVALS = 60
SCRIPTS = 40
DECISIONS = 500
CALLERS = 20
MEGABYTE = 1024 * 1024


class Overhead:
    """Milliseconds per checkpoint by run length, and per bare commit, measured alternately.

    Call `measure_round` several times during a benchmark: the machine may be slow for a few seconds.
    """

    def __init__(self, cairn: AppServices, bare_commit: BareCommit) -> None:
        self._cairn = cairn
        self._bare_commit = bare_commit
        self._pipelines: dict[int, str] = {}
        self._times: dict[int, list[float]] = {n: [] for n in SIZES}
        self._bare: list[float] = []

    async def measure_round(self) -> None:
        if not self._pipelines:
            noops = {"function": "bench.noop"}
            for n in SIZES:
                self._pipelines[n] = await create_pipeline(
                    self._cairn, [{"key": f"step_{i}", **noops} for i in range(n)]
                )
        for repeat in range(WARM_UP + REPEATS):
            for n, pipeline_id in self._pipelines.items():
                started = time.perf_counter()
                await run_to_end(self._cairn, pipeline_id)
                duration = (time.perf_counter() - started) * 1000 / n
                commits = [self._bare_commit.measure() for _ in range(10)]
                if repeat >= WARM_UP:
                    self._times[n].append(duration)
                    self._bare += commits

    @property
    def per_checkpoint(self) -> dict[str, float]:
        return {str(n): round(statistics.median(values), 3) for n, values in self._times.items()}

    @property
    def bare(self) -> float:
        return statistics.median(self._bare)


async def scripts(cairn: AppServices) -> dict[str, float]:
    """Milliseconds from dispatch to the first line of a sandboxed script, and to the end of its run."""
    source = "import time\n\n\ndef main(ctx):\n    return {'began': time.time()}\n"
    config = {"mode": "script", "script_config": {"script_source": source}}
    pipeline_id = await create_pipeline(cairn, [{"key": "small", "execution": config, "outputs": ["small.json"]}])
    starts: list[float] = []
    whole: list[float] = []
    for repeat in range(WARM_UP + SCRIPTS):
        started, at = time.perf_counter(), time.time()
        run_id = await run_to_end(cairn, pipeline_id)
        duration = time.perf_counter() - started
        value = decode_json(b"".join(cairn.artifact_queries.stream_content(_only_checksum(cairn, run_id))))
        if repeat >= WARM_UP and isinstance(value, dict):
            starts.append((float(str(value["began"])) - at) * 1000)
            whole.append(duration * 1000)
    return {
        "start_p50_ms": round(statistics.median(starts), 1),
        "start_p95_ms": round(statistics.quantiles(starts, n=20)[-1], 1),
        "whole_p50_ms": round(statistics.median(whole), 1),
    }


def _only_checksum(cairn: AppServices, run_id: str) -> str:
    """Return the checksum of the run's only artifact."""
    (artifact,) = cairn.artifact_queries.list_artifacts(ArtifactFilter(run_id=run_id), 10, None).items
    return artifact.checksum


async def approvals(cairn: AppServices, concurrent: int) -> list[float]:
    """Milliseconds from an approval to the start of its checkpoint, with this many approved at the same time."""
    held = {"function": "bench.noop", "approve": "start"}
    pipeline_id = await create_pipeline(cairn, [{"key": "first", "function": "bench.noop"}, {"key": "held", **held}])
    waits: list[float] = []
    while len(waits) < APPROVALS:
        pending = [await pending_approval(cairn, pipeline_id) for _ in range(concurrent)]
        waits += await asyncio.gather(*(approve(cairn, run_id, execution) for run_id, execution in pending))
    return waits


async def decisions(cairn: AppServices) -> float:
    """Approvals decided per second by concurrent callers, including everything that follows from each decision."""
    checkpoints = [
        {"key": f"held_{n}", "function": "bench.noop", "approve": "complete", "stage": "held"} for n in range(10)
    ]
    pipeline_id = await create_pipeline(cairn, checkpoints)
    pending: list[str] = []
    for _ in range(DECISIONS // len(checkpoints)):
        started_run = await cairn.runs.create(pipeline_id, actor=ADMIN)
        with cairn.event_bus.subscribe(started_run.run_id) as changes:
            while len(waiting := (await cairn.engine.read_run(started_run.run_id)).run.pending) < len(checkpoints):
                await changes.wait(5)
        pending += [approval.id for approval in waiting]
    queue = iter(pending)

    async def caller() -> None:
        for approval in queue:
            await cairn.approvals.decide(approval, "approve", actor=ADMIN)

    started_at = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(CALLERS)))
    return len(pending) / (time.perf_counter() - started_at)


async def pending_approval(cairn: AppServices, pipeline_id: str) -> tuple[str, str]:
    started_run = await cairn.runs.create(pipeline_id, actor=ADMIN)
    with cairn.event_bus.subscribe(started_run.run_id) as changes:
        while True:
            run = (await cairn.engine.read_run(started_run.run_id)).run
            pending = [a for e in run.open for a in run.pending_of(e.id)]
            if pending:
                return started_run.run_id, pending[0].execution
            await changes.wait(5)


async def approve(cairn: AppServices, run_id: str, execution: str) -> float:
    started = time.perf_counter()
    with cairn.event_bus.subscribe(run_id) as changes:
        await cairn.approvals.decide_pending(execution, "approve", actor=ADMIN)
        while True:
            event_types = {change.event_type for change in await changes.wait(5)}
            if EventType.EXECUTION_DISPATCHED.value in event_types:
                return (time.perf_counter() - started) * 1000


def large_value() -> dict[str, Value]:
    """Return the largest accepted value, with content that a careless encoder would lose."""
    row: dict[str, Value] = {"text": "größer 🚀" * 20, "share": 1 / 7, "none": None, "empty": [{}, ""]}
    rows: list[Value] = [{"id": 2**70 + n, **row} for n in range(9000)]
    return {"rows": rows, "padding": "x" * (10 * MEGABYTE - len(encode_json({"rows": rows, "padding": ""})))}


def pass_on_checkpoint(n: int) -> dict[str, Any]:
    parameters = {"key": "input" if n == 0 else f"step_{n - 1}"}
    config = {"function": "bench.pass_on", "parameters": parameters}
    return {"key": f"step_{n}", "execution": {"mode": "function", "function_config": config}}


async def large_context(cairn: AppServices) -> dict[str, Any]:
    """Pass a large value through five checkpoints and compare it exactly."""
    value = large_value()
    pipeline_id = await create_pipeline(cairn, [pass_on_checkpoint(n) for n in range(5)])
    started = time.perf_counter()
    run_id = await run_to_end(cairn, pipeline_id, value)
    duration = time.perf_counter() - started
    stored = cairn.database.read(
        lambda c: [
            decode_json(blobs.read(c, row.checksum), max_bytes=64 * MEGABYTE)
            for row in c.execute(t.artifacts.select().where(t.artifacts.c.run_id == run_id))
        ]
    )
    ordinary: Any = {**value, "rows": [{**row, "id": n} for n, row in enumerate(cast("list[Any]", value["rows"]))]}
    return {
        "megabytes": round(len(encode_json(value)) / MEGABYTE, 3),
        "seconds": round(duration, 3),
        "intact": len(stored) == 5 and all(each == value for each in stored),
        "serialise_ms": _serialise(ordinary),
        "serialise_with_integers_past_64_bits_ms": _serialise(value),
    }


def _serialise(value: Value) -> float:
    times: list[float] = []
    for _ in range(5):
        started = time.perf_counter()
        encode_json(value)
        times.append((time.perf_counter() - started) * 1000)
    return round(statistics.median(times), 3)
