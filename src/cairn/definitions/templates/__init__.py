"""Built-in pipeline templates. Each YAML file in this folder is a template."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from cairn.definitions.authoring.expansion import expand
from cairn.definitions.frozen_model import Document
from cairn.definitions.json_schema.validator import check_value, fill_defaults
from cairn.definitions.raw_document import objects, section
from cairn.definitions.raw_document import text as text_of
from cairn.documents import SourceMap, Value, decode_yaml

_USED_BY_MODE = {"agentic": "agents", "script": "scripts", "function": "functions", "human_only": "people"}
USES = ("agents", "scripts", "functions", "people", "actions")


@dataclass(frozen=True, slots=True)
class TemplateCheckpoint:
    """Summary of a checkpoint in a template."""

    key: str
    name: str
    mode: str
    requires_approval: str | None  # start, complete or both


@dataclass(frozen=True)
class BuiltinTemplate:
    name: str  # the filename without its extension
    title: str
    description: str
    text: str  # YAML

    def read(self) -> tuple[Value, SourceMap]:
        return decode_yaml(self.text)

    @cached_property
    def full(self) -> Document:
        return expand(self.read()[0])

    @cached_property
    def checkpoints(self) -> tuple[TemplateCheckpoint, ...]:
        return tuple(_checkpoint(checkpoint) for _, checkpoint in objects(self.full, "checkpoints"))

    @cached_property
    def uses(self) -> tuple[str, ...]:
        """The features that the template uses, in the order of `USES`."""
        used = {_USED_BY_MODE[checkpoint.mode] for checkpoint in self.checkpoints}
        used |= {"people"} if any(checkpoint.requires_approval for checkpoint in self.checkpoints) else set()
        used |= {"actions", "people"} if self.full.get("actions") else set()
        return tuple(name for name in USES if name in used)

    @cached_property
    def sample_input(self) -> Value:
        """A sample input for a run, from the defaults of the input schema. None if that is not a valid input."""
        schema = self.full.get("input_schema")
        if not isinstance(schema, dict):
            return None
        filled = fill_defaults(schema, {})
        return None if check_value(schema, filled) else filled


@cache
def builtin_templates() -> list[BuiltinTemplate]:
    """All templates, by name."""
    entries = (entry for entry in files("cairn.definitions.templates").iterdir() if entry.name.endswith(".yaml"))
    return [_read(entry.name, entry.read_text("utf-8")) for entry in sorted(entries, key=lambda entry: entry.name)]


def _read(file: str, text: str) -> BuiltinTemplate:
    document, _ = decode_yaml(text)
    name, title = file.removesuffix(".yaml"), text_of(document, "pipeline_name") or ""
    return BuiltinTemplate(name, title, text_of(document, "pipeline_description") or "", text)


def _checkpoint(checkpoint: Document) -> TemplateCheckpoint:
    interaction = section(checkpoint, "human_interaction")
    points = [point for point in ("start", "complete") if interaction.get(f"requires_approval_to_{point}")]
    requires_approval = "both" if len(points) > 1 else next(iter(points), None)
    name, mode = text_of(checkpoint, "checkpoint_name"), text_of(checkpoint, "execution", "mode")
    return TemplateCheckpoint(text_of(checkpoint, "key") or "", name or "", mode or "", requires_approval)
