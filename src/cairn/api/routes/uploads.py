"""Files for forms."""

from __future__ import annotations

from fastapi import Request

from cairn.api.dependencies import By, Services
from cairn.api.examples import executions as examples
from cairn.api.multipart import read_file
from cairn.api.operations import Media, operation, operation_router
from cairn.api.parameters import ExecutionId
from cairn.services.deciders import SUBMIT
from cairn.services.views.artifacts import Upload

router = operation_router("/api/executions", "Executions")
_FILE_MEDIA: Media = {
    "multipart/form-data": {
        "type": "object",
        "properties": {"file": {"type": "string", "format": "binary"}},
        "required": ["file"],
    }
}


@router.post("/{execution_id}/files", status_code=201)
@operation(SUBMIT, streams_body=True, request_media=_FILE_MEDIA, response_example=examples.upload)
async def upload_file(execution_id: ExecutionId, request: Request, services: Services, by: By) -> Upload:
    """Upload a file for a field of the form; submit the form with its `upload_id` (D40)."""
    part = await read_file(request, services.settings.max_file_bytes)
    upload = await services.uploads.add(execution_id, part.filename, part.media_type, part.content, by=by)
    return Upload(
        upload_id=upload.upload_id,
        filename=upload.filename,
        size_bytes=upload.size_bytes,
        checksum=upload.checksum,
    )
