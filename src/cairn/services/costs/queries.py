"""The bill: what was used, by call, execution, run, checkpoint, model, purpose, day or pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import sqlalchemy as sa

from cairn.services.costs.budgets import Budgets
from cairn.services.costs.usage import bounds, usage
from cairn.services.costs.views import CostLine, Costs, PipelineCosts, RunCosts, Usage
from cairn.services.paging import Row, SortOrder, page
from cairn.store import Connection, model_usage
from cairn.store import tables as t
from cairn.store.column_types import Text
from cairn.store.errors import NotFound
from cairn.store.model_usage import SUMS, used_from

C, R, P = t.model_calls.c, t.pipeline_runs.c, t.pipelines.c
OfRun = Literal["execution", "checkpoint", "model", "purpose", "day", "call"]
OfPipeline = Literal["day", "run", "checkpoint", "model", "purpose"]
OfAll = Literal["day", "pipeline", "model", "purpose"]

# By what a line is made, and what people call it.
_LINES: Mapping[str, tuple[sa.ColumnElement[Any], sa.ColumnElement[Any]]] = {
    "execution": (C.execution_id, C.checkpoint_key),
    "checkpoint": (C.checkpoint_id, C.checkpoint_key),
    "model": (C.model, C.model),
    "purpose": (C.purpose, C.purpose),
    "day": (C.day, C.day),
    "run": (C.run_id, C.run_id),
    "pipeline": (C.pipeline_id, C.pipeline_id),
    "call": (C.call_id, C.checkpoint_key),
}
_BY_TIME = frozenset({"day", "run", "call"})  # the newest first; others what costs most first


@dataclass(frozen=True, slots=True)
class DateRange:
    """From one to another, both with them; None is without end."""

    since: date | None = None
    until: date | None = None


@dataclass(frozen=True, slots=True)
class CostQuery:
    by: str
    limit: int
    cursor: str | None
    days: DateRange = DateRange()


def of_run(connection: Connection, budgets: Budgets, run_id: str, wanted: CostQuery) -> RunCosts:
    if connection.execute(sa.select(R.run_id).where(R.run_id == run_id)).first() is None:
        raise NotFound("run", run_id)
    held = bounds(budgets.of_run(connection, run_id).bounds)
    return RunCosts(run_id=run_id, bounds=held, **_costs(connection, wanted, C.run_id == run_id))


def of_pipeline(connection: Connection, budgets: Budgets, pipeline_id: str, wanted: CostQuery) -> PipelineCosts:
    row = connection.execute(sa.select(P.revision).where(P.pipeline_id == pipeline_id)).one_or_none()
    if row is None:
        raise NotFound("pipeline", pipeline_id)
    held = bounds(budgets.of_pipeline(connection, pipeline_id, row.revision))
    return PipelineCosts(
        pipeline_id=pipeline_id, bounds=held, **_costs(connection, wanted, C.pipeline_id == pipeline_id)
    )


def of_all(connection: Connection, wanted: CostQuery) -> Costs:
    return Costs(bounds=[], **_costs(connection, wanted))


def usage_of(connection: Connection, run_id: str) -> Usage:
    return usage(model_usage.of_run(connection, run_id))


def _costs(connection: Connection, wanted: CostQuery, *of: sa.ColumnElement[bool]) -> dict[str, Any]:
    conditions = [*of]
    if wanted.days.since is not None:
        conditions.append(C.day >= wanted.days.since.isoformat())
    if wanted.days.until is not None:
        conditions.append(C.day <= wanted.days.until.isoformat())
    key, name = _LINES[wanted.by]
    lines = (
        sa.select(
            sa.cast(key, Text).label("key"),
            sa.func.max(name).label("name"),
            sa.func.max(C.called_at).label("last_at"),
            (sa.func.sum(C.input_tokens) + sa.func.sum(C.output_tokens)).cast(sa.BigInteger).label("tokens"),
            *SUMS,
        )
        .where(*conditions)
        .group_by(key)
        .subquery()
    )
    order = (lines.c.last_at, lines.c.key) if wanted.by in _BY_TIME else _most(lines)
    found = page(connection, sa.select(lines), SortOrder(order, newest_first=True), wanted.limit, wanted.cursor)
    names = _names(connection, wanted.by, [row.key for row in found.rows])
    total = connection.execute(sa.select(*SUMS).where(*conditions)).one()
    return {
        "by": wanted.by,
        "total": usage(used_from(total)),
        "items": [_line(row, names) for row in found.rows],
        "next_cursor": found.next_cursor,
    }


def _most(lines: sa.Subquery) -> tuple[sa.ColumnElement[Any], ...]:
    return lines.c.cost_nano_usd, lines.c.tokens, lines.c.key


def _line(row: Row, names: Mapping[str, str]) -> CostLine:
    return CostLine(key=row.key, name=names.get(row.key, row.name), last_at=row.last_at, usage=usage(used_from(row)))


def _names(connection: Connection, by: str, keys: list[str]) -> dict[str, str]:
    """Runs by their versions, pipelines by their names; those of test runs that are gone are told as such."""
    if by == "run":
        rows = connection.execute(sa.select(R.run_id, R.run_version).where(R.run_id.in_(keys)))
        found = {row.run_id: f"v{row.run_version}" if row.run_version is not None else "test run" for row in rows}
        return dict.fromkeys(keys, "test run, removed") | found
    if by == "pipeline":
        rows = connection.execute(sa.select(P.pipeline_id, P.pipeline_name).where(P.pipeline_id.in_(keys)))
        return {row.pipeline_id: row.pipeline_name for row in rows}
    return {}
