"""The one way to change a run: load, decide and save in one transaction, then carry out the effects."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar
from uuid import UUID, uuid4

import sqlalchemy as sa

from cairn.core.budget import UNBOUNDED
from cairn.core.commands import Command, CommandContext, Decide, Report, Timer
from cairn.core.decide import Decision, decide
from cairn.core.effects import ScheduleTimer
from cairn.core.errors import CommandRefused
from cairn.core.execution import Execution
from cairn.core.rule_verdict import Judge, no_rules
from cairn.core.states import CLOSED
from cairn.ports import Clock, JobEngine
from cairn.services.actions import corrections, proposals
from cairn.services.costs.budgets import Budgets
from cairn.services.dispatch.recorded_calls import keep_call
from cairn.services.dispatch.results import NOTHING, Attachments, keep_context
from cairn.services.engine.after_commit import Commit, Effects
from cairn.services.engine.file_plan import plan as plan_files
from cairn.services.engine.file_plan import write_moves
from cairn.services.engine.job_ids import driven_by, drivers_of, timer_id
from cairn.services.engine.locks import Locks
from cairn.services.engine.plans import DefinitionCache
from cairn.services.errors import NotFound
from cairn.services.folders.expected_files import run_info
from cairn.services.notifications.outbox import NotificationOutbox
from cairn.services.rework import lineage
from cairn.services.rollbacks.records import by_failure, record, taken
from cairn.services.runs import validations
from cairn.store import Database, LoadedRun, LostRace, NewArtifact, RunFacts, StaleDispatch, load_run, save_run
from cairn.store import tables as t

__all__ = ["Commit", "Engine"]

WARM = 256  # runs that are kept loaded
OPEN_AFTER = 0.05  # seconds until a run that is at work has its own folder, if it does not rest before
T = TypeVar("T")


class Engine:
    def __init__(
        self,
        database: Database,
        jobs: JobEngine,
        plans: DefinitionCache,
        effects: Effects,
        clock: Clock,
        judge: Callable[[sa.Connection, LoadedRun, Sequence[NewArtifact]], Judge] | None = None,
        notices: NotificationOutbox | None = None,
    ) -> None:
        self.database = database
        self.plans = plans
        self.effects = effects
        self.clock = clock
        self._jobs = jobs
        self._notices = notices
        self.budgets = Budgets(plans, clock, is_alone=database.kind == "sqlite")
        self.judge = judge  # the rules in force, as a transaction sees them
        self._locks = Locks()
        self._warm = OrderedDict[str, LoadedRun]()
        self._under_way: set[asyncio.Task[Any]] = set()
        self._to_open: dict[str, RunFacts] = {}  # runs whose folders are made a little later

    def given(self, by: str, command_id: UUID | None = None) -> CommandContext:
        return CommandContext(self.clock.now(), by, command_id or uuid4())

    def holding(self, *ids: str) -> AbstractAsyncContextManager[None]:
        """Nobody else in this process changes these runs or pipelines, or their files, meanwhile."""
        return self._locks.holding(*ids)

    # ---- whole, whoever waits for it -----------------------------------------------------------------
    async def unbroken(self, work: Coroutine[Any, Any, T]) -> T:
        """From a commit to the last of its effects nothing is left out, also when the caller has gone."""
        return await asyncio.shield(self._start(work))

    def _start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return task

    async def come_to_rest(self) -> None:
        """Wait for what is under way, and do now what was to follow soon."""
        for run_id in tuple(self._to_open):
            self._open_now(run_id)
        while self._under_way:
            await asyncio.wait(tuple(self._under_way))

    # ---- one command ---------------------------------------------------------------------------------
    async def send(
        self,
        run_id: str,
        command: Command,
        given: CommandContext,
        *,
        lane: str | None = None,
        brought: Attachments = NOTHING,
    ) -> Commit:
        """Carry the command out, to the last of its files."""
        return await self.unbroken(self.carry_through(run_id, command, given, lane=lane, brought=brought))

    async def carry_through(
        self,
        run_id: str,
        command: Command,
        given: CommandContext,
        *,
        lane: str | None = None,
        brought: Attachments = NOTHING,
    ) -> Commit:
        """The same for a caller that nobody cancels meanwhile."""

        def body(connection: sa.Connection) -> Commit:
            return self.carry(connection, run_id, command, given, lane=lane, brought=brought)

        async with self.holding(run_id):
            step = await self._commit(run_id, body)
            await self.finish(step, resting=lane is None or not step.loaded.run.working)
        return step

    async def _commit(self, run_id: str, body: Callable[[sa.Connection], Commit]) -> Commit:
        try:
            return await self.database.transact(body)
        except (LostRace, StaleDispatch):
            self.forget(run_id)
        except CommandRefused:
            # Another process may have moved the run on since it was loaded here.
            if run_id not in self._warm or self.database.kind == "sqlite":
                raise
            self.forget(run_id)
        return await self.database.transact(body)

    async def transact(self, run_ids: Sequence[str], body: Callable[[sa.Connection], T]) -> T:
        """Several commands in one transaction; a lost race is run once more."""
        try:
            return await self.database.transact(body)
        except (LostRace, StaleDispatch):
            for run_id in run_ids:
                self.forget(run_id)
        return await self.database.transact(body)

    async def finish(self, *steps: Commit, resting: bool = True) -> None:
        """After the commit."""
        for step in steps:
            self._keep_warm(step.loaded)
        await self.effects.carry_out(steps, resting=resting)

    async def begin(self, made: LoadedRun, step: Commit | None) -> list[str]:
        """After the commit of a new run; the answer is what went wrong with its files."""
        if step is not None:
            self._keep_warm(step.loaded)
        warnings = await self.effects.begin(made, step)
        if not self.effects.is_open(made.facts.run_id):
            self._to_open[made.facts.run_id] = made.facts
            asyncio.get_running_loop().call_later(OPEN_AFTER, self._open_now, made.facts.run_id)
        return warnings

    def _open_now(self, run_id: str) -> None:
        """What is done at once has come to rest meanwhile, and is written once."""
        facts = self._to_open.pop(run_id, None)
        if facts is not None and not self.effects.is_open(run_id):
            self._start(self.open(facts))

    async def open(self, facts: RunFacts) -> None:
        """Make the folder that stands for the whole of a run, unless it stands already."""
        if not self.effects.is_open(facts.run_id):
            async with self.holding(facts.run_id):  # who moves its pipeline's folder holds every run in it
                try:
                    await self.effects.open(await self.read_run(facts.run_id))
                except NotFound:  # removed meanwhile
                    self.effects.forget(facts.run_id)

    # ---- in the transaction --------------------------------------------------------------------------
    def carry(
        self,
        connection: sa.Connection,
        run_id: str,
        command: Command,
        given: CommandContext,
        *,
        lane: str | None = None,
        brought: Attachments = NOTHING,
        records: bool = True,
        before: LoadedRun | None = None,
    ) -> Commit:
        """Load, decide and save; several may share one transaction. `finish` each when it is committed.

        `before` is the run as it stands in this transaction, where the caller has it.
        """
        before = before or self._warm.get(run_id) or self.load(connection, run_id)
        given = self._ruled(connection, before, given, brought)
        decision = lineage.complete_told(connection, _decide(connection, before, command, given), brought.artifacts)
        filing = plan_files(connection, before, decision, given, brought.artifacts)
        drivers, jobs = drivers_of(decision, lane)
        loaded = save_run(
            connection,
            before,
            decision,
            given,
            drivers=drivers,
            artifacts=filing.artifacts,
            promoted=filing.promoted,
            files_through=self.effects.take_filed(run_id).get(run_id),
        )
        write_moves(connection, filing, given)
        if isinstance(command, Report):
            lineage.record(connection, before.run, command, brought.consumed, given)
            if brought.context is not None:
                keep_context(connection, command.execution, brought.context)
            validations.keep(connection, before.run.executions[command.execution], brought.verdicts, given)
            if brought.wanted is not None:
                keep_call(connection, before.run.executions[command.execution], brought.wanted, given)
            if brought.weighed is not None:
                asked = proposals.made_of(before, decision.run.approvals, command.execution)
                proposals.keep(connection, before.run.executions[command.execution], brought.weighed, asked, given)
        if isinstance(command, Decide) and brought.learnt is not None:
            learnt = brought.learnt
            corrections.keep(connection, before.facts.pipeline_id, learnt, command, given)
            proposals.correct(connection, learnt.approval_id, learnt.operation_type, learnt.modified)
        if records and (rollback := by_failure(before.run, decision.run)) is not None:
            record(connection, rollback, given, before.facts, taken(before, decision, filing))
        for job in jobs:
            self._jobs.enqueue_lane(connection, job, run_id)
        if lane is not None and driven_by(loaded, lane) is None:
            self._jobs.end_lane(connection, lane)
        for effect in decision.effects:
            if isinstance(effect, ScheduleTimer):
                timer = timer_id(run_id, effect.command)
                self._jobs.enqueue_timer(connection, timer, run_id, effect.command, effect.after)
        notices = self._notices.note(connection, before, decision, given) if self._notices is not None else ()
        # Who has just written the rows has them at hand; whoever reads them next fetches them anew.
        rests = lane is not None and not loaded.run.working and self.effects.is_at_once(loaded)
        info = run_info(connection, run_id) if rests else None
        return Commit(before, loaded, decision, given, filing, jobs, notices, info)

    def foresee(self, connection: sa.Connection, run_id: str, command: Command, given: CommandContext) -> Commit:
        """What the command would do, without doing it."""
        before = self.load(connection, run_id, lock=False)
        decision = _decide(connection, before, command, self._ruled(connection, before, given))
        return Commit(before, before, decision, given, plan_files(connection, before, decision, given, ()))

    def _ruled(
        self, connection: sa.Connection, before: LoadedRun, given: CommandContext, brought: Attachments = NOTHING
    ) -> CommandContext:
        """With the rules and the budget that are in force in this transaction; rules also see what a report brings."""
        judge = self.judge(connection, before, brought.artifacts) if self.judge is not None else no_rules
        spent = self.budgets.spent(connection, before.facts.run_id) if before.run.over_budget else ""
        return given.changed(judge=judge, starter=before.facts.created_by, over_budget=spent)

    def load(self, connection: sa.Connection, run_id: str, *, lock: bool = True) -> LoadedRun:
        loaded = load_run(connection, run_id, self.plans, lock=lock and self.database.kind == "postgresql")
        if loaded is None:
            raise NotFound("run", run_id)
        return loaded

    # ---- what is kept loaded -------------------------------------------------------------------------
    async def read_run(self, run_id: str) -> LoadedRun:
        if self.database.kind == "sqlite" and (warm := self._warm.get(run_id)) is not None:
            return warm
        return await self.database.aread(lambda c: self.load(c, run_id, lock=False))

    def is_current(self, run_id: str, e: Execution) -> bool:
        """Whether this dispatch still holds, as far as this process knows."""
        warm = self._warm.get(run_id)
        now = warm.run.executions.get(e.id) if warm is not None else None
        return now is None or (now.dispatch, now.state, now.archived_by) == (e.dispatch, e.state, e.archived_by)

    def _keep_warm(self, loaded: LoadedRun) -> None:
        run_id = loaded.facts.run_id
        self._warm[run_id] = loaded
        self._warm.move_to_end(run_id)
        if loaded.run.budget != UNBOUNDED or loaded.run.status in CLOSED:
            self.budgets.forget(run_id)
        if len(self._warm) > WARM:
            self._warm.popitem(last=False)

    def forget(self, run_id: str) -> None:
        self._warm.pop(run_id, None)

    def forget_pipeline(self, pipeline_id: str) -> None:
        """Its definition has changed: what is loaded of its runs is old."""
        self.budgets.forget_all()
        for run_id in [r for r, loaded in self._warm.items() if loaded.facts.pipeline_id == pipeline_id]:
            self.forget(run_id)


def _decide(connection: sa.Connection, before: LoadedRun, command: Command, given: CommandContext) -> Decision:
    if before.run.status in CLOSED and not isinstance(command, Report | Timer):
        _check_line(connection, before)
    return decide(before.run, command, given)


def _check_line(connection: sa.Connection, before: LoadedRun) -> None:
    """A run that is over can be taken up again while its pipeline and its definition stand (P2, P4, D4)."""
    p = t.pipelines.c
    row = connection.execute(
        sa.select(p.deleted_at, p.pipeline_definition_version).where(p.pipeline_id == before.facts.pipeline_id)
    ).one()
    if row.deleted_at is not None:
        raise CommandRefused("The pipeline is deleted: its runs can only be read.", ("restore the pipeline",))
    if row.pipeline_definition_version != before.facts.definition_version:
        raise CommandRefused(
            "The run is of an earlier definition of the pipeline: it can only be read.", ("start a new run",)
        )
