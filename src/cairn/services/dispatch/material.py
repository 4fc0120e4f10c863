"""The inputs of one dispatch, read on demand. Everything read is recorded in the lineage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from cairn.core.execution import Execution
from cairn.core.states import ExecutionMode, ExecutionState
from cairn.definitions import CheckpointDefinition
from cairn.definitions.input_paths import INPUT
from cairn.documents import Value, decode_json
from cairn.ports import ArtifactSource, ResolvedInputs, ReworkBrief, StoredFile
from cairn.runners import CannotStart, RunnerLimits
from cairn.runners.agents import compose_first_turn
from cairn.runners.input_mapping import map_input, read_value, run_context, sources, values_of
from cairn.runners.prompt_context import AssembledContext, assemble, prompts, referenced
from cairn.runners.result_checks import INVALID
from cairn.services.dispatch.records import save_summary
from cairn.services.engine.plans import DefinitionCache
from cairn.services.runs.execution_views import Context, ContextBlock
from cairn.store import Database, LoadedRun, blobs

MAX_STORED_INPUT = 1024 * 1024  # bytes; a context built from more input is not stored


class DispatchMaterial:
    def __init__(
        self,
        database: Database,
        plans: DefinitionCache,
        limits: RunnerLimits,
        loaded: LoadedRun,
        checkpoint: CheckpointDefinition,
        inputs: ResolvedInputs,
    ) -> None:
        self._database = database
        self._plans = plans
        self._limits = limits
        self._loaded = loaded
        self._checkpoint = checkpoint
        self._inputs = inputs
        self._bytes_read = 0  # for the mapped input
        self._consumed: dict[str, StoredFile] = {}  # by record id
        self._summaries = dict(inputs.summaries)

    @property
    def has_declared_inputs(self) -> bool:
        """Whether the definition declares inputs. They must exist before the work starts."""
        c = self._checkpoint
        return bool(c.input_mapping or c.input_schema is not None or c.inputs.include_checkpoint_outputs)

    @property
    def size(self) -> int:
        return sum(stored.size for source in self._inputs.completed.values() for stored in source.artifacts)

    def load(self) -> None:
        """Read the input and the references now. Raises CannotStart if one is missing or invalid."""
        _ = self.input, self.references

    @property
    def input(self) -> Any:
        return self._input

    @cached_property
    def _input(self) -> Any:
        """The run's input and the outputs of completed checkpoints, mapped as the definition says."""
        mapped = sources(self._checkpoint)
        values: dict[str, Value] = {}
        for key, source in self._inputs.completed.items():
            if mapped is None or key in mapped:
                values[key] = self._value(key, source)
        run_input = self._read(self._loaded.facts.input_checksum) if mapped is None or "input" in mapped else None
        return map_input(self._checkpoint, run_context(run_input, values))

    @property
    def previous(self) -> tuple[StoredFile, ...]:
        return self._consume(self._inputs.previous.artifacts) if self._inputs.previous is not None else ()

    @property
    def references(self) -> Mapping[str, tuple[StoredFile, ...]]:
        found = referenced(self._checkpoint, self._inputs.completed)
        return {key: self._consume(source.artifacts) for key, source in found.items()}

    @property
    def rework(self) -> ReworkBrief | None:
        return self._inputs.rework

    @property
    def consumed(self) -> tuple[str, ...]:
        """Record ids of the artifacts that were read. A rework always reads the artifacts of its requester."""
        if self._inputs.rework is not None:
            self._consume(self._inputs.rework.artifacts)
        return tuple(self._consumed)

    def _consume(self, artifacts: tuple[StoredFile, ...]) -> tuple[StoredFile, ...]:
        self._consumed.update((file.record_id, file) for file in artifacts)
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
        if self._inputs.previous_pass is not None:
            self._consume(self._inputs.previous_pass.artifacts)
        if self._checkpoint.execution.mode is not ExecutionMode.AGENTIC:
            return self._inputs
        prompt = self._loaded.facts.original_prompt
        return replace(self._inputs, input=self._agent_input, original_prompt=prompt, summaries=self._summaries)

    @cached_property
    def _agent_input(self) -> Any:
        """The part of the input that an agent's prompt shows.

        That is the mapped input. Without a mapping it is the whole context, or only the run's own input if the
        checkpoint references outputs, since the prompt shows those separately.
        """
        shown = dict(self.input)
        if self._checkpoint.input_mapping:
            return shown
        if self._checkpoint.inputs.include_checkpoint_outputs:
            shown = {INPUT: shown.get(INPUT)}
        if shown.get(INPUT) is None:
            shown.pop(INPUT, None)
        return shown or None

    async def save_summary(self, checksum: str, model: str, summary: str) -> None:
        known = dict(self._summaries.get(checksum, {}))
        if known.pop(model, None) != summary:
            now = datetime.now(UTC)
            await self._database.transact(lambda c: save_summary(c, checksum, model, summary, now))
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
        self._bytes_read += sum(stored.size for stored in source.artifacts)
        answer = self._read(e.answer) if e.policy.mode is ExecutionMode.HUMAN_ONLY else None
        checkpoint = definition.checkpoint(key)
        self._consume(values_of(checkpoint, source.artifacts))
        return read_value(checkpoint, source.artifacts, answer)

    def _read(self, checksum: str | None) -> Value:
        if checksum is None:
            return None
        content = self._database.read(lambda c: blobs.read(c, checksum))
        self._bytes_read += len(content)
        return decode_json(content, max_bytes=max(len(content), 1))

    @property
    def is_context_stored(self) -> bool:
        """Whether to store the context with the execution: only if the definition shapes it and it isn't too large.

        A context that is too large for any model can be traced through the outputs it was built from.
        """
        c = self._checkpoint
        is_shaped = (
            bool(c.inputs.include_previous_version or c.instructions.system_prompt or c.instructions.task_prompt)
            or c.execution.mode is ExecutionMode.AGENTIC
            or self.has_declared_inputs
            or self.rework is not None
        )
        return is_shaped and self._bytes_read <= MAX_STORED_INPUT

    def context_document(self) -> bytes | None:
        """The context to store, as JSON."""
        try:
            context = context_view(self._checkpoint, self.input, self.assembled, stored=True)
        except CannotStart:
            return None  # an agent fails with this error; other runners don't need the context
        return context.model_dump_json().encode()


