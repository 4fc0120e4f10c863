"""Create, change, delete and restore pipelines. Each change of a definition is a revision."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4, uuid5

from cairn.core.commands import CommandContext
from cairn.core.errors import CommandRefused
from cairn.definitions import (
    DefinitionLimits,
    Library,
    LoadedDefinition,
    PipelineDefinition,
    builtin_agents,
    builtin_templates,
    load,
    resolve,
)
from cairn.definitions.script_files import inline_scripts
from cairn.documents import SourceMap
from cairn.files import layout
from cairn.ports.models import ModelCatalogue
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.scripts.policy import ScriptPolicy
from cairn.services.actors import Actor
from cairn.services.costs.price_check import cost_limit_findings
from cairn.services.engine.commit import Commit
from cairn.services.engine.engine import Engine
from cairn.services.engine.event_bus import EventBus
from cairn.services.errors import InvalidInput
from cairn.services.folders import records as folder_records
from cairn.services.folders.folder_repair import FolderRepair
from cairn.services.folders.folder_sync import FolderSync
from cairn.services.folders.recovery import FileRecovery
from cairn.services.pipelines import edits, records
from cairn.services.pipelines.definition_writer import (
    DefinitionSaveRequest,
    DefinitionWriter,
    SavedDefinition,
    new_id,
    with_ids,
)
from cairn.services.pipelines.scripts import Scripts, script_warnings
from cairn.services.pipelines.warnings import agent_errors, unsupported_fields
from cairn.store import Connection, pipelines
from cairn.store.errors import NotFound


@dataclass(frozen=True, slots=True)
class RunnerSupport:
    """The execution modes and models of this server, and its policies for scripts and agents."""

    modes: Collection[str]
    models: ModelCatalogue
    scripts: ScriptPolicy = field(default_factory=ScriptPolicy)
    agents: AgentPolicy = field(default_factory=AgentPolicy)
    library: Callable[[], Library] = builtin_agents


class PipelineService:
    def __init__(
        self,
        engine: Engine,
        folder_sync: FolderSync,
        recovery: FileRecovery,
        event_bus: EventBus,
        folder_repair: FolderRepair,
        *,
        limits: DefinitionLimits,
        functions: Collection[str],
        support: RunnerSupport,
    ) -> None:
        self._engine = engine
        self._database = engine.database
        self._folder_sync = folder_sync
        self._folder_repair = folder_repair
        self._writer = DefinitionWriter(engine, folder_sync, recovery, event_bus, self.check)
        self.scripts = Scripts(engine.database, self._writer)
        self._limits = limits
        self._functions = functions
        self._support = support

    # Checks
    def check(self, document: Any, positions: SourceMap | None = None) -> LoadedDefinition:
        """Return the definition as it would be saved, with warnings. Raises DefinitionError with all errors."""
        library = self._support.library()
        loaded = load(
            document,
            positions=positions,
            limits=self._limits,
            functions=self._functions,
            servers=self._support.agents.mcp_servers.keys(),
            agents=library,
        )
        scripts = script_warnings(loaded.definition, self._support.scripts, inline_scripts(document))
        resolved = resolve(loaded.definition, library)
        unsupported = unsupported_fields(resolved, self._support.modes, self._support.agents)
        costs = cost_limit_findings(resolved, self._support.models)
        return replace(loaded, warnings=(*loaded.warnings, *unsupported, *scripts, *costs))

    def errors_with_agent(self, agent: str) -> list[str]:
        """The pipelines that have errors with the current revision of a library agent."""
        return agent_errors(self._database, self.check, agent)

    # Creation
    async def create(
        self,
        document: Any,
        *,
        positions: SourceMap | None = None,
        comment: str = "",
        actor: Actor,
        command_id: UUID | None = None,
    ) -> SavedDefinition:
        checked = await asyncio.to_thread(self.check, document, positions)
        context = self._engine.context(actor.name, command_id)
        pipeline_id = str(uuid5(context.command_id, "pipeline"))
        definition = with_ids(checked.definition, None, pipeline_id, context)
        saved = SavedDefinition(pipeline_id, checked.warnings)
        texts = inline_scripts(document)
        return await self._engine.shielded(self._create(definition, texts, saved, context, comment or "created"))

    async def _create(
        self,
        definition: PipelineDefinition,
        texts: Mapping[str, str],
        saved: SavedDefinition,
        context: CommandContext,
        comment: str,
    ) -> SavedDefinition:
        pipeline_id = saved.pipeline_id

        def insert(connection: Connection) -> bool:
            if pipelines.exists(connection, pipeline_id):
                return False  # the command was sent again
            records.save_scripts(connection, pipeline_id, definition, texts)
            document = {
                **edits.editable_document(definition),
                "pipeline_id": pipeline_id,
                "pipeline_definition_version": 1,
            }
            pipelines.insert_pipeline(connection, document, context.by, context.at, comment)
            folder_records.mark_out_of_sync(connection, pipeline_id)
            records.append_event(
                connection, pipeline_id, "pipeline_created", context, checkpoints=edits.keys(definition)
            )
            return True

        async with self._engine.lock(pipeline_id):
            is_new = await self._database.transact(insert)
            warnings = await self._writer.sync_folder(
                pipeline_id, lambda: self._folder_sync.create_pipeline(pipeline_id)
            )
        if is_new:
            self._writer.publish_change(pipeline_id, "pipeline_created")
        return SavedDefinition(pipeline_id, saved.warnings + warnings)

    async def create_from_template(self, name: str, *, actor: Actor, command_id: UUID | None = None) -> SavedDefinition:
        templates = {template.name: template for template in builtin_templates()}
        if name not in templates:
            names = ", ".join(sorted(templates))
            raise InvalidInput([("/template", f"There is no template {name!r}. Choose one of: {names}.")])
        document, positions = templates[name].read()
        return await self.create(
            document, positions=positions, comment=f"from template {name}", actor=actor, command_id=command_id
        )

    # Changes
    async def update(
        self,
        pipeline_id: str,
        changes: Mapping[str, Any],
        *,
        if_match: int | None = None,
        force: bool = False,
        positions: SourceMap | None = None,
        comment: str = "",
        actor: Actor,
        command_id: UUID | None = None,
    ) -> SavedDefinition:
        """Replace the given fields. `checkpoints` replaces all checkpoints."""
        request = DefinitionSaveRequest(
            edits.merge(pipeline_id, changes), comment, actor, command_id, if_match, force, positions
        )
        return await self._writer.save(pipeline_id, request)

    async def replace(
        self,
        pipeline_id: str,
        document: Mapping[str, Any],
        *,
        if_match: int | None = None,
        force: bool = False,
        positions: SourceMap | None = None,
        actor: Actor,
        command_id: UUID | None = None,
    ) -> SavedDefinition:
        """Replace the whole definition. Fields that are left out get their defaults."""
        request = DefinitionSaveRequest(
            edits.replace(document), "applied", actor, command_id, if_match, force, positions
        )
        return await self._writer.save(pipeline_id, request)

    async def revert(
        self, pipeline_id: str, revision: int, *, force: bool = False, actor: Actor, command_id: UUID | None = None
    ) -> SavedDefinition:
        """Save an earlier revision as a new revision."""
        earlier = await self._database.aread(lambda c: pipelines.definition(c, pipeline_id, revision))
        request = DefinitionSaveRequest(
            edits.replace(earlier), f"reverted to revision {revision}", actor, command_id, force=force
        )
        return await self._writer.save(pipeline_id, request)

    async def add_checkpoint(
        self,
        pipeline_id: str,
        checkpoint: Mapping[str, Any],
        *,
        position: int | None = None,
        force: bool = False,
        actor: Actor,
        command_id: UUID | None = None,
    ) -> tuple[str, SavedDefinition]:
        command_id = command_id or uuid4()
        request = DefinitionSaveRequest(
            edits.add(checkpoint, position), "checkpoint added", actor, command_id, force=force
        )
        saved = await self._writer.save(pipeline_id, request)
        return new_id(command_id, pipeline_id, 0), saved

    async def update_checkpoint(
        self,
        checkpoint_id: str,
        changes: Mapping[str, Any],
        *,
        if_match: int | None = None,
        actor: Actor,
        command_id: UUID | None = None,
    ) -> SavedDefinition:
        """Replace the given fields."""
        pipeline_id = await self._pipeline_of(checkpoint_id)
        edit = edits.update(pipeline_id, checkpoint_id, changes)
        request = DefinitionSaveRequest(edit, "checkpoint changed", actor, command_id, if_match)
        return await self._writer.save(pipeline_id, request)

    async def remove_checkpoint(
        self, checkpoint_id: str, *, force: bool = False, actor: Actor, command_id: UUID | None = None
    ) -> SavedDefinition:
        request = DefinitionSaveRequest(
            edits.remove(checkpoint_id), "checkpoint removed", actor, command_id, force=force
        )
        return await self._writer.save(await self._pipeline_of(checkpoint_id), request)

    async def reorder(
        self,
        pipeline_id: str,
        order: Sequence[str],
        *,
        if_match: int | None = None,
        force: bool = False,
        actor: Actor,
        command_id: UUID | None = None,
    ) -> SavedDefinition:
        request = DefinitionSaveRequest(
            edits.reorder(order), "checkpoints reordered", actor, command_id, if_match, force
        )
        return await self._writer.save(pipeline_id, request)

    async def _pipeline_of(self, checkpoint_id: str) -> str:
        pipeline_id = await self._database.aread(lambda c: pipelines.pipeline_of(c, checkpoint_id))
        if pipeline_id is None:
            raise NotFound("checkpoint", checkpoint_id)
        return pipeline_id

    # Deletion
    async def delete(
        self, pipeline_id: str, *, force: bool = False, actor: Actor, command_id: UUID | None = None
    ) -> str:
        """Mark the pipeline as deleted and archive its folder. Returns the location in the archive."""
        context = self._engine.context(actor.name, command_id)
        return await self._engine.shielded(self._delete(pipeline_id, force, context))

    async def _delete(self, pipeline_id: str, force: bool, context: CommandContext) -> str:
        location = layout.deleted_pipeline(pipeline_id, context.at)

        def body(connection: Connection) -> list[Commit]:
            row = pipelines.lock(connection, pipeline_id)
            if row.deleted_at is not None:
                raise CommandRefused("The pipeline is already deleted.", ("restore",))
            commits = self._writer.cancel_open_runs(connection, pipeline_id, context, force, "delete the pipeline")
            pipelines.mark_deleted(connection, pipeline_id, context.at, location)
            folder_records.mark_out_of_sync(connection, pipeline_id)
            records.append_event(connection, pipeline_id, "pipeline_deleted", context, archive_location=location)
            return commits

        async with self._engine.lock(pipeline_id):
            runs = await self._database.aread(lambda c: pipelines.current_runs(c, pipeline_id))
            async with self._engine.lock(*runs):  # no run writes into the folder while it moves
                commits = await self._engine.transact(runs, body)
                await self._engine.after_commit(*commits)
                archive = self._folder_sync.tree.archive_pipeline
                await self._writer.sync_folder(pipeline_id, lambda: archive(pipeline_id, context.at))
        self._writer.publish_change(pipeline_id, "pipeline_deleted")
        return location

    async def restore(self, pipeline_id: str, *, actor: Actor, command_id: UUID | None = None) -> None:
        context = self._engine.context(actor.name, command_id)
        await self._engine.shielded(self._restore(pipeline_id, context))

    async def _restore(self, pipeline_id: str, context: CommandContext) -> None:
        def body(connection: Connection) -> None:
            row = pipelines.lock(connection, pipeline_id)
            if row.deleted_at is None:
                raise CommandRefused("The pipeline is not deleted. You can't restore it.")
            pipelines.mark_restored(connection, pipeline_id)
            folder_records.mark_out_of_sync(connection, pipeline_id)
            records.append_event(connection, pipeline_id, "pipeline_restored", context)

        async with self._engine.lock(pipeline_id):
            runs = await self._database.aread(lambda c: pipelines.current_runs(c, pipeline_id))
            async with self._engine.lock(*runs):  # no run writes into the folder before it is restored
                await self._database.transact(body)
                await self._folder_repair.repair_locked_pipeline(pipeline_id, runs)
        self._writer.publish_change(pipeline_id, "pipeline_restored")
