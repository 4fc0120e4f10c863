"""The lineage of a run: artifact flow, dependencies and reworks."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.services.rework.queries.reworks import reworks_of
from cairn.services.rework.staleness import queries as staleness
from cairn.services.rework.views import ArtifactFlow, Dependency, Lineage
from cairn.store import Connection, LoadedRun
from cairn.store import tables as t

_C, _D, _A = t.artifact_consumption.c, t.job_dependencies.c, t.artifacts.c
_E = t.checkpoint_executions.alias("consumer")
_P = t.checkpoint_executions.alias("producer")


def get_lineage(connection: Connection, loaded: LoadedRun) -> Lineage:
    run_id = loaded.facts.run_id
    return Lineage(
        run_id=run_id,
        flow=_flow(connection, run_id),
        dependencies=_dependencies(connection, run_id),
        reworks=reworks_of(loaded),
    )


def _flow(connection: Connection, run_id: str) -> list[ArtifactFlow]:
    query = (
        sa.select(
            _A.artifact_record_id,
            _A.artifact_name,
            _A.checksum,
            _P.c.execution_id,
            _P.c.run_id,
            _P.c.key,
            _E.c.execution_id.label("consumer"),
            _E.c.key.label("consumer_key"),
            sa.func.min(_C.consumed_at, type_=_C.consumed_at.type).label("consumed_at"),
        )
        .select_from(t.artifact_consumption)
        .join(_E, _E.c.execution_id == _C.execution_id)
        .join(t.artifacts, _A.artifact_record_id == _C.artifact_record_id)
        .join(_P, _P.c.execution_id == _A.execution_id)
        .where(_E.c.run_id == run_id)
        .group_by(
            _A.artifact_record_id,
            _A.artifact_name,
            _A.checksum,
            _P.c.execution_id,
            _P.c.run_id,
            _P.c.key,
            _P.c.ordinal,
            _E.c.execution_id,
            _E.c.key,
        )
        .order_by("consumed_at", _P.c.ordinal, _A.artifact_name)
    )
    stale = staleness.of_run(connection, run_id)
    stale_inputs = {(consumer, item.artifact_record_id) for consumer, inputs in stale.items() for item in inputs}
    return [
        ArtifactFlow(
            artifact_record_id=row.artifact_record_id,
            artifact_name=row.artifact_name,
            checksum=row.checksum,
            producer_execution_id=row.execution_id,
            producer_run_id=row.run_id,
            producer_checkpoint=row.key,
            consumer_execution_id=row.consumer,
            consumer_checkpoint=row.consumer_key,
            consumed_at=row.consumed_at,
            is_stale=(row.consumer, row.artifact_record_id) in stale_inputs,
        )
        for row in connection.execute(query)
    ]


def _dependencies(connection: Connection, run_id: str) -> list[Dependency]:
    query = (
        sa.select(t.job_dependencies)
        .join(_E, _E.c.execution_id == _D.execution_id)
        .join(_P, _P.c.execution_id == _D.depends_on_execution_id)
        .where(_E.c.run_id == run_id)
        .order_by(_E.c.ordinal, _P.c.ordinal)
    )
    return [
        Dependency(
            execution_id=row.execution_id,
            depends_on_execution_id=row.depends_on_execution_id,
            dependency_type=row.dependency_type,
        )
        for row in connection.execute(query)
    ]
