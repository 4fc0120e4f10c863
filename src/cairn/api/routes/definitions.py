"""Definitions as text: get, save, compare and validate."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.definition_documents import DEFINITION_MEDIA, finding_view, read_definition, saved_pipeline
from cairn.api.dependencies import CommandId, CurrentActor, Services
from cairn.api.examples import pipelines as examples
from cairn.api.examples import story
from cairn.api.operations import DEFINE, READ, TEXT, operation, operation_router
from cairn.api.parameters import Force, IfMatch, Paging, PipelineId, etag, revision_of
from cairn.api.problems import RequestRejected
from cairn.api.request_body import JSON
from cairn.api.requests.pipelines import RevertRequest
from cairn.definitions import DefinitionError, authoring_schema
from cairn.services.errors import InvalidInput
from cairn.services.pipelines import definition_texts
from cairn.services.pipelines.views import (
    DefinitionDiff,
    DefinitionFinding,
    DefinitionValidation,
    Pipeline,
    RevisionDetail,
    RevisionPage,
    TemplatePage,
)

router = operation_router("/api", "Definitions")
RevisionNumber = Annotated[int, Path(ge=1, le=2**31, description="Number of the revision.")]


@router.get("/pipelines/{pipeline_id}/definition", response_class=Response)
@operation(
    READ,
    response_media={"application/yaml": TEXT, JSON: DEFINITION_MEDIA[JSON]},
    etag=True,
    response_example=examples.definition_yaml,
)
def get_definition(
    pipeline_id: PipelineId,
    services: Services,
    format: Annotated[Literal["yaml", "json"], Query(description="Format of the text.")] = "yaml",
) -> Response:
    """Get the definition in short form, to store in git and apply again."""
    text, revision = services.definition_queries.definition_text(pipeline_id, format)
    return Response(text, media_type=f"application/{format}", headers={"ETag": etag(revision)})


@router.put("/pipelines/{pipeline_id}/definition")
@operation(
    DEFINE, request_media=DEFINITION_MEDIA, etag=True, request_example=story.definition, response_example=story.pipeline
)
async def replace_definition(
    pipeline_id: PipelineId,
    request: Request,
    response: Response,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    if_match: IfMatch = None,
    force: Force = False,
) -> Pipeline:
    """Replace the definition. Omitted fields get their defaults. Applying the same text again changes nothing."""
    document = await read_definition(request)
    if not isinstance(document.value, dict):
        raise InvalidInput([("", "Expected an object with a complete definition.")])
    saved = await services.pipelines.replace(
        pipeline_id,
        document.value,
        if_match=revision_of(if_match),
        force=force,
        positions=document.positions,
        actor=actor,
        command_id=command_id,
    )
    return await saved_pipeline(services, response, saved)


@router.get("/pipelines/{pipeline_id}/history")
@operation(READ, response_example=examples.revisions)
def list_revisions(pipeline_id: PipelineId, services: Services, paging: Paging) -> RevisionPage:
    """List the revisions of a definition, newest first."""
    return services.pipeline_queries.list_revisions(pipeline_id, paging.limit, paging.cursor)


@router.get("/pipelines/{pipeline_id}/history/{revision}")
@operation(READ, response_example=examples.revision)
def get_revision(pipeline_id: PipelineId, revision: RevisionNumber, services: Services) -> RevisionDetail:
    """Get a revision of the definition."""
    return services.pipeline_queries.get_revision(pipeline_id, revision)


@router.get("/pipelines/{pipeline_id}/diff")
@operation(READ, response_example=examples.diff)
def diff_revisions(
    pipeline_id: PipelineId,
    services: Services,
    from_revision: Annotated[int, Query(alias="from", ge=1, le=2**31)],
    to_revision: Annotated[int, Query(alias="to", ge=1, le=2**31)],
) -> DefinitionDiff:
    """Compare two revisions, by field and as text."""
    return services.definition_queries.compare_revisions(pipeline_id, from_revision, to_revision)


@router.post("/pipelines/{pipeline_id}/diff")
@operation(
    READ,
    idempotent=False,
    request_media=DEFINITION_MEDIA,
    request_example=story.definition,
    response_example=examples.diff,
)
async def compare_definition(pipeline_id: PipelineId, request: Request, services: Services) -> DefinitionDiff:
    """Compare a definition with the newest revision, without saving it."""
    document = await read_definition(request)
    checked = await run_in_threadpool(services.pipelines.check, document.value, document.positions)
    return await run_in_threadpool(services.definition_queries.compare_with, pipeline_id, checked.definition)


@router.post("/pipelines/{pipeline_id}/revert")
@operation(DEFINE, request_example=examples.revert_request, response_example=story.pipeline)
async def revert_pipeline(
    pipeline_id: PipelineId,
    body: RevertRequest,
    response: Response,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    force: Force = False,
) -> Pipeline:
    """Save an earlier revision as the newest one."""
    saved = await services.pipelines.revert(pipeline_id, body.revision, force=force, actor=actor, command_id=command_id)
    return await saved_pipeline(services, response, saved)


@router.post("/definitions/validate")
@operation(
    READ,
    idempotent=False,
    request_media=DEFINITION_MEDIA,
    request_example=story.definition,
    response_example=examples.validation,
)
async def validate_definition(request: Request, services: Services) -> DefinitionValidation:
    """Validate a definition without saving it. Syntax errors are returned as findings, too."""
    try:
        document = await read_definition(request)
        checked = await run_in_threadpool(services.pipelines.check, document.value, document.positions)
    except DefinitionError as error:
        return _validation([finding_view(finding) for finding in error.findings])
    except RequestRejected as error:
        if error.kind != "invalid-body":
            raise
        return _validation([DefinitionFinding(severity="error", **location.model_dump()) for location in error.errors])
    return _validation([finding_view(finding) for finding in checked.warnings])


def _validation(findings: list[DefinitionFinding]) -> DefinitionValidation:
    errors = [finding for finding in findings if finding.severity == "error"]
    warnings = [finding for finding in findings if finding.severity == "warning"]
    return DefinitionValidation(is_valid=not errors, errors=errors, warnings=warnings)


@router.get("/definitions/schema")
@operation(READ, response_example=examples.schema)
def get_definition_schema() -> dict[str, Any]:
    """Get the JSON Schema of definitions, for editors."""
    return authoring_schema()


@router.get("/templates")
@operation(READ, response_example=examples.templates)
def list_templates() -> TemplatePage:
    """List templates for pipelines."""
    return definition_texts.list_templates()
