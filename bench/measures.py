"""What is measured, each on a whole Cairn."""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import Any, cast

from bench.floor import Floor
from bench.house import pipeline, run_to_end
from bench.lengths import ROUNDS, SIZES, WARM
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
    """Milliseconds per checkpoint by length of the run, and per bare commit, taken in turns.

    The machine may be slower for some seconds: whoever measures sits down several times.
    """

    def __init__(self, cairn: AppServices, floor: Floor) -> None:
        self._cairn = cairn
        self._floor = floor
        self._pipelines: dict[int, str] = {}
        self._taken: dict[int, list[float]] = {n: [] for n in SIZES}
        self._bare: list[float] = []

    async def sit_down(self) -> None:
        if not self._pipelines:
            noops = {"function": "bench.noop"}
            for n in SIZES:
                self._pipelines[n] = await pipeline(self._cairn, [{"key": f"step_{i}", **noops} for i in range(n)])
        for turn in range(WARM + ROUNDS):
            for n, pipeline_id in self._pipelines.items():
                begun = time.perf_counter()
                await run_to_end(self._cairn, pipeline_id)
                spent = (time.perf_counter() - begun) * 1000 / n
                commits = [self._floor.commit() for _ in range(10)]
                if turn >= WARM:
                    self._taken[n].append(spent)
                    self._bare += commits

    @property
    def per_checkpoint(self) -> dict[str, float]:
        return {str(n): round(statistics.median(values), 3) for n, values in self._taken.items()}

    @property
    def bare(self) -> float:
        return statistics.median(self._bare)


async def scripts(cairn: AppServices) -> dict[str, float]:
    """Milliseconds from the dispatch of a small script to its first line, and to its end, with its sandbox."""
    source = "import time\n\n\ndef main(ctx):\n    return {'began': time.time()}\n"
    config = {"mode": "script", "script_config": {"script_source": source}}
    pipeline_id = await pipeline(cairn, [{"key": "small", "execution": config, "outputs": ["small.json"]}])
    starts: list[float] = []
    whole: list[float] = []
    for turn in range(WARM + SCRIPTS):
        begun, at = time.perf_counter(), time.time()
        run_id = await run_to_end(cairn, pipeline_id)
        spent = time.perf_counter() - begun
        value = decode_json(b"".join(cairn.artifact_queries.stream_content(_only(cairn, run_id))))
        if turn >= WARM and isinstance(value, dict):
            starts.append((float(str(value["began"])) - at) * 1000)
            whole.append(spent * 1000)
    return {
        "start_p50_ms": round(statistics.median(starts), 1),
        "start_p95_ms": round(statistics.quantiles(starts, n=20)[-1], 1),
        "whole_p50_ms": round(statistics.median(whole), 1),
    }


def _only(cairn: AppServices, run_id: str) -> str:
    """The checksum of the one artifact of a run."""
    (artifact,) = cairn.artifact_queries.list_artifacts(ArtifactFilter(run_id=run_id), 10, None).items
    return artifact.checksum


async def approvals(cairn: AppServices, at_once: int) -> list[float]:
    """Milliseconds from an approval to the start of what it held, with so many approved at the same moment."""
    held = {"function": "bench.noop", "approve": "start"}
    pipeline_id = await pipeline(cairn, [{"key": "first", "function": "bench.noop"}, {"key": "held", **held}])
    waits: list[float] = []
    while len(waits) < APPROVALS:
        asked = [await until_asked(cairn, pipeline_id) for _ in range(at_once)]
        waits += await asyncio.gather(*(approve(cairn, run_id, execution) for run_id, execution in asked))
    return waits


async def decisions(cairn: AppServices) -> float:
    """Approvals decided in a second by callers who do not wait for one another, each with all that follows from it."""
    asking = [{"key": f"held_{n}", "function": "bench.noop", "approve": "complete", "stage": "held"} for n in range(10)]
    pipeline_id = await pipeline(cairn, asking)
    pending: list[str] = []
    for _ in range(DECISIONS // len(asking)):
        begun = await cairn.runs.start(pipeline_id, by=ADMIN)
        with cairn.hub.subscribe(begun.run_id) as news:
            while len(waiting := (await cairn.engine.read_run(begun.run_id)).run.pending) < len(asking):
                await news.wait(5)
        pending += [approval.id for approval in waiting]
    queue = iter(pending)

    async def caller() -> None:
        for approval in queue:
            await cairn.approvals.decide(approval, "approve", by=ADMIN)

    begun_at = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(CALLERS)))
    return len(pending) / (time.perf_counter() - begun_at)


async def until_asked(cairn: AppServices, pipeline_id: str) -> tuple[str, str]:
    begun = await cairn.runs.start(pipeline_id, by=ADMIN)
    with cairn.hub.subscribe(begun.run_id) as news:
        while True:
            run = (await cairn.engine.read_run(begun.run_id)).run
            pending = [a for e in run.open for a in run.pending_of(e.id)]
            if pending:
                return begun.run_id, pending[0].execution
            await news.wait(5)


async def approve(cairn: AppServices, run_id: str, execution: str) -> float:
    begun = time.perf_counter()
    with cairn.hub.subscribe(run_id) as news:
        await cairn.approvals.decide_pending(execution, "approve", by=ADMIN)
        while True:
            changes = {change.event_type for change in await news.wait(5)}
            if EventType.EXECUTION_DISPATCHED.value in changes:
                return (time.perf_counter() - begun) * 1000


def large_value() -> dict[str, Value]:
    """As much as is taken, of everything that a careless encoder loses."""
    row: dict[str, Value] = {"text": "größer 🚀" * 20, "share": 1 / 7, "none": None, "empty": [{}, ""]}
    rows: list[Value] = [{"id": 2**70 + n, **row} for n in range(9000)]
    return {"rows": rows, "padding": "x" * (10 * MEGABYTE - len(encode_json({"rows": rows, "padding": ""})))}


def passing_on(n: int) -> dict[str, Any]:
    parameters = {"key": "input" if n == 0 else f"step_{n - 1}"}
    config = {"function": "bench.pass_on", "parameters": parameters}
    return {"key": f"step_{n}", "execution": {"mode": "function", "function_config": config}}


async def large_context(cairn: AppServices) -> dict[str, Any]:
    """Large values through five checkpoints, to the last digit."""
    value = large_value()
    pipeline_id = await pipeline(cairn, [passing_on(n) for n in range(5)])
    begun = time.perf_counter()
    run_id = await run_to_end(cairn, pipeline_id, value)
    spent = time.perf_counter() - begun
    found = cairn.database.read(
        lambda c: [
            decode_json(blobs.read(c, row.checksum), max_bytes=64 * MEGABYTE)
            for row in c.execute(t.artifacts.select().where(t.artifacts.c.run_id == run_id))
        ]
    )
    ordinary: Any = {**value, "rows": [{**row, "id": n} for n, row in enumerate(cast("list[Any]", value["rows"]))]}
    return {
        "megabytes": round(len(encode_json(value)) / MEGABYTE, 3),
        "seconds": round(spent, 3),
        "intact": len(found) == 5 and all(each == value for each in found),
        "serialise_ms": _serialise(ordinary),
        "serialise_with_integers_past_64_bits_ms": _serialise(value),
    }


def _serialise(value: Value) -> float:
    taken: list[float] = []
    for _ in range(5):
        begun = time.perf_counter()
        encode_json(value)
        taken.append((time.perf_counter() - begun) * 1000)
    return round(statistics.median(taken), 3)
