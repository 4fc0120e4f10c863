"""What follows a commit: people are told, runners stop, the files follow, lanes wake, listeners are told."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from cairn.core.commands import CommandContext
from cairn.core.decide import Decision
from cairn.core.effects import ArchiveFiles, RestoreFiles, ScheduleTimer, StopExecution
from cairn.services.engine.event_bus import EventBus
from cairn.services.engine.file_plan import FilePlan
from cairn.services.events.views import ChangeHint
from cairn.services.folders.folder_sync import FolderSync
from cairn.store import Database, LoadedRun
from cairn.store import tables as t

log = logging.getLogger(__name__)


class Lanes(Protocol):
    """Whoever carries executions out in this process."""

    def wake(self, job: str, run_id: str) -> None: ...

    def remind(self, run_id: str, later: ScheduleTimer) -> None: ...

    def tell(self, notices: tuple[str, ...]) -> None: ...

    async def stop_execution(self, execution: str, dispatch: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Commit:
    """One committed decision, and what is left to do for it."""

    before: LoadedRun
    loaded: LoadedRun
    decision: Decision
    given: CommandContext
    filing: FilePlan
    jobs: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()  # what people are to be told of it
    info: bytes | None = None  # what `run_info.json` says of the run now, where it was read with it
    warnings: list[str] = field(default_factory=list[str])

    @property
    def run_id(self) -> str:
        return self.loaded.facts.run_id


class Effects:
    """Carries effects out after their commit, which stands whatever goes wrong here (D13)."""

    def __init__(self, database: Database, projection: FolderSync, hub: EventBus) -> None:
        self._database = database
        self._projection = projection
        self._hub = hub
        self._lanes: Lanes | None = None
        self._filed: dict[str, int] = {}  # runs whose files stand, and through which revision
        self._unopened: set[str] = set()  # runs whose folders are still to be made
        self._unfiled: set[str] = set()  # runs whose files could not follow
        self._behind: set[str] = set()  # pipelines whose folders could not follow

    def attach(self, lanes: Lanes | None) -> None:
        self._lanes = lanes

    async def carry_out(self, steps: Sequence[Commit], *, resting: bool) -> None:
        """Lanes wake whatever happens before: the work goes on. `resting`: nobody drives the runs on right after."""
        if self._lanes is not None:
            self._lanes.tell(tuple(notice for step in steps for notice in step.notices))
        try:
            await self._stop(steps)
            for step in steps:
                # A lane that starts now brings the whole up to date when it comes to rest: it need not wait for that.
                await self._file(step, resting and not step.jobs)
            await self._note_rollbacks(steps)
        finally:
            for step in steps:
                self._wake(step)
                self._announce(step)

    async def begin(self, made: LoadedRun, step: Commit | None) -> list[str]:
        """A new run; the answer is what went wrong with its files. What is at work has its folder a little later."""
        self._unopened.add(made.facts.run_id)
        if step is not None:
            await self.carry_out([step], resting=False)
        warnings = step.warnings if step is not None else []
        if step is not None and step.jobs:
            return warnings
        return [*warnings, *await self.open(step.loaded if step is not None else made)]

    def is_at_once(self, run: LoadedRun) -> bool:
        """Whether what stands for the whole of a run is written on the loop."""
        return self._projection.is_at_once(run)

    def is_open(self, run_id: str) -> bool:
        """Whether the folder that stands for the whole of a run has been made."""
        return run_id not in self._unopened

    async def open(self, run: LoadedRun, info: bytes | None = None) -> list[str]:
        """Make it, as the run is now. Its caller holds the run."""
        run_id = run.facts.run_id
        if self.is_open(run_id):
            return []
        self._unopened.discard(run_id)
        try:
            await self._projection.open_run(run, info)
        except Exception as error:  # noqa: BLE001 - it may be anything that the disk does
            return [self.fail_run(run_id, error)]
        self.note_filed(run_id, run.revision)
        return []

    def forget(self, run_id: str) -> None:
        """The run is no longer there: nor is anything left to do for its files."""
        self._unopened.discard(run_id)
        self._unfiled.discard(run_id)
        self._filed.pop(run_id, None)

    async def _stop(self, steps: Sequence[Commit]) -> None:
        if self._lanes is None:
            return
        for step in steps:
            for effect in step.decision.effects:
                if isinstance(effect, StopExecution):
                    try:
                        await self._lanes.stop_execution(effect.execution, effect.dispatch)
                    except Exception:
                        log.exception("execution %s could not be stopped; what it reports is dropped", effect.execution)

    # ---- files ---------------------------------------------------------------------------------------
    async def _file(self, step: Commit, resting: bool) -> None:
        is_open = self.is_open(step.run_id)
        try:
            await self._projection.follow(step.loaded, step.decision, step.given, step.filing)
            if resting and is_open:
                await self._projection.bring_up_to_date(step.loaded, step.info)
        except Exception as error:  # noqa: BLE001 - what is committed stands; the keeper finishes the files (D13)
            step.warnings.append(self.fail_run(step.run_id, error))
        else:
            self.note_filed(step.run_id, step.loaded.revision)
        if resting and not is_open:
            step.warnings.extend(await self.open(step.loaded, step.info))

    def fail_run(self, run_id: str, error: Exception) -> str:
        """The files of a run could not follow; the answer is what its caller is told."""
        trace = None if run_id in self._unfiled else error  # once is enough
        log.error("files of run %s could not be brought up to date: %s", run_id, error, exc_info=trace)
        self._unfiled.add(run_id)
        self._filed.pop(run_id, None)
        return f"Saved, but the files on disk could not be brought up to date: {error}"

    async def _note_rollbacks(self, steps: Sequence[Commit]) -> None:
        """The folders of these rollbacks have moved: the next start need not look at them again."""
        done = {
            effect.rollback
            for step in steps
            for effect in step.decision.effects
            if isinstance(effect, ArchiveFiles | RestoreFiles)
        }
        if done and not any(step.warnings for step in steps):
            mark = sa.update(t.rollback_events).where(t.rollback_events.c.rollback_id.in_(done)).values(files_done=True)
            try:
                await self._database.transact(lambda c: c.execute(mark))
            except SQLAlchemyError as error:
                log.warning("it could not be noted that rollbacks are filed: %s", error)

    def note_filed(self, run_id: str, revision: int) -> None:
        """The files of a run stand; not of one whose folder is still to be made, or that could not follow."""
        if run_id not in self._unfiled and run_id not in self._unopened:
            self._filed[run_id] = revision

    def take_filed(self, run_id: str | None = None) -> dict[str, int]:
        """Runs whose files stand since the last call, to be written down now and then."""
        if run_id is not None:
            revision = self._filed.pop(run_id, None)
            return {} if revision is None else {run_id: revision}
        filed, self._filed = self._filed, {}
        return filed

    # ---- what could not follow -----------------------------------------------------------------------
    def fail_pipeline(self, pipeline_id: str, error: Exception) -> str:
        """The folder of a pipeline could not follow; the answer is what its caller is told."""
        trace = None if pipeline_id in self._behind else error  # once is enough
        log.error("the folder of pipeline %s could not be brought up to date: %s", pipeline_id, error, exc_info=trace)
        self._behind.add(pipeline_id)
        return f"Saved, but the files on disk could not be brought up to date: {error}"

    def failed_pipelines(self, connection: sa.Connection) -> set[str]:
        r = t.pipeline_runs.c
        found = connection.execute(sa.select(r.pipeline_id).where(r.run_id.in_(tuple(self._unfiled)))).scalars()
        return self._behind.union(found)

    def mended(self, pipeline_id: str, runs: Mapping[str, int]) -> None:
        """These runs of the pipeline stand now, through these revisions."""
        self._behind.discard(pipeline_id)
        self._unfiled.difference_update(runs)
        for run_id, revision in runs.items():
            self.note_filed(run_id, revision)

    # ---- those who wait ------------------------------------------------------------------------------
    def _wake(self, step: Commit) -> None:
        if self._lanes is None:
            return
        for job in step.jobs:
            self._lanes.wake(job, step.run_id)
        for effect in step.decision.effects:
            if isinstance(effect, ScheduleTimer):
                self._lanes.remind(step.run_id, effect)

    def _announce(self, step: Commit) -> None:
        if self._hub.is_heard:
            of = step.loaded.facts
            changes = [ChangeHint(of.pipeline_id, of.run_id, str(event.type)) for event in step.decision.events]
            self._hub.announce(*changes)
