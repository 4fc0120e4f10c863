"""Preview, create and undo rollbacks of checkpoints and runs."""

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
from cairn.store.actions import ledger
from cairn.store.errors import NotFound


@dataclass(frozen=True, slots=True)
class RollbackSpec:
    """The target of a rollback."""

    rollback_type: str  # checkpoint_level or run_level
    source_run_id: str
    target_run_id: str | None = None
    target_checkpoint_position: int | None = None
    target_checkpoint_id: str | None = None
    user_reason: str = ""
    hold: bool | None = None  # leave the run paused; None: if work is repeated that has executed actions
    rollback_id: str = field(default_factory=lambda: str(uuid4()))


@dataclass(frozen=True, slots=True)
class RollbackImpact:
    """The simulated result of a rollback."""

    source: LoadedRun
    target: ArchivedRun
    target_position: int
    others: tuple[ArchivedRun, ...]
    items: dict[str, Any]
    stopped: tuple[tuple[str, str], ...]  # open executions of all runs, with the names of their checkpoints
    withdrawn: tuple[str, ...]  # approvals of all runs
    unaffected: tuple[str, ...]  # executions of the target run that stay completed
    executed_actions: tuple[str, ...]  # of archived executions: they are not undone
    withdrawn_actions: tuple[str, ...]  # proposed or approved, but not started
    hold: bool  # whether the run is left paused
    after: Decision


class RollbackService:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # Preview
    def preview(self, connection: Connection, spec: RollbackSpec, actor: Actor) -> RollbackImpact:
        """Simulate the rollback."""
        plan = self._plan(connection, spec)
        context = self._engine.context(actor.name)
        commits = [self._engine.simulate(connection, run_id, command, context) for run_id, command in plan.commands]
        target, *others = [archived_run(commit) for commit in commits]
        archived = set(target.rollback(spec.rollback_id).archived)
        executed, withdrawn_actions = _actions(connection, spec.rollback_id, (target, *others))
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
            items=items(spec.rollback_id, target, others),
            stopped=tuple(
                (execution, run.places[run.before.executions[execution].key].name)
                for run in (target, *others)
                for execution in run.rollback(spec.rollback_id).stopped
            ),
            withdrawn=tuple(withdrawn),
            unaffected=tuple(
                e.id for e in target.before.current if e.state is ExecutionState.COMPLETED and e.id not in archived
            ),
            executed_actions=executed,
            withdrawn_actions=withdrawn_actions,
            hold=bool(executed) if spec.hold is None else spec.hold,
            after=commits[0].decision,
        )

    # Rollback and undo
    async def roll_back(
        self, spec: RollbackSpec, *, actor: Actor, command_id: UUID | None = None
    ) -> tuple[str, list[str]]:
        context = self._engine.context(actor.name, command_id)

        def body(connection: Connection, plan: _RollbackPlan) -> list[Commit]:
            self._verify(connection, plan)
            commits = self._apply(connection, plan, context)
            target, *others = map(archived_run, commits)
            record(
                connection,
                spec.rollback_id,
                context,
                plan.source.facts,
                target,
                others,
                kind=spec.rollback_type,
                reason=spec.user_reason,
            )
            return commits

        pipeline_id = (await self._engine.read_run(spec.source_run_id)).facts.pipeline_id
        commits = await self._engine.shielded(self._send(pipeline_id, partial(self._plan, spec=spec), body))
        return spec.rollback_id, [warning for commit in commits for warning in commit.warnings]

    async def undo(self, rollback_id: str, *, actor: Actor, command_id: UUID | None = None) -> list[str]:
        """Restore everything, unless newer work has been completed."""
        context = self._engine.context(actor.name, command_id)

        def body(connection: Connection, plan: _UndoPlan) -> list[Commit]:
            self._verify_undo(connection, plan)
            commits = self._apply(connection, plan, context)
            records.mark_undone(connection, _undone_rollbacks(commits), context.at)
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
        """Plan and send the commands while the pipeline is locked. Plan again if the runs have changed."""
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

    # Plans: which command to send to which run
    def _plan(self, connection: Connection, spec: RollbackSpec) -> _RollbackPlan:
        records.check_is_new(connection, spec.rollback_id)
        source = self._engine.load(connection, spec.source_run_id, lock=False)
        if spec.rollback_type == "run_level":
            return self._run_level(connection, spec, source)
        if spec.target_run_id not in (None, spec.source_run_id):
            raise InvalidInput(
                [("/target_run_id", "A checkpoint-level rollback stays within its run. Leave this out.")]
            )
        position = _position(source, spec)
        command = RollBack(spec.rollback_id, position, hold=self._holds(connection, spec, source, position))
        return _RollbackPlan(spec.rollback_id, source, None, position, [(spec.source_run_id, command)])

    def _run_level(self, connection: Connection, spec: RollbackSpec, source: LoadedRun) -> _RollbackPlan:
        if spec.target_run_id is None:
            raise InvalidInput([("/target_run_id", "Enter the run to roll back to.")])
        target = self._engine.load(connection, spec.target_run_id, lock=False)
        _check_same_definition(source, target)
        position = _position(target, spec)
        later = records.later_runs(connection, target.facts)
        loaded = [self._engine.load(connection, run_id, lock=False) for run_id in later]
        hold = self._holds(connection, spec, target, position, loaded)
        command = RollBack(spec.rollback_id, position, with_runs=True, hold=hold)
        commands: list[tuple[str, Command]] = [(target.facts.run_id, command)]
        commands += [(run_id, ArchiveRun(spec.rollback_id)) for run_id in later]
        return _RollbackPlan(spec.rollback_id, source, target, position, commands)

    def _holds(
        self,
        connection: Connection,
        spec: RollbackSpec,
        target: LoadedRun,
        position: int,
        later: Sequence[LoadedRun] = (),
    ) -> bool:
        """Whether the run is left paused, so that people can look before executed actions are proposed again."""
        if spec.hold is not None:
            return spec.hold
        repeated = [e for e in target.run.current if e.position > position]
        repeated += [e for run in later for e in run.run.executions.values()]
        ids = [e.id for e in repeated if e.has_actions]
        return bool(ids and ledger.executed_of(connection, ids))

    def _verify(self, connection: Connection, plan: _RollbackPlan) -> None:
        """Check in the transaction that the later runs are still those of the plan."""
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
        """Check in the transaction that an undo is still possible and the newer runs are still those of the plan."""
        row = records.find_undoable(connection, plan.rollback_id)
        if records.newer_open_runs(connection, row, plan.own) != plan.newer:
            raise _PlanOutdated


