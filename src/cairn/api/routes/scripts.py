"""Script files of a pipeline. A definition can also contain them as `scripts`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Request, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CommandId, CurrentActor, Services
from cairn.api.examples import pipelines as examples
from cairn.api.operations import DEFINE, READ, TEXT, Media, operation, operation_router
from cairn.api.parameters import IfMatch, PipelineId, etag, revision_of
from cairn.api.request_body import BoundedRequest
from cairn.definitions.script_files import MAX_BYTES
from cairn.services.pipelines.views import DeletedScript, SavedScript, ScriptPage

router = operation_router("/api/pipelines/{pipeline_id}/scripts", "Scripts")
ScriptPath = Annotated[str, Path(max_length=500, description="Path in the scripts folder, with forward slashes.")]
_SCRIPT_MEDIA: Media = {
    "text/x-python": {"type": "string", "description": "The script's text, in UTF-8, at most 1 MB."}
}


@router.get("")
@operation(READ, response_example=examples.scripts)
def list_scripts(pipeline_id: PipelineId, services: Services) -> ScriptPage:
    """List the script files of the newest definition, with the checkpoints that use them."""
    return services.pipelines.scripts.list(pipeline_id)


@router.get("/{path:path}", response_class=Response)
@operation(READ, response_media={"text/plain": TEXT}, response_example=examples.script)
def get_script(pipeline_id: PipelineId, path: ScriptPath, services: Services) -> Response:
    """Get the text of a script."""
    content, revision = services.pipelines.scripts.read(pipeline_id, path)
    headers = {"ETag": etag(revision), "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type="text/plain; charset=utf-8", headers=headers)


@router.put("/{path:path}")
@operation(DEFINE, request_media=_SCRIPT_MEDIA, response_example=examples.saved_script)
async def put_script(
    pipeline_id: PipelineId,
    path: ScriptPath,
    request: Request,
    response: Response,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    if_match: IfMatch = None,
) -> SavedScript:
    """Save a script. The body is its text. A change creates a new revision of the definition."""
    incoming = request if isinstance(request, BoundedRequest) else BoundedRequest(request.scope, request.receive)
    content = await incoming.read(MAX_BYTES)
    incoming.expect("text/x-python", "text/plain", "application/octet-stream")
    script, saved = await services.pipelines.scripts.write(
        pipeline_id, path, content, if_match=revision_of(if_match), actor=actor, command_id=command_id
    )
    revision = await _revision(services, response, pipeline_id)
    warnings = [finding.message for finding in saved.warnings]
    return SavedScript(**script.model_dump(), revision=revision, warnings=warnings)


@router.delete("/{path:path}")
@operation(DEFINE, response_example=examples.deleted_script)
async def delete_script(
    pipeline_id: PipelineId,
    path: ScriptPath,
    response: Response,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    if_match: IfMatch = None,
) -> DeletedScript:
    """Delete a script that no checkpoint uses. Earlier revisions keep it."""
    await services.pipelines.scripts.remove(
        pipeline_id, path, if_match=revision_of(if_match), actor=actor, command_id=command_id
    )
    return DeletedScript(path=path, revision=await _revision(services, response, pipeline_id))


async def _revision(services: Any, response: Response, pipeline_id: str) -> int:
    view = await run_in_threadpool(services.pipeline_queries.get_pipeline, pipeline_id)
    response.headers["ETag"] = etag(view.revision)
    return view.revision
