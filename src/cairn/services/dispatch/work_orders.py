"""What an execution is given: its definition, its input, and the outputs that it may read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cairn.core.execution import Execution
from cairn.core.states import ExecutionMode, ExecutionState
from cairn.definitions import CheckpointDefinition, PipelineDefinition
from cairn.files import Tree, layout
from cairn.ports import ActionOffer, RecordedCall, StoredFile, UploadedFile, WorkOrder
from cairn.runners import RunnerLimits
from cairn.runners.agents.roles import uses_tool
from cairn.runners.prompt_context import ArtifactSource, AssembledContext, ResolvedInputs
from cairn.services.actions.offers import action_offers, proposal_error
from cairn.services.agent_library.service import AgentLibraryService
from cairn.services.approvals.form_answers import read_answer
from cairn.services.approvals.queries.forms import uploads_of
from cairn.services.conversations.service import Conversations
from cairn.services.dispatch import summaries
from cairn.services.dispatch.material import DispatchMaterial, completed_by_key, feedback_of, findings_of, rework_brief
from cairn.services.dispatch.output_cache import OutputCache, Outputs
from cairn.services.dispatch.recorded_calls import read_calls
from cairn.services.engine.commit import Commit
from cairn.services.engine.plans import DefinitionCache
from cairn.services.logs.log_writer import LogWriter
from cairn.store import Connection, Database, LoadedRun

AT_ONCE = 256 * 1024  # more than this is read and decoded beside the event loop


class WorkOrders:
    def __init__(
        self,
        database: Database,
        plans: DefinitionCache,
        tree: Tree,
        log_writer: LogWriter,
        limits: RunnerLimits,
        conversations: Conversations,
        library: AgentLibraryService,
    ) -> None:
        self._database = database
        self._plans = plans
        self._limits = limits
        self._root = str(tree.root)
        self._log_writer = log_writer
        self._conversations = conversations
        self._library = library
        self._read = OutputCache(database)

    # ---- for the worker ----------------------------------------------------------------------------------
    async def checkpoint(self, loaded: LoadedRun, e: Execution) -> CheckpointDefinition:
        """The definition that an execution is carried out by."""
        return (await self.definition(loaded, e)).checkpoint(e.key)

    async def definition(self, loaded: LoadedRun, e: Execution) -> PipelineDefinition:
        """The whole of it, with the agents of the library put in."""
        written = self._plans.cached(loaded.facts.pipeline_id, e.definition)
        found = self._library.known_of_run(loaded, written, e.definition) if written is not None else None
        return found or await self._database.aread(lambda c: self._definition(c, loaded, e))

    def _definition(self, connection: Connection, loaded: LoadedRun, e: Execution) -> PipelineDefinition:
        written = self._plans.definition(connection, loaded.facts.pipeline_id, e.definition)
        return self._library.of_run(connection, loaded, written, e.definition)

    async def build(self, loaded: LoadedRun, e: Execution) -> WorkOrder:
        """Everything for one dispatch. What is large, or must be there, is read now; the rest when it is wanted."""
        facts, definition = loaded.facts, await self.definition(loaded, e)
        checkpoint = definition.checkpoint(e.key)
        material = await self._material(loaded, e, checkpoint)
        answer, files = None, dict[str, UploadedFile]()
        if e.policy.mode is ExecutionMode.HUMAN_ONLY or (e.policy.mode is ExecutionMode.SCRIPT and e.answered):
            answer, files = await self._database.aread(lambda c: (read_answer(c, e.answer), self._uploads(c, e.id)))
        scripts, calls = await self._of_script(loaded, e)
        operations = await self._operations(definition, checkpoint)
        of = ExecutionRef(facts.pipeline_id, facts.run_id, e.id, e.dispatch)
        return WorkOrder(
            run_id=facts.run_id,
            pipeline_id=facts.pipeline_id,
            execution_id=e.id,
            dispatch=e.dispatch,
            attempt=e.attempt,
            revision=e.revision,
            checkpoint=checkpoint,
            material=material,
            answer=answer,
            files=files,
            feedback=feedback_of(loaded, e),
            workspace=Path(f"{self._root}/{facts.pipeline_id}/{layout.workspace_folder(e.id)}/{layout.WORKSPACE}"),
            log=partial(self._log_writer.add_line, of),
            progress=partial(self._log_writer.set_progress, of),
            rework=material.rework,
            is_test=facts.is_test,
            action_offers=operations,
            check_proposal=partial(proposal_error, definition),
            scripts=scripts,
            calls=calls,
            read_content=lambda checksum: self._read.reader(checksum)(),
            on_sandboxed=partial(self._log_writer.set_sandbox, of),
            conversation=self._conversations.of(loaded, e),
        )

    async def _of_script(
        self, loaded: LoadedRun, e: Execution
    ) -> tuple[Mapping[str, StoredFile], tuple[RecordedCall, ...]]:
        """The files of its definition, and the calls that it has made in this revision."""
        if e.policy.mode in (ExecutionMode.FUNCTION, ExecutionMode.AGENTIC) and e.dispatch > 1:
            return {}, await self._database.aread(lambda c: read_calls(c, e))
        if e.policy.mode is not ExecutionMode.SCRIPT:
            return {}, ()
        facts = loaded.facts

        def read(connection: Connection) -> tuple[Mapping[str, StoredFile], tuple[RecordedCall, ...]]:
            definition = self._plans.definition(connection, facts.pipeline_id, e.definition)
            files = {
                path: StoredFile(path, "", file.checksum, file.size_bytes, self._read.reader(file.checksum))
                for path, file in definition.scripts.items()
            }
            return files, read_calls(connection, e)

        return await self._database.aread(read)

    async def _operations(
        self, definition: PipelineDefinition, checkpoint: CheckpointDefinition
    ) -> tuple[ActionOffer, ...]:
        """Where agents may propose actions: which, and what people have corrected before."""
        if checkpoint.execution.mode is not ExecutionMode.AGENTIC or not uses_tool(checkpoint, "propose_action"):
            return ()
        return await self._database.aread(lambda c: action_offers(c, definition))

    async def recorded_inputs(self, work: WorkOrder) -> RecordedInputs:
        """The context that the work was given, where it is to be kept, and what it has read."""
        if work.checkpoint.execution.mode is ExecutionMode.SCRIPT:
            await self._log_writer.flush()  # the sandbox is recorded before the execution completes
        material = work.material
        if not isinstance(material, DispatchMaterial):
            return NOTHING_RECORDED
        context = (
            await self._database.aread(lambda _: material.context_document()) if material.is_context_stored else None
        )
        return RecordedInputs(context, material.consumed)

    def end_dispatch(self, loaded: LoadedRun, e: Execution) -> None:
        """The dispatch is over: nobody speaks in it any more."""
        self._conversations.end(loaded.facts.run_id, e.id)

    def remember(self, commit: Commit, execution_id: str) -> None:
        """What has just been completed is read next: keep it at hand."""
        if commit.after.run.executions[execution_id].state is ExecutionState.COMPLETED:
            self._read.remember(execution_id, commit.file_plan.artifacts)

    async def _material(self, loaded: LoadedRun, e: Execution, checkpoint: CheckpointDefinition) -> DispatchMaterial:
        wanted = [other.id for other in completed_by_key(loaded, e).values()]
        outputs = self._read.cached(wanted)
        looks_up = (
            checkpoint.inputs.include_previous_version or e.parent_execution is not None or loaded.run.pass_number > 1
        )
        looks_up = looks_up or bool(summaries.summarized_checkpoints(checkpoint))
        if len(outputs) < len(wanted) or looks_up:
            found = await self._database.aread(lambda c: self._look_up(c, loaded, e, checkpoint))
        else:
            found = self._resolved(loaded, e, outputs)
        gathered = DispatchMaterial(self._database, self._plans, self._limits, loaded, checkpoint, found)
        if gathered.is_declared or gathered.size > AT_ONCE:
            await self._database.aread(lambda _: gathered.gather())
        return gathered

    # ---- for people, before and after --------------------------------------------------------------------
    def preview(
        self, connection: Connection, loaded: LoadedRun, e: Execution
    ) -> tuple[DispatchMaterial, AssembledContext]:
        """The exact context of an execution, as it would be given now."""
        checkpoint = self._definition(connection, loaded, e).checkpoint(e.key)
        found = self._look_up(connection, loaded, e, checkpoint)
        gathered = DispatchMaterial(self._database, self._plans, self._limits, loaded, checkpoint, found)
        return gathered, gathered.assembled

    # ---- what there is to read ------------------------------------------------------------------------------
    def _look_up(
        self,
        connection: Connection,
        loaded: LoadedRun,
        e: Execution,
        checkpoint: CheckpointDefinition,
    ) -> ResolvedInputs:
        last = _in_the_pass_before(loaded, e)
        wanted = [other.id for other in completed_by_key(loaded, e).values()] + ([last.id] if last else [])
        outputs = self._read.look_up(connection, wanted)
        previous = (
            self._read.of_previous_run(connection, loaded, e) if checkpoint.inputs.include_previous_version else None
        )
        earlier = self._source(loaded, last, outputs) if last is not None else None
        asker = self._read.of_requester(connection, loaded, e)
        found = self._resolved(loaded, e, outputs, asker)
        long = [
            source for key, source in found.completed.items() if key in summaries.summarized_checkpoints(checkpoint)
        ]
        return replace(found, previous=previous, previous_pass=earlier, summaries=summaries.read(connection, long))

    def _resolved(
        self, loaded: LoadedRun, e: Execution, outputs: Outputs, of_asker: tuple[StoredFile, ...] = ()
    ) -> ResolvedInputs:
        completed = {key: self._source(loaded, other, outputs) for key, other in completed_by_key(loaded, e).items()}
        return ResolvedInputs(
            completed=completed,
            feedback=feedback_of(loaded, e),
            rework=rework_brief(e, of_asker),
            findings=findings_of(e),
        )

    def _source(self, loaded: LoadedRun, of: Execution, outputs: Outputs) -> ArtifactSource:
        name = loaded.places[of.key].name
        return ArtifactSource(name, of.position, loaded.facts.run_version, outputs[of.id], of.pass_number)

    def _uploads(self, connection: Connection, execution_id: str) -> dict[str, UploadedFile]:
        return {
            upload_id: UploadedFile(row.filename, row.checksum, row.size_bytes, self._read.reader(row.checksum))
            for upload_id, row in uploads_of(connection, execution_id).items()
        }


@dataclass(frozen=True, slots=True)
class RecordedInputs:
    """What a dispatch was given."""

    context: bytes | None = None  # as it is stored
    consumed: tuple[str, ...] = ()  # artifact records


NOTHING_RECORDED = RecordedInputs()


@dataclass(frozen=True, slots=True)
class ExecutionRef:
    pipeline_id: str
    run_id: str
    execution_id: str
    dispatch: int


def _in_the_pass_before(loaded: LoadedRun, e: Execution) -> Execution | None:
    """The execution whose outputs stood for the checkpoint in the pass before."""
    before = [
        other
        for other in loaded.run.executions.values()
        if other.key == e.key
        and other.pass_number == e.pass_number - 1
        and other.state is ExecutionState.COMPLETED
        and other.archived_by is None
    ]
    return before[-1] if before else None
