"""Create, start, pause, resume, cancel, restart and retry runs."""

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
from cairn.services.actions.run_changes import repeat_family
from cairn.services.actors import Actor
from cairn.services.engine.commit import Commit
from cairn.services.engine.engine import Engine
from cairn.services.errors import InvalidInput, TooLarge
from cairn.services.folders.folder_sync import FolderSync
from cairn.store import Connection, LoadedRun, RunFacts, blobs, has_run, insert_run, new_run
from cairn.store import pipelines as pipeline_rows
from cairn.store.events.chain import EventRecord
from cairn.store.runs.run_rows import Row

CreatedRun = tuple[LoadedRun, Commit | None]  # the run, and the commit that started it

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

    # New runs
    async def create(
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
        """Create the next run version of the pipeline, or a test run, which has no version. Optionally start it."""
        value, payload = (None, None) if input is None else await self._prepare_input(pipeline_id, input)
        context = self._engine.context(actor.name, command_id)

        def body(connection: Connection) -> CreatedRun:
            row, definition = self._lock_runnable(connection, pipeline_id)
            filled, content = value, payload
            if value is None and (filled := _with_defaults(definition.input_schema, None)) is not None:
                content = encode_json(filled)
            if filled is not None or definition.input_schema is not None:
                _check_input(definition, filled)
            checksum = blobs.put(connection, content) if content is not None else None
            prompt = original_prompt if original_prompt is not None else definition.original_prompt
            return self._insert(connection, row, context, checksum, prompt or "", test=test, start=start)

        create = self._create(pipeline_id, context, body, is_repeatable=command_id is not None)
        run = await self._engine.shielded(create)
        return replace(run, warnings=(*run.warnings, *self._size_warnings(payload)))

    def _size_warnings(self, payload: bytes | None) -> Iterator[str]:
        if payload is not None and len(payload) > self._max_payload // 2:
            size, limit = len(payload) / MEGABYTE, self._max_payload / MEGABYTE
            yield f"The run's input is large ({size:.1f} of {limit:g} MB), and every checkpoint reads all of it."

    async def _prepare_input(self, pipeline_id: str, input: Any) -> tuple[Any, bytes]:
        """The input with the defaults of its schema, as a value and as stored content."""

        def read(connection: Connection) -> Any:
            revision = pipeline_rows.newest_revision(connection, pipeline_id)
            return self._engine.plans.definition(connection, pipeline_id, revision).input_schema

        value = _with_defaults(await self._engine.database.aread(read), input)
        payload = await asyncio.to_thread(encode_json, value)
        if len(payload) > self._max_payload:
            raise TooLarge(self._max_payload, "The run's input")
        if len(payload) > self._max_payload // 2:
            # Store a large blob in a separate transaction, so that it doesn't block the writer.
            await self._engine.database.transact(lambda c: blobs.put(c, payload))
        return value, payload

    async def retry(self, run_id: str, *, actor: Actor, command_id: UUID | None = None) -> StartedRun:
        """Create and start the next run version with the same input."""
        context = self._engine.context(actor.name, command_id)
        earlier = (await self._engine.read_run(run_id)).facts

        def body(connection: Connection) -> CreatedRun:
            row, _ = self._lock_runnable(connection, earlier.pipeline_id)
            checksum, prompt = earlier.input_checksum, earlier.original_prompt
            created = self._insert(
                connection, row, context, checksum, prompt, test=earlier.is_test, start=True, origin=earlier.family
            )
            repeat_family(connection, earlier.family)
            return created

        create = self._create(earlier.pipeline_id, context, body, is_repeatable=command_id is not None)
        return await self._engine.shielded(create)

    async def _create(
        self,
        pipeline_id: str,
        context: CommandContext,
        insert: Callable[[Connection], CreatedRun],
        *,
        is_repeatable: bool,
    ) -> StartedRun:
        """Insert the run. If the command `is_repeatable` and was sent before, insert nothing."""
        run_id = id_of(context.command_id, "run")

        def body(connection: Connection) -> CreatedRun | None:
            return None if is_repeatable and has_run(connection, run_id) else insert(connection)

        async with self._engine.lock(pipeline_id), self._engine.lock(run_id):
            created = await self._engine.database.transact(body)
            warnings = await self._after_commit(*created) if created is not None else ()
        return StartedRun(run_id, tuple(warnings))

    async def _after_commit(self, run: LoadedRun, commit: Commit | None) -> list[str]:
        """Run the after-commit steps. A run that is not started has no commit and only needs its folder."""
        if commit is None:
            return await self._folder_sync.open_run(run)
        await self._engine.after_commit(commit)
        return commit.warnings

    def _lock_runnable(self, connection: Connection, pipeline_id: str) -> tuple[Row, PipelineDefinition]:
        """Lock the pipeline and check that it can run. Return its row and its definition."""
        row = pipeline_rows.lock(connection, pipeline_id)
        if row.deleted_at is not None:
            raise CommandRefused("The pipeline is deleted. Restore it to start a run.", ("restore the pipeline",))
        definition = self._engine.plans.definition(connection, pipeline_id, row.revision)
        if not definition.checkpoints:
            raise CommandRefused("The pipeline has no checkpoints. Add one to start a run.", ("add a checkpoint",))
        unsupported = sorted({c.execution.mode for c in definition.checkpoints} - self._modes)
        if unsupported:
            names = ", ".join(c.checkpoint_name for c in definition.checkpoints if c.execution.mode in unsupported)
            modes = " or ".join(unsupported)
            raise CommandRefused(f"This server can't run checkpoints in mode {modes}: {names}.")
        if missing := definition.missing_scripts:
            paths = ", ".join(sorted({path for _, path in missing}))
            raise CommandRefused(f"Missing scripts: {paths}.", ("write the scripts",))
        return row, definition

    def _insert(
        self,
        connection: Connection,
        row: Row,
        context: CommandContext,
        input_checksum: str | None,
        prompt: str,
        *,
        test: bool,
        start: bool,
        origin: str = "",
    ) -> CreatedRun:
        version = None if test else pipeline_rows.allocate_run_version(connection, row.pipeline_id)
        previous = pipeline_rows.previous_run(connection, row.pipeline_id, row.pipeline_definition_version)
        facts = RunFacts(
            run_id=id_of(context.command_id, "run"),
            pipeline_id=row.pipeline_id,
            pipeline_name=row.pipeline_name,
            definition_version=row.pipeline_definition_version,
            definition_revision=row.revision,
            run_version=version,
            is_test=test,
            previous_run_id=previous.run_id if previous else None,
            extends_from_run_version=previous.run_version if previous else None,
            created_by=context.by,
            created_at=context.at,
            original_prompt=prompt,
            input_checksum=input_checksum,
            origin_run_id=origin,
        )
        event = _created_event(facts)
        if not start:
            return insert_run(connection, facts, self._engine.plans, event), None
        run = new_run(connection, facts, self._engine.plans, event, newest=row.revision)
        return run, self._engine.apply(connection, facts.run_id, StartRun(), context, loaded=run)

    # Existing runs
    async def start(self, run_id: str, *, actor: Actor, command_id: UUID | None = None) -> Commit:
        return await self._send(run_id, StartRun(), actor, command_id)

    async def pause(self, run_id: str, *, actor: Actor, command_id: UUID | None = None) -> Commit:
        return await self._send(run_id, PauseRun(), actor, command_id)

    async def resume(self, run_id: str, *, actor: Actor, command_id: UUID | None = None) -> Commit:
        return await self._send(run_id, ResumeRun(), actor, command_id)

    async def cancel(self, run_id: str, *, actor: Actor, command_id: UUID | None = None) -> Commit:
        return await self._send(run_id, CancelRun(), actor, command_id)

    async def set_budget(self, run_id: str, budget: Budget, *, actor: Actor, command_id: UUID | None = None) -> Commit:
        """Set limits for this run that override those of the definition."""
        return await self._send(run_id, SetBudget(budget), actor, command_id)

    async def restart(
        self, run_id: str, *, pass_number: int | None = None, actor: Actor, command_id: UUID | None = None
    ) -> Commit:
        """Start the next pass. If `pass_number` is given, it must be the current pass."""
        current_pass = pass_number or (await self._engine.read_run(run_id)).run.pass_number
        return await self._send(run_id, RestartRun(current_pass), actor, command_id)

    async def _send(self, run_id: str, command: Command, actor: Actor, command_id: UUID | None) -> Commit:
        return await self._engine.send(run_id, command, self._engine.context(actor.name, command_id))


def _with_defaults(schema: Any, value: Any) -> Any:
    """The input with the defaults of its schema."""
    if schema is None:
        return value
    filled: Any = fill_defaults(schema, {} if value is None else value)
    return filled if filled != {} else value


def _created_event(facts: RunFacts) -> EventRecord:
    """The first event of the run."""
    metadata = {
        "run_version": facts.run_version,
        "pipeline_definition_version": facts.definition_version,
        "definition_revision": facts.definition_revision,
        "previous_run_id": facts.previous_run_id,
        "input_checksum": facts.input_checksum,
        "test": facts.is_test,
    }
    return EventRecord("run_created", metadata)


def _check_input(definition: PipelineDefinition, value: Any) -> None:
    errors = check_value(definition.input_schema, value) if definition.input_schema is not None else []
    if errors:
        raise InvalidInput([(f"/input{path}", message) for path, message in errors], "Invalid run input.")
