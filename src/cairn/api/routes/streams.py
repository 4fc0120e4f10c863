"""Live streams."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from cairn.api.authentication import authenticate
from cairn.api.dependencies import CurrentActor, Services
from cairn.api.event_streams import HEADERS, follow_changes, follow_run
from cairn.api.examples import events as examples
from cairn.api.operations import READ, TEXT, operation, operation_router
from cairn.api.parameters import RunId
from cairn.services.runs.stream import StreamPosition

router = operation_router("/api", "Streams")
NOW = "now"
_MEDIA_TYPE = "text/event-stream"


@router.get("/runs/{run_id}/stream", response_class=Response)
@operation(READ, response_media={_MEDIA_TYPE: TEXT}, response_example=examples.run_stream)
async def stream_run(
    run_id: RunId,
    request: Request,
    services: Services,
    actor: CurrentActor,
    last_seen: Annotated[
        str | None, Header(alias="Last-Event-ID", description="Continue after this id. Browsers send it themselves.")
    ] = None,
    last_event_id: Annotated[
        str | None,
        Query(description="The same, for clients that can't set headers. `now` skips everything before the request."),
    ] = None,
) -> Response:
    """Stream a run: its events, log lines, messages and progress.

    The server-sent events are named `event`, `log`, `message`, `progress`, and `ping` when there is nothing else to
    send. Without an id, the stream starts with the run's first event. With one, it continues exactly after it. A
    `message_delta` is part of a message that is still being written. It has no id, and the complete message follows.
    """
    last_id = last_seen or last_event_id
    position = StreamPosition() if last_id == NOW else StreamPosition.parse(last_id)
    await run_in_threadpool(services.run_stream.check_run, run_id)
    if last_id == NOW:
        position = await run_in_threadpool(services.run_stream.last_position, run_id)
    check = lambda: authenticate(request, services.authentication, READ)  # noqa: E731
    return StreamingResponse(
        follow_run(services, run_id, position, actor, check), media_type=_MEDIA_TYPE, headers=HEADERS
    )


@router.get("/stream", response_class=Response)
@operation(READ, response_media={_MEDIA_TYPE: TEXT}, response_example=examples.change_stream)
async def stream_changes(request: Request, services: Services) -> Response:
    """Stream a `change` hint whenever a list has changed. Fetch what you display again."""
    check = lambda: authenticate(request, services.authentication, READ)  # noqa: E731
    return StreamingResponse(follow_changes(services, check), media_type=_MEDIA_TYPE, headers=HEADERS)
