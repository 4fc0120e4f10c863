"""Executions: start, submit, decide, retry and cancel."""

from __future__ import annotations

from fastapi import Request

from cairn.api.dependencies import CommandId, CurrentActor, Services
from cairn.api.examples import executions as examples
from cairn.api.examples import story
from cairn.api.multipart import read_file
from cairn.api.operations import READ, RUN, Media, operation, operation_router
from cairn.api.parameters import ExecutionId
from cairn.api.requests.executions import (
    ApproveRequest,
    RetryExecutionRequest,
    ReviseRequest,
    StartExecutionRequest,
    SubmitFormRequest,
)
from cairn.api.responses import command_warnings, with_warnings
from cairn.core.states import ApprovalKind
from cairn.services.approvals.eligibility import DECIDE, SUBMIT
from cairn.services.artifacts.views import Upload
from cairn.services.runs.execution_views import Context, Execution

router = operation_router("/api/executions", "Executions")
_FILE_MEDIA: Media = {
    "multipart/form-data": {
        "type": "object",
        "properties": {"file": {"type": "string", "format": "binary"}},
        "required": ["file"],
    }
}
_START = frozenset({ApprovalKind.START})
_COMPLETION = frozenset({ApprovalKind.COMPLETION})
_WORK = frozenset({ApprovalKind.START, ApprovalKind.COMPLETION, ApprovalKind.ACTION})


@router.post("/start")
@operation(RUN, request_example=examples.start_request, response_example=story.execution)
async def start_execution(
    body: StartExecutionRequest, services: Services, actor: CurrentActor, command_id: CommandId
) -> Execution:
    """Start an execution that waits for a manual start. If its start was rejected, approval is requested again."""
    executions = services.executions
    if body.execution_id is not None:
        warnings = await command_warnings(executions.start(body.execution_id, actor=actor, command_id=command_id))
        return await with_warnings(services.execution_queries.get_execution, body.execution_id, actor, warnings)
    started, commit = await executions.start_checkpoint(
        str(body.run_id), str(body.checkpoint_id), actor=actor, command_id=command_id
    )
    return await with_warnings(services.execution_queries.get_execution, started, actor, commit.warnings)


@router.get("/{execution_id}")
@operation(READ, response_example=story.execution)
def get_execution(execution_id: ExecutionId, services: Services, actor: CurrentActor) -> Execution:
    """Get an execution with its artifacts, form, pending approval and available commands."""
    return services.execution_queries.get_execution(execution_id, actor)


@router.post("/{execution_id}/approve-start")
@operation(DECIDE, request_example=examples.approve_start_request, response_example=story.execution)
async def approve_start(
    execution_id: ExecutionId,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    body: ApproveRequest | None = None,
) -> Execution:
    """Approve the start of an execution."""
    return await _decide(services, execution_id, "approve", _START, body or ApproveRequest(), actor, command_id)


@router.post("/{execution_id}/approve-complete")
@operation(DECIDE, request_example=examples.approve_request, response_example=story.execution)
async def approve_completion(
    execution_id: ExecutionId,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    body: ApproveRequest | None = None,
) -> Execution:
    """Approve the result of an execution. Its artifacts are promoted."""
    return await _decide(services, execution_id, "approve", _COMPLETION, body or ApproveRequest(), actor, command_id)


@router.post("/{execution_id}/approve")
@operation(DECIDE, request_example=examples.approve_request, response_example=story.execution)
async def approve_execution(
    execution_id: ExecutionId,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    body: ApproveRequest | None = None,
) -> Execution:
    """Approve the pending approval of an execution: its start, its result or its action."""
    return await _decide(services, execution_id, "approve", _WORK, body or ApproveRequest(), actor, command_id)


@router.post("/{execution_id}/revise")
@operation(DECIDE, request_example=examples.revise_request, response_example=story.execution)
async def revise_execution(
    execution_id: ExecutionId,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    body: ReviseRequest | None = None,
) -> Execution:
    """Request a revision with feedback. For an execution that awaits approval to start, reject the start."""
    return await _decide(services, execution_id, "revise", _WORK, body or ReviseRequest(), actor, command_id)


