"""Save which artifacts an execution read and which executions it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from cairn.store.column_types import Text
from cairn.store.prepared_statements import Prepared, insert_into
from cairn.store.tables import artifact_consumption, job_dependencies

_INSERT_CONSUMPTION = insert_into(artifact_consumption)
_INSERT_DEPENDENCIES = insert_into(job_dependencies)
_D = job_dependencies.c
_EXECUTION = sa.bindparam("execution_id", type_=Text())
_DEPENDS_ON = sa.bindparam("depends_on_execution_id", type_=Text())
_KIND = sa.bindparam("dependency_type", type_=Text())
# A later dispatch depends on the same executions and possibly on more.
_INSERT_NEW_DEPENDENCIES = Prepared(
    sa.insert(job_dependencies).from_select(
        ["execution_id", "depends_on_execution_id", "dependency_type"],
        sa.select(_EXECUTION, _DEPENDS_ON, _KIND).where(
            ~sa.exists().where(_D.execution_id == _EXECUTION, _D.depends_on_execution_id == _DEPENDS_ON)
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
    """Save the ids of consumed artifact records and of executions, once per dispatch."""
    if consumed:
        _INSERT_CONSUMPTION.run_many(
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
        insert = _INSERT_DEPENDENCIES if dispatch == 1 else _INSERT_NEW_DEPENDENCIES
        insert.run_many(
            connection,
            [
                {"execution_id": execution_id, "depends_on_execution_id": other, "dependency_type": "success"}
                for other in depends_on
            ],
        )
