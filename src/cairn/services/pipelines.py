"""Pipelines: defined, edited, reordered, deleted, restored, reverted; every change is kept (P1 to P5)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4, uuid5

import sqlalchemy as sa

from cairn.core.errors import Refused
from cairn.core.messages import CancelRun, Given
from cairn.definitions import (
    Finding,
    Limits,
    PipelineDefinition,
    assign_ids,
    is_structural,
    load,
    templates,
)
from cairn.definitions import stamp as stamp_times
from cairn.definitions import Loaded as Read
from cairn.documents import Positions
from cairn.files import layout
from cairn.services import pipeline_edits as edits
from cairn.services import pipeline_rows as rows
from cairn.services.actors import Actor
from cairn.services.engine import Engine, Step
from cairn.services.errors import NotFound, PreconditionFailed, WrongInput
from cairn.services.views.events import Change
from cairn.store import pipeline_rows as stored
from cairn.store.aggregate import Row


@dataclass(frozen=True, slots=True)
class Saved:
    pipeline_id: str
    warnings: tuple[Finding, ...] = ()
    changed: bool = True


class Pipelines:
    def __init__(self, engine: Engine, *, limits: Limits, functions: Collection[str]) -> None:
        self._engine = engine
        self._database = engine.database
        self._limits = limits
        self._functions = functions

    # ---- reading a definition ------------------------------------------------------------------------
    def check(self, document: Any, positions: Positions | None = None) -> Read:
        """The definition as it would be stored; DefinitionError names every fault with its place (P3)."""
        return load(document, positions=positions, limits=self._limits, functions=self._functions)

    # ---- making ----------------------------------------------------------------------------------------
    async def create(
        self,
        document: Any,
        *,
        positions: Positions | None = None,
        comment: str = "",
        by: Actor,
        command_id: UUID | None = None,
    ) -> Saved:
        checked = self.check(document, positions)
        given = self._engine.given(by.name, command_id)
        pipeline_id = str(uuid5(given.command_id, "pipeline"))
        definition = self._identified(checked.definition, None, pipeline_id, given)

        def body(connection: sa.Connection) -> None:
            document = {**edits.full(definition), "pipeline_id": pipeline_id, "pipeline_definition_version": 1}
            stored.insert_pipeline(connection, document, given.by, given.at, comment or "created")
            rows.tell(connection, pipeline_id, "pipeline_created", given, checkpoints=edits.keys(definition))

        await self._database.transact(body)
        await asyncio.to_thread(self._make_files, pipeline_id)
        self._announce(pipeline_id, "pipeline_created")
        return Saved(pipeline_id, checked.warnings)

    async def from_template(self, name: str, *, by: Actor, command_id: UUID | None = None) -> Saved:
        found = {template.name: template for template in templates()}
        if name not in found:
            raise WrongInput([("/template", f"There is no template {name!r}. There are: {', '.join(sorted(found))}.")])
        document, positions = found[name].read()
        return await self.create(
            document, positions=positions, comment=f"from template {name}", by=by, command_id=command_id
        )

    # ---- changing -----------------------------------------------------------------------------------------
    async def update(
        self,
        pipeline_id: str,
        changes: Mapping[str, Any],
        *,
        if_match: int | None = None,
        force: bool = False,
        positions: Positions | None = None,
        comment: str = "",
        by: Actor,
        command_id: UUID | None = None,
    ) -> Saved:
        """Fields that are left out stay as they are; `checkpoints`, where given, are all of them from now on."""
        return await self._save(pipeline_id, edits.merge(changes), if_match, force, positions, comment, by, command_id)

    async def revert(
        self, pipeline_id: str, revision: int, *, force: bool = False, by: Actor, command_id: UUID | None = None
    ) -> Saved:
        """The definition as it was, as a new revision (P5)."""
        earlier = await self._database.aread(lambda c: rows.definition(c, pipeline_id, revision))
        comment = f"reverted to revision {revision}"
        return await self._save(pipeline_id, edits.become(earlier), None, force, None, comment, by, command_id)

    async def add_checkpoint(
        self,
        pipeline_id: str,
        checkpoint: Mapping[str, Any],
        *,
        position: int | None = None,
        force: bool = False,
        by: Actor,
        command_id: UUID | None = None,
    ) -> tuple[str, Saved]:
        before = await self._database.aread(lambda c: rows.newest(c, pipeline_id))
        edit = edits.add(checkpoint, position)
        saved = await self._save(pipeline_id, edit, None, force, None, "checkpoint added", by, command_id)
        after = await self._database.aread(lambda c: rows.newest(c, pipeline_id))
        known = {c.checkpoint_id for c in before.checkpoints}
        added = [str(c.checkpoint_id) for c in after.checkpoints if c.checkpoint_id not in known]
        return added[-1] if position is None else added[0], saved

    async def update_checkpoint(
        self,
        checkpoint_id: str,
        changes: Mapping[str, Any],
        *,
        if_match: int | None = None,
        by: Actor,
        command_id: UUID | None = None,
    ) -> Saved:
        """Fields that are left out stay as they are."""
        pipeline_id = await self._pipeline_of(checkpoint_id)
        edit = edits.change(checkpoint_id, changes)
        return await self._save(pipeline_id, edit, if_match, False, None, "checkpoint changed", by, command_id)

    async def remove_checkpoint(
        self, checkpoint_id: str, *, force: bool = False, by: Actor, command_id: UUID | None = None
    ) -> Saved:
        pipeline_id = await self._pipeline_of(checkpoint_id)
        edit = edits.remove(checkpoint_id)
        return await self._save(pipeline_id, edit, None, force, None, "checkpoint removed", by, command_id)

    async def reorder(
        self,
        pipeline_id: str,
        order: Sequence[str],
        *,
        if_match: int | None = None,
        force: bool = False,
        by: Actor,
        command_id: UUID | None = None,
    ) -> Saved:
        edit = edits.reorder(order)
        return await self._save(pipeline_id, edit, if_match, force, None, "checkpoints reordered", by, command_id)

    # ---- deleting --------------------------------------------------------------------------------------------
    async def delete(self, pipeline_id: str, *, force: bool = False, by: Actor, command_id: UUID | None = None) -> str:
        """Soft: the rows are marked, the folder goes to the archive (P4, D6)."""
        given = self._engine.given(by.name, command_id)
        location = layout.deleted_pipeline(pipeline_id, given.at)

        def body(connection: sa.Connection) -> list[Step]:
            row = rows.lock(connection, pipeline_id)
            if row.deleted_at is not None:
                raise Refused("The pipeline is deleted already.", ("restore",))
            steps = self._end_runs(connection, pipeline_id, given, force, "delete the pipeline")
            stored.mark_deleted(connection, pipeline_id, given.at, location)
            rows.tell(connection, pipeline_id, "pipeline_deleted", given, archive_location=location)
            return steps

        await self._with_runs(pipeline_id, body)
        await asyncio.to_thread(self._engine.projection.tree.archive_pipeline, pipeline_id, given.at)
        self._announce(pipeline_id, "pipeline_deleted")
        return location

    async def restore(self, pipeline_id: str, *, by: Actor, command_id: UUID | None = None) -> None:
        given = self._engine.given(by.name, command_id)

        def body(connection: sa.Connection) -> str:
            row = rows.lock(connection, pipeline_id)
            if row.deleted_at is None:
                raise Refused("The pipeline is not deleted: there is nothing to restore.")
            stored.mark_restored(connection, pipeline_id)
            rows.tell(connection, pipeline_id, "pipeline_restored", given)
            return str(row.archive_location)

        location = await self._database.transact(body)
        await asyncio.to_thread(self._engine.projection.tree.restore_pipeline, pipeline_id, location)
        self._announce(pipeline_id, "pipeline_restored")

    # ---- one way to save ------------------------------------------------------------------------------------
    async def _save(
        self,
        pipeline_id: str,
        edit: edits.Edit,
        if_match: int | None,
        force: bool,
        positions: Positions | None,
        comment: str,
        by: Actor,
        command_id: UUID | None,
    ) -> Saved:
        given = self._engine.given(by.name, command_id)
        outcome: dict[str, Any] = {}

        def body(connection: sa.Connection) -> list[Step]:
            row = rows.lock(connection, pipeline_id)
            if row.deleted_at is not None:
                raise Refused("The pipeline is deleted: it cannot be changed.", ("restore",))
            if if_match is not None and if_match != row.revision:
                raise PreconditionFailed(
                    f"Somebody has changed the pipeline since: it is at revision {row.revision}, not {if_match}.",
                    row.revision,
                )
            old = rows.newest(connection, pipeline_id)
            checked = self.check(edit(edits.full(old)), positions)
            new = self._identified(checked.definition, old, pipeline_id, given)
            outcome["warnings"] = checked.warnings
            if edits.is_same(old, new):
                outcome["changed"] = False
                return []
            structural = is_structural(old, new)
            what = "change its checkpoints' order" if structural else ""
            steps = self._end_runs(connection, pipeline_id, given, force, what) if structural else []
            self._add_revision(connection, row, old, new, given, comment, structural=structural)
            outcome["structural"] = row.pipeline_definition_version if structural else None
            return steps

        await self._with_runs(pipeline_id, body)
        self._engine.forget_pipeline(pipeline_id)
        if outcome.get("changed", True):
            await asyncio.to_thread(self._refile, pipeline_id, outcome.get("structural"), given)
            self._announce(pipeline_id, "pipeline_updated")
        return Saved(pipeline_id, outcome["warnings"], outcome.get("changed", True))

    def _add_revision(
        self,
        connection: sa.Connection,
        row: Row,
        old: PipelineDefinition,
        new: PipelineDefinition,
        given: Given,
        comment: str,
        *,
        structural: bool,
    ) -> None:
        """Where the checkpoints change, it is the next definition version, and runs count from v1 again (P2)."""
        version = row.pipeline_definition_version + structural
        if structural:
            rows.archive_paths(connection, row.pipeline_id, row.pipeline_definition_version, given)
        document = {**edits.full(new), "pipeline_id": row.pipeline_id, "pipeline_definition_version": version}
        revision = stored.save_revision(
            connection, document, given.by, given.at, expected=row.revision, comment=comment
        )
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

    def _identified(
        self, new: PipelineDefinition, old: PipelineDefinition | None, pipeline_id: str, given: Given
    ) -> PipelineDefinition:
        made = assign_ids(new, old, lambda: str(uuid4()))
        at = given.at.isoformat().replace("+00:00", "Z")
        return stamp_times(made, old, at).model_copy(update={"pipeline_id": pipeline_id})

    async def _with_runs(self, pipeline_id: str, body: Callable[[sa.Connection], list[Step]]) -> None:
        """Nobody moves the pipeline's open runs meanwhile: some may have to be cancelled."""
        open_runs = await self._database.aread(lambda c: rows.open_runs(c, pipeline_id))
        async with self._engine.holding(*open_runs):
            steps = await self._engine.transact(open_runs, body)
            await self._engine.finish(*steps)

    def _end_runs(
        self, connection: sa.Connection, pipeline_id: str, given: Given, force: bool, what: str
    ) -> list[Step]:
        open_runs = rows.open_runs(connection, pipeline_id)
        if open_runs and not force:
            raise Refused(
                f"{len(open_runs)} of its runs are open: it is not possible to {what} now.",
                ("finish or cancel the runs", "use force, which cancels them"),
            )
        return [self._engine.carry(connection, run_id, CancelRun(), given) for run_id in open_runs]

    async def _pipeline_of(self, checkpoint_id: str) -> str:
        found = await self._database.aread(lambda c: rows.pipeline_of(c, checkpoint_id))
        if found is None:
            raise NotFound("checkpoint", checkpoint_id)
        return found

    # ---- files -------------------------------------------------------------------------------------------------
    def _make_files(self, pipeline_id: str) -> None:
        self._engine.projection.tree.make_pipeline(pipeline_id)
        self._engine.projection.write_definition(pipeline_id)

    def _refile(self, pipeline_id: str, ended_version: int | None, given: Given) -> None:
        if ended_version is not None:
            self._engine.projection.tree.archive_definition_runs(pipeline_id, ended_version, given.at)
        self._engine.projection.write_definition(pipeline_id)

    def _announce(self, pipeline_id: str, event_type: str) -> None:
        self._engine.hub.announce(Change(pipeline_id=pipeline_id, run_id=None, event_type=event_type))
