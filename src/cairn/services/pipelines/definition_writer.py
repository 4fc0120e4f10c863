"""Save definitions: check them, add a revision, cancel open runs if requested and update the folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID, uuid5

from cairn.core.commands import CancelRun, CommandContext
from cairn.core.errors import CommandRefused
from cairn.definitions import Finding, LoadedDefinition, PipelineDefinition, Severity, assign_ids, is_structural
from cairn.definitions import stamp as stamp_times
from cairn.definitions.script_files import inline_scripts
from cairn.documents import SourceMap
from cairn.services.actors import Actor
from cairn.services.engine.commit import Commit
from cairn.services.engine.engine import Engine
from cairn.services.engine.event_bus import ChangeHint, EventBus
from cairn.services.errors import PreconditionFailed
from cairn.services.folders import records as folder_records
from cairn.services.folders.folder_sync import FolderSync
from cairn.services.folders.recovery import FileRecovery
from cairn.services.pipelines import edits, records
from cairn.store import Connection, pipelines
from cairn.store.runs.run_rows import Row

Check = Callable[[Any, SourceMap | None], LoadedDefinition]


@dataclass(frozen=True, slots=True)
class DefinitionSaveRequest:
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
    warnings: tuple[Finding, ...]
    commits: list[Commit]
    changed: bool = True
    ended_version: int | None = None  # the definition version that the change replaced


class DefinitionWriter:
    def __init__(
        self, engine: Engine, folder_sync: FolderSync, recovery: FileRecovery, event_bus: EventBus, check: Check
    ) -> None:
        self._engine = engine
        self._folder_sync = folder_sync
        self._recovery = recovery
        self._event_bus = event_bus
        self._check = check

    # Definitions
    async def save(self, pipeline_id: str, request: DefinitionSaveRequest) -> SavedDefinition:
        return await self._engine.shielded(self._save(pipeline_id, request))

    async def _save(self, pipeline_id: str, request: DefinitionSaveRequest) -> SavedDefinition:
        context = self._engine.context(request.actor.name, request.command_id)
        async with self._engine.lock(pipeline_id):
            runs = await self._engine.database.aread(lambda c: pipelines.current_runs(c, pipeline_id))
            async with self._engine.lock(*runs):  # no run writes into its folder while it moves
                result = await self._engine.transact(runs, lambda c: self._write(c, pipeline_id, request, context))
                self._engine.forget_pipeline(pipeline_id)
                await self._engine.after_commit(*result.commits)
                warnings = result.warnings
                if result.changed:
                    warnings += await self.sync_folder(
                        pipeline_id, lambda: self._update_folder(pipeline_id, result.ended_version, context)
                    )
        if result.changed:
            self.publish_change(pipeline_id, "pipeline_updated")
        return SavedDefinition(pipeline_id, warnings, result.changed)

    def _write(
        self, connection: Connection, pipeline_id: str, request: DefinitionSaveRequest, context: CommandContext
    ) -> _WrittenRevision:
        row = pipelines.lock(connection, pipeline_id)
        if row.deleted_at is not None:
            raise CommandRefused("The pipeline is deleted. You can't change it now.", ("restore",))
        if request.if_match is not None and request.if_match != row.revision:
            raise PreconditionFailed(
                f"The pipeline has changed: it is at revision {row.revision}, not {request.if_match}. "
                "Reload it and try again.",
                row.revision,
            )
        old = records.newest_definition(connection, pipeline_id)
        if new_id(context.command_id, pipeline_id, 0) in {c.checkpoint_id for c in old.checkpoints}:
            return _WrittenRevision((), [], changed=False)  # the command was sent again
        document = request.edit(edits.editable_document(old))
        checked = self._check(document, request.positions)
        new = with_ids(checked.definition, old, pipeline_id, context)
        if edits.is_same(old, new):
            return _WrittenRevision(checked.warnings, [], changed=False)
        records.save_scripts(connection, pipeline_id, new, inline_scripts(document))
        structural = is_structural(old, new)
        commits: list[Commit] = []
        if structural:
            commits = self.cancel_open_runs(
                connection, pipeline_id, context, request.force, "add, remove or reorder checkpoints"
            )
        _add_revision(connection, row, old, new, context, request.comment, structural=structural)
        return _WrittenRevision(
            checked.warnings, commits, ended_version=row.pipeline_definition_version if structural else None
        )

    def cancel_open_runs(
        self, connection: Connection, pipeline_id: str, context: CommandContext, force: bool, operation: str
    ) -> list[Commit]:
        """Cancel open runs if `force` is set. Otherwise raise an error if there are any."""
        open_runs = pipelines.open_runs(connection, pipeline_id)
        if open_runs and not force:
            count = f"{len(open_runs)} open run{'' if len(open_runs) == 1 else 's'}"
            raise CommandRefused(
                f"The pipeline has {count}. You can't {operation} now.",
                ("finish or cancel the runs", "use force to cancel them"),
            )
        return [self._engine.apply(connection, run_id, CancelRun(), context) for run_id in open_runs]

    # Folders
    async def sync_folder(self, pipeline_id: str, update: Callable[[], object]) -> tuple[Finding, ...]:
        """Update the folder after the commit. A failure is only a warning: the folder repair tries again."""
        try:
            await asyncio.to_thread(update)
            await self._engine.database.transact(lambda c: folder_records.mark_in_sync(c, pipeline_id))
        except Exception as error:  # noqa: BLE001 - reported as a warning
            return (Finding("", self._folder_sync.fail_pipeline(pipeline_id, error), Severity.WARNING),)
        return ()

    def _update_folder(self, pipeline_id: str, ended_version: int | None, context: CommandContext) -> None:
        if ended_version is not None:
            self._folder_sync.tree.archive_definition_runs(pipeline_id, ended_version, context.at)
            self._recovery.mark_version_synced(pipeline_id, ended_version)
        self._folder_sync.write_definition(pipeline_id)

    def publish_change(self, pipeline_id: str, event_type: str) -> None:
        self._event_bus.publish(ChangeHint(pipeline_id=pipeline_id, run_id=None, event_type=event_type))


def _add_revision(
    connection: Connection,
    row: Row,
    old: PipelineDefinition,
    new: PipelineDefinition,
    context: CommandContext,
    comment: str,
    *,
    structural: bool,
) -> None:
    """Save a revision. If `structural`, it starts a new definition version, whose runs count from v1."""
    version = row.pipeline_definition_version + structural
    folder_records.mark_out_of_sync(connection, row.pipeline_id)
    if structural:
        records.archive_runs(connection, row.pipeline_id, row.pipeline_definition_version, context)
    document = {**edits.editable_document(new), "pipeline_id": row.pipeline_id, "pipeline_definition_version": version}
    revision = pipelines.save_revision(
        connection, document, context.by, context.at, expected=row.revision, comment=comment
    )
    records.append_event(
        connection,
        row.pipeline_id,
        "pipeline_updated",
        context,
        revision=revision,
        pipeline_definition_version=version,
        comment=comment,
        added=[key for key in edits.keys(new) if key not in edits.keys(old)],
        removed=[key for key in edits.keys(old) if key not in edits.keys(new)],
    )


def with_ids(
    new: PipelineDefinition, old: PipelineDefinition | None, pipeline_id: str, context: CommandContext
) -> PipelineDefinition:
    """Add missing ids. They are derived from the command, so that a repeated command creates the same ids."""
    numbers = count()
    named = assign_ids(new, old, lambda: new_id(context.command_id, pipeline_id, next(numbers)))
    at = context.at.isoformat().replace("+00:00", "Z")
    return stamp_times(named, old, at).model_copy(update={"pipeline_id": pipeline_id})


def new_id(command_id: UUID, pipeline_id: str, number: int) -> str:
    return str(uuid5(command_id, f"{pipeline_id}/{number}"))
