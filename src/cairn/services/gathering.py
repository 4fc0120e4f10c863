"""What one execution may read: found already, brought together when it is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from cairn.core.model import Execution, Mode, State
from cairn.definitions import CheckpointDefinition
from cairn.documents import Value, decode_json
from cairn.ports import Stored
from cairn.runners import CannotBegin, Limits
from cairn.runners.context import Assembled, Resolved, Source, assemble, referenced
from cairn.runners.inputs import map_input, read_value, run_context, sources
from cairn.services.plans import Plans
from cairn.store import Database, Loaded, blobs

MOST_KEPT = 1024 * 1024  # bytes of input that are stored with a context


class Gathered:
    """The material of one dispatch."""

    def __init__(
        self,
        database: Database,
        plans: Plans,
        limits: Limits,
        loaded: Loaded,
        checkpoint: CheckpointDefinition,
        found: Resolved,
    ) -> None:
        self._database = database
        self._plans = plans
        self._limits = limits
        self._loaded = loaded
        self._checkpoint = checkpoint
        self._found = found
        self._taken = 0  # bytes of what joins the input

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
        """Mapped from the run's input and the outputs of what is complete (P8, D8)."""
        wanted = sources(self._checkpoint)
        values: dict[str, Value] = {}
        for key, source in self._found.completed.items():
            if wanted is None or key in wanted:
                values[key] = self._value(key, source)
        run_input = self._read(self._loaded.facts.input_checksum) if wanted is None or "input" in wanted else None
        return map_input(self._checkpoint, run_context(run_input, values))

    @property
    def previous(self) -> tuple[Stored, ...]:
        return self._found.previous.artifacts if self._found.previous is not None else ()

    @property
    def references(self) -> Mapping[str, tuple[Stored, ...]]:
        return {key: source.artifacts for key, source in referenced(self._checkpoint, self._found.completed).items()}

    @cached_property
    def assembled(self) -> Assembled:
        return assemble(self._checkpoint, self._found, limits=self._limits)

    @property
    def prompt(self) -> str:
        return self.assembled.text

    def _value(self, key: str, source: Source) -> Value:
        e = standing(self._loaded, None)[key]
        facts = self._loaded.facts
        definition = self._plans.known(facts.pipeline_id, e.definition) or self._database.read(
            lambda c: self._plans.definition(c, facts.pipeline_id, e.definition)
        )
        self._taken += sum(stored.size for stored in source.artifacts)
        answer = self._read(e.answer) if e.policy.mode is Mode.HUMAN_ONLY else None
        return read_value(definition.checkpoint(key), source.artifacts, answer)

    def _read(self, checksum: str | None) -> Value:
        if checksum is None:
            return None
        content = self._database.read(lambda c: blobs.read(c, checksum))
        self._taken += len(content)
        return decode_json(content, max_bytes=max(len(content), 1))

    @property
    def is_kept(self) -> bool:
        """Whether the definition says anything of the context: then it is stored with the execution (X9).

        Of more than is ever put before a model, the outputs that it was taken from are record enough.
        """
        c = self._checkpoint
        says = c.inputs.include_previous_version or c.instructions.system_prompt or c.instructions.task_prompt
        return (bool(says) or self.is_declared) and self._taken <= MOST_KEPT

    def told(self) -> bytes | None:
        """The context as it is stored."""
        from cairn.services.reading.contexts import laid_out  # which reads what is stored here

        try:
            context = laid_out(self._checkpoint, self.input, self.assembled, stored=True)
        except CannotBegin:
            return None  # whoever wants it as a prompt fails with it; the others do without
        return context.model_dump_json().encode()


def standing(loaded: Loaded, e: Execution | None) -> dict[str, Execution]:
    """The completed execution that stands for each checkpoint in this pass, other than the one that asks."""
    return {
        other.key: other
        for other in loaded.run.current
        if other.state is State.COMPLETED and (e is None or other.id != e.id)
    }


def feedback_of(loaded: Loaded, e: Execution) -> tuple[str, ...]:
    """What people said when they asked for revisions, oldest first."""
    return tuple(
        vote.feedback
        for approval in loaded.run.approvals.values()
        if approval.execution == e.id
        for vote in approval.votes
        if vote.decision in ("revise", "feedback") and vote.feedback
    )
