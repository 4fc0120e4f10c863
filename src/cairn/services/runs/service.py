"""Runs: started, paused, resumed, cancelled, restarted, done again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from cairn.core.budget import Budget
from cairn.core.commands import CancelRun, Command, CommandContext, PauseRun, RestartRun, ResumeRun, SetBudget, StartRun
from cairn.core.errors import CommandRefused
from cairn.core.ids import id_of
from cairn.definitions import PipelineDefinition, check_value, fill_defaults
from cairn.documents import encode_json
from cairn.services.actors import Actor
from cairn.services.engine.commit import Commit
from cairn.services.engine.engine import Engine
from cairn.services.errors import InvalidInput, TooLarge
from cairn.services.folders.folder_sync import FolderSync
from cairn.store import Connection, LoadedRun, RunFacts, blobs, has_run, insert_run, new_run
from cairn.store import pipelines as rows
from cairn.store import pipelines as stored
from cairn.store.events.chain import EventRecord
from cairn.store.runs.run_rows import Row

Made = tuple[LoadedRun, Commit | None]  # the run, and its start

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class StartedRun:
    run_id: str
    warnings: tuple[str, ...] = ()


class RunService:
    def __init__(
        self, engine: Engine, folder_sync: FolderSync, *, modes: frozenset[str], max_payload_bytes: int
    ) -> None:
        self._engine = engine
        self._folder_sync = folder_sync
        self._modes = modes
        self._max_payload = max_payload_bytes

    # ---- a new run ----------------------------------------------------------------------------------
    async def start(
        self,
        pipeline_id: str,
        *,
        input: Any = None,
        original_prompt: str | None = None,
        start: bool = True,
        test: bool = False,
        actor: Actor,
        command_id: UUID | None = None,
    ) -> StartedRun:
        """The next version of the pipeline; in test mode one without a version."""
        value, payload = (None, None) if input is None else await self._prepared(pipeline_id, input)
        given = self._engine.context(actor.name, command_id)

        def body(connection: Connection) -> Made:
            row, definition = self._open(connection, pipeline_id)
            filled, content = value, payload
            if value is None and (filled := _filled(definition.input_schema, None)) is not None:
                content = encode_json(filled)
            if filled is not None or definition.input_schema is not None:
                _check_input(definition, filled)
            checksum = blobs.put(connection, content) if content is not None else None
            prompt = original_prompt if original_prompt is not None else definition.original_prompt
            return self._make(connection, row, given, checksum, prompt or "", test=test, start=start)

        begun = await self._engine.shielded(self._begin(pipeline_id, given, body, is_named=command_id is not None))
        return replace(begun, warnings=(*begun.warnings, *self._told_of_size(payload)))

    def _told_of_size(self, payload: bytes | None) -> Iterator[str]:
        """Half of what is taken at the most is worth a word."""
        if payload is not None and len(payload) > self._max_payload // 2:
            size, most = len(payload) / MEGABYTE, self._max_payload / MEGABYTE
            yield f"The run's input is large: {size:.1f} of at most {most:g} MB, which every checkpoint reads whole."

    async def _prepared(self, pipeline_id: str, input: Any) -> tuple[Any, bytes]:
        """The input with what its schema gives for what is left out, and as it is stored."""

        def read(connection: Connection) -> Any:
            revision = rows.newest_revision(connection, pipeline_id)
            return self._engine.plans.definition(connection, pipeline_id, revision).input_schema

        value = _filled(await self._engine.database.aread(read), input)
        payload = await asyncio.to_thread(encode_json, value)
        if len(payload) > self._max_payload:
            raise TooLarge(self._max_payload, "The run's input")
        if len(payload) > self._max_payload // 2:
            # A large blob goes in a transaction of its own, so that it does not hold the writer.
            await self._engine.database.transact(lambda c: blobs.put(c, payload))
        return value, payload

    async def retry(self, run_id: str, *, actor: Actor, command_id: UUID | None = None) -> StartedRun:
        """The next version, with the same input."""
        given = self._engine.context(actor.name, command_id)
        earlier = (await self._engine.read_run(run_id)).facts

        def body(connection: Connection) -> Made:
            row, _ = self._open(connection, earlier.pipeline_id)
            checksum, prompt = earlier.input_checksum, earlier.original_prompt
            return self._make(connection, row, given, checksum, prompt, test=earlier.is_test, start=True)

        begun = self._begin(earlier.pipeline_id, given, body, is_named=command_id is not None)
        return await self._engine.shielded(begun)

    async def _begin(
        self, pipeline_id: str, given: CommandContext, make: Callable[[Connection], Made], *, is_named: bool
    ) -> StartedRun:
        """A command that its sender has named may have been sent before."""
        run_id = id_of(given.command_id, "run")

        def body(connection: Connection) -> Made | None:
            return None if is_named and has_run(connection, run_id) else make(connection)

        async with self._engine.lock(pipeline_id), self._engine.lock(run_id):
            made = await self._engine.database.transact(body)
            warnings = await self._after_commit(*made) if made is not None else ()
        return StartedRun(run_id, tuple(warnings))

    async def _after_commit(self, made: LoadedRun, commit: Commit | None) -> list[str]:
        """A run that is not started has no commit, but a folder."""
        if commit is None:
            return await self._folder_sync.open_run(made)
        await self._engine.after_commit(commit)
        return commit.warnings

    def _open(self, connection: Connection, pipeline_id: str) -> tuple[Row, PipelineDefinition]:
        """The pipeline's row and its definition, if it can have another run."""
        row = rows.lock(connection, pipeline_id)
        if row.deleted_at is not None:
            raise CommandRefused("The pipeline is deleted: nothing starts in it.", ("restore the pipeline",))
        definition = self._engine.plans.definition(connection, pipeline_id, row.revision)
        if not definition.checkpoints:
            raise CommandRefused("The pipeline has no checkpoints yet: there is nothing to run.", ("add a checkpoint",))
        missing = sorted({c.execution.mode for c in definition.checkpoints} - self._modes)
        if missing:
            names = ", ".join(c.checkpoint_name for c in definition.checkpoints if c.execution.mode in missing)
            raise CommandRefused(f"This server cannot carry out checkpoints of mode {' or '.join(missing)}: {names}.")
        if lacking := definition.missing_scripts:
            names = ", ".join(sorted({path for _, path in lacking}))
            raise CommandRefused(f"These scripts are not there: {names}.", ("write the scripts",))
        return row, definition

    def _make(
        self,
        connection: Connection,
        row: Row,
        given: CommandContext,
        input_checksum: str | None,
        prompt: str,
        *,
        test: bool,
        start: bool,
    ) -> Made:
        version = None if test else stored.take_run_version(connection, row.pipeline_id)
        previous = stored.previous_run(connection, row.pipeline_id, row.pipeline_definition_version)
        facts = RunFacts(
            run_id=id_of(given.command_id, "run"),
            pipeline_id=row.pipeline_id,
            pipeline_name=row.pipeline_name,
            definition_version=row.pipeline_definition_version,
            definition_revision=row.revision,
            run_version=version,
            is_test=test,
            previous_run_id=previous.run_id if previous else None,
            extends_from_run_version=previous.run_version if previous else None,
            created_by=given.by,
            created_at=given.at,
            original_prompt=prompt,
            input_checksum=input_checksum,
        )
        told = _told_made(facts)
        if not start:
            return insert_run(connection, facts, self._engine.plans, told), None
        made = new_run(connection, facts, self._engine.plans, told, newest=row.revision)
        return made, self._engine.apply(connection, facts.run_id, StartRun(), given, loaded=made)

    # ---- a run that is there ----------------------------------------------------------------------------
    async def begin(self, run_id: str, *, actor: Actor, command_id: UUID | None = None) -> Commit:
        return await self._send(run_id, StartRun(), actor, command_id)

    async def pause(self, run_id: str, *, actor: Actor, command_id: UUID | None = None) -> Commit:
        return await self._send(run_id, PauseRun(), actor, command_id)

    async def resume(self, run_id: str, *, actor: Actor, command_id: UUID | None = None) -> Commit:
        return await self._send(run_id, ResumeRun(), actor, command_id)

    async def cancel(self, run_id: str, *, actor: Actor, command_id: UUID | None = None) -> Commit:
        return await self._send(run_id, CancelRun(), actor, command_id)

    async def set_budget(self, run_id: str, budget: Budget, *, actor: Actor, command_id: UUID | None = None) -> Commit:
        """What the run may use from now on, where the definition says otherwise."""
        return await self._send(run_id, SetBudget(budget), actor, command_id)

    async def restart(
        self, run_id: str, *, pass_number: int | None = None, actor: Actor, command_id: UUID | None = None
    ) -> Commit:
        """Begin the next pass; named, the pass that it leaves must be the current one."""
        leaves = pass_number or (await self._engine.read_run(run_id)).run.pass_number
        return await self._send(run_id, RestartRun(leaves), actor, command_id)

    async def _send(self, run_id: str, command: Command, actor: Actor, command_id: UUID | None) -> Commit:
        return await self._engine.send(run_id, command, self._engine.context(actor.name, command_id))


def _filled(schema: Any, given: Any) -> Any:
    """The input with what its schema gives for what is left out."""
    if schema is None:
        return given
    filled: Any = fill_defaults(schema, {} if given is None else given)
    return filled if filled != {} else given


def _told_made(facts: RunFacts) -> EventRecord:
    """The first event of its trail: what it is made from."""
    told = {
        "run_version": facts.run_version,
        "pipeline_definition_version": facts.definition_version,
        "definition_revision": facts.definition_revision,
        "previous_run_id": facts.previous_run_id,
        "input_checksum": facts.input_checksum,
        "test": facts.is_test,
    }
    return EventRecord("run_created", told)


def _check_input(definition: PipelineDefinition, value: Any) -> None:
    faults = check_value(definition.input_schema, value) if definition.input_schema is not None else []
    if faults:
        raise InvalidInput([(f"/input{path}", message) for path, message in faults], "The run's input does not fit.")
