"""Functions for servers that are killed: slow enough to be interrupted. The last one waits for a file."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path
from typing import Any

from cairn.runners import Ctx, function

FOLDER = Path(os.environ.get("CHAOS_FOLDER", "."))


@function("chaos.step")
async def step(ctx: Ctx, number: int, seconds: float) -> dict[str, Any]:
    """Record the start, work, and return the number and the sum so far."""
    marks = FOLDER / "started"
    with marks.open("a") as file:
        file.write(f"{number}\n")
    ctx.log(f"step {number} started")
    await asyncio.sleep(seconds)
    previous: int = ctx.inputs[f"step_{number - 1}"]["sum"] if number else 0
    return {"number": number, "sum": number + previous}


@function("chaos.wait")
async def wait(ctx: Ctx, number: int) -> dict[str, Any]:
    while not (FOLDER / "go").exists():  # noqa: ASYNC110 - another process creates the file
        await asyncio.sleep(0.01)
    return {"number": number, "sum": number + ctx.inputs[f"step_{number - 1}"]["sum"]}


@function("chaos.perhaps")
async def perhaps(ctx: Ctx, seconds: float = 0.0, fails: float = 0.0) -> dict[str, Any]:
    """Work for a while. Sometimes fail, or leave a file behind."""
    await asyncio.sleep(random.uniform(0, seconds))
    if random.random() < fails:
        raise ValueError("random failure")
    if random.random() < 0.1:
        (ctx.workspace / "left.txt").write_text("left behind")
    return {"execution": ctx.workspace.parent.name, "text": "x" * random.choice((1, 100, 2000))}
