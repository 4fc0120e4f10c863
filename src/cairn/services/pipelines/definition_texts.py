"""Definitions as text, comparisons of definitions, and templates."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal
from uuid import uuid4

from cairn.definitions import (
    BuiltinTemplate,
    PipelineDefinition,
    assign_ids,
    builtin_templates,
    diff,
    text_diff,
    to_yaml,
    without_ids,
)
from cairn.definitions.script_files import with_texts
from cairn.documents import encode_json
from cairn.services.engine.plans import DefinitionCache
from cairn.services.pipelines import queries as pipelines
from cairn.services.pipelines.views import DefinitionChange, DefinitionDiff, Template, TemplatePage
from cairn.store import Connection, Database, blobs
from cairn.store.errors import NotFound


def definition_text(
    connection: Connection, plans: DefinitionCache, pipeline_id: str, format: Literal["yaml", "json"]
) -> tuple[str, int]:
    """The newest definition without ids and versions, and its revision."""
    revision: int = pipelines.find(connection, pipeline_id).revision
    definition = plans.definition(connection, pipeline_id, revision)
    scripts = script_texts(connection, definition)
    if format == "yaml":
        return to_yaml(definition, scripts), revision
    document = with_texts(without_ids(definition).document, scripts)
    return encode_json(document, indent=True).decode() + "\n", revision


def script_texts(connection: Connection, definition: PipelineDefinition) -> dict[str, str]:
    """The texts of the stored scripts, by path."""
    return {
        path: blobs.read(connection, file.checksum).decode(errors="replace")
        for path, file in definition.scripts.items()
        if blobs.size_of(connection, file.checksum) is not None
    }


def compare(
    connection: Connection, plans: DefinitionCache, pipeline_id: str, before: int, after: int
) -> DefinitionDiff:
    newest = pipelines.find(connection, pipeline_id).revision
    for revision in (before, after):
        if revision > newest:
            raise NotFound("revision", f"{revision} of pipeline {pipeline_id}")
    old, new = (plans.definition(connection, pipeline_id, revision) for revision in (before, after))
    return _diff(connection, old, new, (f"revision {before}", f"revision {after}"))


def compare_with(
    connection: Connection, plans: DefinitionCache, pipeline_id: str, definition: PipelineDefinition
) -> DefinitionDiff:
    """Compare the newest revision with a definition. Parts are matched by name, as they are on save."""
    newest = pipelines.find(connection, pipeline_id).revision
    old = plans.definition(connection, pipeline_id, newest)
    new = assign_ids(definition, old, lambda: str(uuid4())).model_copy(update={"pipeline_id": pipeline_id})
    return _diff(connection, old, new, (f"revision {newest}", "new definition"))


def _diff(
    connection: Connection, old: PipelineDefinition, new: PipelineDefinition, names: tuple[str, str]
) -> DefinitionDiff:
    changes = [
        DefinitionChange(path=change.path, kind=change.kind.value, before=change.before, after=change.after)
        for change in diff(old, new)
    ]
    scripts = script_texts(connection, old), script_texts(connection, new)
    return DefinitionDiff(changes=changes, text=text_diff(old, new, names, scripts))


def list_templates() -> TemplatePage:
    return TemplatePage(items=[_template(template) for template in builtin_templates()], next_cursor=None)


def _template(template: BuiltinTemplate) -> Template:
    return Template.model_validate(
        {
            "name": template.name,
            "title": template.title,
            "description": template.description,
            "uses": template.uses,
            "checkpoints": [asdict(checkpoint) for checkpoint in template.checkpoints],
            "sample_input": template.sample_input,
            "text": template.text,
        }
    )


class DefinitionQueries:
    """Each method reads one snapshot of the database."""

    def __init__(self, database: Database, plans: DefinitionCache) -> None:
        self._database = database
        self._plans = plans

    def definition_text(self, pipeline_id: str, format: Literal["yaml", "json"]) -> tuple[str, int]:
        return self._database.read(lambda c: definition_text(c, self._plans, pipeline_id, format))

    def compare_revisions(self, pipeline_id: str, before: int, after: int) -> DefinitionDiff:
        return self._database.read(lambda c: compare(c, self._plans, pipeline_id, before, after))

    def compare_with(self, pipeline_id: str, definition: PipelineDefinition) -> DefinitionDiff:
        """Compare the newest revision with an unsaved definition."""
        return self._database.read(lambda c: compare_with(c, self._plans, pipeline_id, definition))
