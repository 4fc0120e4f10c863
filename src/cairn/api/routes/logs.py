"""Logs of executions."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Response
from starlette.responses import StreamingResponse

from cairn.api.dependencies import Services
from cairn.api.examples import logs as examples
from cairn.api.operations import READ, TEXT, operation, operation_router
from cairn.api.parameters import ExecutionId, Order, Paging, Text
from cairn.services.logs.queries import LogFilter
from cairn.services.logs.views import LogPage

router = operation_router("/api/executions", "Executions")
Level = Literal["debug", "info", "warning", "error"]


@router.get("/{execution_id}/logs")
@operation(READ, response_example=examples.lines)
def list_logs(
    execution_id: ExecutionId,
    services: Services,
    paging: Paging,
    level: Annotated[list[Level] | None, Query(description="One of these.")] = None,
    search: Annotated[Text, Query(max_length=200, description="Part of the message, ignoring case.")] = "",
    order: Order = "oldest",
    before: Annotated[int | None, Query(ge=0, lt=2**63, description="Only lines before this `log_id`.")] = None,
    after: Annotated[int | None, Query(ge=0, lt=2**63, description="Only lines after this `log_id`.")] = None,
) -> LogPage:
    """List the log lines of an execution, oldest first.

    With `order=newest`, paging starts at the end of the log and goes backward.
    """
    log_filter = LogFilter(tuple(level or ()), search, before, after, order == "newest")
    return services.log_queries.list_logs(execution_id, log_filter, paging.limit, paging.cursor)


@router.get("/{execution_id}/logs/download", response_class=Response)
@operation(READ, response_media={"text/plain": TEXT}, response_example=examples.text)
def download_logs(execution_id: ExecutionId, services: Services) -> Response:
    """Download the log as text. Each line has its time in UTC, its level and its message."""
    text = services.log_queries.stream_text(execution_id)
    headers = {"Content-Disposition": f'attachment; filename="execution_{execution_id}.log"'}
    return StreamingResponse(text, media_type="text/plain; charset=utf-8", headers=headers)