class _PlanOutdated(Exception):
    """The runs of the plan changed before they were locked."""


@dataclass(frozen=True, slots=True)
class _RollbackPlan:
    rollback_id: str
    source: LoadedRun
    target: LoadedRun | None  # of a run-level rollback
    position: int
    commands: Sequence[tuple[str, Command]]  # first for the target run, then for later runs


@dataclass(frozen=True, slots=True)
class _UndoPlan:
    rollback_id: str
    own: tuple[str, ...]  # runs that the rollback changed
    newer: list[str]  # open runs created after it
    commands: Sequence[tuple[str, Command]]


P = TypeVar("P", _RollbackPlan, _UndoPlan)


def _actions(
    connection: Connection, rollback: str, runs: Sequence[ArchivedRun]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The executed actions of the archived executions, and those that are withdrawn."""
    ids = [
        execution
        for run in runs
        for execution in (run.rollback(rollback).archived or tuple(run.before.executions))
        if run.before.executions[execution].has_actions
    ]
    if not ids:
        return (), ()
    return ledger.executed_of(connection, ids), ledger.open_of(connection, ids)


def _position(loaded: LoadedRun, spec: RollbackSpec) -> int:
    if spec.target_checkpoint_position is not None:
        return spec.target_checkpoint_position
    if spec.target_checkpoint_id is None:
        raise InvalidInput(
            [("/target_checkpoint_position", "Enter the checkpoint to roll back to, or -1 for the beginning.")]
        )
    for key, place in loaded.places.items():
        if spec.target_checkpoint_id in (place.checkpoint_id, key):
            return loaded.run.plan[key].position
    raise NotFound("checkpoint in this run", spec.target_checkpoint_id)


def _check_same_definition(source: LoadedRun, target: LoadedRun) -> None:
    a, b = source.facts, target.facts
    if a.pipeline_id != b.pipeline_id:
        raise InvalidInput([("/target_run_id", "This run belongs to another pipeline.")])
    if a.definition_version != b.definition_version:
        raise CommandRefused("You can't roll back to a run of an earlier definition version.")
    if a.run_version is None or b.run_version is None:
        raise CommandRefused("You can only roll back a test run to one of its own checkpoints.")
    if b.run_version > a.run_version:
        raise InvalidInput(
            [("/target_run_id", f"v{b.run_version} is newer than v{a.run_version}. Enter an older one.")]
        )


def _undone_rollbacks(commits: Sequence[Commit]) -> set[str]:
    """The requested rollback, and later ones made by failures, which are undone with it."""
    return {
        effect.rollback for commit in commits for effect in commit.decision.effects if isinstance(effect, RestoreFiles)
    }
