"""Ready-made pipelines that come with the product. Each is a YAML file beside this one."""

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

_DONE_BY = {"agentic": "agents", "script": "scripts", "function": "functions", "human_only": "people"}
USES = ("agents", "scripts", "functions", "people", "actions")


@dataclass(frozen=True, slots=True)
class TemplateCheckpoint:
    """A checkpoint of a template, in short."""

    key: str
    name: str
    mode: str
    approve: str | None  # start, complete or both


@dataclass(frozen=True)
class BuiltinTemplate:
    name: str  # of the file
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
        """Who carries it out, whether people are asked, whether something is done outside."""
        found = {_DONE_BY[step.mode] for step in self.checkpoints}
        found |= {"people"} if any(step.approve for step in self.checkpoints) else set()
        found |= {"actions", "people"} if self.full.get("actions") else set()
        return tuple(one for one in USES if one in found)

    @cached_property
    def sample_input(self) -> Value:
        """What a run of it can be started with; None if it takes no input, or has no example of it."""
        schema = self.full.get("input_schema")
        if not isinstance(schema, dict):
            return None
        filled = fill_defaults(schema, {})
        return None if check_value(schema, filled) else filled


@cache
def builtin_templates() -> list[BuiltinTemplate]:
    """All of them, by name."""
    found = (entry for entry in files("cairn.definitions.templates").iterdir() if entry.name.endswith(".yaml"))
    return [_read(entry.name, entry.read_text("utf-8")) for entry in sorted(found, key=lambda entry: entry.name)]


def _read(file: str, text: str) -> BuiltinTemplate:
    document, _ = decode_yaml(text)
    name, title = file.removesuffix(".yaml"), text_of(document, "pipeline_name") or ""
    return BuiltinTemplate(name, title, text_of(document, "pipeline_description") or "", text)


def _checkpoint(checkpoint: Document) -> TemplateCheckpoint:
    held = section(checkpoint, "human_interaction")
    asked = [point for point in ("start", "complete") if held.get(f"requires_approval_to_{point}")]
    approve = "both" if len(asked) > 1 else next(iter(asked), None)
    name, mode = text_of(checkpoint, "checkpoint_name"), text_of(checkpoint, "execution", "mode")
    return TemplateCheckpoint(text_of(checkpoint, "key") or "", name or "", mode or "", approve)
