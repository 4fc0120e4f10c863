"""The one way to change a run: load, decide and save in one transaction, then carry out the effects."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from uuid import UUID, uuid4
from weakref import WeakValueDictionary

import sqlalchemy as sa

from cairn.core.decide import Decision, decide
from cairn.core.errors import Refused
from cairn.core.messages import (
    ApprovalExpired,
    Archive,
    Command,
    Dispatch,
    Given,
    RetryDue,
    RunTimedOut,
    SendLater,
    Stop,
    TimedOut,
    Timer,
    Unarchive,
)
from cairn.ports import Clock, JobEngine
from cairn.services.errors import NotFound
from cairn.services.filing import Filing, write_moves
from cairn.services.filing import plan as plan_files
from cairn.services.hub import Hub
from cairn.services.plans import Plans
from cairn.services.projection import Projection
from cairn.services.rollback_records import by_failure, record, taken
from cairn.services.views.events import Change
from cairn.store import Database, Loaded, LostRace, NewArtifact, RunFacts, load_run, save_run
from cairn.store import tables as t

log = logging.getLogger(__name__)
WARM = 256  # runs that are kept loaded
T = TypeVar("T")


class Lanes(Protocol):
    """Whoever carries executions out in this process."""

    def wake(self, job: str, run_id: str) -> None: ...

    def remind(self, run_id: str, later: SendLater) -> None: ...

    async def stop_execution(self, execution: str, dispatch: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Step:
    """One committed decision, and what is left to do for it."""

    before: Loaded
    loaded: Loaded
    decision: Decision
    given: Given
    filing: Filing
    jobs: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list[str])

    @property
    def run_id(self) -> str:
        return self.loaded.facts.run_id


class Engine:
    def __init__(
        self, database: Database, jobs: JobEngine, plans: Plans, projection: Projection, hub: Hub, clock: Clock
    ) -> None:
        self.database = database
        self.plans = plans
        self.projection = projection
        self.hub = hub
        self.clock = clock
        self._jobs = jobs
        self._lanes: Lanes | None = None
        self._locks = WeakValueDictionary[str, asyncio.Lock]()
        self._warm = OrderedDict[str, Loaded]()
        self._filed: dict[str, int] = {}  # runs whose files stand, and through which revision
        self.own_jobs: set[str] = set()  # jobs that this process has enqueued and wakes itself

    def attach(self, lanes: Lanes | None) -> None:
        self._lanes = lanes

    def given(self, by: str, command_id: UUID | None = None) -> Given:
        return Given(self.clock.now(), by, command_id or uuid4())

    # ---- one at a time for each run ------------------------------------------------------------
    @asynccontextmanager
    async def holding(self, *run_ids: str) -> AsyncGenerator[None]:
        """Nobody else in this process changes these runs, or their files, meanwhile."""
        async with AsyncExitStack() as stack:
            for run_id in sorted(set(run_ids)):
                lock = self._locks.get(run_id)
                if lock is None:
                    lock = self._locks[run_id] = asyncio.Lock()
                await stack.enter_async_context(lock)
            yield

    async def send(
        self,
        run_id: str,
        command: Command,
        given: Given,
        *,
        lane: str | None = None,
        artifacts: Sequence[NewArtifact] = (),
    ) -> Step:
        """Carry the command out, to the last of its files."""
        async with self.holding(run_id):
            step = await self._commit(run_id, command, given, lane, tuple(artifacts))
            await self.finish(step, resting=lane is None)
        return step

    async def _commit(
        self,
        run_id: str,
        command: Command,
        given: Given,
        lane: str | None,
        artifacts: tuple[NewArtifact, ...],
    ) -> Step:
        def body(connection: sa.Connection) -> Step:
            return self.carry(connection, run_id, command, given, lane=lane, artifacts=artifacts)

        try:
            return await self.database.transact(body)
        except LostRace:
            self.forget(run_id)
        except Refused:
            # Another process may have moved the run on since it was loaded here.
            if run_id not in self._warm or self.database.kind == "sqlite":
                raise
            self.forget(run_id)
        return await self.database.transact(body)

    # ---- in the transaction --------------------------------------------------------------------------
    def carry(
        self,
        connection: sa.Connection,
        run_id: str,
        command: Command,
        given: Given,
        *,
        lane: str | None = None,
        artifacts: tuple[NewArtifact, ...] = (),
        records: bool = True,
    ) -> Step:
        """Load, decide and save; several may share one transaction. `finish` each when it is committed."""
        before = self._warm.get(run_id) or self.load(connection, run_id)
        decision = decide(before.run, command, given)
        filing = plan_files(connection, before, decision, given, artifacts)
        drivers, jobs = self._drivers(decision, lane)
        loaded = save_run(
            connection,
            before,
            decision,
            given,
            drivers=drivers,
            artifacts=filing.artifacts,
            promoted=filing.promoted,
            files_through=self._filed.pop(run_id, None),
        )
        write_moves(connection, filing, given)
        if records and (rollback := by_failure(before.run, decision.run)) is not None:
            record(connection, rollback, given, before.facts, taken(before, decision, filing))
        self.own_jobs.update(jobs)
        for job in jobs:
            self._jobs.enqueue_lane(connection, job, run_id)
        for effect in decision.effects:
            if isinstance(effect, SendLater):
                self._jobs.enqueue_timer(
                    connection, timer_id(run_id, effect.command), run_id, effect.command, effect.after
                )
        return Step(before, loaded, decision, given, filing, jobs)

    def foresee(self, connection: sa.Connection, run_id: str, command: Command, given: Given) -> Step:
        """What the command would do, without doing it."""
        before = self.load(connection, run_id, lock=False)
        decision = decide(before.run, command, given)
        return Step(before, before, decision, given, plan_files(connection, before, decision, given, ()))

    def load(self, connection: sa.Connection, run_id: str, *, lock: bool = True) -> Loaded:
        loaded = load_run(connection, run_id, self.plans, lock=lock and self.database.kind == "postgresql")
        if loaded is None:
            raise NotFound("run", run_id)
        return loaded

    @staticmethod
    def _drivers(decision: Decision, lane: str | None) -> tuple[dict[str, str], tuple[str, ...]]:
        """Who drives what was dispatched: the lane that reported takes the first, the others get lanes of their own."""
        drivers: dict[str, str] = {}
        jobs: list[str] = []
        for effect in decision.effects:
            if not isinstance(effect, Dispatch):
                continue
            if lane is not None:
                drivers[effect.execution], lane = lane, None
            else:
                job = f"exec:{effect.execution}:{effect.dispatch}"
                drivers[effect.execution] = job
                jobs.append(job)
        return drivers, tuple(jobs)

    # ---- after the commit -------------------------------------------------------------------------------
    async def finish(self, *steps: Step, resting: bool = True) -> None:
        """Stop what must stop, let the files follow, wake the lanes, tell who listens."""
        for step in steps:
            self._keep_warm(step.loaded)
        for step in steps:
            for effect in step.decision.effects:
                if isinstance(effect, Stop) and self._lanes is not None:
                    await self._lanes.stop_execution(effect.execution, effect.dispatch)
        for step in steps:
            await self._file(step, resting)
        await self._note_rollbacks(steps)
        for step in steps:
            self._wake(step)
            self._announce(step)

    async def _note_rollbacks(self, steps: Sequence[Step]) -> None:
        """The folders of these rollbacks have moved: the next start need not look at them again."""
        done = {
            effect.rollback
            for step in steps
            for effect in step.decision.effects
            if isinstance(effect, Archive | Unarchive)
        }
        if done and not any(step.warnings for step in steps):
            mark = sa.update(t.rollback_events).where(t.rollback_events.c.rollback_id.in_(done)).values(files_done=True)
            await self.database.transact(lambda c: c.execute(mark))

    async def _file(self, step: Step, resting: bool) -> None:
        try:
            await self.projection.follow(step.loaded, step.decision, step.given, step.filing, resting=resting)
            self._filed[step.run_id] = step.loaded.revision
        except Exception as error:
            # What is committed stands; drift repair finishes the files (D13).
            log.exception("files of run %s could not be brought up to date", step.run_id)
            step.warnings.append(f"Saved, but the files on disk could not be brought up to date: {error}")

    def _wake(self, step: Step) -> None:
        if self._lanes is None:
            return
        for job in step.jobs:
            self._lanes.wake(job, step.run_id)
        for effect in step.decision.effects:
            if isinstance(effect, SendLater):
                self._lanes.remind(step.run_id, effect)

    def _announce(self, step: Step) -> None:
        if self.hub.is_heard:
            of = step.loaded.facts
            changes = [
                Change(pipeline_id=of.pipeline_id, run_id=of.run_id, event_type=event.type.value)
                for event in step.decision.events
            ]
            self.hub.announce(*changes)

    async def open_run(self, facts: RunFacts, steps: Sequence[Step]) -> None:
        """A run has been made: its folder comes first, then what its start brought about."""
        await self.projection.open_run(facts)
        await self.finish(*steps)

    async def rest(self, run_id: str) -> None:
        """Nobody drives the run on for now: what stands for the whole of it is brought up to date."""
        async with self.holding(run_id):
            loaded = await self.read_run(run_id)
            await self.projection.rest(loaded.facts)

    async def read_run(self, run_id: str) -> Loaded:
        if self.database.kind == "sqlite" and (warm := self._warm.get(run_id)) is not None:
            return warm
        return await self.database.aread(lambda c: self.load(c, run_id, lock=False))

    async def transact(self, run_ids: Sequence[str], body: Callable[[sa.Connection], T]) -> T:
        """Several commands in one transaction; a lost race is run once more."""
        try:
            return await self.database.transact(body)
        except LostRace:
            for run_id in run_ids:
                self.forget(run_id)
        return await self.database.transact(body)

    # ---- what is kept loaded --------------------------------------------------------------------------------
    def _keep_warm(self, loaded: Loaded) -> None:
        run_id = loaded.facts.run_id
        self._warm[run_id] = loaded
        self._warm.move_to_end(run_id)
        if len(self._warm) > WARM:
            self._warm.popitem(last=False)

    def warm(self, run_id: str) -> Loaded | None:
        return self._warm.get(run_id)

    def forget(self, run_id: str) -> None:
        self._warm.pop(run_id, None)

    def forget_pipeline(self, pipeline_id: str) -> None:
        """Its definition has changed: what is loaded of its runs is old."""
        for run_id in [r for r, loaded in self._warm.items() if loaded.facts.pipeline_id == pipeline_id]:
            self.forget(run_id)

    def take_filed(self) -> dict[str, int]:
        """Runs whose files stand since the last call, to be written down now and then."""
        filed, self._filed = self._filed, {}
        return filed


def timer_id(run_id: str, command: Timer) -> str:
    match command:
        case RetryDue():
            return f"retry:{command.execution}:{command.dispatch}"
        case TimedOut():
            return f"timeout:{command.execution}:{command.dispatch}"
        case ApprovalExpired():
            return f"expiry:{command.approval}:{command.period}"
        case RunTimedOut():
            return f"run-timeout:{run_id}:{command.clock}"
