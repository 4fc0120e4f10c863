"""Functions for the browser tests: one that works until it is let go, one that fails the first time."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from cairn.runners import Ctx, function

FOLDER = Path(os.environ.get("E2E_FOLDER", "."))


@function("e2e.wait")
async def wait(ctx: Ctx, gate: str) -> dict[str, Any]:
    """Work until the file `gate` is there."""
    ctx.progress(0.5, "halfway")
    ctx.log("waits for its gate")
    while not (FOLDER / gate).exists():  # noqa: ASYNC110 - another process makes the file
        await asyncio.sleep(0.02)
    return {"gate": gate}


@function("e2e.fail_once")
def fail_once(ctx: Ctx, mark: str) -> dict[str, Any]:
    """Fail, and the next time succeed."""
    file = FOLDER / mark
    if not file.exists():
        file.touch()
        raise RuntimeError("The supplier's register does not answer.")
    return {"register": "answers"}


@function("e2e.big_number")
def big_number(ctx: Ctx) -> dict[str, Any]:
    """A number that a double cannot hold."""
    return {"exact": 12345678901234567890, "ratio": 0.1, "nothing": None}
