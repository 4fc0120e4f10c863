"""What an execution read, and what had to be complete first, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from cairn.store.column_types import Text
from cairn.store.prepared_statements import Prepared, insert_into
from cairn.store.tables import artifact_consumption, job_dependencies

_CONSUME = insert_into(artifact_consumption)
_DEPEND_FIRST = insert_into(job_dependencies)
_D = job_dependencies.c
_EXECUTION = sa.bindparam("execution_id", type_=Text())
_ON = sa.bindparam("depends_on_execution_id", type_=Text())
_KIND = sa.bindparam("dependency_type", type_=Text())
# An execution that is dispatched again depends on the same ones, and maybe on more.
_DEPEND_AGAIN = Prepared(
    sa.insert(job_dependencies).from_select(
        ["execution_id", "depends_on_execution_id", "dependency_type"],
        sa.select(_EXECUTION, _ON, _KIND).where(
            ~sa.exists().where(_D.execution_id == _EXECUTION, _D.depends_on_execution_id == _ON)
        ),
    )
)


def save_lineage(
    connection: sa.Connection,
    execution_id: str,
    dispatch: int,
    consumed: Sequence[str],
    depends_on: Sequence[str],
    at: datetime,
) -> None:
    """`consumed` are artifact records, `depends_on` executions; each once for a dispatch."""
    if consumed:
        _CONSUME.run_many(
            connection,
            [
                {
                    "execution_id": execution_id,
                    "dispatch_number": dispatch,
                    "artifact_record_id": record,
                    "consumed_at": at,
                }
                for record in consumed
            ],
        )
    if depends_on:
        depend = _DEPEND_FIRST if dispatch == 1 else _DEPEND_AGAIN
        depend.run_many(
            connection,
            [
                {"execution_id": execution_id, "depends_on_execution_id": other, "dependency_type": "success"}
                for other in depends_on
            ],
        )
