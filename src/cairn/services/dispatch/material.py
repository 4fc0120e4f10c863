"""What one execution may read: found already, brought together when it is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cairn.core.execution import Execution
from cairn.core.states import ExecutionMode, ExecutionState
from cairn.definitions import CheckpointDefinition
from cairn.definitions.input_paths import INPUT
from cairn.documents import Value, decode_json
from cairn.ports import ReworkBrief, StoredFile
from cairn.runners import CannotStart, RunnerLimits
from cairn.runners.agents import compose_first_turn
from cairn.runners.input_mapping import map_input, read_value, run_context, sources, values_of
from cairn.runners.prompt_context import ArtifactSource, AssembledContext, ResolvedInputs, assemble, prompts, referenced
from cairn.runners.result_checks import INVALID
from cairn.services.dispatch import summaries
from cairn.services.engine.plans import DefinitionCache
from cairn.services.runs.execution_views import Context, ContextBlock
from cairn.store import Database, LoadedRun, blobs

if TYPE_CHECKING:
    pass

MOST_KEPT = 1024 * 1024  # bytes of input that are stored with a context


class DispatchMaterial:
    """The material of one dispatch."""

    def __init__(
        self,
        database: Database,
        plans: DefinitionCache,
        limits: RunnerLimits,
        loaded: LoadedRun,
        checkpoint: CheckpointDefinition,
        found: ResolvedInputs,
    ) -> None:
        self._database = database
        self._plans = plans
        self._limits = limits
        self._loaded = loaded
        self._checkpoint = checkpoint
        self._found = found
        self._taken = 0  # bytes of what joins the input
        self._read_of: dict[str, StoredFile] = {}  # what was given to read, by record
        self._summaries = dict(found.summaries)

    @property
    def is_declared(self) -> bool:
        """Whether the definition says what it needs: then that has to be there before it begins."""
        c = self._checkpoint
        return bool(c.input_mapping or c.input_schema is not None or c.inputs.include_checkpoint_outputs)

    @property
    def size(self) -> int:
        return sum(stored.size for source in self._found.completed.values() for stored in source.artifacts)

    def gather(self) -> None:
        _ = self.input, self.references

    @property
    def input(self) -> Any:
        return self._input

    @cached_property
    def _input(self) -> Any:
        """Mapped from the run's input and the outputs of what is complete."""
        wanted = sources(self._checkpoint)
        values: dict[str, Value] = {}
        for key, source in self._found.completed.items():
            if wanted is None or key in wanted:
                values[key] = self._value(key, source)
        run_input = self._read(self._loaded.facts.input_checksum) if wanted is None or "input" in wanted else None
        return map_input(self._checkpoint, run_context(run_input, values))

    @property
    def previous(self) -> tuple[StoredFile, ...]:
        return self._given(self._found.previous.artifacts) if self._found.previous is not None else ()

    @property
    def references(self) -> Mapping[str, tuple[StoredFile, ...]]:
        found = referenced(self._checkpoint, self._found.completed)
        return {key: self._given(source.artifacts) for key, source in found.items()}

    @property
    def rework(self) -> ReworkBrief | None:
        """Why the work was sent back."""
        return self._found.rework

    @property
    def consumed(self) -> tuple[str, ...]:
        """The artifacts that it was given to read: those of its asker always, others when it wanted them."""
        if self._found.rework is not None:
            self._given(self._found.rework.artifacts)
        return tuple(self._read_of)

    def _given(self, artifacts: tuple[StoredFile, ...]) -> tuple[StoredFile, ...]:
        self._read_of.update((one.record_id, one) for one in artifacts)
        return artifacts

    @property
    def assembled(self) -> AssembledContext:
        if self._checkpoint.execution.mode is ExecutionMode.AGENTIC:
            return compose_first_turn(self._checkpoint, self.resolved_inputs, self._limits)
        return assemble(self._checkpoint, self.resolved_inputs, limits=self._limits)

    @property
    def resolved_inputs(self) -> ResolvedInputs:
        _ = self.references
        if self._checkpoint.inputs.include_previous_version:
            _ = self.previous
        if self._found.previous_pass is not None:
            self._given(self._found.previous_pass.artifacts)
        if self._checkpoint.execution.mode is not ExecutionMode.AGENTIC:
            return self._found
        prompt = self._loaded.facts.original_prompt
        return replace(self._found, input=self._shown_input, original_prompt=prompt, summaries=self._summaries)

    @cached_property
    def _shown_input(self) -> Any:
        """Of the input what an agent is shown: what is mapped; else the run's own, and without references all of it."""
        given = dict(self.input)
        if self._checkpoint.input_mapping:
            return given
        if self._checkpoint.inputs.include_checkpoint_outputs:
            given = {INPUT: given.get(INPUT)}
        if given.get(INPUT) is None:
            given.pop(INPUT, None)
        return given or None

    async def save_summary(self, checksum: str, model: str, summary: str) -> None:
        known = dict(self._summaries.get(checksum, {}))
        if known.pop(model, None) != summary:
            now = datetime.now(UTC)
            await self._database.transact(lambda c: summaries.save(c, checksum, model, summary, now))
        self._summaries[checksum] = {**known, model: summary}

    @property
    def prompt(self) -> str:
        return self.assembled.text

    def _value(self, key: str, source: ArtifactSource) -> Value:
        e = completed_by_key(self._loaded, None)[key]
        facts = self._loaded.facts
        definition = self._plans.cached(facts.pipeline_id, e.definition) or self._database.read(
            lambda c: self._plans.definition(c, facts.pipeline_id, e.definition)
        )
        self._taken += sum(stored.size for stored in source.artifacts)
        answer = self._read(e.answer) if e.policy.mode is ExecutionMode.HUMAN_ONLY else None
        checkpoint = definition.checkpoint(key)
        self._given(values_of(checkpoint, source.artifacts))
        return read_value(checkpoint, source.artifacts, answer)

    def _read(self, checksum: str | None) -> Value:
        if checksum is None:
            return None
        content = self._database.read(lambda c: blobs.read(c, checksum))
        self._taken += len(content)
        return decode_json(content, max_bytes=max(len(content), 1))

    @property
    def is_context_stored(self) -> bool:
        """Whether the definition says anything of the context: then it is stored with the execution.

        Of more than is ever put before a model, the outputs that it was taken from are record enough.
        """
        c = self._checkpoint
        says = c.inputs.include_previous_version or c.instructions.system_prompt or c.instructions.task_prompt
        says = says or c.execution.mode is ExecutionMode.AGENTIC
        return (bool(says) or self.is_declared or self.rework is not None) and self._taken <= MOST_KEPT

    def context_document(self) -> bytes | None:
        """The context as it is stored."""
        try:
            context = context_view(self._checkpoint, self.input, self.assembled, stored=True)
        except CannotStart:
            return None  # whoever wants it as a prompt fails with it; the others do without
        return context.model_dump_json().encode()


