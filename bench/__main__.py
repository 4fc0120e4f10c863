"""`make bench`: a table for people, `bench/results.json` for programs."""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from uvicorn.loops.auto import auto_loop_factory

from bench.alone import alone
from bench.crowd import AT_ONCE as AGENTS_AT_ONCE
from bench.crowd import crowd
from bench.floor import Floor
from bench.house import house, quantile
from bench.measures import Overhead, approvals, decisions, large_context, scripts
from bench.turns import turns
from cairn.worker import collect_seldom

AT_ONCE = 50
RESULTS = Path(__file__).parent / "results.json"


async def measure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="cairn-floor-") as folder:
        floor = Floor(folder)
        async with house() as cairn:
            collect_seldom()  # as the server does
            overhead = Overhead(cairn, floor)
            await overhead.sit_down()
            by_itself = await alone()
            single = await approvals(cairn, 1)
            together = await approvals(cairn, AT_ONCE)
            await overhead.sit_down()
            rate = await decisions(cairn)
            context = await large_context(cairn)
            script = await scripts(cairn)
            await overhead.sit_down()
        floor.close()
        turn = await turns()
    talking = await crowd()
    per_checkpoint, bare = overhead.per_checkpoint, overhead.bare
    return {
        "overhead_per_checkpoint_ms": per_checkpoint,
        "bare_commit_ms": round(bare, 3),
        "ratio": round(per_checkpoint["10"] / bare, 3),
        "dbos_alone_per_step_ms": by_itself,
        "ratio_to_dbos_alone": {n: round(value / by_itself[n], 2) for n, value in per_checkpoint.items()},
        "approve_to_start_p50_ms": round(statistics.median(single), 3),
        "approve_to_start_p95_ms": round(quantile(single, 0.95), 3),
        f"approve_{AT_ONCE}_at_once_p95_ms": round(quantile(together, 0.95), 3),
        "decisions_per_second": round(rate),
        "context": context,
        "script": script,
        "turn": turn,
        "crowd": talking,
    }


def show(results: dict[str, Any]) -> None:
    table = Table(title="Cairn, on SQLite at synchronous=FULL")
    table.add_column("what")
    table.add_column("measured", justify="right")
    table.add_column("goal", justify="right")
    bare = results["bare_commit_ms"]
    for n, value in results["overhead_per_checkpoint_ms"].items():
        table.add_row(f"overhead per checkpoint, run of {n}", f"{value:.2f} ms", f"{max(3.0, 3 * bare):.2f} ms")
    table.add_row("bare commit (one UPDATE, one INSERT)", f"{bare:.2f} ms", "")
    table.add_row("overhead at 10, in bare commits", f"{results['ratio']:.2f}", "")
    for n, value in results["dbos_alone_per_step_ms"].items():
        table.add_row(f"a step of DBOS alone, run of {n}", f"{value:.2f} ms", "")
    table.add_row("approval to next start, median", f"{results['approve_to_start_p50_ms']:.1f} ms", "10 ms")
    table.add_row("approval to next start, P95", f"{results['approve_to_start_p95_ms']:.1f} ms", "50 ms")
    together = results[f"approve_{AT_ONCE}_at_once_p95_ms"]
    table.add_row(f"the same, {AT_ONCE} at once, P95", f"{together:.1f} ms", "150 ms")
    table.add_row("approvals decided", f"{results['decisions_per_second']} a second", "100")
    context = results["context"]
    told = f"{context['seconds']:.2f} s, {'intact' if context['intact'] else 'DAMAGED'}"
    table.add_row(f"{context['megabytes']:.0f} MB through five checkpoints", told, "intact")
    table.add_row("as much written as JSON, median", f"{context['serialise_ms']:.0f} ms", "25 ms")
    large = context["serialise_with_integers_past_64_bits_ms"]
    table.add_row("the same with 9,000 integers past 64 bits", f"{large:.0f} ms", "")
    script = results["script"]
    table.add_row("a small script begins, median, with its sandbox", f"{script['start_p50_ms']:.1f} ms", "60 ms")
    table.add_row("the same, P95", f"{script['start_p95_ms']:.1f} ms", "")
    table.add_row("a whole run of it, median", f"{script['whole_p50_ms']:.1f} ms", "")
    turn = results["turn"]
    table.add_row("a turn of an agent in a run, besides the model, median", f"{turn['whole_p50_ms']:.1f} ms", "5 ms")
    table.add_row("its loop alone, nothing stored", f"{turn['one_call_p50_ms']:.1f} ms", "")
    table.add_row("the same with a tool and two calls", f"{turn['tool_and_two_calls_p50_ms']:.1f} ms", "")
    crowded = results["crowd"]
    table.add_row(
        f"requests while {AGENTS_AT_ONCE} executions of agents talk, median", f"{crowded['request_p50_ms']:.1f} ms", ""
    )
    table.add_row("the same, P95", f"{crowded['request_p95_ms']:.1f} ms", "100 ms")
    Console().print(table)


def main() -> None:
    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:  # as the server runs
        results = runner.run(measure())
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    show(results)
    Console().print(f"written to {RESULTS.relative_to(Path.cwd())}" if RESULTS.is_relative_to(Path.cwd()) else "")


if __name__ == "__main__":
    main()
