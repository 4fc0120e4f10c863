"""Approval rules as text: global rules, rules of a pipeline, and their versions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.definition_documents import finding_view
from cairn.api.dependencies import CurrentActor, Services
from cairn.api.examples import rules as examples
from cairn.api.operations import ADMIN, READ, Media, operation, operation_router
from cairn.api.parameters import IfMatch, Paging, PipelineId, Text, etag, revision_of
from cairn.api.request_body import JSON, YAML, BoundedRequest
from cairn.core.rules import GLOBAL, Rulebook
from cairn.definitions import DefinitionError, rules
from cairn.documents import MAX_YAML_BYTES
from cairn.services.errors import TooLarge
from cairn.services.rules.queries.versions import summaries
from cairn.services.rules.views import RuleCheck, RuleDiff, RuleText, RuleVersion, RuleVersionPage

router = operation_router("/api", "Rules")
Format = Annotated[
    Literal["json", "yaml"] | None, Query(description="`yaml` returns only the text, like `Accept: application/yaml`.")
]
Revision = Annotated[int, Path(ge=1, le=2**31, description="Number of the version.")]
Comment = Annotated[Text, Query(max_length=2000, description="Reason for the change, stored with the version.")]
From = Annotated[int, Query(alias="from", ge=1, le=2**31)]
To = Annotated[int, Query(ge=1, le=2**31)]
RULES_MEDIA: Media = {
    "application/yaml": {"type": "string", "description": "Rules, as described by `/api/rules/schema`."}
}
_RULE_TEXT_MEDIA: Media = {
    JSON: {"$ref": "#/components/schemas/RuleText"},
    "application/yaml": {"type": "string", "description": "Only the text."},
}


# ---- for all pipelines ---------------------------------------------------------------------------
@router.get("/rules", response_model=RuleText)
@operation(READ, response_media=_RULE_TEXT_MEDIA, etag=True, response_example=examples.rules)
def get_rules(request: Request, response: Response, services: Services, format: Format = None) -> Any:
    """Get the active global rules, the emergency stop, and errors in the rules file."""
    return _view(request, response, services.rule_queries.get_rules(GLOBAL), format)


@router.put("/rules")
@operation(ADMIN, request_media=RULES_MEDIA, etag=True, response_example=examples.rules)
async def put_rules(
    request: Request,
    response: Response,
    services: Services,
    actor: CurrentActor,
    if_match: IfMatch = None,
    comment: Comment = "",
) -> RuleText:
    """Save the global rules. The body is the YAML text. They apply at once."""
    return await _save(request, response, services, actor, GLOBAL, if_match, comment)


@router.get("/rules/versions")
@operation(READ, response_example=examples.versions)
def list_rule_versions(services: Services, paging: Paging) -> RuleVersionPage:
    """List the versions of the global rules, newest first."""
    return services.rule_queries.list_versions(GLOBAL, paging.limit, paging.cursor)


@router.get("/rules/versions/{revision}")
@operation(READ, response_example=examples.version)
def get_rule_version(revision: Revision, services: Services) -> RuleVersion:
    """Get a version of the global rules."""
    return services.rule_queries.get_version(GLOBAL, revision)


@router.get("/rules/diff")
@operation(READ, errors=(404,), response_example=examples.diff)
def diff_rule_versions(services: Services, from_revision: From, to: To) -> RuleDiff:
    """Compare two versions of the global rules."""
    return services.rule_queries.compare(GLOBAL, from_revision, to)


@router.get("/rules/schema")
@operation(READ, response_example=examples.schema)
def get_rules_schema() -> dict[str, Any]:
    """Get the JSON Schema of rules, for editors."""
    return rules.schema()


@router.post("/rules/check")
@operation(READ, idempotent=False, request_media=RULES_MEDIA, response_example=examples.check)
async def check_rules(request: Request, services: Services) -> RuleCheck:
    """Check rules without saving them. Each error has its line, column and path."""
    try:
        checked = await services.rules.check(await read_text(request))
    except DefinitionError as error:
        findings = [finding_view(finding) for finding in error.findings]
        errors = [finding for finding in findings if finding.severity == "error"]
        warnings = [finding for finding in findings if finding.severity != "error"]
        return RuleCheck(is_valid=False, errors=errors, warnings=warnings, rules=[])
    warnings = [finding_view(finding) for finding in checked.warnings]
    return RuleCheck(is_valid=True, errors=[], warnings=warnings, rules=summaries(checked.rulebook))


# ---- of one pipeline -----------------------------------------------------------------------------
@router.get("/pipelines/{pipeline_id}/rules", response_model=RuleText)
@operation(READ, response_media=_RULE_TEXT_MEDIA, etag=True, response_example=examples.rules)
def get_pipeline_rules(
    pipeline_id: PipelineId, request: Request, response: Response, services: Services, format: Format = None
) -> Any:
    """Get the active rules of a pipeline. Global rules apply as well."""
    return _view(request, response, services.rule_queries.get_rules(pipeline_id), format)


@router.put("/pipelines/{pipeline_id}/rules")
@operation(ADMIN, request_media=RULES_MEDIA, etag=True, response_example=examples.rules)
async def put_pipeline_rules(
    pipeline_id: PipelineId,
    request: Request,
    response: Response,
    services: Services,
    actor: CurrentActor,
    if_match: IfMatch = None,
    comment: Comment = "",
) -> RuleText:
    """Save the rules of a pipeline. The body is the YAML text. They apply at once."""
    return await _save(request, response, services, actor, pipeline_id, if_match, comment)


@router.delete("/pipelines/{pipeline_id}/rules")
@operation(ADMIN, etag=True, response_example=examples.rules)
async def delete_pipeline_rules(
    pipeline_id: PipelineId, response: Response, services: Services, actor: CurrentActor, if_match: IfMatch = None
) -> RuleText:
    """Delete the rules of a pipeline. This adds an empty version. Earlier versions are kept."""
    await services.rules.save(pipeline_id, "", if_match=revision_of(if_match), actor=actor)
    view = await run_in_threadpool(services.rule_queries.get_rules, pipeline_id)
    response.headers["ETag"] = etag(view.revision)
    return view


@router.get("/pipelines/{pipeline_id}/rules/versions")
@operation(READ, response_example=examples.versions)
def list_pipeline_rule_versions(pipeline_id: PipelineId, services: Services, paging: Paging) -> RuleVersionPage:
    """List the versions of a pipeline's rules, newest first."""
    return services.rule_queries.list_versions(pipeline_id, paging.limit, paging.cursor)


