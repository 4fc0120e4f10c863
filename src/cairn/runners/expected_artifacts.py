"""The artifacts that a checkpoint must produce, either declared or implied by its mode."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID, uuid5

from cairn.core.states import ExecutionMode
from cairn.definitions.enums import FieldType
from cairn.definitions.execution_config import HumanOnlyConfig
from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.model import CheckpointDefinition

DEFAULT_NAME = "output"  # name of the artifact for a returned value or an answer, if none is declared
PASS_DECISION_SCHEMA: JsonSchema = {  # the output of a checkpoint that decides on the pass
    "type": "object",
    "properties": {"decision": {"enum": ["COMPLETE", "RESTART", "ESCALATE"]}, "reason": {"type": "string"}},
    "required": ["decision", "reason"],
}
MAX_CACHED = 1024
DEFAULT_NAMESPACE = UUID(int=0)
NOT_IN_FILE_NAMES = re.compile(r"[/\\\x00-\x1f]")


@dataclass(frozen=True, slots=True)
class DeclaredArtifact:
    id: str
    name: str
    format: str | None  # None: the format of the uploaded file
    schema: JsonSchema | None = None
    required: bool = True

    @property
    def file(self) -> str:
        return f"{self.name}.{self.format}" if self.format else self.name


class ExpectedArtifacts:
    """All optional and required artifacts of one checkpoint."""

    def __init__(self, checkpoint: CheckpointDefinition) -> None:
        self.checkpoint = checkpoint
        self.artifacts: dict[str, DeclaredArtifact] = {}
        for artifact in checkpoint.output.artifacts:
            artifact_id = artifact.artifact_id or implied_id(checkpoint, artifact.name)
            self.artifacts[artifact.name] = DeclaredArtifact(
                artifact_id, artifact.name, artifact.format, artifact.content_schema
            )
        self.uploads: dict[str, DeclaredArtifact] = {}  # by the name of the form field
        form = checkpoint.execution.human_only_config
        if form is not None:
            self._add_form(form)
        elif checkpoint.execution.mode in (ExecutionMode.FUNCTION, ExecutionMode.SCRIPT) and not self._find_json():
            self._add(self._unused_name(DEFAULT_NAME, "_json"), "json")
        elif checkpoint.execution.mode is ExecutionMode.AGENTIC:
            self._add_answer()
        self.json = self._find_json()  # added to the run's context

    def _add_form(self, form: HumanOnlyConfig) -> None:
        if form.save_as_artifact and form.artifact_name and form.artifact_name not in self.artifacts:
            self._add(form.artifact_name, form.artifact_format.value, required=True)
        for field in form.input_fields:
            if field.type is FieldType.FILE:
                name = self._unused_name(NOT_IN_FILE_NAMES.sub("_", field.name), "_file")
                self.uploads[field.name] = self._add(name, None)

    def _add_answer(self) -> None:
        """Add the artifact for an agent's answer if none is declared for it."""
        schema = self.checkpoint.output_schema
        if not self._find_json() and (self.checkpoint.decides or schema is not None):
            self._add(
                self._unused_name(DEFAULT_NAME, "_json"),
                "json",
                required=True,
                schema=schema if schema is not None else PASS_DECISION_SCHEMA,
            )
        elif not self.artifacts:
            self._add(DEFAULT_NAME, "md")

    def _add(
        self, name: str, format: str | None, *, required: bool = False, schema: JsonSchema | None = None
    ) -> DeclaredArtifact:
        declared = self.artifacts[name] = DeclaredArtifact(
            implied_id(self.checkpoint, name), name, format, schema, required
        )
        return declared

    def _unused_name(self, name: str, suffix: str) -> str:
        while name in self.artifacts:
            name += suffix
        return name

    def _find_json(self) -> tuple[DeclaredArtifact, ...]:
        return tuple(artifact for artifact in self.artifacts.values() if artifact.format == "json")

    def find(self, name: str) -> DeclaredArtifact | None:
        """Find an artifact by its name, with or without the format."""
        if name in self.artifacts:
            return self.artifacts[name]
        stem, _, extension = name.rpartition(".")
        artifact = self.artifacts.get(stem)
        return artifact if artifact is not None and artifact.format == extension else None


def expected(checkpoint: CheckpointDefinition) -> ExpectedArtifacts:
    """The expected artifacts of a checkpoint, cached by its identity."""
    cached = _cache.get(id(checkpoint))
    if cached is None or cached.checkpoint is not checkpoint:
        if len(_cache) >= MAX_CACHED:
            _cache.clear()
        cached = _cache[id(checkpoint)] = ExpectedArtifacts(checkpoint)
    return cached


_cache: dict[int, ExpectedArtifacts] = {}


def artifact_id(checkpoint: CheckpointDefinition, name: str) -> str:
    """The declared id of an artifact, or one derived from the checkpoint and the name."""
    declared = expected(checkpoint).artifacts.get(name)
    return declared.id if declared is not None else implied_id(checkpoint, name)


def implied_id(checkpoint: CheckpointDefinition, name: str) -> str:
    return str(uuid5(UUID(checkpoint.checkpoint_id) if checkpoint.checkpoint_id else DEFAULT_NAMESPACE, name))