@router.post("/{execution_id}/reject", deprecated=True)
@operation(DECIDE, request_example=examples.revise_request, response_example=story.execution)
async def reject_execution(
    execution_id: ExecutionId,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    body: ReviseRequest | None = None,
) -> Execution:
    """Deprecated alias of `revise`."""
    return await _decide(services, execution_id, "revise", _WORK, body or ReviseRequest(), actor, command_id)


@router.post("/{execution_id}/submit")
@operation(SUBMIT, request_example=examples.submit_request, response_example=story.execution)
async def submit_form(
    execution_id: ExecutionId, body: SubmitFormRequest, services: Services, actor: CurrentActor, command_id: CommandId
) -> Execution:
    """Submit the form of an execution. If a field is invalid, nothing is submitted and all errors are returned."""
    submitted = services.executions.submit(
        execution_id, body.fields, digest=body.digest, actor=actor, command_id=command_id
    )
    warnings = await command_warnings(submitted)
    return await with_warnings(services.execution_queries.get_execution, execution_id, actor, warnings)


@router.post("/{execution_id}/files", status_code=201)
@operation(SUBMIT, streams_body=True, request_media=_FILE_MEDIA, response_example=examples.upload)
async def upload_file(execution_id: ExecutionId, request: Request, services: Services, actor: CurrentActor) -> Upload:
    """Upload a file for a form field. Submit the form with the returned `upload_id`."""
    part = await read_file(request, services.settings.max_file_bytes)
    upload = await services.uploads.add(execution_id, part.filename, part.media_type, part.content, actor=actor)
    return Upload(
        upload_id=upload.upload_id,
        filename=upload.filename,
        size_bytes=upload.size_bytes,
        checksum=upload.checksum,
    )


@router.post("/{execution_id}/retry")
@operation(RUN, request_example=examples.retry_request, response_example=story.execution)
async def retry_execution(
    execution_id: ExecutionId,
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    body: RetryExecutionRequest | None = None,
) -> Execution:
    """Retry a failed execution in the same run."""
    attempt = body.attempt_number if body else None
    retried = services.executions.retry(execution_id, attempt=attempt, actor=actor, command_id=command_id)
    warnings = await command_warnings(retried)
    return await with_warnings(services.execution_queries.get_execution, execution_id, actor, warnings)


@router.post("/{execution_id}/cancel")
@operation(RUN, response_example=story.execution)
async def cancel_execution(
    execution_id: ExecutionId, services: Services, actor: CurrentActor, command_id: CommandId
) -> Execution:
    """Cancel an open execution, or dismiss a failed one. Its checkpoint then needs a manual start."""
    cancelled = services.executions.cancel(execution_id, actor=actor, command_id=command_id)
    warnings = await command_warnings(cancelled)
    return await with_warnings(services.execution_queries.get_execution, execution_id, actor, warnings)


@router.get("/{execution_id}/context")
@operation(READ, response_example=examples.context)
def get_context(execution_id: ExecutionId, services: Services) -> Context:
    """Get the context of an execution as its runner received it, or would receive it if it started now."""
    return services.context_queries.get_context(execution_id)


async def _decide(
    services: Services,
    execution_id: str,
    decision: str,
    kinds: frozenset[ApprovalKind],
    body: ApproveRequest | ReviseRequest,
    actor: CurrentActor,
    command_id: CommandId,
) -> Execution:
    decided = services.approvals.decide_pending(
        execution_id,
        decision,
        kinds=kinds,
        digest=body.digest,
        feedback=body.feedback,
        modified_params=body.modified_params if isinstance(body, ApproveRequest) else None,
        actor=actor,
        command_id=command_id,
    )
    warnings = await command_warnings(decided)
    return await with_warnings(services.execution_queries.get_execution, execution_id, actor, warnings)
