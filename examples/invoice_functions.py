"""Functions for the pipeline in invoices.yaml. Start the server with this module:

PYTHONPATH=examples CAIRN_FUNCTIONS='["invoice_functions"]' make run
"""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import Any

from cairn import Ctx, function


@function("invoices.check")
def check(ctx: Ctx) -> dict[str, Any]:
    """Add up the invoices and write those over the limit to large.csv."""
    text = ctx.references["hand_in"]["invoices"]
    rows = list(csv.DictReader(io.StringIO(text)))
    limit = Decimal(str(ctx.inputs["limit"]))
    large: list[dict[str, str]] = []
    for number, row in enumerate(rows, 1):
        if Decimal(row["amount"]) > limit:
            large.append(row)
        ctx.progress(number / len(rows), f"{number} of {len(rows)}")
    ctx.log(f"{len(large)} of {len(rows)} invoices are over the limit", limit=str(limit))
    ctx.stage("large.csv", _csv(large))
    return {
        "count": len(rows),
        "total": str(sum(Decimal(row["amount"]) for row in rows)),
        "large": [row["number"] for row in large],
    }


@function("invoices.report")
async def report(ctx: Ctx, currency: str = "EUR") -> None:
    """Write report.md. A revision mentions the feedback."""
    findings = ctx.inputs["findings"]
    lines = [
        "# Invoices",
        f"{findings['count']} invoices, {findings['total']} {currency} in total.",
        f"Over {ctx.inputs['limit']} {currency}: {', '.join(findings['large']) or 'none'}.",
    ]
    if ctx.feedback:
        lines.append(f"Revised after feedback: {ctx.feedback[-1]}")
    ctx.stage("report.md", "\n\n".join(lines) + "\n")


def _csv(rows: list[dict[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["number", "customer", "amount"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
