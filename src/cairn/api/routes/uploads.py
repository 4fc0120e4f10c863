"""Files for forms."""

from __future__ import annotations

from fastapi import Request

from cairn.api.guarding import operations
from cairn.api.multipart import read_file
from cairn.api.parameters import ExecutionId
from cairn.api.wiring import By, Services
from cairn.services.artifacts.views import Upload

router = operations("/api/executions", "Executions")


@router.post("/{execution_id}/files", status_code=201)
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
