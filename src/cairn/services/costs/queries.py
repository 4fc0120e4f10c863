"""Costs by call, execution, run, checkpoint, model, purpose, day or pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import sqlalchemy as sa

from cairn.services.costs.budgets import Budgets
from cairn.services.costs.usage import status_views, usage_view
from cairn.services.costs.views import CostLine, Costs, PipelineCosts, RunCosts
from cairn.services.paging import Row, SortOrder, page
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.column_types import Text
from cairn.store.errors import NotFound
from cairn.store.model_usage import SUMS, usage_from

C, R, P = t.model_calls.c, t.pipeline_runs.c, t.pipelines.c
RunGrouping = Literal["execution", "checkpoint", "model", "purpose", "day", "call"]
PipelineGrouping = Literal["day", "run", "checkpoint", "model", "purpose"]
Grouping = Literal["day", "pipeline", "model", "purpose"]

# The columns of a group's key and of its name.
_GROUPINGS: Mapping[str, tuple[sa.ColumnElement[Any], sa.ColumnElement[Any]]] = {
    "execution": (C.execution_id, C.checkpoint_key),
    "checkpoint": (C.checkpoint_id, C.checkpoint_key),
    "model": (C.model, C.model),
    "purpose": (C.purpose, C.purpose),
    "day": (C.day, C.day),
    "run": (C.run_id, C.run_id),
    "pipeline": (C.pipeline_id, C.pipeline_id),
    "call": (C.call_id, C.checkpoint_key),
}
_NEWEST_FIRST = frozenset({"day", "run", "call"})  # the others are sorted by cost, highest first


@dataclass(frozen=True, slots=True)
class DateRange:
    """Both days are included. None is unlimited."""

    since: date | None = None
    until: date | None = None


@dataclass(frozen=True, slots=True)
class CostQuery:
    group_by: str
    limit: int
    cursor: str | None
    days: DateRange = DateRange()


def run_costs(connection: Connection, budgets: Budgets, run_id: str, query: CostQuery) -> RunCosts:
    if connection.execute(sa.select(R.run_id).where(R.run_id == run_id)).first() is None:
        raise NotFound("run", run_id)
    status = status_views(budgets.run_usage(connection, run_id).status)
    return RunCosts(run_id=run_id, budget_status=status, **_costs(connection, query, C.run_id == run_id))


def pipeline_costs(connection: Connection, budgets: Budgets, pipeline_id: str, query: CostQuery) -> PipelineCosts:
    row = connection.execute(sa.select(P.revision).where(P.pipeline_id == pipeline_id)).one_or_none()
    if row is None:
        raise NotFound("pipeline", pipeline_id)
    status = status_views(budgets.monthly_status(connection, pipeline_id, row.revision))
    return PipelineCosts(
        pipeline_id=pipeline_id, budget_status=status, **_costs(connection, query, C.pipeline_id == pipeline_id)
    )


def total_costs(connection: Connection, query: CostQuery) -> Costs:
    return Costs(budget_status=[], **_costs(connection, query))


def _costs(connection: Connection, query: CostQuery, *conditions: sa.ColumnElement[bool]) -> dict[str, Any]:
    where = [*conditions]
    if query.days.since is not None:
        where.append(C.day >= query.days.since.isoformat())
    if query.days.until is not None:
        where.append(C.day <= query.days.until.isoformat())
    key, name = _GROUPINGS[query.group_by]
    groups = (
        sa.select(
            sa.cast(key, Text).label("key"),
            sa.func.max(name).label("name"),
            sa.func.max(C.called_at).label("last_at"),
            (sa.func.sum(C.input_tokens) + sa.func.sum(C.output_tokens)).cast(sa.BigInteger).label("tokens"),
            *SUMS,
        )
        .where(*where)
        .group_by(key)
        .subquery()
    )
    order = (groups.c.last_at, groups.c.key) if query.group_by in _NEWEST_FIRST else _by_cost(groups)
    found = page(connection, sa.select(groups), SortOrder(order, newest_first=True), query.limit, query.cursor)
    names = _names(connection, query.group_by, [row.key for row in found.rows])
    total = connection.execute(sa.select(*SUMS).where(*where)).one()
    return {
        "group_by": query.group_by,
        "total": usage_view(usage_from(total)),
        "items": [_line(row, names) for row in found.rows],
        "next_cursor": found.next_cursor,
    }


def _by_cost(groups: sa.Subquery) -> tuple[sa.ColumnElement[Any], ...]:
    return groups.c.cost_nano_usd, groups.c.tokens, groups.c.key


def _line(row: Row, names: Mapping[str, str]) -> CostLine:
    usage = usage_view(usage_from(row))
    return CostLine(key=row.key, name=names.get(row.key, row.name), last_at=row.last_at, usage=usage)


def _names(connection: Connection, group_by: str, keys: list[str]) -> dict[str, str]:
    """Versions of runs and names of pipelines. A run that no longer exists was a test run."""
    if group_by == "run":
        rows = connection.execute(sa.select(R.run_id, R.run_version).where(R.run_id.in_(keys)))
        found = {row.run_id: f"v{row.run_version}" if row.run_version is not None else "test run" for row in rows}
        return dict.fromkeys(keys, "deleted test run") | found
    if group_by == "pipeline":
        rows = connection.execute(sa.select(P.pipeline_id, P.pipeline_name).where(P.pipeline_id.in_(keys)))
        return {row.pipeline_id: row.pipeline_name for row in rows}
    return {}


class CostQueries:
    """Each method reads one snapshot of the database."""

    def __init__(self, database: Database, budgets: Budgets) -> None:
        self._database = database
        self._budgets = budgets

    def get_run_costs(self, run_id: str, query: CostQuery) -> RunCosts:
        return self._database.read(lambda c: run_costs(c, self._budgets, run_id, query))

    def get_pipeline_costs(self, pipeline_id: str, query: CostQuery) -> PipelineCosts:
        return self._database.read(lambda c: pipeline_costs(c, self._budgets, pipeline_id, query))

    def get_costs(self, query: CostQuery) -> Costs:
        return self._database.read(lambda c: total_costs(c, query))
