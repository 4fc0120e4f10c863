"""Load and insert runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from cairn.core.approval import Approval, Vote
from cairn.core.execution import Execution
from cairn.core.run import Run
from cairn.core.states import LIVE
from cairn.store.column_types import Text
from cairn.store.errors import NotFound
from cairn.store.events import chain as events
from cairn.store.events.chain import GENESIS, Chain, EventRecord
from cairn.store.plans import CheckpointPlace, FolderLayout, PlanSource, newest_revision
from cairn.store.prepared_statements import PreparedQuery, insert_into
from cairn.store.runs.approval_rows import approval_from, vote_from
from cairn.store.runs.run_rows import Values, execution_from, run_from, run_values
from cairn.store.tables import (
    approval_decisions,
    approvals,
    checkpoint_executions,
    pipeline_runs,
    pipelines,
)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts about a run that never change."""

    run_id: str
    pipeline_id: str
    pipeline_name: str
    definition_version: int
    definition_revision: int  # of the graph that the run starts with
    run_version: int | None  # a test run has none
    is_test: bool
    previous_run_id: str | None
    created_by: str
    created_at: datetime
    original_prompt: str
    input_checksum: str | None
    extends_from_run_version: int | None = None
    origin_run_id: str = ""  # the first of the runs that retry each other; empty: this one

    @property
    def family(self) -> str:
        """The runs that retry each other share the history of their actions."""
        return self.origin_run_id or self.run_id


@dataclass(frozen=True)
class LoadedRun:
    """A run with everything that is needed to save it again."""

    run: Run
    facts: RunFacts
    revision: int
    event_seq: int
    event_head: str
    drivers: Mapping[str, str]  # by execution; none before the first job starts
    synced_revision: int
    places: Mapping[str, CheckpointPlace]  # by key, for new executions
    folders: Mapping[str, str]  # by execution, fixed at creation
    layout: FolderLayout
    unsaved_events: tuple[EventRecord, ...] = ()  # the first events of a new run

    @property
    def is_stored(self) -> bool:
        return self.revision > 0

    @property
    def chain(self) -> Chain:
        return Chain(self.facts.run_id, self.facts.pipeline_id, self.facts.run_id, self.event_seq, self.event_head)

    @property
    def run_folder(self) -> str:
        return self.layout.run_folder(self.facts.run_version, self.facts.run_id)

    @cached_property
    def row_values(self) -> Values:
        """The mutable columns of the run's row."""
        run = self.run
        position, key = min(((e.position, e.key) for e in run.current if e.state in LIVE), default=(None, None))
        return {
            **run_values(run),
            "current_checkpoint_id": self.places[key].checkpoint_id if key is not None else None,
            "current_checkpoint_position": position,
            "revision": self.revision,
            "event_seq": self.event_seq,
            "event_head": self.event_head,
            "synced_revision": self.synced_revision,
        }


_INSERT_RUN = insert_into(pipeline_runs)


def new_run(
    connection: sa.Connection, facts: RunFacts, plans: PlanSource, *records: EventRecord, newest: int | None = None
) -> LoadedRun:
    """Return a new run with its first events. The first `save_run` inserts it.

    The caller has allocated its version with `allocate_run_version`. `newest` is the definition revision to use, if
    known.
    """
    graph = facts.definition_revision
    newest = newest or newest_revision(connection, facts.pipeline_id, facts.definition_version)
    plan, places = plans.plan_with_places(connection, facts.pipeline_id, graph, newest)
    facts = replace(facts, origin_run_id=facts.family)
    # synced_revision is 0, because the run has no folder yet.
    return LoadedRun(Run(facts.run_id, plan), facts, 0, 0, GENESIS, {}, 0, places, {}, plans.layout, records)


def insert_run(connection: sa.Connection, facts: RunFacts, plans: PlanSource, *records: EventRecord) -> LoadedRun:
    """Insert a new run without saving a decision."""
    run = new_run(connection, facts, plans, *records)
    chain, rows = events.seal(run.chain, records, facts.created_by, facts.created_at)
    stored = replace(run, revision=1, event_seq=chain.seq, event_head=chain.head, unsaved_events=())
    insert_row(connection, stored)
    events.insert(connection, rows)
    return stored


def insert_row(connection: sa.Connection, run: LoadedRun) -> None:
    facts = run.facts
    values = {
        **run.row_values,
        "run_id": facts.run_id,
        "pipeline_id": facts.pipeline_id,
        "pipeline_definition_version": facts.definition_version,
        "definition_revision": facts.definition_revision,
        "run_version": facts.run_version,
        "is_test": facts.is_test,
        "origin_run_id": facts.family,
        "previous_run_id": facts.previous_run_id,
        "extends_from_run_version": facts.extends_from_run_version,
        "original_prompt": facts.original_prompt,
        "input_checksum": facts.input_checksum,
        "created_by": facts.created_by,
        "created_at": facts.created_at,
    }
    _INSERT_RUN.run(connection, values)


