"""Executions: started, filled in, approved, tried again."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Response
from starlette.responses import StreamingResponse

from cairn.api.answering import carried_out, shown
from cairn.api.bodies import Approve, RetryExecution, Revise, StartExecution, Submit
from cairn.api.guarding import operations
from cairn.api.parameters import ExecutionId, Paging, Text
from cairn.api.unhindered import small
from cairn.api.wiring import By, CommandId, Services
from cairn.core.states import ApprovalKind
from cairn.services.conversations.queries import MessageFilter
from cairn.services.conversations.views import MessagePage
from cairn.services.events.views import LogPage
from cairn.services.filters import LogFilter
from cairn.services.runs.execution_views import Context, Execution

router = operations("/api/executions", "Executions")
Level = Literal["debug", "info", "warning", "error"]
Order = Annotated[Literal["oldest", "newest"], Query(description="Which comes first.")]
MessageScope = Annotated[
    Text | None,
    Query(max_length=100, description="Only messages of this scope; `current` is the one that still counts."),
]
Before = Annotated[int | None, Query(ge=0, lt=2**63, description="Only messages before this `message_id`.")]
After = Annotated[int | None, Query(ge=0, lt=2**63, description="Only messages after this `message_id`.")]
_START = frozenset({ApprovalKind.START})
_COMPLETION = frozenset({ApprovalKind.COMPLETION})
_WORK = frozenset({ApprovalKind.START, ApprovalKind.COMPLETION, ApprovalKind.ACTION})


@router.post("/start")
async def start_execution(body: StartExecution, services: Services, by: By, command_id: CommandId) -> Execution:
    """Start an execution that waits for it; after a refused start it asks again (D45)."""
    executions = services.executions
    if body.execution_id is not None:
        warnings = await carried_out(executions.start(body.execution_id, by=by, command_id=command_id))
        return await shown(services, services.reading.execution, body.execution_id, by, warnings)
    started, step = await executions.start_checkpoint(
        str(body.run_id), str(body.checkpoint_id), by=by, command_id=command_id
    )
    return await shown(services, services.reading.execution, started, by, step.warnings)


@router.get("/{execution_id}")
@small
def get_execution(execution_id: ExecutionId, services: Services, by: By) -> Execution:
    """An execution with its artifacts, its form, what is asked and what is possible now."""
    return services.reading.execution(execution_id, by)


@router.post("/{execution_id}/approve-start")
async def approve_start(
    execution_id: ExecutionId, services: Services, by: By, command_id: CommandId, body: Approve | None = None
) -> Execution:
    """Let it start."""
    return await _decide(services, execution_id, "approve", _START, body or Approve(), by, command_id)


@router.post("/{execution_id}/approve-complete")
async def approve_completion(
    execution_id: ExecutionId, services: Services, by: By, command_id: CommandId, body: Approve | None = None
) -> Execution:
    """Accept the result: its artifacts are promoted."""
    return await _decide(services, execution_id, "approve", _COMPLETION, body or Approve(), by, command_id)


@router.post("/{execution_id}/approve")
async def approve_execution(
    execution_id: ExecutionId, services: Services, by: By, command_id: CommandId, body: Approve | None = None
) -> Execution:
    """Approve whatever is pending (D41)."""
    return await _decide(services, execution_id, "approve", _WORK, body or Approve(), by, command_id)


@router.post("/{execution_id}/revise")
async def revise_execution(
    execution_id: ExecutionId, services: Services, by: By, command_id: CommandId, body: Revise | None = None
) -> Execution:
    """Ask for a revision with feedback; while it waits to start, refuse the start."""
    return await _decide(services, execution_id, "revise", _WORK, body or Revise(), by, command_id)


@router.post("/{execution_id}/reject")
async def reject_execution(
    execution_id: ExecutionId, services: Services, by: By, command_id: CommandId, body: Revise | None = None
) -> Execution:
    """The same as revise (D49)."""
    return await _decide(services, execution_id, "revise", _WORK, body or Revise(), by, command_id)


@router.post("/{execution_id}/submit")
async def submit_form(
    execution_id: ExecutionId, body: Submit, services: Services, by: By, command_id: CommandId
) -> Execution:
    """Fill in the form that it waits for. Wrong fields are told one by one, and nothing is submitted."""
    submitted = services.executions.submit(execution_id, body.fields, digest=body.digest, by=by, command_id=command_id)
    return await shown(services, services.reading.execution, execution_id, by, await carried_out(submitted))


@router.post("/{execution_id}/retry")
async def retry_execution(
    execution_id: ExecutionId, services: Services, by: By, command_id: CommandId, body: RetryExecution | None = None
) -> Execution:
    """Try a failed one again in the same run (D16)."""
    attempt = body.attempt if body else None
    retried = services.executions.retry(execution_id, attempt=attempt, by=by, command_id=command_id)
    return await shown(services, services.reading.execution, execution_id, by, await carried_out(retried))


@router.post("/{execution_id}/cancel")
async def cancel_execution(execution_id: ExecutionId, services: Services, by: By, command_id: CommandId) -> Execution:
    """Cancel an open one, or dismiss a failed one; its checkpoint then waits for a start by hand (D58)."""
    cancelled = services.executions.cancel(execution_id, by=by, command_id=command_id)
    return await shown(services, services.reading.execution, execution_id, by, await carried_out(cancelled))


@router.get("/{execution_id}/logs")
def list_logs(
    execution_id: ExecutionId,
    services: Services,
    paging: Paging,
    level: Annotated[list[Level] | None, Query(description="One of these.")] = None,
    search: Annotated[Text, Query(max_length=200, description="Part of the message, in any case.")] = "",
    order: Order = "oldest",
    before: Annotated[int | None, Query(ge=0, lt=2**63, description="Only lines before this `log_id`.")] = None,
    after: Annotated[int | None, Query(ge=0, lt=2**63, description="Only lines after this `log_id`.")] = None,
) -> LogPage:
    """What its runners logged, oldest first.

    With `order=newest` the first page is the end of the log, and the next ones lead back to its beginning.
    """
    wanted = LogFilter(tuple(level or ()), search, before, after, order == "newest")
    return services.reading.logs(execution_id, wanted, paging.limit, paging.cursor)


@router.get("/{execution_id}/logs/download", response_class=Response)
def download_logs(execution_id: ExecutionId, services: Services) -> Response:
    """The whole log as a text to be saved: one line each with its time in UTC, its level and its message."""
    text = services.reading.log_text(execution_id)
    headers = {"Content-Disposition": f'attachment; filename="execution_{execution_id}.log"'}
    return StreamingResponse(text, media_type="text/plain; charset=utf-8", headers=headers)


@router.get("/{execution_id}/messages")
def list_messages(
    execution_id: ExecutionId,
    services: Services,
    by: By,
    paging: Paging,
    scope: MessageScope = None,
    order: Order = "oldest",
    before: Before = None,
    after: After = None,
) -> MessagePage:
    """What was said with models, oldest first: each message with its speaker, its calls of tools and what it has used.

    With `order=newest` the first page is the end of the conversation, and the next ones lead back to its beginning.
    Where the definition does not show the conversation, only admins see it: it is for the audit.
    """
    wanted = MessageFilter(scope, before, after, order == "newest")
    return services.reading.messages(execution_id, wanted, by, paging.limit, paging.cursor)


@router.get("/{execution_id}/conversation")
def get_conversation(
    execution_id: ExecutionId,
    services: Services,
    by: By,
    paging: Paging,
    scope: MessageScope = None,
    order: Order = "oldest",
    before: Before = None,
    after: After = None,
) -> MessagePage:
    """The same as messages."""
    return list_messages(execution_id, services, by, paging, scope, order, before, after)


@router.get("/{execution_id}/context")
def get_context(execution_id: ExecutionId, services: Services) -> Context:
    """What its runner was told, or would be told if it started now (X9)."""
    return services.reading.context(execution_id)


async def _decide(
    services: Services,
    execution_id: str,
    decision: str,
    kinds: frozenset[ApprovalKind],
    body: Approve | Revise,
    by: By,
    command_id: CommandId,
) -> Execution:
    decided = services.approvals.decide_pending(
        execution_id,
        decision,
        kinds=kinds,
        digest=body.digest,
        feedback=body.feedback,
        modified_params=body.modified_params if isinstance(body, Approve) else None,
        by=by,
        command_id=command_id,
    )
    return await shown(services, services.reading.execution, execution_id, by, await carried_out(decided))
