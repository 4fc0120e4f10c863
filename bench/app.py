"""A complete Cairn with a temporary data folder and no-op functions."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cairn.bootstrap import AppServices, build
from cairn.config import Settings
from cairn.core.events import EventType
from cairn.core.states import RunStatus
from cairn.ports.models import ModelCatalogue
from cairn.runners import Ctx, FunctionRegistry
from cairn.services.actors import ADMIN
from cairn.worker import Worker

RUN_TIMEOUT = 60.0  # seconds
functions = FunctionRegistry()


@functions("bench.noop")
async def noop(ctx: Ctx) -> dict[str, Any]:
    return {"execution": str(ctx.workspace.parent.name), "padding": "x" * 200}


@functions("bench.pass_on")
async def pass_on(ctx: Ctx, key: str) -> Any:
    """Return one input unchanged."""
    return ctx.inputs[key]


@asynccontextmanager
async def running_app(
    folder: Path | None = None, models: ModelCatalogue | None = None
) -> AsyncGenerator[AppServices, None]:
    with tempfile.TemporaryDirectory(prefix="cairn-bench-", dir=folder) as data:
        cairn = build(Settings(data_dir=Path(data)), functions=functions, models=models)
        worker = Worker(cairn)
        await worker.start()
        try:
            yield cairn
        finally:
            await worker.stop()
            cairn.close()


async def create_pipeline(cairn: AppServices, checkpoints: list[dict[str, Any]]) -> str:
    document = {"pipeline_name": "Bench", "config": {"auto_advance": True}, "checkpoints": checkpoints}
    return (await cairn.pipelines.create(document, actor=ADMIN)).pipeline_id


async def run_to_end(cairn: AppServices, pipeline_id: str, input: Any = None) -> str:
    """Start a run and wait for the change hint that it has completed, as streams do."""
    final_events = {EventType.RUN_COMPLETED.value, EventType.RUN_PAUSED.value}
    async with asyncio.timeout(RUN_TIMEOUT):
        with cairn.event_bus.subscribe() as changes:
            started = await cairn.runs.create(pipeline_id, input=input, actor=ADMIN)
            async for change in changes:
                if change.run_id == started.run_id and change.event_type in final_events:
                    break
    status = (await cairn.engine.read_run(started.run_id)).run.status
    assert status is RunStatus.COMPLETED, status
    return started.run_id


def quantile(values: list[float], fraction: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]
