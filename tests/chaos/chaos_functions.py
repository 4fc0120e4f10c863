"""Functions for servers that are killed: slow enough to be hit, and the last one waits until it is let go."""

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
    """Leave a mark that it has begun, work, and tell its number."""
    marks = FOLDER / "begun"
    with marks.open("a") as file:
        file.write(f"{number}\n")
    ctx.log(f"step {number} begins")
    await asyncio.sleep(seconds)
    before: int = ctx.inputs[f"step_{number - 1}"]["sum"] if number else 0
    return {"number": number, "sum": number + before}


@function("chaos.wait")
async def wait(ctx: Ctx, number: int) -> dict[str, Any]:
    while not (FOLDER / "go").exists():  # noqa: ASYNC110 - the word comes from another process
        await asyncio.sleep(0.01)
    return {"number": number, "sum": number + ctx.inputs[f"step_{number - 1}"]["sum"]}


@function("chaos.perhaps")
async def perhaps(ctx: Ctx, seconds: float = 0.0, fails: float = 0.0) -> dict[str, Any]:
    """Work for a while; leave something behind now and then, or fail."""
    await asyncio.sleep(random.uniform(0, seconds))
    if random.random() < fails:
        raise ValueError("by chance")
    if random.random() < 0.1:
        (ctx.workspace / "left.txt").write_text("left behind")
    return {"execution": ctx.workspace.parent.name, "text": "x" * random.choice((1, 100, 2000))}
