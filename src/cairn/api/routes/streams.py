"""Live streams."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from cairn.api.authentication import authenticate
from cairn.api.dependencies import By, Services
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
    by: By,
    last_seen: Annotated[
        str | None, Header(alias="Last-Event-ID", description="Continue after this id. Browsers send it themselves.")
    ] = None,
    last_event_id: Annotated[
        str | None,
        Query(description="The same, for clients that can't set headers. `now` skips everything before the request."),
    ] = None,
) -> Response:
    """Stream a run: events (`event`), log lines (`log`), messages of conversations (`message`) and `progress`, and a
    `ping` when nothing else is sent.

    Without an id, the stream starts with the run's first event. With one, it continues exactly after it. A
    `message_delta` is part of a message that is still being written. It has no id, and the complete message follows.
    """
    named = last_seen or last_event_id
    place = StreamPosition() if named == NOW else StreamPosition.parse(named)
    await run_in_threadpool(services.run_stream.check_run, run_id)
    if named == NOW:
        place = await run_in_threadpool(services.run_stream.last_position, run_id)
    check = lambda: authenticate(request, services.authentication, READ)  # noqa: E731
    return StreamingResponse(follow_run(services, run_id, place, by, check), media_type=_MEDIA_TYPE, headers=HEADERS)


@router.get("/stream", response_class=Response)
@operation(READ, response_media={_MEDIA_TYPE: TEXT}, response_example=examples.change_stream)
async def stream_changes(request: Request, services: Services) -> Response:
    """Stream hints (`change`) that something in the lists has changed. Reload what you show."""
    check = lambda: authenticate(request, services.authentication, READ)  # noqa: E731
    return StreamingResponse(follow_changes(services, check), media_type=_MEDIA_TYPE, headers=HEADERS)
