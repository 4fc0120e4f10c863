"""Build work orders: the definition, the input and the readable outputs of one dispatch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cairn.core.execution import Execution
from cairn.core.states import ExecutionMode, ExecutionState
from cairn.definitions import CheckpointDefinition, PipelineDefinition
from cairn.files import Tree, layout
from cairn.ports import (
    ActionOffer,
    ArtifactSource,
    ProposesAction,
    RecordedCall,
    ResolvedInputs,
    StoredFile,
    UploadedFile,
    WorkOrder,
)
from cairn.runners import RunnerLimits
from cairn.runners.agents.roles import uses_tool
from cairn.runners.prompt_context import AssembledContext, summarized_checkpoints
from cairn.services.actions.hand_overs import DispatchActions
from cairn.services.actions.offers import ActionOffers
from cairn.services.actions.resolving import ActionRefusal, ResolvedAction
from cairn.services.actions.sender import ActionSender
from cairn.services.agent_library.service import AgentLibraryService
from cairn.services.approvals.form_answers import read_answer
from cairn.services.approvals.queries.forms import uploads_of
from cairn.services.conversations.service import ConversationService
from cairn.services.dispatch import queries
from cairn.services.dispatch.material import DispatchMaterial, completed_by_key, feedback_of, findings_of, rework_brief
from cairn.services.dispatch.output_cache import OutputCache, Outputs
from cairn.services.dispatch.recorded_calls import read_calls
from cairn.services.engine.commit import Commit
from cairn.services.engine.plans import DefinitionCache
from cairn.services.logs.log_writer import LogWriter
from cairn.store import Connection, Database, LoadedRun, NewArtifact

MAX_ON_LOOP = 256 * 1024  # larger inputs are read and decoded in a thread


class WorkOrders:
    def __init__(
        self,
        database: Database,
        plans: DefinitionCache,
        tree: Tree,
        log_writer: LogWriter,
        limits: RunnerLimits,
        conversations: ConversationService,
        library: AgentLibraryService,
        offers: ActionOffers,
        sender: ActionSender,
    ) -> None:
        self._database = database
        self._plans = plans
        self._limits = limits
        self._root = str(tree.root)
        self._log_writer = log_writer
        self._conversations = conversations
        self._library = library
        self._offers = offers
        self._sender = sender
        self._outputs = OutputCache(database)

    # Dispatches
    async def checkpoint(self, loaded: LoadedRun, e: Execution) -> CheckpointDefinition:
        """The checkpoint in the definition revision that the execution uses."""
        return (await self.definition(loaded, e)).checkpoint(e.key)

    async def definition(self, loaded: LoadedRun, e: Execution) -> PipelineDefinition:
        """The execution's definition, with library agents resolved."""
        source = self._plans.cached(loaded.facts.pipeline_id, e.definition)
        resolved = self._library.cached_for_run(loaded, source, e.definition) if source is not None else None
        return resolved or await self._database.aread(lambda c: self._definition(c, loaded, e))

    def _definition(self, connection: Connection, loaded: LoadedRun, e: Execution) -> PipelineDefinition:
        source = self._plans.definition(connection, loaded.facts.pipeline_id, e.definition)
        return self._library.resolve_for_run(connection, loaded, source, e.definition)

    async def build(self, loaded: LoadedRun, e: Execution) -> WorkOrder:
        """Build the work order of a dispatch. Large and declared inputs are read now, other inputs on demand."""
        facts, definition = loaded.facts, await self.definition(loaded, e)
        checkpoint = definition.checkpoint(e.key)
        material = await self._material(loaded, e, checkpoint)
        answer, files = None, dict[str, UploadedFile]()
        if e.policy.mode is ExecutionMode.HUMAN_ONLY or (e.policy.mode is ExecutionMode.SCRIPT and e.answered):
            answer, files = await self._database.aread(lambda c: (read_answer(c, e.answer), self._uploads(c, e.id)))
        scripts, calls = await self._scripts_and_calls(loaded, e)
        offers = await self._action_offers(definition, checkpoint, loaded.facts.pipeline_id)
        ref = ExecutionRef(facts.pipeline_id, facts.run_id, e.id, e.dispatch)
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
            log=partial(self._log_writer.add_line, ref),
            progress=partial(self._log_writer.set_progress, ref),
            rework=material.rework,
            is_test=facts.is_test,
            action_offers=offers,
            check_proposal=partial(self._proposal_error, loaded, definition),
            actions=DispatchActions(self._sender, loaded, e),
            scripts=scripts,
            calls=calls,
            read_content=lambda checksum: self._outputs.reader(checksum)(),
            on_sandboxed=partial(self._log_writer.set_sandbox, ref),
            conversation=self._conversations.open(loaded, e),
        )

    async def _scripts_and_calls(
        self, loaded: LoadedRun, e: Execution
    ) -> tuple[Mapping[str, StoredFile], tuple[RecordedCall, ...]]:
        """The scripts of the definition by path, and the recorded calls of this revision."""
        if e.policy.mode in (ExecutionMode.FUNCTION, ExecutionMode.AGENTIC) and e.dispatch > 1:
            return {}, await self._database.aread(lambda c: read_calls(c, e))
        if e.policy.mode is not ExecutionMode.SCRIPT:
            return {}, ()
        facts = loaded.facts

        def read(connection: Connection) -> tuple[Mapping[str, StoredFile], tuple[RecordedCall, ...]]:
            definition = self._plans.definition(connection, facts.pipeline_id, e.definition)
            files = {
                path: StoredFile(path, "", file.checksum, file.size_bytes, self._outputs.reader(file.checksum))
                for path, file in definition.scripts.items()
            }
            return files, read_calls(connection, e)

        return await self._database.aread(read)

    async def _action_offers(
        self, definition: PipelineDefinition, checkpoint: CheckpointDefinition, pipeline_id: str
    ) -> tuple[ActionOffer, ...]:
        """The actions that the checkpoint's agents may propose, with past corrections."""
        if checkpoint.execution.mode is not ExecutionMode.AGENTIC or not uses_tool(checkpoint, "propose_action"):
            return ()
        return await self._database.aread(lambda c: self._offers.of(c, definition, pipeline_id))

    async def resolve(
        self, loaded: LoadedRun, e: Execution, proposed: ProposesAction, staged: Sequence[NewArtifact]
    ) -> ResolvedAction | ActionRefusal:
        """Resolve a proposed action to the request that people approve and that is sent."""
        definition = await self.definition(loaded, e)
        return await self._database.aread(lambda c: self._offers.resolve(c, definition, loaded, proposed, staged))

    def _proposal_error(
        self, loaded: LoadedRun, definition: PipelineDefinition, proposed: ProposesAction
    ) -> str | None:
        return self._database.read(lambda c: self._offers.error(c, definition, loaded, proposed))

    async def recorded_inputs(self, work: WorkOrder) -> RecordedInputs:
        """The context to store, if any, and the artifacts that the work has read."""
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
        """Drop the messages that were still being streamed."""
        self._conversations.end(loaded.facts.run_id, e.id)

    def remember(self, commit: Commit, execution_id: str) -> None:
        """Cache the outputs of an execution that this commit has completed."""
        if commit.after.run.executions[execution_id].state is ExecutionState.COMPLETED:
            self._outputs.remember(execution_id, commit.file_plan.artifacts)

    async def _material(self, loaded: LoadedRun, e: Execution, checkpoint: CheckpointDefinition) -> DispatchMaterial:
        completed = [other.id for other in completed_by_key(loaded, e).values()]
        outputs = self._outputs.cached(completed)
        needs_database = (
            len(outputs) < len(completed)
            or checkpoint.inputs.include_previous_version
            or e.parent_execution is not None
            or loaded.run.pass_number > 1
            or bool(summarized_checkpoints(checkpoint))
        )
        if needs_database:
            inputs = await self._database.aread(lambda c: self._look_up(c, loaded, e, checkpoint))
        else:
            inputs = self._resolved(loaded, e, outputs)
        material = DispatchMaterial(self._database, self._plans, self._limits, loaded, checkpoint, inputs)
        if material.has_declared_inputs or material.size > MAX_ON_LOOP:
            await self._database.aread(lambda _: material.load())
        return material

    # Previews
    def preview(
        self, connection: Connection, loaded: LoadedRun, e: Execution
    ) -> tuple[DispatchMaterial, AssembledContext]:
        """The exact context that the execution would receive now."""
        checkpoint = self._definition(connection, loaded, e).checkpoint(e.key)
        inputs = self._look_up(connection, loaded, e, checkpoint)
        material = DispatchMaterial(self._database, self._plans, self._limits, loaded, checkpoint, inputs)
        return material, material.assembled

    # Readable outputs
    def _look_up(
        self,
        connection: Connection,
        loaded: LoadedRun,
        e: Execution,
        checkpoint: CheckpointDefinition,
    ) -> ResolvedInputs:
        last = _execution_in_previous_pass(loaded, e)
        ids = [other.id for other in completed_by_key(loaded, e).values()] + ([last.id] if last else [])
        outputs = self._outputs.look_up(connection, ids)
        previous = (
            self._outputs.previous_run_outputs(connection, loaded, e)
            if checkpoint.inputs.include_previous_version
            else None
        )
        previous_pass = self._source(loaded, last, outputs) if last is not None else None
        inputs = self._resolved(loaded, e, outputs, self._outputs.requester_files(connection, loaded, e))
        summarized = summarized_checkpoints(checkpoint)
        sources = [source for key, source in inputs.completed.items() if key in summarized]
        summaries = queries.summaries_of(connection, sources)
        return replace(inputs, previous=previous, previous_pass=previous_pass, summaries=summaries)

    def _resolved(
        self, loaded: LoadedRun, e: Execution, outputs: Outputs, requester_files: tuple[StoredFile, ...] = ()
    ) -> ResolvedInputs:
        completed = {key: self._source(loaded, other, outputs) for key, other in completed_by_key(loaded, e).items()}
        return ResolvedInputs(
            completed=completed,
            feedback=feedback_of(loaded, e),
            rework=rework_brief(e, requester_files),
            findings=findings_of(e),
        )

    def _source(self, loaded: LoadedRun, e: Execution, outputs: Outputs) -> ArtifactSource:
        name = loaded.places[e.key].name
        return ArtifactSource(name, e.position, loaded.facts.run_version, outputs[e.id], e.pass_number)

    def _uploads(self, connection: Connection, execution_id: str) -> dict[str, UploadedFile]:
        return {
            upload_id: UploadedFile(row.filename, row.checksum, row.size_bytes, self._outputs.reader(row.checksum))
            for upload_id, row in uploads_of(connection, execution_id).items()
        }


@dataclass(frozen=True, slots=True)
class RecordedInputs:
    """The inputs of a dispatch, to be saved with its report."""

    context: bytes | None = None  # the document to store; None: no context is stored
    consumed: tuple[str, ...] = ()  # record ids of the artifacts that were read


NOTHING_RECORDED = RecordedInputs()


@dataclass(frozen=True, slots=True)
class ExecutionRef:
    pipeline_id: str
    run_id: str
    execution_id: str
    dispatch: int


def _execution_in_previous_pass(loaded: LoadedRun, e: Execution) -> Execution | None:
    """The last completed execution of the same checkpoint in the previous pass."""
    completed = [
        other
        for other in loaded.run.executions.values()
        if other.key == e.key
        and other.pass_number == e.pass_number - 1
        and other.state is ExecutionState.COMPLETED
        and other.archived_by is None
    ]
    return completed[-1] if completed else None
