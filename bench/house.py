"""A whole Cairn in a folder of its own, with functions that do nothing."""

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

PATIENCE = 60.0  # seconds for one run
functions = FunctionRegistry()


@functions("bench.noop")
async def noop(ctx: Ctx) -> dict[str, Any]:
    return {"execution": str(ctx.workspace.parent.name), "padding": "x" * 200}


@functions("bench.pass_on")
async def pass_on(ctx: Ctx, key: str) -> Any:
    """What came in under this key, as it came."""
    return ctx.inputs[key]


@asynccontextmanager
async def house(folder: Path | None = None, models: ModelCatalogue | None = None) -> AsyncGenerator[AppServices, None]:
    with tempfile.TemporaryDirectory(prefix="cairn-bench-", dir=folder) as data:
        cairn = build(Settings(data_dir=Path(data)), functions=functions, models=models)
        worker = Worker(cairn)
        await worker.start()
        try:
            yield cairn
        finally:
            await worker.stop()
            cairn.close()


async def pipeline(cairn: AppServices, checkpoints: list[dict[str, Any]]) -> str:
    document = {"pipeline_name": "Bench", "config": {"auto_advance": True}, "checkpoints": checkpoints}
    return (await cairn.pipelines.create(document, by=ADMIN)).pipeline_id


async def run_to_end(cairn: AppServices, pipeline_id: str, input: Any = None) -> str:
    """Start a run and wait until it is completed, told by the announcements that streams hear too."""
    over = {EventType.RUN_COMPLETED.value, EventType.RUN_PAUSED.value}
    async with asyncio.timeout(PATIENCE):
        with cairn.hub.subscribe() as news:
            begun = await cairn.runs.start(pipeline_id, input=input, by=ADMIN)
            async for change in news:
                if change.run_id == begun.run_id and change.event_type in over:
                    break
    status = (await cairn.engine.read_run(begun.run_id)).run.status
    assert status is RunStatus.COMPLETED, status
    return begun.run_id


def quantile(values: list[float], fraction: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]
