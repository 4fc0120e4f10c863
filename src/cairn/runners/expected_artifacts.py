"""What a checkpoint is to produce: the artifacts it declares, and those that its mode implies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID, uuid5

from cairn.core.states import ExecutionMode
from cairn.definitions.enums import FieldType
from cairn.definitions.execution_config import HumanOnlyConfig
from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.model import CheckpointDefinition

RETURNED = "output"  # what a function returns, or an agent answers, is kept under this name if none is declared
PASS_DECISION_SCHEMA: JsonSchema = {  # what a checkpoint puts out that decides on the pass
    "type": "object",
    "properties": {"decision": {"enum": ["COMPLETE", "RESTART", "ESCALATE"]}, "reason": {"type": "string"}},
    "required": ["decision", "reason"],
}
KEPT = 1024
NOWHERE = UUID(int=0)
NOT_IN_FILE_NAMES = re.compile(r"[/\\\x00-\x1f]")


@dataclass(frozen=True, slots=True)
class DeclaredArtifact:
    """One artifact that may come out."""

    id: str
    name: str
    format: str | None  # None: as the file that a person hands in
    schema: JsonSchema | None = None
    required: bool = True

    @property
    def file(self) -> str:
        return f"{self.name}.{self.format}" if self.format else self.name


class ExpectedArtifacts:
    """Everything that one checkpoint may and must produce."""

    def __init__(self, checkpoint: CheckpointDefinition) -> None:
        self.checkpoint = checkpoint
        self.artifacts: dict[str, DeclaredArtifact] = {}
        for one in checkpoint.output.artifacts:
            named = one.artifact_id or implied_id(checkpoint, one.name)
            self.artifacts[one.name] = DeclaredArtifact(named, one.name, one.format, one.content_schema)
        self.uploads: dict[str, DeclaredArtifact] = {}  # by the name of the form's field
        form = checkpoint.execution.human_only_config
        if form is not None:
            self._add_form(form)
        elif checkpoint.execution.mode in (ExecutionMode.FUNCTION, ExecutionMode.SCRIPT) and not self._find_json():
            self._add(self._free(RETURNED, "_json"), "json")
        elif checkpoint.execution.mode is ExecutionMode.AGENTIC:
            self._add_answer()
        self.json = self._find_json()  # those that join the run's context

    def _add_form(self, form: HumanOnlyConfig) -> None:
        if form.save_as_artifact and form.artifact_name and form.artifact_name not in self.artifacts:
            self._add(form.artifact_name, form.artifact_format.value, required=True)
        for field in form.input_fields:
            if field.type is FieldType.FILE:
                name = self._free(NOT_IN_FILE_NAMES.sub("_", field.name), "_file")
                self.uploads[field.name] = self._add(name, None)

    def _add_answer(self) -> None:
        """What an agent's answer is kept as where nothing is declared for it."""
        schema = self.checkpoint.output_schema
        if not self._find_json() and (self.checkpoint.decides or schema is not None):
            self._add(
                self._free(RETURNED, "_json"),
                "json",
                required=True,
                schema=schema if schema is not None else PASS_DECISION_SCHEMA,
            )
        elif not self.artifacts:
            self._add(RETURNED, "md")

    def _add(
        self, name: str, format: str | None, *, required: bool = False, schema: JsonSchema | None = None
    ) -> DeclaredArtifact:
        one = self.artifacts[name] = DeclaredArtifact(implied_id(self.checkpoint, name), name, format, schema, required)
        return one

    def _free(self, name: str, more: str) -> str:
        while name in self.artifacts:
            name += more
        return name

    def _find_json(self) -> tuple[DeclaredArtifact, ...]:
        return tuple(one for one in self.artifacts.values() if one.format == "json")

    def find(self, name: str) -> DeclaredArtifact | None:
        """By its name, or by name and format as of a file."""
        if name in self.artifacts:
            return self.artifacts[name]
        stem, _, ending = name.rpartition(".")
        one = self.artifacts.get(stem)
        return one if one is not None and one.format == ending else None


def expected(checkpoint: CheckpointDefinition) -> ExpectedArtifacts:
    """Worked out once for each definition."""
    kept = _kept.get(id(checkpoint))
    if kept is None or kept.checkpoint is not checkpoint:
        if len(_kept) >= KEPT:
            _kept.clear()
        kept = _kept[id(checkpoint)] = ExpectedArtifacts(checkpoint)
    return kept


_kept: dict[int, ExpectedArtifacts] = {}


def artifact_id(checkpoint: CheckpointDefinition, name: str) -> str:
    """The id of an artifact: as declared, or always the same one for the checkpoint and the name."""
    one = expected(checkpoint).artifacts.get(name)
    return one.id if one is not None else implied_id(checkpoint, name)


def implied_id(checkpoint: CheckpointDefinition, name: str) -> str:
    return str(uuid5(UUID(checkpoint.checkpoint_id) if checkpoint.checkpoint_id else NOWHERE, name))