def completed_by_key(loaded: LoadedRun, e: Execution | None) -> dict[str, Execution]:
    """The completed execution of each checkpoint in this pass, excluding `e`."""
    return {
        other.key: other
        for other in loaded.run.current
        if other.state is ExecutionState.COMPLETED and (e is None or other.id != e.id)
    }


def feedback_of(loaded: LoadedRun, e: Execution) -> tuple[str, ...]:
    """The feedback of requested revisions, oldest first."""
    return tuple(
        vote.feedback
        for approval in loaded.run.approvals.values()
        if approval.execution == e.id
        for vote in approval.votes
        if vote.decision in ("revise", "feedback") and vote.feedback
    )


def findings_of(e: Execution) -> str:
    """Why the previous result failed validation, if the work is repeated for that reason."""
    last = e.last_error
    return last.message if e.validations_used and last is not None and last.type == INVALID else ""


def rework_brief(e: Execution, requester_files: tuple[StoredFile, ...]) -> ReworkBrief | None:
    rework = e.rework
    if rework is None:
        return None
    return ReworkBrief(rework.prompt, rework.reason, rework.requested_by, e.parent_execution, requester_files)


def context_view(checkpoint: CheckpointDefinition, input: Any, assembled: AssembledContext, *, stored: bool) -> Context:
    """The API view of a context. `stored`: whether it was saved with the execution."""
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
