"""The only way to change a run: load, decide and save in one transaction, then run the after-commit steps."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar
from uuid import UUID, uuid4

from cairn.core.commands import Command, CommandContext, Report, Timer
from cairn.core.decide import Decision, decide
from cairn.core.effects import ScheduleTimer
from cairn.core.errors import CommandRefused
from cairn.core.execution import Execution
from cairn.core.states import CLOSED
from cairn.ports import Clock, JobEngine
from cairn.services.engine.commit import NO_ATTACHMENTS, Attachments, CommandSource, Commit, Participants
from cairn.services.engine.file_plan import plan_files, save_moves
from cairn.services.engine.job_ids import driven_by, drivers_of, timer_id
from cairn.services.engine.locks import Locks
from cairn.services.engine.plans import DefinitionCache
from cairn.store import (
    Connection,
    Database,
    LoadedRun,
    LostRace,
    NewArtifact,
    StaleDispatch,
    find_artifacts,
    load_run,
    save_events,
    save_run,
)
from cairn.store import pipelines as pipeline_rows
from cairn.store.errors import NotFound

MAX_WARM_RUNS = 256
T = TypeVar("T")


class Engine:
    def __init__(
        self,
        database: Database,
        jobs: JobEngine,
        plans: DefinitionCache,
        clock: Clock,
        locks: Locks,
        participants: Participants,
    ) -> None:
        self.database = database
        self.plans = plans
        self.clock = clock
        self._jobs = jobs
        self.rules = participants.rules
        self._budget = participants.budget
        self._outbox = participants.outbox
        self._writes = participants.writes
        self._synced_revision = participants.synced_revision
        self._run_after_commit = participants.after_commit
        self._locks = locks
        self._warm = OrderedDict[str, LoadedRun]()
        self._tasks: set[asyncio.Task[Any]] = set()

    def context(self, actor: str, command_id: UUID | None = None) -> CommandContext:
        return CommandContext(self.clock.now(), actor, command_id or uuid4())

    def lock(self, *ids: str) -> AbstractAsyncContextManager[None]:
        """Lock runs or pipelines, and their files, against other changes in this process."""
        return self._locks.lock(*ids)

    # Shielding
    async def shielded(self, work: Coroutine[Any, Any, T]) -> T:
        """Finish `work` even if the caller is cancelled: the after-commit steps must follow a commit."""
        return await asyncio.shield(self._start(work))

    def _start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def drain(self) -> None:
        """Wait until all shielded work is finished."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))

    # Commands
    async def send(
        self,
        run_id: str,
        command: Command | CommandSource,
        context: CommandContext,
        *,
        lane: str | None = None,
        attachments: Attachments = NO_ATTACHMENTS,
    ) -> Commit:
        """Apply the command, commit, and run the after-commit steps."""
        return await self.shielded(self.send_unshielded(run_id, command, context, lane=lane, attachments=attachments))

    async def send_unshielded(
        self,
        run_id: str,
        command: Command | CommandSource,
        context: CommandContext,
        *,
        lane: str | None = None,
        attachments: Attachments = NO_ATTACHMENTS,
    ) -> Commit:
        """Like `send`, for a caller that can't be cancelled."""

        def body(connection: Connection) -> Commit:
            return self.apply(connection, run_id, command, context, lane=lane, attachments=attachments)

        async with self.lock(run_id):
            commit = await self._commit(run_id, body)
            await self.after_commit(commit)
        return commit

    async def _commit(self, run_id: str, body: Callable[[Connection], Commit]) -> Commit:
        try:
            return await self.database.transact(body)
        except (LostRace, StaleDispatch):
            self.forget(run_id)
        except CommandRefused:
            # The warm run may be outdated if another process has changed the run.
            if run_id not in self._warm or self.database.kind == "sqlite":
                raise
            self.forget(run_id)
        return await self.database.transact(body)

    async def transact(self, run_ids: Sequence[str], body: Callable[[Connection], T]) -> T:
        """Run several commands in one transaction. Retry once after a lost race."""
        try:
            return await self.database.transact(body)
        except (LostRace, StaleDispatch):
            for run_id in run_ids:
                self.forget(run_id)
        return await self.database.transact(body)

    async def after_commit(self, *commits: Commit) -> None:
        for commit in commits:
            self._keep_warm(commit.after)
        await self._run_after_commit(commits)

    # In the transaction
    def apply(
        self,
        connection: Connection,
        run_id: str,
        command: Command | CommandSource,
        context: CommandContext,
        *,
        lane: str | None = None,
        attachments: Attachments = NO_ATTACHMENTS,
        loaded: LoadedRun | None = None,
    ) -> Commit:
        """Load, decide and save. Several commands can share a transaction. Call `after_commit` once it is committed.

        `loaded` is the current run, if the caller has already loaded it in this transaction.
        """
        before = loaded or self._warm.get(run_id) or self.load(connection, run_id)
        if callable(command):
            command, built = command(connection, before, context)
            attachments += built
        context = self._complete(connection, before, context, attachments.artifacts)
        decision = _decide(connection, before, command, context)
        file_plan = plan_files(connection, before, decision, context, attachments.artifacts)
        drivers, jobs = drivers_of(decision, lane)
        after = save_run(
            connection,
            before,
            decision,
            context,
            drivers=drivers,
            artifacts=file_plan.artifacts,
            promoted=file_plan.promoted,
            events=attachments.events,
            synced_revision=self._synced_revision(run_id),
        )
        save_moves(connection, file_plan, context)
        commit = Commit(before, after, decision, context, file_plan, jobs, lane)
        for write in (*attachments.writes, *self._writes):
            write(connection, commit)
        if commit.late_events:
            commit = replace(commit, after=save_events(connection, after, commit.late_events, context))
        self._enqueue(connection, commit)
        return replace(commit, outbox=self._outbox.add(connection, commit))

    def _enqueue(self, connection: Connection, commit: Commit) -> None:
        """Enqueue lanes and timers. End the lane if it has no execution left."""
        for job in commit.jobs:
            self._jobs.enqueue_lane(connection, job, commit.run_id)
        if commit.lane is not None and driven_by(commit.after, commit.lane) is None:
            self._jobs.end_lane(connection, commit.lane)
        for effect in commit.decision.effects:
            if isinstance(effect, ScheduleTimer):
                timer = timer_id(commit.run_id, effect.command)
                self._jobs.enqueue_timer(connection, timer, commit.run_id, effect.command, effect.after)

    def simulate(self, connection: Connection, run_id: str, command: Command, context: CommandContext) -> Commit:
        """Decide without saving."""
        before = self.load(connection, run_id, lock=False)
        decision = _decide(connection, before, command, self._complete(connection, before, context, ()))
        return Commit(before, before, decision, context, plan_files(connection, before, decision, context, ()))

    def _complete(
        self, connection: Connection, before: LoadedRun, context: CommandContext, new: Sequence[NewArtifact]
    ) -> CommandContext:
        """Add the rules, budget and artifacts that this transaction sees. `new` artifacts belong to the command."""
        over_budget = self._budget.exhausted_message(connection, before.facts.run_id) if before.run.over_budget else ""
        return context.replace(
            judge=self.rules.judge(connection, before, new),
            artifacts=partial(find_artifacts, connection, new=new),
            starter=before.facts.created_by,
            over_budget=over_budget,
        )

    def load(self, connection: Connection, run_id: str, *, lock: bool = True) -> LoadedRun:
        loaded = load_run(connection, run_id, self.plans, lock=lock and self.database.kind == "postgresql")
        if loaded is None:
            raise NotFound("run", run_id)
        return loaded

    # Warm runs
    async def read_run(self, run_id: str) -> LoadedRun:
        if self.database.kind == "sqlite" and (warm := self._warm.get(run_id)) is not None:
            return warm
        return await self.database.aread(lambda c: self.load(c, run_id, lock=False))

    def is_current(self, run_id: str, e: Execution) -> bool:
        """Whether this dispatch of the execution is still current, as far as this process knows."""
        warm = self._warm.get(run_id)
        current = warm.run.executions.get(e.id) if warm is not None else None
        return current is None or (current.dispatch, current.state, current.archived_by) == (
            e.dispatch,
            e.state,
            e.archived_by,
        )

    def _keep_warm(self, loaded: LoadedRun) -> None:
        run_id = loaded.facts.run_id
        self._warm[run_id] = loaded
        self._warm.move_to_end(run_id)
        if len(self._warm) > MAX_WARM_RUNS:
            self._warm.popitem(last=False)

    def forget(self, run_id: str) -> None:
        self._warm.pop(run_id, None)

    def forget_pipeline(self, pipeline_id: str) -> None:
        """Drop the warm runs and limits of a pipeline after its definition has changed."""
        self._budget.clear_cache()
        for run_id in [r for r, loaded in self._warm.items() if loaded.facts.pipeline_id == pipeline_id]:
            self.forget(run_id)


def _decide(connection: Connection, before: LoadedRun, command: Command, context: CommandContext) -> Decision:
    if before.run.status in CLOSED and not isinstance(command, Report | Timer):
        _check_definition_is_current(connection, before)
    return decide(before.run, command, context)


def _check_definition_is_current(connection: Connection, before: LoadedRun) -> None:
    """A closed run can be changed only while its pipeline exists and its definition version is current."""
    definition = pipeline_rows.current_definition(connection, before.facts.pipeline_id)
    if definition.is_deleted:
        raise CommandRefused("The pipeline is deleted and its runs are read-only.", ("restore the pipeline",))
    if definition.version != before.facts.definition_version:
        raise CommandRefused("The run belongs to an earlier definition version and is read-only.", ("start a new run",))