@router.get("/pipelines/{pipeline_id}/rules/versions/{revision}")
@operation(READ, response_example=examples.version)
def get_pipeline_rule_version(pipeline_id: PipelineId, revision: Revision, services: Services) -> RuleVersion:
    """Get a version of a pipeline's rules."""
    return services.rule_queries.get_version(pipeline_id, revision)


@router.get("/pipelines/{pipeline_id}/rules/diff")
@operation(READ, response_example=examples.diff)
def diff_pipeline_rule_versions(pipeline_id: PipelineId, services: Services, from_revision: From, to: To) -> RuleDiff:
    """Compare two versions of a pipeline's rules."""
    return services.rule_queries.compare(pipeline_id, from_revision, to)


# ---- in and out ----------------------------------------------------------------------------------
async def read_text(request: Request) -> str:
    """The text of the request body, unchanged."""
    incoming = request if isinstance(request, BoundedRequest) else BoundedRequest(request.scope, request.receive)
    content = await incoming.read(MAX_YAML_BYTES)
    if len(content) > MAX_YAML_BYTES:
        raise TooLarge(MAX_YAML_BYTES)
    incoming.expect(*sorted(YAML), JSON)
    try:
        return content.decode()
    except UnicodeDecodeError:
        rules.load(content)  # raises an error with the location
        raise


async def read_rulebook(request: Request, services: Any) -> Rulebook:
    checked = await services.rules.check(await read_text(request))
    return checked.rulebook


async def _save(
    request: Request, response: Response, services: Any, actor: Any, scope: str, if_match: str | None, comment: str
) -> RuleText:
    text = await read_text(request)
    saved = await services.rules.save(scope, text, if_match=revision_of(if_match), comment=comment, actor=actor)
    view: RuleText = await run_in_threadpool(services.rule_queries.get_rules, scope, saved.warnings)
    response.headers["ETag"] = etag(view.revision)
    return view


def _view(request: Request, response: Response, view: RuleText, format: str | None) -> Any:
    response.headers["ETag"] = etag(view.revision)
    if format == "yaml" or (format is None and _wants_yaml(request)):
        headers = {"ETag": etag(view.revision), "X-Content-Type-Options": "nosniff"}
        return Response(view.text, media_type="application/yaml", headers=headers)
    return view


def _wants_yaml(request: Request) -> bool:
    accept = request.headers.get("accept", "").lower()
    return any(media in accept for media in YAML) and JSON not in accept
