"""One way to save a definition: checked, numbered, kept; its runs ended where it says so; its folder following."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID, uuid5

from cairn.core.commands import CancelRun, CommandContext
from cairn.core.errors import CommandRefused
from cairn.definitions import Finding, PipelineDefinition, Severity, assign_ids, is_structural
from cairn.definitions import LoadedDefinition as Read
from cairn.definitions import stamp as stamp_times
from cairn.definitions.script_files import inline_scripts
from cairn.documents import SourceMap
from cairn.services.actors import Actor
from cairn.services.engine.commit import Commit
from cairn.services.engine.engine import Engine
from cairn.services.engine.event_bus import ChangeHint, EventBus
from cairn.services.errors import PreconditionFailed
from cairn.services.folders import records
from cairn.services.folders.folder_sync import FolderSync
from cairn.services.folders.recovery import FileRecovery
from cairn.services.pipelines import edits
from cairn.services.pipelines import records as rows
from cairn.store import Connection, pipelines
from cairn.store import pipelines as stored
from cairn.store.runs.run_rows import Row

Check = Callable[[Any, SourceMap | None], Read]


@dataclass(frozen=True, slots=True)
class DefinitionSaveRequest:
    """A change that somebody asks for."""

    edit: edits.Edit
    comment: str
    actor: Actor
    command_id: UUID | None = None
    if_match: int | None = None
    force: bool = False
    positions: SourceMap | None = None


@dataclass(frozen=True, slots=True)
class SavedDefinition:
    pipeline_id: str
    warnings: tuple[Finding, ...] = ()
    changed: bool = True


@dataclass(frozen=True, slots=True)
class _WrittenRevision:
    """What the transaction came to."""

    warnings: tuple[Finding, ...]
    commits: list[Commit]
    changed: bool = True
    ended: int | None = None  # definition version


class DefinitionWriter:
    def __init__(
        self, engine: Engine, folder_sync: FolderSync, mending: FileRecovery, hub: EventBus, check: Check
    ) -> None:
        self._engine = engine
        self._folder_sync = folder_sync
        self._mending = mending
        self._hub = hub
        self._check = check

    # ---- a definition --------------------------------------------------------------------------------
    async def save(self, pipeline_id: str, wanted: DefinitionSaveRequest) -> SavedDefinition:
        return await self._engine.shielded(self._save(pipeline_id, wanted))

    async def _save(self, pipeline_id: str, wanted: DefinitionSaveRequest) -> SavedDefinition:
        given = self._engine.context(wanted.actor.name, wanted.command_id)
        async with self._engine.lock(pipeline_id):
            runs = await self._engine.database.aread(lambda c: pipelines.current_runs(c, pipeline_id))
            async with self._engine.lock(*runs):  # nobody writes into their folders while they move
                written = await self._engine.transact(runs, lambda c: self._write(c, pipeline_id, wanted, given))
                self._engine.forget_pipeline(pipeline_id)
                await self._engine.after_commit(*written.commits)
                warnings = written.warnings
                if written.changed:
                    warnings += await self.file(pipeline_id, lambda: self._refile(pipeline_id, written.ended, given))
        if written.changed:
            self.announce(pipeline_id, "pipeline_updated")
        return SavedDefinition(pipeline_id, warnings, written.changed)

    def _write(
        self, connection: Connection, pipeline_id: str, wanted: DefinitionSaveRequest, given: CommandContext
    ) -> _WrittenRevision:
        row = pipelines.lock(connection, pipeline_id)
        if row.deleted_at is not None:
            raise CommandRefused("The pipeline is deleted: it cannot be changed.", ("restore",))
        if wanted.if_match is not None and wanted.if_match != row.revision:
            raise PreconditionFailed(
                f"Somebody has changed the pipeline since: it is at revision {row.revision}, not {wanted.if_match}.",
                row.revision,
            )
        old = rows.newest(connection, pipeline_id)
        if new_id(given.command_id, pipeline_id, 0) in {c.checkpoint_id for c in old.checkpoints}:
            return _WrittenRevision((), [], changed=False)  # the same command, sent again
        written = wanted.edit(edits.full(old))
        checked = self._check(written, wanted.positions)
        new = identified(checked.definition, old, pipeline_id, given)
        if edits.is_same(old, new):
            return _WrittenRevision(checked.warnings, [], changed=False)
        rows.keep_scripts(connection, pipeline_id, new, inline_scripts(written))
        structural = is_structural(old, new)
        commits: list[Commit] = []
        if structural:
            commits = self.end_runs(connection, pipeline_id, given, wanted.force, "change its checkpoints' order")
        _add_revision(connection, row, old, new, given, wanted.comment, structural=structural)
        return _WrittenRevision(
            checked.warnings, commits, ended=row.pipeline_definition_version if structural else None
        )

    def end_runs(
        self, connection: Connection, pipeline_id: str, given: CommandContext, force: bool, what: str
    ) -> list[Commit]:
        """Cancel what is open, where that is wanted; refused where it is not."""
        open_runs = pipelines.open_runs(connection, pipeline_id)
        if open_runs and not force:
            many = len(open_runs)
            raise CommandRefused(
                f"{many} of its runs {'is' if many == 1 else 'are'} open: it is not possible to {what} now.",
                ("finish or cancel the runs", "use force, which cancels them"),
            )
        return [self._engine.apply(connection, run_id, CancelRun(), given) for run_id in open_runs]

    # ---- its folder ----------------------------------------------------------------------------------
    async def file(self, pipeline_id: str, follow: Callable[[], object]) -> tuple[Finding, ...]:
        """Let the folder follow; what is committed stands if that fails."""
        try:
            await asyncio.to_thread(follow)
            await self._engine.database.transact(lambda c: records.mark_in_sync(c, pipeline_id))
        except Exception as error:  # noqa: BLE001 - the folder repair tries again
            return (Finding("", self._folder_sync.fail_pipeline(pipeline_id, error), Severity.WARNING),)
        return ()

    def _refile(self, pipeline_id: str, ended: int | None, given: CommandContext) -> None:
        if ended is not None:
            self._folder_sync.tree.archive_definition_runs(pipeline_id, ended, given.at)
            self._mending.note_ended(pipeline_id, ended)
        self._folder_sync.write_definition(pipeline_id)

    def announce(self, pipeline_id: str, event_type: str) -> None:
        self._hub.publish(ChangeHint(pipeline_id=pipeline_id, run_id=None, event_type=event_type))


def _add_revision(
    connection: Connection,
    row: Row,
    old: PipelineDefinition,
    new: PipelineDefinition,
    given: CommandContext,
    comment: str,
    *,
    structural: bool,
) -> None:
    """Where the checkpoints change, it is the next definition version, and runs count from v1 again."""
    version = row.pipeline_definition_version + structural
    records.mark_out_of_sync(connection, row.pipeline_id)
    if structural:
        rows.archive_runs(connection, row.pipeline_id, row.pipeline_definition_version, given)
    document = {**edits.full(new), "pipeline_id": row.pipeline_id, "pipeline_definition_version": version}
    revision = stored.save_revision(connection, document, given.by, given.at, expected=row.revision, comment=comment)
    rows.tell(
        connection,
        row.pipeline_id,
        "pipeline_updated",
        given,
        revision=revision,
        pipeline_definition_version=version,
        comment=comment,
        added=[key for key in edits.keys(new) if key not in edits.keys(old)],
        removed=[key for key in edits.keys(old) if key not in edits.keys(new)],
    )


def identified(
    new: PipelineDefinition, old: PipelineDefinition | None, pipeline_id: str, given: CommandContext
) -> PipelineDefinition:
    """With an id for whatever has none; they follow from the command, so that a repeated one makes the same."""
    numbers = count()
    named = assign_ids(new, old, lambda: new_id(given.command_id, pipeline_id, next(numbers)))
    at = given.at.isoformat().replace("+00:00", "Z")
    return stamp_times(named, old, at).model_copy(update={"pipeline_id": pipeline_id})


def new_id(command_id: UUID, pipeline_id: str, number: int) -> str:
    return str(uuid5(command_id, f"{pipeline_id}/{number}"))
