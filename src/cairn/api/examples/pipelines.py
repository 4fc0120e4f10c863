"""The pipeline: its definition, revisions, checkpoints and scripts."""

from __future__ import annotations

from typing import Any

from cairn.api.examples import story
from cairn.services.pipelines.views import (
    DefinitionChange,
    DefinitionDiff,
    DefinitionFinding,
    DefinitionValidation,
    DeletedPipeline,
    DeletedScript,
    PipelinePage,
    Revision,
    RevisionDetail,
    RevisionPage,
    SavedScript,
    Script,
    ScriptPage,
    Template,
    TemplateCheckpoint,
    TemplatePage,
)


def update_request() -> dict[str, Any]:
    return {"pipeline_description": "Business goals, requirements and a design."}


def revert_request() -> dict[str, Any]:
    return {"revision": 1}


def add_checkpoint_request() -> dict[str, Any]:
    return story.definition()["checkpoints"][0]


def create_checkpoint_request() -> dict[str, Any]:
    return {"pipeline_id": story.PIPELINE_ID, **add_checkpoint_request()}


def update_checkpoint_request() -> dict[str, Any]:
    return {"checkpoint_description": "What should be true in two years?"}


def checkpoint_order_request() -> dict[str, Any]:
    return {"checkpoint_order": [story.CHECKPOINT_ID]}


def pipelines() -> PipelinePage:
    return story.page(PipelinePage, story.pipeline_summary())


def deleted_pipeline() -> DeletedPipeline:
    return DeletedPipeline(
        pipeline_id=story.PIPELINE_ID, archive_location=f".archived/{story.PIPELINE_ID}_20260302T101500Z"
    )


def definition_yaml() -> str:
    return story.DEFINITION_YAML


def _revision() -> Revision:
    return Revision(
        revision=1, pipeline_definition_version=1, created_by="admin", created_at=story.at(-60), comment="created"
    )


def revisions() -> RevisionPage:
    return story.page(RevisionPage, _revision())


def revision() -> RevisionDetail:
    return RevisionDetail(**dict(_revision()), document=story.definition())


def diff() -> DefinitionDiff:
    return DefinitionDiff(
        changes=[DefinitionChange(path="/pipeline_name", kind="changed", before="Goals", after="Goals to design")],
        text="-pipeline_name: Goals\n+pipeline_name: Goals to design\n",
    )


def _finding() -> DefinitionFinding:
    return DefinitionFinding(
        path="/checkpoints/0/form",
        message='expected a list, but got a string: "goals"',
        severity="error",
        line=5,
        column=11,
    )


def validation() -> DefinitionValidation:
    return DefinitionValidation(is_valid=False, errors=[_finding()], warnings=[])


def schema() -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}


def templates() -> TemplatePage:
    return story.page(
        TemplatePage,
        Template(
            name="goals",
            title="Goals to design",
            description="Three forms, each approved before the next one starts.",
            uses=["people"],
            checkpoints=[
                TemplateCheckpoint(key="goals", name="Goals", mode="human_only", requires_approval="complete")
            ],
            sample_input=None,
            text=story.DEFINITION_YAML,
        ),
    )


def _script() -> Script:
    return Script(path="reports/monthly.py", checksum=story.DIGEST, size_bytes=32, used_by=["report"])


def scripts() -> ScriptPage:
    return story.page(ScriptPage, _script())


def script() -> str:
    return "def main(ctx):\n    return {}\n"


def saved_script() -> SavedScript:
    return SavedScript(**dict(_script()), revision=4, warnings=[])


def deleted_script() -> DeletedScript:
    return DeletedScript(path="reports/monthly.py", revision=5)
