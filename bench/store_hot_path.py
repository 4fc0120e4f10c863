"""Profile the hot path of the store: the cost of saving one checkpoint, compared with a bare commit.

python -m bench.store_hot_path [--checkpoints 400] [--url sqlite:///…]
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import statistics
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import sqlalchemy as sa
import uvloop

from cairn.core.commands import ArtifactOutput, Command, CommandContext, ExecutionFinished, StartRun
from cairn.core.decide import decide
from cairn.core.plan import Checkpoint, CheckpointPolicy, Plan
from cairn.core.states import ExecutionMode, ExecutionState
from cairn.store import Database, LoadedRun, NewArtifact, PlanCache, RunFacts, insert_run, pipelines, save_run

AT = datetime(2026, 1, 1, tzinfo=UTC)


class Folders:
    """Folder names, without folders."""

    def run_folder(self, run_version: int | None, run_id: str) -> str:
        return f"runs/v{run_version}" if run_version else f"runs/test_{run_id[:8]}"

    def checkpoint_folder(self, position: int, name: str) -> str:
        return f"checkpoint_{position}_{name.lower().replace(' ', '_')}"

    def workspace_folder(self, execution_id: str) -> str:
        return f".temp/exec_{execution_id}"


def make_document(count: int) -> dict[str, Any]:
    return {
        "pipeline_id": str(uuid4()),
        "pipeline_name": "Bench",
        "pipeline_definition_version": 1,
        "config": {"auto_advance": True},
        "checkpoints": [
            {"checkpoint_id": str(uuid4()), "key": f"step_{n}", "checkpoint_name": f"Step {n}"} for n in range(count)
        ],
    }


def compile_plan(graph: Mapping[str, Any], newest: Mapping[str, Any], revision: int) -> Plan:
    keys = [each["key"] for each in graph["checkpoints"]]
    return Plan(
        checkpoints=tuple(Checkpoint(key, position, key) for position, key in enumerate(keys)),
        policies={key: CheckpointPolicy(mode=ExecutionMode.FUNCTION) for key in keys},
        revision=revision,
        auto_advance=newest["config"]["auto_advance"],
    )


@dataclass
class Lane:
    """Drive one run as a worker does: decide on what was saved last."""

    database: Database
    loaded: LoadedRun
    times: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def time(self, figure: str, since: float) -> None:
        self.times.setdefault(figure, []).append((time.perf_counter() - since) * 1000)

    async def send(self, command: Command, artifacts: tuple[NewArtifact, ...] = ()) -> None:
        start = time.perf_counter()
        context = CommandContext(AT + timedelta(seconds=self.loaded.revision), "bench", uuid4())
        decision = decide(self.loaded.run, command, context)
        self.time("decide", start)
        drivers = {e.id: f"exec:{e.id}:1" for e in decision.run.open if e.id not in self.loaded.drivers}

        def save(connection: sa.Connection) -> LoadedRun:
            inside, cpu = time.perf_counter(), time.thread_time()
            saved = save_run(
                connection,
                self.loaded,
                decision,
                context,
                drivers=drivers,
                artifacts=artifacts,
                synced_revision=self.loaded.revision,
            )
            self.time("statements", inside)
            self.times.setdefault("statements, CPU", []).append((time.thread_time() - cpu) * 1000)
            return saved

        waiting = time.perf_counter()
        self.loaded = await self.database.transact(save)
        self.time("saved", waiting)

    async def finish_one(self) -> None:
        e = next(each for each in self.loaded.run.open if each.state is ExecutionState.WORKING)
        content = orjson.dumps({"step": e.position, "text": "x" * 200, "id": uuid4().hex})
        checksum, record = hashlib.sha256(content).hexdigest(), str(uuid4())
        artifact = NewArtifact(
            record_id=record,
            execution_id=e.id,
            artifact_id=str(uuid4()),
            name="result",
            format="json",
            artifact_type="file",
            checksum=checksum,
            size=len(content),
            file_path=f"runs/v1/checkpoint_{e.position}/result_{record[:8]}_v1.json",
            promoted=True,
            content=content,
        )
        await self.send(
            ExecutionFinished(e.id, e.dispatch, checksum, (ArtifactOutput(record, "result", checksum, len(content)),)),
            (artifact,),
        )


class BareCommit:
    """One UPDATE and one INSERT in the same kind of database, with the same durability."""

    def __init__(self, url: sa.URL, synchronous: str, folder: Path) -> None:
        if url.get_backend_name() == "sqlite":
            url = url.set(database=str(folder / "bare.db"))
        else:
            url = url.set(drivername="postgresql+psycopg")
        connection = sa.create_engine(url).connect().connection.dbapi_connection
        assert connection is not None
        self._connection = connection
        self._mark = "?" if url.get_backend_name() == "sqlite" else "%s"
        cursor = self._connection.cursor()
        if url.get_backend_name() == "sqlite":
            cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute(f"PRAGMA synchronous={synchronous}")
        for statement in (
            "DROP TABLE IF EXISTS bare_rows",
            "DROP TABLE IF EXISTS bare_counter",
            "CREATE TABLE bare_rows (id TEXT PRIMARY KEY, body TEXT)",
            "CREATE TABLE bare_counter (id INTEGER PRIMARY KEY, n INTEGER)",
            "INSERT INTO bare_counter VALUES (1, 0)",
        ):
            cursor.execute(statement)
        self._connection.commit()

    def run(self) -> float:
        start = time.perf_counter()
        cursor = self._connection.cursor()
        cursor.execute("UPDATE bare_counter SET n = n + 1 WHERE id = 1")
        cursor.execute(f"INSERT INTO bare_rows VALUES ({self._mark}, {self._mark})", (uuid4().hex, "x" * 300))
        self._connection.commit()
        return (time.perf_counter() - start) * 1000

    def close(self) -> None:
        self._connection.close()


async def make_lane(database: Database, plans: PlanCache, count: int) -> Lane:
    document = make_document(count)

    def make(connection: sa.Connection) -> LoadedRun:
        pipelines.insert_pipeline(connection, document, "bench", AT)
        version = pipelines.allocate_run_version(connection, document["pipeline_id"])
        facts = RunFacts(
            run_id=str(uuid4()),
            pipeline_id=document["pipeline_id"],
            pipeline_name=document["pipeline_name"],
            definition_version=1,
            definition_revision=1,
            run_version=version,
            is_test=False,
            previous_run_id=None,
            created_by="bench",
            created_at=AT,
            original_prompt="",
            input_checksum=None,
        )
        return insert_run(connection, facts, plans)

    lane = Lane(database, await database.transact(make))
    await lane.send(StartRun())
    lane.times.clear()
    return lane


async def one_lane(database: Database, plans: PlanCache, bare: BareCommit, runs: int, count: int) -> None:
    times: dict[str, list[float]] = {}
    for _ in range(runs):
        lane = await make_lane(database, plans, count)
        for _ in range(count - 1):
            times.setdefault("bare commit", []).append(bare.run())
            await lane.finish_one()
        for figure, measured in lane.times.items():
            times.setdefault(figure, []).extend(measured)
    times["commit and hops"] = [a - b for a, b in zip(times["saved"], times["statements"], strict=True)]
    print(f"one lane, {runs} runs of {count} checkpoints (ms)")
    for figure in ("bare commit", "saved", "statements", "statements, CPU", "commit and hops", "decide"):
        row = sorted(times[figure][len(times[figure]) // 20 :])
        print(f"  {figure:<16} median {statistics.median(row):6.3f}   p95 {row[int(len(row) * 0.95)]:6.3f}")
    print(f"  saved / bare     {statistics.median(times['saved']) / statistics.median(times['bare commit']):6.2f}")


async def many_lanes(database: Database, plans: PlanCache, lanes: int, count: int) -> None:
    running = [await make_lane(database, plans, count) for _ in range(lanes)]

    async def drive(lane: Lane) -> None:
        for _ in range(count - 1):
            await lane.finish_one()

    start = time.perf_counter()
    await asyncio.gather(*(drive(lane) for lane in running))
    took = time.perf_counter() - start
    waits = sorted(wait for lane in running for wait in lane.times["saved"])
    slowest = max(statistics.fmean(lane.times["saved"]) for lane in running)
    fastest = min(statistics.fmean(lane.times["saved"]) for lane in running)
    print(f"{lanes} concurrent lanes: {len(waits) / took:.0f} checkpoints/s, {took / len(waits) * 1000:.3f} ms each")
    print(f"  wait median {statistics.median(waits):.2f}, p95 {waits[int(len(waits) * 0.95)]:.2f} ms;", end=" ")
    print(f"mean per lane from {fastest:.2f} to {slowest:.2f} ms")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="database URL (default: a new SQLite file)")
    parser.add_argument("--synchronous", default="FULL")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--checkpoints", type=int, default=10)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR"))))
        database = Database(options.url or f"sqlite:///{folder}/cairn.db", synchronous=options.synchronous)
        stack.callback(database.close)
        database.migrate()
        bare = BareCommit(database.url, options.synchronous, folder)
        stack.callback(bare.close)
        plans = PlanCache(compile_plan, Folders())
        await one_lane(database, plans, bare, options.runs, options.checkpoints)
        await many_lanes(database, plans, 20, options.checkpoints)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # as the server runs
        runner.run(main())
