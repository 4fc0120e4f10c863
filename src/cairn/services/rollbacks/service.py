"""Rollbacks of checkpoints and of runs: preview, create, undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from uuid import UUID, uuid4

from cairn.core.commands import ArchiveRun, CancelRun, Command, CommandContext, RollBack, UndoRollback
from cairn.core.decide import Decision
from cairn.core.effects import RestoreFiles
from cairn.core.errors import CommandRefused
from cairn.core.states import ApprovalStatus, ExecutionState
from cairn.services.actors import Actor
from cairn.services.engine.commit import Commit
from cairn.services.engine.engine import Engine
from cairn.services.errors import InvalidInput
from cairn.services.rollbacks import records
from cairn.services.rollbacks.records import ArchivedRun, archived_run, items, record
from cairn.store import Connection, LoadedRun
from cairn.store import pipelines as rows
from cairn.store.errors import NotFound


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
    def preview(self, connection: Connection, request: RollbackSpec, actor: Actor) -> RollbackImpact:
        """The impact, without touching anything."""
        plan = self._plan(connection, request)
        given = self._engine.context(actor.name)
        commits = [self._engine.simulate(connection, run_id, command, given) for run_id, command in plan.commands]
        target, *others = [archived_run(commit) for commit in commits]
        gone = set(target.rollback(request.rollback_id).archived)
        withdrawn = [
            approval.id
            for commit in commits
            for approval in commit.before.run.approvals.values()
            if approval.status is ApprovalStatus.PENDING
            and commit.decision.run.approvals[approval.id].status is ApprovalStatus.WITHDRAWN
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
            after=commits[0].decision,
        )

    # ---- doing it ------------------------------------------------------------------------------------
    async def roll_back(
        self, request: RollbackSpec, *, actor: Actor, command_id: UUID | None = None
    ) -> tuple[str, list[str]]:
        context = self._engine.context(actor.name, command_id)

        def body(connection: Connection, plan: _RollbackPlan) -> list[Commit]:
            self._verify(connection, plan)
            commits = self._apply(connection, plan, context)
            target, *others = map(archived_run, commits)
            record(
                connection,
                request.rollback_id,
                context,
                plan.source.facts,
                target,
                others,
                kind=request.rollback_type,
                reason=request.user_reason,
            )
            return commits

        pipeline_id = (await self._engine.read_run(request.source_run_id)).facts.pipeline_id
        commits = await self._engine.shielded(self._send(pipeline_id, partial(self._plan, request=request), body))
        return request.rollback_id, [warning for commit in commits for warning in commit.warnings]

    async def undo(self, rollback_id: str, *, actor: Actor, command_id: UUID | None = None) -> list[str]:
        """Put everything back while nothing newer stands in its place."""
        context = self._engine.context(actor.name, command_id)

        def body(connection: Connection, plan: _UndoPlan) -> list[Commit]:
            self._verify_undo(connection, plan)
            commits = self._apply(connection, plan, context)
            records.mark_undone(connection, _put_back(commits), context.at)
            return commits

        pipeline_id = await self._engine.database.aread(lambda c: records.pipeline_of(c, rollback_id))
        commits = await self._engine.shielded(
            self._send(pipeline_id, partial(self._plan_undo, rollback_id=rollback_id), body)
        )
        return [warning for commit in commits for warning in commit.warnings]

    async def _send(
        self,
        pipeline_id: str,
        make_plan: Callable[[Connection], P],
        body: Callable[[Connection, P], list[Commit]],
    ) -> list[Commit]:
        """While no run of the pipeline begins. It is planned once, unless the runs of the plan have changed since."""
        async with self._engine.lock(pipeline_id):
            while True:
                plan = await self._engine.database.aread(make_plan)
                try:
                    return await self._send_plan(pipeline_id, plan, body)
                except _PlanOutdated:
                    continue

    async def _send_plan(
        self, pipeline_id: str, plan: P, body: Callable[[Connection, P], list[Commit]]
    ) -> list[Commit]:
        def locked(connection: Connection) -> list[Commit]:
            rows.lock(connection, pipeline_id)
            return body(connection, plan)

        run_ids = [run_id for run_id, _ in plan.commands]
        async with self._engine.lock(*run_ids):
            commits = await self._engine.transact(run_ids, locked)
            await self._engine.after_commit(*commits)
        return commits

    def _apply(self, connection: Connection, plan: _RollbackPlan | _UndoPlan, context: CommandContext) -> list[Commit]:
        return [self._engine.apply(connection, run_id, command, context) for run_id, command in plan.commands]

    # ---- what has to be sent to which run -----------------------------------------------------------------
    def _plan(self, connection: Connection, request: RollbackSpec) -> _RollbackPlan:
        records.check_is_new(connection, request.rollback_id)
        source = self._engine.load(connection, request.source_run_id, lock=False)
        if request.rollback_type == "run_level":
            return self._run_level(connection, request, source)
        if request.target_run_id not in (None, request.source_run_id):
            raise InvalidInput([("/target_run_id", "A checkpoint-level rollback stays in its run; leave this out.")])
        position = _position(source, request)
        command = RollBack(request.rollback_id, position)
        return _RollbackPlan(request.rollback_id, source, None, position, [(request.source_run_id, command)])

    def _run_level(self, connection: Connection, request: RollbackSpec, source: LoadedRun) -> _RollbackPlan:
        if request.target_run_id is None:
            raise InvalidInput([("/target_run_id", "Name the run to go back to.")])
        target = self._engine.load(connection, request.target_run_id, lock=False)
        _check_same_line(source, target)
        position = _position(target, request)
        commands: list[tuple[str, Command]] = [(target.facts.run_id, RollBack(request.rollback_id, position, True))]
        later = records.later_runs(connection, target.facts)
        commands += [(run_id, ArchiveRun(request.rollback_id)) for run_id in later]
        return _RollbackPlan(request.rollback_id, source, target, position, commands)

    def _verify(self, connection: Connection, plan: _RollbackPlan) -> None:
        """In the transaction: the later runs are still those of the plan."""
        records.check_is_new(connection, plan.rollback_id)
        if plan.target is not None:
            later = records.later_runs(connection, plan.target.facts)
            if later != [run_id for run_id, _ in plan.commands[1:]]:
                raise _PlanOutdated

    def _plan_undo(self, connection: Connection, rollback_id: str) -> _UndoPlan:
        row = records.find_undoable(connection, rollback_id)
        target: str = row.target_run_id or row.source_run_id
        own = (target, *records.archived_runs(connection, rollback_id))
        newer = records.newer_open_runs(connection, row, own)
        commands: list[tuple[str, Command]] = [(run_id, UndoRollback(rollback_id)) for run_id in own]
        return _UndoPlan(rollback_id, own, newer, [*commands, *((run_id, CancelRun()) for run_id in newer)])

    def _verify_undo(self, connection: Connection, plan: _UndoPlan) -> None:
        """In the transaction: it can still be undone, and the newer runs are still those of the plan."""
        row = records.find_undoable(connection, plan.rollback_id)
        if records.newer_open_runs(connection, row, plan.own) != plan.newer:
            raise _PlanOutdated


class _PlanOutdated(Exception):
    """The runs that a rollback is about have changed before they were locked."""


@dataclass(frozen=True, slots=True)
class _RollbackPlan:
    rollback_id: str
    source: LoadedRun
    target: LoadedRun | None  # of a run-level rollback
    position: int
    commands: Sequence[tuple[str, Command]]  # the target run's comes first, then those of later runs


@dataclass(frozen=True, slots=True)
class _UndoPlan:
    rollback_id: str
    own: tuple[str, ...]  # the runs that it has changed
    newer: list[str]  # open runs that began since
    commands: Sequence[tuple[str, Command]]


P = TypeVar("P", _RollbackPlan, _UndoPlan)


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


def _put_back(commits: Sequence[Commit]) -> set[str]:
    """The rollbacks that are undone: the one that was named, and those that failures have made since."""
    return {
        effect.rollback for commit in commits for effect in commit.decision.effects if isinstance(effect, RestoreFiles)
    }
