"""Rollback, at both levels: previewed, carried out, undone (R1, D30, D51)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa

from cairn.core.commands import ArchiveRun, CancelRun, Command, RollBack, UndoRollback
from cairn.core.decide import Decision
from cairn.core.effects import RestoreFiles
from cairn.core.errors import AlreadyApplied, CommandRefused
from cairn.core.states import ApprovalStatus, ExecutionState, RunStatus
from cairn.services.actors import Actor
from cairn.services.engine.engine import Commit, Engine
from cairn.services.errors import Gone, InvalidInput, NotFound
from cairn.services.pipelines import pipeline_rows as rows
from cairn.services.rollbacks.records import ArchivedRun, items, record, taken
from cairn.store import LoadedRun
from cairn.store import tables as t
from cairn.store.runs.run_rows import Row

OPEN = (RunStatus.NOT_STARTED.value, RunStatus.IN_PROGRESS.value, RunStatus.PAUSED.value)


@dataclass(frozen=True, slots=True)
class RollbackSpec:
    """What somebody wants to go back to."""

    rollback_type: str  # checkpoint_level or run_level
    source_run_id: str
    target_run_id: str | None = None
    target_checkpoint_position: int | None = None
    target_checkpoint_id: str | None = None
    user_reason: str = ""
    rollback_id: str = field(default_factory=lambda: str(uuid4()))


@dataclass(frozen=True, slots=True)
class RollbackImpact:
    """What a rollback would do, worked out by doing it on paper."""

    source: LoadedRun
    target: ArchivedRun
    target_position: int
    others: tuple[ArchivedRun, ...]
    items: dict[str, Any]
    stopped: tuple[tuple[str, str], ...]  # open executions of all runs, with their checkpoints' names
    withdrawn: tuple[str, ...]  # approvals, of all runs
    kept: tuple[str, ...]  # executions of the target run that stay completed
    after: Decision


class RollbackService:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # ---- before --------------------------------------------------------------------------------------
    def preview(self, connection: sa.Connection, request: RollbackSpec, by: Actor) -> RollbackImpact:
        """The impact, without touching anything."""
        plan = self._plan(connection, request)
        given = self._engine.given(by.name)
        steps = [self._engine.foresee(connection, run_id, command, given) for run_id, command in plan.commands]
        target, *others = [taken(step.before, step.decision, step.filing) for step in steps]
        gone = set(target.rollback(request.rollback_id).archived)
        withdrawn = [
            approval.id
            for step in steps
            for approval in step.before.run.approvals.values()
            if approval.status is ApprovalStatus.PENDING
            and step.decision.run.approvals[approval.id].status is ApprovalStatus.WITHDRAWN
        ]
        return RollbackImpact(
            source=plan.source,
            target=target,
            target_position=plan.position,
            others=tuple(others),
            items=items(request.rollback_id, target, others),
            stopped=tuple(
                (one, each.places[each.before.executions[one].key].name)
                for each in (target, *others)
                for one in each.rollback(request.rollback_id).stopped
            ),
            withdrawn=tuple(withdrawn),
            kept=tuple(e.id for e in target.before.current if e.state is ExecutionState.COMPLETED and e.id not in gone),
            after=steps[0].decision,
        )

    # ---- doing it ------------------------------------------------------------------------------------
    async def roll_back(
        self, request: RollbackSpec, *, by: Actor, command_id: UUID | None = None
    ) -> tuple[str, list[str]]:
        given = self._engine.given(by.name, command_id)

        def body(connection: sa.Connection) -> list[Commit]:
            plan = self._plan(connection, request)
            steps = [
                self._engine.carry(connection, run_id, command, given, records=False)
                for run_id, command in plan.commands
            ]
            target, *others = [taken(step.before, step.decision, step.filing) for step in steps]
            record(
                connection,
                request.rollback_id,
                given,
                plan.source.facts,
                target,
                others,
                kind=request.rollback_type,
                reason=request.user_reason,
            )
            return steps

        pipeline_id = (await self._engine.read_run(request.source_run_id)).facts.pipeline_id
        plan = partial(self._plan, request=request)
        steps = await self._engine.unbroken(
            self._carry_out(pipeline_id, lambda c: [run for run, _ in plan(c).commands], body)
        )
        return request.rollback_id, [warning for step in steps for warning in step.warnings]

    async def undo(self, rollback_id: str, *, by: Actor, command_id: UUID | None = None) -> list[str]:
        """Put everything back while nothing newer stands in its place (D51)."""
        given = self._engine.given(by.name, command_id)

        def body(connection: sa.Connection) -> list[Commit]:
            steps = [
                self._engine.carry(connection, run_id, command, given, records=False)
                for run_id, command in self._undoing(connection, rollback_id)
            ]
            connection.execute(
                sa.update(t.rollback_events)
                .where(t.rollback_events.c.rollback_id.in_(_put_back(steps)))
                .values(undone_at=given.at, files_done=False)
            )
            return steps

        pipeline_id = await self._engine.database.aread(lambda c: _pipeline_of(c, rollback_id))
        steps = await self._engine.unbroken(
            self._carry_out(pipeline_id, lambda c: [run for run, _ in self._undoing(c, rollback_id)], body)
        )
        return [warning for step in steps for warning in step.warnings]

    async def _carry_out(
        self,
        pipeline_id: str,
        runs_of: Callable[[sa.Connection], list[str]],
        body: Callable[[sa.Connection], list[Commit]],
    ) -> list[Commit]:
        """While no run of the pipeline begins: what is taken away is what was found."""

        def locked(connection: sa.Connection) -> list[Commit]:
            rows.lock(connection, pipeline_id)
            return body(connection)

        async with self._engine.holding(pipeline_id):
            runs = await self._engine.database.aread(runs_of)
            async with self._engine.holding(*runs):
                steps = await self._engine.transact(runs, locked)
                await self._engine.finish(*steps)
        return steps

    # ---- what has to be sent to which run -----------------------------------------------------------------
    def _plan(self, connection: sa.Connection, request: RollbackSpec) -> _RollbackPlan:
        if _exists(connection, request.rollback_id):
            raise AlreadyApplied("This rollback has been carried out already.")
        source = self._engine.load(connection, request.source_run_id, lock=False)
        if request.rollback_type == "checkpoint_level":
            if request.target_run_id not in (None, request.source_run_id):
                raise InvalidInput(
                    [("/target_run_id", "A checkpoint-level rollback stays in its run; leave this out.")]
                )
            position = _position(source, request)
            return _RollbackPlan(source, position, [(request.source_run_id, RollBack(request.rollback_id, position))])
        return self._run_level(connection, request, source)

    def _run_level(self, connection: sa.Connection, request: RollbackSpec, source: LoadedRun) -> _RollbackPlan:
        if request.target_run_id is None:
            raise InvalidInput([("/target_run_id", "Name the run to go back to.")])
        target = self._engine.load(connection, request.target_run_id, lock=False)
        _check_same_line(source, target)
        r = t.pipeline_runs.c
        later = connection.execute(
            sa.select(r.run_id)
            .where(
                r.pipeline_id == target.facts.pipeline_id,
                r.pipeline_definition_version == target.facts.definition_version,
                r.archived_by.is_(None),
                r.run_version > target.facts.run_version,
            )
            .order_by(r.run_version)
        ).scalars()
        position = _position(target, request)
        commands: list[tuple[str, Command]] = [(target.facts.run_id, RollBack(request.rollback_id, position, True))]
        commands += [(run_id, ArchiveRun(request.rollback_id)) for run_id in later]
        return _RollbackPlan(source, position, commands)

    def _undoing(self, connection: sa.Connection, rollback_id: str) -> list[tuple[str, Command]]:
        r, i = t.rollback_events.c, t.archived_items.c
        row = connection.execute(sa.select(t.rollback_events).where(r.rollback_id == rollback_id)).one_or_none()
        if row is None:
            raise NotFound("rollback", rollback_id)
        if row.undone_at is not None:
            raise AlreadyApplied("This rollback has been undone already.")
        if not row.archive_location:
            raise Gone("The archive of this rollback was kept for its time and is gone: it cannot be undone any more.")
        target: str = row.target_run_id or row.source_run_id
        runs = connection.execute(
            sa.select(i.item_id).where(i.rollback_id == rollback_id, i.item_type == "run")
        ).scalars()
        commands: list[tuple[str, Command]] = [(target, UndoRollback(rollback_id))]
        commands += [(run_id, UndoRollback(rollback_id)) for run_id in runs]
        if row.rollback_type == "run_level":
            commands += self._newer(connection, row, {run_id for run_id, _ in commands})
        return commands

    def _newer(self, connection: sa.Connection, row: Row, own: set[str]) -> list[tuple[str, Command]]:
        """Runs begun since: open ones are cancelled, one that completed anything stands in the way (D51)."""
        r, e = t.pipeline_runs.c, t.checkpoint_executions.c
        newer = connection.execute(
            sa.select(r.run_id, r.run_version, r.status).where(
                r.pipeline_id == row.pipeline_id,
                r.created_at > row.created_at,
                r.archived_by.is_(None),
                r.run_version.is_not(None),
                r.run_id.not_in(own),
            )
        ).all()
        for run in newer:
            done = connection.execute(
                sa.select(e.execution_id)
                .where(e.run_id == run.run_id, e.state == ExecutionState.COMPLETED.value, e.archived_by.is_(None))
                .limit(1)
            ).first()
            if done is not None:
                raise CommandRefused(
                    f"v{run.run_version} has completed work since: this rollback can no longer be undone."
                )
        return [(run.run_id, CancelRun()) for run in newer if run.status in OPEN]


@dataclass(frozen=True, slots=True)
class _RollbackPlan:
    source: LoadedRun
    position: int
    commands: Sequence[tuple[str, Command]]  # the target run's comes first


def _position(loaded: LoadedRun, request: RollbackSpec) -> int:
    if request.target_checkpoint_position is not None:
        return request.target_checkpoint_position
    if request.target_checkpoint_id is None:
        raise InvalidInput(
            [("/target_checkpoint_position", "Name the checkpoint to go back to, or -1 for the beginning.")]
        )
    for key, place in loaded.places.items():
        if request.target_checkpoint_id in (place.checkpoint_id, key):
            return loaded.run.plan[key].position
    raise NotFound("checkpoint in this run", request.target_checkpoint_id)


def _exists(connection: sa.Connection, rollback_id: str) -> bool:
    r = t.rollback_events.c
    return connection.execute(sa.select(r.rollback_id).where(r.rollback_id == rollback_id)).first() is not None


def _check_same_line(source: LoadedRun, target: LoadedRun) -> None:
    a, b = source.facts, target.facts
    if a.pipeline_id != b.pipeline_id:
        raise InvalidInput([("/target_run_id", "The run to go back to is of another pipeline.")])
    if a.definition_version != b.definition_version:
        raise CommandRefused("The run to go back to is of an earlier definition of the pipeline.")
    if a.run_version is None or b.run_version is None:
        raise CommandRefused("A test run has no version: it can only be rolled back within itself.")
    if b.run_version > a.run_version:
        raise InvalidInput([("/target_run_id", f"v{b.run_version} comes after v{a.run_version}: name an earlier run.")])


def _pipeline_of(connection: sa.Connection, rollback_id: str) -> str:
    r = t.rollback_events.c
    found = connection.execute(sa.select(r.pipeline_id).where(r.rollback_id == rollback_id)).scalar_one_or_none()
    if found is None:
        raise NotFound("rollback", rollback_id)
    return found


def _put_back(steps: Sequence[Commit]) -> set[str]:
    """The rollbacks that are undone: the one that was named, and those that failures have made since."""
    return {effect.rollback for step in steps for effect in step.decision.effects if isinstance(effect, RestoreFiles)}
