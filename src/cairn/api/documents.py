"""Definitions as they come in and go out."""

from __future__ import annotations

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.incoming import Incoming, Written
from cairn.api.parameters import etag
from cairn.api.wiring import Services
from cairn.definitions import Finding as Found
from cairn.services.pipelines.definition_writer import SavedDefinition
from cairn.services.pipelines.views import DefinitionFinding, Pipeline


async def read_written(request: Request) -> Written:
    """The document that a request carries, with the places of its parts."""
    incoming = request if isinstance(request, Incoming) else Incoming(request.scope, request.receive)
    return await incoming.document()


def finding(found: Found) -> DefinitionFinding:
    return DefinitionFinding(
        path=found.path,
        message=found.message,
        severity=found.severity.value,
        line=found.line,
        column=found.column,
    )


async def shown(services: Services, response: Response, saved: SavedDefinition) -> Pipeline:
    """A pipeline as it was saved, with what is doubtful about it. Its ETag names the revision."""
    warnings = [finding(found) for found in saved.warnings]
    view = await run_in_threadpool(services.reading.pipeline, saved.pipeline_id, warnings)
    response.headers["ETag"] = etag(view.revision)
    return view
