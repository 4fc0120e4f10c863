"""Definitions in requests and responses."""

from __future__ import annotations

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import Services
from cairn.api.operations import Media
from cairn.api.parameters import etag
from cairn.api.request_body import JSON, BoundedRequest, DecodedBody
from cairn.definitions import Finding
from cairn.services.pipelines.definition_writer import SavedDefinition
from cairn.services.pipelines.views import DefinitionFinding, Pipeline

DEFINITION_MEDIA: Media = {
    JSON: {
        "type": "object",
        "additionalProperties": True,
        "description": "A definition, as described by `/api/definitions/schema`.",
    },
    "application/yaml": {"type": "string", "description": "A definition as YAML."},
}


async def read_definition(request: Request) -> DecodedBody:
    """The definition in a request body, with source positions if it is YAML."""
    incoming = request if isinstance(request, BoundedRequest) else BoundedRequest(request.scope, request.receive)
    return await incoming.document()


def finding_view(finding: Finding) -> DefinitionFinding:
    return DefinitionFinding(
        path=finding.path,
        message=finding.message,
        severity=finding.severity.value,
        line=finding.line,
        column=finding.column,
    )


async def saved_pipeline(services: Services, response: Response, saved: SavedDefinition) -> Pipeline:
    """A saved pipeline with its warnings. The ETag is the revision."""
    warnings = [finding_view(finding) for finding in saved.warnings]
    view = await run_in_threadpool(services.pipeline_queries.get_pipeline, saved.pipeline_id, warnings)
    response.headers["ETag"] = etag(view.revision)
    return view
