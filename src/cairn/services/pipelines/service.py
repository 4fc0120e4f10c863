"""Pipelines: defined, edited, reordered, deleted, restored, reverted; every change is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4, uuid5

from cairn.core.commands import CommandContext
from cairn.core.errors import CommandRefused
from cairn.definitions import (
    DefinitionLimits,
    Library,
    PipelineDefinition,
    builtin_agents,
    builtin_templates,
    load,
    resolve,
)
from cairn.definitions import LoadedDefinition as Read
from cairn.definitions.script_files import inline_scripts
from cairn.documents import SourceMap
from cairn.files import layout
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.scripts.policy import ScriptPolicy
from cairn.services.actors import Actor
from cairn.services.engine.commit import Commit
from cairn.services.engine.engine import Engine
from cairn.services.engine.event_bus import EventBus
from cairn.services.errors import InvalidInput
from cairn.services.folders import records
from cairn.services.folders.folder_repair import FolderRepair
from cairn.services.folders.folder_sync import FolderSync
from cairn.services.folders.recovery import FileRecovery
from cairn.services.pipelines import edits
from cairn.services.pipelines import records as rows
from cairn.services.pipelines.definition_writer import (
    DefinitionSaveRequest,
    DefinitionWriter,
    SavedDefinition,
    identified,
    new_id,
)
from cairn.services.pipelines.scripts import Scripts, doubts
from cairn.services.pipelines.warnings import not_carried_out, unfit
from cairn.store import Connection, pipelines
from cairn.store import pipelines as stored
from cairn.store.errors import NotFound


@dataclass(frozen=True, slots=True)
class RunnerSupport:
    """What this server carries out: the modes that have a runner, and what scripts and agents may do."""

    modes: Collection[str]
    scripts: ScriptPolicy = field(default_factory=ScriptPolicy)
    agents: AgentPolicy = field(default_factory=AgentPolicy)
    library: Callable[[], Library] = builtin_agents


class PipelineService:
    def __init__(
        self,
        engine: Engine,
        folder_sync: FolderSync,
        mending: FileRecovery,
        hub: EventBus,
        folder_repair: FolderRepair,
        *,
        limits: DefinitionLimits,
        functions: Collection[str],
        carried_out: RunnerSupport,
    ) -> None:
        self._engine = engine
        self._database = engine.database
        self._folder_sync = folder_sync
        self._folder_repair = folder_repair
        self._saving = DefinitionWriter(engine, folder_sync, mending, hub, self.check)
        self.scripts = Scripts(engine.database, self._saving)
        self._limits = limits
        self._functions = functions
        self._carried_out = carried_out

    # ---- reading a definition ------------------------------------------------------------------------
    def check(self, document: Any, positions: SourceMap | None = None) -> Read:
        """The definition as it would be stored; DefinitionError names every fault with its place."""
        library = self._carried_out.library()
        read = load(
            document,
            positions=positions,
            limits=self._limits,
            functions=self._functions,
            servers=self._carried_out.agents.mcp_servers.keys(),
            agents=library,
        )
        doubtful = doubts(read.definition, self._carried_out.scripts, inline_scripts(document))
        carried_out = self._carried_out
        missing = not_carried_out(resolve(read.definition, library), carried_out.modes, carried_out.agents)
        told = (*read.warnings, *missing, *doubtful)
        return replace(read, warnings=told)

    def unfit_with(self, agent: str) -> list[str]:
        """Which pipelines that use an agent of the library do not fit it as it is now, and why."""
        return unfit(self._database, self.check, agent)

    # ---- making --------------------------------------------------------------------------------------
    async def create(
        self,
        document: Any,
        *,
        positions: SourceMap | None = None,
        comment: str = "",
        actor: Actor,
        command_id: UUID | None = None,
    ) -> SavedDefinition:
        checked = self.check(document, positions)
        given = self._engine.context(actor.name, command_id)
        pipeline_id = str(uuid5(given.command_id, "pipeline"))
        definition = identified(checked.definition, None, pipeline_id, given)
        saved = SavedDefinition(pipeline_id, checked.warnings)
        texts = inline_scripts(document)
        return await self._engine.shielded(self._create(definition, texts, saved, given, comment or "created"))

    async def _create(
        self,
        definition: PipelineDefinition,
        texts: Mapping[str, str],
        saved: SavedDefinition,
        given: CommandContext,
        comment: str,
    ) -> SavedDefinition:
        pipeline_id = saved.pipeline_id

        def body(connection: Connection) -> bool:
            if pipelines.exists(connection, pipeline_id):
                return False  # the same command, sent again
            rows.keep_scripts(connection, pipeline_id, definition, texts)
            document = {**edits.full(definition), "pipeline_id": pipeline_id, "pipeline_definition_version": 1}
            stored.insert_pipeline(connection, document, given.by, given.at, comment)
            records.mark_out_of_sync(connection, pipeline_id)
            rows.tell(connection, pipeline_id, "pipeline_created", given, checkpoints=edits.keys(definition))
            return True

        async with self._engine.lock(pipeline_id):
            made = await self._database.transact(body)
            failed = await self._saving.file(pipeline_id, lambda: self._folder_sync.create_pipeline(pipeline_id))
        if made:
            self._saving.announce(pipeline_id, "pipeline_created")
        return SavedDefinition(pipeline_id, saved.warnings + failed)

    async def from_template(self, name: str, *, actor: Actor, command_id: UUID | None = None) -> SavedDefinition:
        found = {template.name: template for template in builtin_templates()}
        if name not in found:
            raise InvalidInput(
                [("/template", f"There is no template {name!r}. There are: {', '.join(sorted(found))}.")]
            )
        document, positions = found[name].read()
        return await self.create(
            document, positions=positions, comment=f"from template {name}", actor=actor, command_id=command_id
        )

    # ---- changing ------------------------------------------------------------------------------------
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
        """Fields that are left out stay as they are; `checkpoints`, where given, are all of them from now on."""
        wanted = DefinitionSaveRequest(edits.merge(changes), comment, actor, command_id, if_match, force, positions)
        return await self._saving.save(pipeline_id, wanted)

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
        """The definition is what the document says: fields that are left out have their default."""
        wanted = DefinitionSaveRequest(edits.become(document), "applied", actor, command_id, if_match, force, positions)
        return await self._saving.save(pipeline_id, wanted)

    async def revert(
        self, pipeline_id: str, revision: int, *, force: bool = False, actor: Actor, command_id: UUID | None = None
    ) -> SavedDefinition:
        """The definition as it was, as a new revision."""
        earlier = await self._database.aread(lambda c: pipelines.definition(c, pipeline_id, revision))
        wanted = DefinitionSaveRequest(
            edits.become(earlier), f"reverted to revision {revision}", actor, command_id, force=force
        )
        return await self._saving.save(pipeline_id, wanted)

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
        wanted = DefinitionSaveRequest(
            edits.add(checkpoint, position), "checkpoint added", actor, command_id, force=force
        )
        saved = await self._saving.save(pipeline_id, wanted)
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
        """Fields that are left out stay as they are."""
        wanted = DefinitionSaveRequest(
            edits.change(checkpoint_id, changes), "checkpoint changed", actor, command_id, if_match
        )
        return await self._saving.save(await self._pipeline_of(checkpoint_id), wanted)

    async def remove_checkpoint(
        self, checkpoint_id: str, *, force: bool = False, actor: Actor, command_id: UUID | None = None
    ) -> SavedDefinition:
        wanted = DefinitionSaveRequest(
            edits.remove(checkpoint_id), "checkpoint removed", actor, command_id, force=force
        )
        return await self._saving.save(await self._pipeline_of(checkpoint_id), wanted)

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
        wanted = DefinitionSaveRequest(
            edits.reorder(order), "checkpoints reordered", actor, command_id, if_match, force
        )
        return await self._saving.save(pipeline_id, wanted)

    async def _pipeline_of(self, checkpoint_id: str) -> str:
        found = await self._database.aread(lambda c: pipelines.pipeline_of(c, checkpoint_id))
        if found is None:
            raise NotFound("checkpoint", checkpoint_id)
        return found

    # ---- deleting ------------------------------------------------------------------------------------
    async def delete(
        self, pipeline_id: str, *, force: bool = False, actor: Actor, command_id: UUID | None = None
    ) -> str:
        """Soft: the rows are marked, the folder goes to the archive."""
        given = self._engine.context(actor.name, command_id)
        return await self._engine.shielded(self._delete(pipeline_id, force, given))

    async def _delete(self, pipeline_id: str, force: bool, given: CommandContext) -> str:
        location = layout.deleted_pipeline(pipeline_id, given.at)

        def body(connection: Connection) -> list[Commit]:
            row = pipelines.lock(connection, pipeline_id)
            if row.deleted_at is not None:
                raise CommandRefused("The pipeline is deleted already.", ("restore",))
            commits = self._saving.end_runs(connection, pipeline_id, given, force, "delete the pipeline")
            stored.mark_deleted(connection, pipeline_id, given.at, location)
            records.mark_out_of_sync(connection, pipeline_id)
            rows.tell(connection, pipeline_id, "pipeline_deleted", given, archive_location=location)
            return commits

        async with self._engine.lock(pipeline_id):
            runs = await self._database.aread(lambda c: pipelines.current_runs(c, pipeline_id))
            async with self._engine.lock(*runs):  # nobody writes into the folder while it moves
                commits = await self._engine.transact(runs, body)
                await self._engine.after_commit(*commits)
                archive = self._folder_sync.tree.archive_pipeline
                await self._saving.file(pipeline_id, lambda: archive(pipeline_id, given.at))
        self._saving.announce(pipeline_id, "pipeline_deleted")
        return location

    async def restore(self, pipeline_id: str, *, actor: Actor, command_id: UUID | None = None) -> None:
        given = self._engine.context(actor.name, command_id)
        await self._engine.shielded(self._restore(pipeline_id, given))

    async def _restore(self, pipeline_id: str, given: CommandContext) -> None:
        def body(connection: Connection) -> None:
            row = pipelines.lock(connection, pipeline_id)
            if row.deleted_at is None:
                raise CommandRefused("The pipeline is not deleted: there is nothing to restore.")
            stored.mark_restored(connection, pipeline_id)
            records.mark_out_of_sync(connection, pipeline_id)
            rows.tell(connection, pipeline_id, "pipeline_restored", given)

        async with self._engine.lock(pipeline_id):
            runs = await self._database.aread(lambda c: pipelines.current_runs(c, pipeline_id))
            async with self._engine.lock(*runs):  # nobody writes into the folder before it is back
                await self._database.transact(body)
                await self._folder_repair.repair_locked_pipeline(pipeline_id, runs)
        self._saving.announce(pipeline_id, "pipeline_restored")