_of_run = sa.bindparam("run_id", type_=Text())
_RUN_QUERY = (
    sa.select(
        pipeline_runs,
        pipelines.c.pipeline_name,
        pipelines.c.revision.label("pipeline_revision"),
        pipelines.c.pipeline_definition_version.label("pipeline_version"),
    )
    .join(pipelines, pipelines.c.pipeline_id == pipeline_runs.c.pipeline_id)
    .where(pipeline_runs.c.run_id == _of_run)
)
_RUN = PreparedQuery(_RUN_QUERY)
# FOR NO KEY UPDATE: inserting the next run, which references this one, doesn't wait for the lock.
_RUN_LOCKED = PreparedQuery(_RUN_QUERY.with_for_update(of=pipeline_runs, key_share=True))
# Columns that only views read. A run may have hundreds of executions.
_DISPLAY_ONLY = frozenset(
    {
        "run_id",
        "checkpoint_id",
        "checkpoint_name",
        "status",
        "max_attempts",
        "max_revision_iterations",
        "last_error_at",
        "context_checksum",
        "progress",
        "sandbox",
        "temp_workspace_path",
        "permanent_output_path",
    }
)
_EXECUTIONS = PreparedQuery(
    sa.select(*(column for column in checkpoint_executions.c if column.name not in _DISPLAY_ONLY))
    .where(checkpoint_executions.c.run_id == _of_run)
    .order_by(checkpoint_executions.c.ordinal)
)
_APPROVALS = PreparedQuery(sa.select(approvals).where(approvals.c.run_id == _of_run).order_by(approvals.c.ordinal))
_VOTES = PreparedQuery(
    sa.select(approval_decisions)
    .join(approvals, approvals.c.approval_id == approval_decisions.c.approval_id)
    .where(approvals.c.run_id == _of_run)
    .order_by(approval_decisions.c.approval_id, approval_decisions.c.position)
)


_HAS_RUN = PreparedQuery(sa.select(pipeline_runs.c.run_id).where(pipeline_runs.c.run_id == _of_run))


_RUN_OF_EXECUTION = PreparedQuery(
    sa.select(checkpoint_executions.c.run_id).where(
        checkpoint_executions.c.execution_id == sa.bindparam("execution_id", type_=Text())
    )
)


def run_of_execution(connection: sa.Connection, execution_id: str) -> str:
    row = _RUN_OF_EXECUTION.first(connection, {"execution_id": execution_id})
    if row is None:
        raise NotFound("execution", execution_id)
    return row.run_id


def has_run(connection: sa.Connection, run_id: str) -> bool:
    return _HAS_RUN.first(connection, {"run_id": run_id}) is not None


def load_run(connection: sa.Connection, run_id: str, plans: PlanSource, *, lock: bool = False) -> LoadedRun | None:
    """Load a run, or return None. With `lock`, it stays locked until the transaction ends."""
    parameters = {"run_id": run_id}
    row = (_RUN_LOCKED if lock else _RUN).first(connection, parameters)
    if row is None:
        return None
    facts = _facts(row)
    graph, newest = facts.definition_revision, _newest(connection, row)
    plan, places = plans.plan_with_places(connection, facts.pipeline_id, graph, newest)
    facts = replace(facts, origin_run_id=facts.family)
    executions: dict[str, Execution] = {}
    drivers: dict[str, str] = {}
    folders: dict[str, str] = {}
    for e in _EXECUTIONS.all(connection, parameters):
        revision = e.definition_revision
        plan_of_execution = plan if revision == newest else plans.plan(connection, facts.pipeline_id, graph, revision)
        executions[e.execution_id] = execution_from(e, plan_of_execution.policy(e.key))
        if e.driver is not None:
            drivers[e.execution_id] = e.driver
        folders[e.execution_id] = e.folder
    run = run_from(row, plan, executions, _load_approvals(connection, parameters))
    return LoadedRun(
        run,
        facts,
        row.revision,
        row.event_seq,
        row.event_head,
        drivers,
        row.synced_revision,
        places,
        folders,
        plans.layout,
    )


def _newest(connection: sa.Connection, row: Any) -> int:
    """Return the definition revision for the run: the newest one with the run's definition version."""
    if row.pipeline_version == row.pipeline_definition_version:
        return row.pipeline_revision
    return newest_revision(connection, row.pipeline_id, row.pipeline_definition_version)


def _load_approvals(connection: sa.Connection, parameters: Mapping[str, str]) -> dict[str, Approval]:
    rows = _APPROVALS.all(connection, parameters)
    votes: dict[str, tuple[Vote, ...]] = {}
    if rows:
        for vote in _VOTES.all(connection, parameters):
            votes[vote.approval_id] = (*votes.get(vote.approval_id, ()), vote_from(vote))
    return {row.approval_id: approval_from(row, votes.get(row.approval_id, ())) for row in rows}


def _facts(row: Any) -> RunFacts:
    return RunFacts(
        run_id=row.run_id,
        pipeline_id=row.pipeline_id,
        pipeline_name=row.pipeline_name,
        definition_version=row.pipeline_definition_version,
        definition_revision=row.definition_revision,
        run_version=row.run_version,
        is_test=row.is_test,
        origin_run_id=row.origin_run_id,
        previous_run_id=row.previous_run_id,
        created_by=row.created_by,
        created_at=row.created_at,
        original_prompt=row.original_prompt,
        input_checksum=row.input_checksum,
        extends_from_run_version=row.extends_from_run_version,
    )
