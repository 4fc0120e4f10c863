"""Token usage and cost, summed over model calls on request. There are no separate counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from cairn.store.column_types import Text
from cairn.store.prepared_statements import PreparedQuery
from cairn.store.tables import model_calls

NANO = Decimal("1e-9")
C = model_calls.c


def _sum(column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    return sa.cast(sa.func.coalesce(sa.func.sum(column), 0), sa.BigInteger)


def _count(condition: sa.ColumnElement[bool], value: Any = 1) -> sa.ColumnElement[Any]:
    return _sum(sa.case((condition, value), else_=0))


SUMS: tuple[sa.ColumnElement[Any], ...] = (
    sa.func.count().label("calls"),
    _sum(C.input_tokens).label("input_tokens"),
    _sum(C.output_tokens).label("output_tokens"),
    _sum(C.cache_read_tokens).label("cache_read_tokens"),
    _sum(C.cache_write_tokens).label("cache_write_tokens"),
    _sum(C.cost_nano_usd).label("cost_nano_usd"),
    _count(C.cost_nano_usd.is_(None)).label("unpriced_calls"),
    _count(C.is_simulated).label("simulated_calls"),
    _count(C.is_simulated, C.input_tokens + C.output_tokens).label("simulated_tokens"),
    sa.func.coalesce(sa.func.sum(C.seconds), 0.0).label("seconds"),
)


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The usage of one or more model calls."""

    calls: int = 0
    input_tokens: int = 0  # including cached tokens
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: Decimal = field(default=Decimal(0))  # in US dollars, without calls whose price is unknown
    unpriced_calls: int = 0
    simulated_calls: int = 0
    simulated_tokens: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


NO_USAGE = ModelUsage()


def usage_from(row: Any) -> ModelUsage:
    return ModelUsage(
        int(row.calls),
        int(row.input_tokens),
        int(row.output_tokens),
        int(row.cache_read_tokens),
        int(row.cache_write_tokens),
        int(row.cost_nano_usd) * NANO,
        int(row.unpriced_calls),
        int(row.simulated_calls),
        int(row.simulated_tokens),
        float(row.seconds),
    )


_RUN = PreparedQuery(sa.select(*SUMS).where(C.run_id == sa.bindparam("run_id", type_=Text())))
_PIPELINE = PreparedQuery(
    sa.select(*SUMS).where(
        C.pipeline_id == sa.bindparam("pipeline_id", type_=Text()),
        C.day >= sa.bindparam("first", type_=Text()),
        C.day <= sa.bindparam("last", type_=Text()),
    )
)


def run_usage(connection: sa.Connection, run_id: str) -> ModelUsage:
    return usage_from(_RUN.all(connection, {"run_id": run_id})[0])


def monthly_usage(connection: sa.Connection, pipeline_id: str, at: datetime) -> ModelUsage:
    """Return the usage of all runs of the pipeline in the calendar month of `at`, in UTC."""
    month = f"{at:%Y-%m}"
    period = {"pipeline_id": pipeline_id, "first": f"{month}-01", "last": f"{month}-31"}
    return usage_from(_PIPELINE.all(connection, period)[0])


def usage_by(connection: sa.Connection, column: sa.ColumnElement[str], ids: Sequence[str]) -> dict[str, ModelUsage]:
    """Return the usage of each of these runs or executions, except those without usage."""
    if not ids:
        return {}
    rows = connection.execute(sa.select(column.label("id"), *SUMS).where(column.in_(ids)).group_by(column))
    return {row.id: usage_from(row) for row in rows}
