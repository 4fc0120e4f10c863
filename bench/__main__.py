"""`make bench`: print the figures as a table and write them to `bench/results.json`."""

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

from bench.agent_turns import turns
from bench.app import quantile, running_app
from bench.bare_commit import BareCommit
from bench.concurrent_agents import AGENTS_AT_WORK, measure_api
from bench.dbos_baseline import measure_dbos
from bench.measures import Overhead, approvals, decisions, large_context, scripts
from cairn.worker import tune_garbage_collection

CONCURRENT_APPROVALS = 50
RESULTS = Path(__file__).parent / "results.json"


async def measure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="cairn-baseline-") as folder:
        bare_commit = BareCommit(folder)
        async with running_app() as cairn:
            tune_garbage_collection()  # as the server does
            overhead = Overhead(cairn, bare_commit)
            await overhead.measure_round()
            dbos = await measure_dbos()
            single = await approvals(cairn, 1)
            together = await approvals(cairn, CONCURRENT_APPROVALS)
            await overhead.measure_round()
            rate = await decisions(cairn)
            context = await large_context(cairn)
            script = await scripts(cairn)
            await overhead.measure_round()
        bare_commit.close()
        turn = await turns()
    agents = await measure_api()
    per_checkpoint, bare = overhead.per_checkpoint, overhead.bare
    return {
        "overhead_per_checkpoint_ms": per_checkpoint,
        "bare_commit_ms": round(bare, 3),
        "ratio": round(per_checkpoint["10"] / bare, 3),
        "dbos_alone_per_step_ms": dbos,
        "ratio_to_dbos_alone": {n: round(value / dbos[n], 2) for n, value in per_checkpoint.items()},
        "approve_to_start_p50_ms": round(statistics.median(single), 3),
        "approve_to_start_p95_ms": round(quantile(single, 0.95), 3),
        f"approve_{CONCURRENT_APPROVALS}_at_once_p95_ms": round(quantile(together, 0.95), 3),
        "decisions_per_second": round(rate),
        "context": context,
        "script": script,
        "turn": turn,
        "concurrent_agents": agents,
    }


def show(results: dict[str, Any]) -> None:
    table = Table(title="Cairn, on SQLite at synchronous=FULL")
    table.add_column("figure")
    table.add_column("measured", justify="right")
    table.add_column("target", justify="right")
    bare = results["bare_commit_ms"]
    for n, value in results["overhead_per_checkpoint_ms"].items():
        table.add_row(f"overhead per checkpoint, run of {n}", f"{value:.2f} ms", f"{max(3.0, 3 * bare):.2f} ms")
    table.add_row("bare commit (one UPDATE, one INSERT)", f"{bare:.2f} ms", "")
    table.add_row("overhead at 10 checkpoints, in bare commits", f"{results['ratio']:.2f}", "")
    for n, value in results["dbos_alone_per_step_ms"].items():
        table.add_row(f"DBOS alone per step, run of {n}", f"{value:.2f} ms", "")
    table.add_row("approval to next start, median", f"{results['approve_to_start_p50_ms']:.1f} ms", "10 ms")
    table.add_row("approval to next start, P95", f"{results['approve_to_start_p95_ms']:.1f} ms", "50 ms")
    together = results[f"approve_{CONCURRENT_APPROVALS}_at_once_p95_ms"]
    table.add_row(f"the same, {CONCURRENT_APPROVALS} concurrent, P95", f"{together:.1f} ms", "150 ms")
    table.add_row("decisions", f"{results['decisions_per_second']} per second", "100")
    context = results["context"]
    passed = f"{context['seconds']:.2f} s, {'intact' if context['intact'] else 'DAMAGED'}"
    table.add_row(f"{context['megabytes']:.0f} MB through five checkpoints", passed, "intact")
    table.add_row("encoding the same value as JSON, median", f"{context['serialise_ms']:.0f} ms", "25 ms")
    large = context["serialise_with_integers_past_64_bits_ms"]
    table.add_row("the same with 9,000 integers past 64 bits", f"{large:.0f} ms", "")
    script = results["script"]
    table.add_row("start of a sandboxed script, median", f"{script['start_p50_ms']:.1f} ms", "60 ms")
    table.add_row("the same, P95", f"{script['start_p95_ms']:.1f} ms", "")
    table.add_row("a complete run of it, median", f"{script['whole_p50_ms']:.1f} ms", "")
    turn = results["turn"]
    table.add_row("overhead per agent turn in a run, median", f"{turn['whole_p50_ms']:.1f} ms", "5 ms")
    table.add_row("the turn loop alone, nothing stored", f"{turn['one_call_p50_ms']:.1f} ms", "")
    table.add_row("the same with a tool call and two model calls", f"{turn['tool_and_two_calls_p50_ms']:.1f} ms", "")
    agents = results["concurrent_agents"]
    table.add_row(f"API request while {AGENTS_AT_WORK} agents work, median", f"{agents['request_p50_ms']:.1f} ms", "")
    table.add_row("the same, P95", f"{agents['request_p95_ms']:.1f} ms", "100 ms")
    Console().print(table)


def main() -> None:
    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:  # as the server runs
        results = runner.run(measure())
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    show(results)
    Console().print(f"Written to {RESULTS.relative_to(Path.cwd())}" if RESULTS.is_relative_to(Path.cwd()) else "")


if __name__ == "__main__":
    main()