def completed_by_key(loaded: LoadedRun, e: Execution | None) -> dict[str, Execution]:
    """The completed execution that stands for each checkpoint in this pass, other than the one that asks."""
    return {
        other.key: other
        for other in loaded.run.current
        if other.state is ExecutionState.COMPLETED and (e is None or other.id != e.id)
    }


def feedback_of(loaded: LoadedRun, e: Execution) -> tuple[str, ...]:
    """What people said when they asked for revisions, oldest first."""
    return tuple(
        vote.feedback
        for approval in loaded.run.approvals.values()
        if approval.execution == e.id
        for vote in approval.votes
        if vote.decision in ("revise", "feedback") and vote.feedback
    )


def findings_of(e: Execution) -> str:
    """Why the last result was not taken, while it is being done again for that."""
    last = e.last_error
    return last.message if e.validations_used and last is not None and last.type == INVALID else ""


def rework_brief(e: Execution, of_asker: tuple[StoredFile, ...]) -> ReworkBrief | None:
    """Why the work of an execution was sent back, with what its asker has made so far."""
    why = e.rework
    return (
        ReworkBrief(why.prompt, why.reason, why.requested_by, e.parent_execution, of_asker) if why is not None else None
    )


def context_view(checkpoint: CheckpointDefinition, input: Any, assembled: AssembledContext, *, stored: bool) -> Context:
    """A context as it is shown; `stored` if it is kept with the execution."""
    system, task = prompts(checkpoint)
    return Context(
        stored=stored,
        content_format=checkpoint.instructions.injection_format.content_format.value,
        input=input,
        blocks=[
            ContextBlock(
                kind=block.kind.value,
                heading=block.heading,
                checkpoint_name=block.checkpoint_name,
                run_version=block.run_version,
                artifact_name=block.artifact_name,
                file_path=block.file_path,
                content=block.content,
                size_bytes=block.size_bytes,
            )
            for block in assembled.blocks
        ],
        system_prompt=system,
        task_prompt=task,
        text=assembled.text,
        size_characters=assembled.characters,
        estimated_tokens=assembled.tokens,
    )
