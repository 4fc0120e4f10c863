"""Artifacts and their content."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import Response
from starlette.responses import StreamingResponse

from cairn.api.dependencies import Services
from cairn.api.examples import artifacts as examples
from cairn.api.examples import story
from cairn.api.middleware import CONTENT_POLICY
from cairn.api.operations import ANY_JSON, READ, TEXT, operation, operation_router
from cairn.api.parameters import IdQuery, Paging, RecordId
from cairn.api.request_body import JSON
from cairn.services.artifacts.queries import ArtifactFilter
from cairn.services.artifacts.views import Artifact, ArtifactPage

router = operation_router("/api/artifacts", "Artifacts")


@router.get("/list")
@operation(READ, response_example=examples.artifacts)
def list_artifacts(
    services: Services,
    paging: Paging,
    run_id: IdQuery = None,
    execution_id: IdQuery = None,
    pipeline_id: IdQuery = None,
) -> ArtifactPage:
    """List current artifacts, oldest first. Superseded and rolled-back ones are left out."""
    return services.artifact_queries.list_artifacts(
        ArtifactFilter(pipeline_id, run_id, execution_id), paging.limit, paging.cursor
    )


@router.get("/{artifact_record_id}")
@operation(READ, response_example=story.artifact)
def get_artifact(artifact_record_id: RecordId, services: Services) -> Artifact:
    """Get the metadata of an artifact."""
    return services.artifact_queries.get_artifact(artifact_record_id)


@router.get("/{artifact_record_id}/download", response_class=Response)
@operation(
    READ,
    response_media={"application/octet-stream": {"type": "string", "format": "binary"}},
    response_example=examples.content_text,
)
def download_artifact(artifact_record_id: RecordId, services: Services) -> Response:
    """Download the content of an artifact."""
    artifact = services.artifact_queries.get_artifact(artifact_record_id)
    headers = {"Content-Disposition": disposition("attachment", file_name(artifact))}
    return _streamed(services, artifact, "application/octet-stream", headers)


@router.get("/{artifact_record_id}/content", response_class=Response)
@operation(READ, response_media={JSON: ANY_JSON, "text/plain": TEXT}, response_example=examples.content)
def get_artifact_content(artifact_record_id: RecordId, services: Services) -> Response:
    """Get the content for display, as JSON or plain text, never as HTML."""
    artifact = services.artifact_queries.get_artifact(artifact_record_id)
    is_json = artifact.format == "json"
    headers = {
        "Content-Disposition": disposition("inline", file_name(artifact)),
        "Content-Security-Policy": CONTENT_POLICY,
    }
    return _streamed(services, artifact, "application/json" if is_json else "text/plain; charset=utf-8", headers)


def _streamed(services: Any, artifact: Artifact, media_type: str, headers: dict[str, str]) -> Response:
    sized = {**headers, "Content-Length": str(artifact.size_bytes), "ETag": f'"{artifact.checksum}"'}
    return StreamingResponse(
        services.artifact_queries.stream_content(artifact.checksum), media_type=media_type, headers=sized
    )


def file_name(artifact: Artifact) -> str:
    """The last part of its permanent name."""
    return artifact.file_path.rpartition("/")[2] or f"{artifact.artifact_name}.{artifact.format}"


def disposition(kind: str, name: str) -> str:
    """The file name in ASCII and, as RFC 6266 allows, exactly in UTF-8."""
    plain = "".join(c if c.isascii() and c.isprintable() and c not in '"\\%;' else "_" for c in name)
    exact = "".join(c for c in name if c.isprintable() and c not in "/\\")
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(exact, safe='')}"
