"""Response shapes of pipelines, definitions, templates and scripts."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from cairn.services.runs.views import RecentRun, RunSummary
from cairn.services.view import Document, Id, Instant, Page, View


class DefinitionFinding(View):
    """An error or a warning in a definition, with its path and position."""

    path: str
    message: str
    severity: Literal["error", "warning"]
    line: int | None = None
    column: int | None = None


class PipelineSummary(View):
    pipeline_id: Id
    pipeline_name: str
    pipeline_description: str
    pipeline_definition_version: int
    revision: int
    checkpoint_count: int
    created_at: Instant
    updated_at: Instant
    deleted_at: Instant | None
    latest_run: RunSummary | None
    recent_runs: list[RecentRun]
    pending_approval_count: int


class PipelinePage(Page[PipelineSummary]):
    """Pipelines, newest first."""


class Checkpoint(View):
    """A checkpoint in the full form."""

    model_config = ConfigDict(extra="allow")

    checkpoint_id: Id
    pipeline_id: Id
    key: str
    position: int
    checkpoint_name: str
    checkpoint_description: str = ""
    created_at: Instant | None = None
    updated_at: Instant | None = None
    stage: str | None = None
    needs: list[str] = Field(default_factory=list[str])
    decides: bool = False
    dependencies: Document = Field(default_factory=dict[str, Any])
    inputs: Document = Field(default_factory=dict[str, Any])
    execution: Document
    human_interaction: Document = Field(default_factory=dict[str, Any])
    output: Document = Field(default_factory=dict[str, Any])
    instructions: Document = Field(default_factory=dict[str, Any])


class Pipeline(View):
    """A definition in the full form, with its revision and the latest run."""

    model_config = ConfigDict(extra="allow")

    pipeline_id: Id
    pipeline_name: str
    pipeline_description: str
    pipeline_definition_version: int
    created_at: Instant
    updated_at: Instant
    checkpoint_order: list[Id]
    config: Document
    input_schema: Any = None
    restart_policy: Document | None = None
    recovery: Document | None = None
    budget: Document | None = None
    original_prompt: str | None = None
    actions: Document | None = None
    checkpoints: list[Checkpoint]
    revision: int
    deleted_at: Instant | None
    latest_run: RunSummary | None
    warnings: list[DefinitionFinding]


class Revision(View):
    revision: int
    pipeline_definition_version: int
    created_by: str
    created_at: Instant
    comment: str


class RevisionPage(Page[Revision]):
    """Revisions, newest first."""


class RevisionDetail(Revision):
    document: Document


class DefinitionChange(View):
    """One difference between two revisions."""

    model_config = ConfigDict(extra="allow")

    path: str
    kind: Literal["added", "removed", "changed", "moved"]
    before: Any = None
    after: Any = None


class DefinitionDiff(View):
    changes: list[DefinitionChange]
    text: str


class DefinitionValidation(View):
    is_valid: bool
    errors: list[DefinitionFinding]
    warnings: list[DefinitionFinding]


class TemplateCheckpoint(View):
    key: str
    name: str
    mode: Literal["agentic", "script", "function", "human_only"]
    requires_approval: Literal["start", "complete", "both"] | None


class Template(View):
    """A pipeline that comes with Cairn. You can start a run of it with `sample_input`."""

    name: str
    title: str
    description: str
    uses: list[Literal["agents", "scripts", "functions", "people", "actions"]]
    checkpoints: list[TemplateCheckpoint]
    sample_input: Any
    text: str


class TemplatePage(Page[Template]):
    """The templates that come with Cairn."""


class DeletedPipeline(View):
    pipeline_id: Id
    archive_location: str


class Script(View):
    path: str
    checksum: str
    size_bytes: int
    used_by: list[str]  # checkpoint keys


class SavedScript(Script):
    revision: int  # the new revision of the definition
    warnings: list[str]


class DeletedScript(View):
    path: str
    revision: int


class ScriptPage(Page[Script]):
    """Scripts, by path."""
