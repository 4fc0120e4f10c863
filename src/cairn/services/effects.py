"""What follows a commit: people are told, runners stop, the files follow, lanes wake, listeners are told."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from cairn.core.messages import Archive, SendLater, Stop, Unarchive
from cairn.services.budgets import BudgetCache
from cairn.services.engine.commit import Commit
from cairn.services.engine.event_bus import ChangeHint, EventBus
from cairn.services.projection import Projection
from cairn.store import Database, Loaded
from cairn.store import tables as t

log = logging.getLogger(__name__)


class Lanes(Protocol):
    """Whoever carries executions out in this process."""

    def wake(self, job: str, run_id: str) -> None: ...

    def remind(self, run_id: str, later: SendLater) -> None: ...

    def tell(self, notices: tuple[str, ...]) -> None: ...

    async def stop_execution(self, execution: str, dispatch: int) -> None: ...


class Effects:
    """Carries effects out after their commit, which stands whatever goes wrong here (D13)."""

    def __init__(self, database: Database, projection: Projection, hub: EventBus, budget_cache: BudgetCache) -> None:
        self._database = database
        self._projection = projection
        self._hub = hub
        self._budget_cache = budget_cache
        self._lanes: Lanes | None = None
        self._filed: dict[str, int] = {}  # runs whose files stand, and through which revision
        self._unopened: set[str] = set()  # runs whose folders are still to be made
        self._unfiled: set[str] = set()  # runs whose files could not follow
        self._behind: set[str] = set()  # pipelines whose folders could not follow

    def attach(self, lanes: Lanes | None) -> None:
        self._lanes = lanes

    async def carry_out(self, commits: Sequence[Commit]) -> None:
        """Lanes wake whatever happens before: the work goes on."""
        await self._budget_cache.after_commit(commits)
        if self._lanes is not None:
            self._lanes.tell(tuple(notice for commit in commits for notice in commit.outbox))
        try:
            await self._stop(commits)
            for commit in commits:
                # A lane that starts now brings the whole up to date when it comes to rest: it need not wait for that.
                await self._file(commit, not commit.lane_continues and not commit.jobs)
            await self._note_rollbacks(commits)
        finally:
            for commit in commits:
                self._wake(commit)
                self._announce(commit)

    async def begin(self, made: Loaded, commit: Commit | None) -> list[str]:
        """A new run; the answer is what went wrong with its files. What is at work has its folder a little later."""
        self._unopened.add(made.facts.run_id)
        if commit is not None:
            await self.carry_out([commit])
        warnings = commit.warnings if commit is not None else []
        if commit is not None and commit.jobs:
            return warnings
        return [*warnings, *await self.open(commit.after if commit is not None else made)]

    def is_open(self, run_id: str) -> bool:
        """Whether the folder that stands for the whole of a run has been made."""
        return run_id not in self._unopened

    async def open(self, run: Loaded) -> list[str]:
        """Make it, as the run is now. Its caller holds the run."""
        run_id = run.facts.run_id
        if self.is_open(run_id):
            return []
        self._unopened.discard(run_id)
        try:
            await self._projection.open_run(run)
        except Exception as error:  # noqa: BLE001 - it may be anything that the disk does
            return [self.fail_run(run_id, error)]
        self.note_filed(run_id, run.revision)
        return []

    def forget(self, run_id: str) -> None:
        """The run is no longer there: nor is anything left to do for its files."""
        self._unopened.discard(run_id)
        self._unfiled.discard(run_id)
        self._filed.pop(run_id, None)

    async def _stop(self, commits: Sequence[Commit]) -> None:
        if self._lanes is None:
            return
        for commit in commits:
            for effect in commit.decision.effects:
                if isinstance(effect, Stop):
                    try:
                        await self._lanes.stop_execution(effect.execution, effect.dispatch)
                    except Exception:
                        log.exception("execution %s could not be stopped; what it reports is dropped", effect.execution)

    # ---- files ---------------------------------------------------------------------------------------
    async def _file(self, commit: Commit, resting: bool) -> None:
        is_open = self.is_open(commit.run_id)
        try:
            await self._projection.follow(commit.after, commit.decision, commit.context, commit.file_plan)
            if resting and is_open:
                await self._projection.bring_up_to_date(commit.after)
        except Exception as error:  # noqa: BLE001 - what is committed stands; the keeper finishes the files (D13)
            commit.warnings.append(self.fail_run(commit.run_id, error))
        else:
            self.note_filed(commit.run_id, commit.after.revision)
        if resting and not is_open:
            commit.warnings.extend(await self.open(commit.after))

    def fail_run(self, run_id: str, error: Exception) -> str:
        """The files of a run could not follow; the answer is what its caller is told."""
        trace = None if run_id in self._unfiled else error  # once is enough
        log.error("files of run %s could not be brought up to date: %s", run_id, error, exc_info=trace)
        self._unfiled.add(run_id)
        self._filed.pop(run_id, None)
        return f"Saved, but the files on disk could not be brought up to date: {error}"

    async def _note_rollbacks(self, commits: Sequence[Commit]) -> None:
        """The folders of these rollbacks have moved: the next start need not look at them again."""
        done = {
            effect.rollback
            for commit in commits
            for effect in commit.decision.effects
            if isinstance(effect, Archive | Unarchive)
        }
        if done and not any(commit.warnings for commit in commits):
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
    def _wake(self, commit: Commit) -> None:
        if self._lanes is None:
            return
        for job in commit.jobs:
            self._lanes.wake(job, commit.run_id)
        for effect in commit.decision.effects:
            if isinstance(effect, SendLater):
                self._lanes.remind(commit.run_id, effect)

    def _announce(self, commit: Commit) -> None:
        if self._hub.is_heard:
            of = commit.after.facts
            changes = [ChangeHint(of.pipeline_id, of.run_id, str(event.type)) for event in commit.decision.events]
            self._hub.announce(*changes)
