"""The budget of a run, and the definition that contains its default limits."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.column_types import Text
from cairn.store.prepared_statements import PreparedQuery
from cairn.store.runs.run_rows import Row
from cairn.store.tables import pipeline_runs, pipelines

R, P = pipeline_runs.c, pipelines.c
_RUN_BUDGET = PreparedQuery(
    sa.select(
        R.run_id,
        R.pipeline_id,
        R.budget,
        R.budget_warned,
        R.pipeline_definition_version,
        P.revision,
        P.pipeline_definition_version.label("newest_version"),
    )
    .join_from(pipeline_runs, pipelines, P.pipeline_id == R.pipeline_id)
    .where(R.run_id == sa.bindparam("run_id", type_=Text()))
)


def read_run_budget(connection: sa.Connection, run_id: str) -> Row:
    (row,) = _RUN_BUDGET.all(connection, {"run_id": run_id})
    return row
