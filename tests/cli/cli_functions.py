"""Functions of the pipelines in these tests."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import cairn


@cairn.function("cli.echo")
def echo(ctx: cairn.Ctx, **values: Any) -> Any:
    ctx.log("received", text=str(values.get("text")))
    return values


@cairn.function("cli.fail_once")
def fail_once(ctx: cairn.Ctx, mark: str) -> Any:
    """Fails unless the file `mark` exists."""
    if not Path(mark).exists():
        raise ValueError("the mark is missing")
    return {"found": True}


@cairn.function("cli.wait")
def wait(ctx: cairn.Ctx, gate: str) -> Any:
    """Waits until the file `gate` exists."""
    ctx.log("waiting for the gate")
    while not Path(gate).exists():
        time.sleep(0.02)
    return {"open": True}


@cairn.function("cli.refund")
def refund(ctx: cairn.Ctx) -> Any:
    """Proposes a refund, which needs approval."""
    proposed = {"amount": 99.99, "currency": "USD", "account": "4711"}
    return dict(ctx.propose_action("financial_transaction", proposed, "The customer asked.", 0.87, "high"))
