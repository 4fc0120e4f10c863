"""Functions that the pipelines of the browser tests call."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from cairn.runners import Ctx, function

FOLDER = Path(os.environ.get("E2E_FOLDER", "."))


@function("e2e.wait")
async def wait(ctx: Ctx, gate: str) -> dict[str, Any]:
    """Work until the file `gate` exists."""
    ctx.progress(0.5, "halfway")
    ctx.log("waits for its gate")
    while not (FOLDER / gate).exists():  # noqa: ASYNC110 - another process makes the file
        await asyncio.sleep(0.02)
    return {"gate": gate}


@function("e2e.fail_once")
def fail_once(ctx: Ctx, mark: str) -> dict[str, Any]:
    """Fail at the first attempt, succeed at the second."""
    file = FOLDER / mark
    if not file.exists():
        file.touch()
        raise RuntimeError("The supplier's register does not answer.")
    return {"register": "answers"}


@function("e2e.big_number")
def big_number(ctx: Ctx) -> dict[str, Any]:
    """Return an integer that a double cannot represent."""
    return {"exact": 12345678901234567890, "ratio": 0.1, "nothing": None}


@function("e2e.talk")
async def talk(ctx: Ctx, gate: str, lines: int) -> dict[str, Any]:
    """Log `lines` lines with progress, and more whenever the file `{gate}.say` holds a number."""
    logged = 0
    target = lines
    while not (FOLDER / gate).exists():
        while logged < target:
            level = "error" if logged % 100 == 99 else "warning" if logged % 10 == 9 else "info"
            ctx.log(f"line {logged} of what it says", level=level)
            logged += 1
            if logged % 500 == 0:
                ctx.progress(min(1.0, logged / max(1, target)), f"{logged} said")
                await asyncio.sleep(0)
        more = FOLDER / f"{gate}.say"
        if more.exists():
            target += int(more.read_text())
            more.unlink()
        await asyncio.sleep(0.02)
    return {"said": logged}


@function("e2e.progress")
async def progress(ctx: Ctx, gate: str) -> dict[str, Any]:
    """Report the progress that the file `gate` holds, without a log line."""
    last = ""
    while last != "done":
        file = FOLDER / gate
        now = file.read_text() if file.exists() else "0 begins"
        if now not in {last, "", "done"}:
            fraction, _, text = now.partition(" ")
            ctx.progress(float(fraction), text)
        last = now
        await asyncio.sleep(0.02)
    return {"gate": gate}


@function("e2e.fail")
def fail(ctx: Ctx) -> dict[str, Any]:
    """Fail at every attempt, in a nested call."""
    ctx.log("looks into the register")
    return _look_up({"supplier": "Nordwind"}, "iban")


def _look_up(row: dict[str, Any], field: str) -> dict[str, Any]:
    return {"found": row[field]}


@function("e2e.refund")
def refund(ctx: Ctx, amount: float) -> dict[str, Any]:
    """Propose a refund."""
    answer = ctx.propose_action(
        "refund", {"amount": amount}, reasoning="The order came broken.", confidence=0.95, risk_level="medium"
    )
    return {"decision": answer.decision}


FLOW = """%%{init: {"securityLevel": "loose", "htmlLabels": true, "themeCSS": "* { display: none }"}}%%
graph TD
  intake --> answer
  answer --> odd["<img src=x onerror=document.title='broken'>"]
  click odd "https://elsewhere.invalid/"
"""
PAGE = """<!doctype html>
<html lang="en"><head><title>Hello</title><style>h1 { color: #22633d }</style></head>
<body><h1>Hello</h1>
<script>document.title = 'broken'; parent.document.title = 'broken'</script>
<img src="https://elsewhere.invalid/seen.png" alt="">
<form action="https://elsewhere.invalid/"><button>Send</button></form>
<a href="https://elsewhere.invalid/left">Leave</a>
<a href="https://elsewhere.invalid/above" target="_top">Leave for all</a>
</body></html>
"""


@function("e2e.files")
def files(ctx: Ctx) -> None:
    """Create a file of each format that has a preview."""
    ctx.stage("figures.csv", 'customer,note,amount\n"Nordwind, Ltd.","said ""yes""\nat last",1200.50\nSüdwind,,80\n')
    ctx.stage("page.html", PAGE)
    ctx.stage("flow.mmd", FLOW)
    ctx.stage("wrong.mmd", "graph TD\n  intake --> ((\n")
    ctx.stage("code.py", "def main(ctx):\n    return {'a': 1}\n")
