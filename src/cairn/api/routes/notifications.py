"""Channels, deliveries and notification preferences."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Response
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CurrentActor, Services
from cairn.api.examples import notifications as examples
from cairn.api.operations import ADMIN, OWN, READ, operation, operation_router
from cairn.api.parameters import IdQuery, IfMatch, Paging, etag, revision_of
from cairn.api.requests.notifications import (
    CreateChannelRequest,
    SetPreferencesRequest,
    TestChannelRequest,
    UpdateChannelRequest,
)
from cairn.services.notifications.queries import DeliveryFilter
from cairn.services.notifications.views import (
    Channel,
    ChannelPage,
    CreatedChannel,
    DeletedChannel,
    DeliveryDetail,
    DeliveryPage,
    Preferences,
)
from cairn.store.tables.notifications import DeliveryStatus, NotificationKind

router = operation_router("/api", "Notifications")
ChannelId = Annotated[str, Path(description="Id of the channel.", json_schema_extra={"format": "uuid"})]
DeliveryId = Annotated[str, Path(description="Id of the delivery.", json_schema_extra={"format": "uuid"})]


@router.get("/channels")
@operation(ADMIN, response_example=examples.channels)
def list_channels(services: Services, paging: Paging) -> ChannelPage:
    """List channels. Their URLs and keys are never returned."""
    return services.notification_queries.list_channels(paging.limit, paging.cursor)


@router.post("/channels", status_code=201)
@operation(
    ADMIN,
    idempotent=False,
    etag=True,
    errors=(404, 409),
    request_example=examples.create_channel_request,
    response_example=examples.created_channel,
)
async def create_channel(
    body: CreateChannelRequest, response: Response, services: Services, actor: CurrentActor
) -> CreatedChannel:
    """Create a channel. If a webhook has no signing key, Cairn generates one and returns it only here."""
    channel_id, key = await services.notifications.channels.create(body.spec, actor)
    channel = await run_in_threadpool(services.notification_queries.get_channel, channel_id)
    response.headers["Location"] = f"/api/channels/{channel_id}"
    response.headers["ETag"] = etag(channel.revision)
    return CreatedChannel(**dict(channel), signing_key=key)


@router.get("/channels/{channel_id}")
@operation(ADMIN, etag=True, response_example=examples.channel)
def get_channel(channel_id: ChannelId, response: Response, services: Services) -> Channel:
    """Get a channel."""
    channel = services.notification_queries.get_channel(channel_id)
    response.headers["ETag"] = etag(channel.revision)
    return channel


@router.put("/channels/{channel_id}")
@operation(ADMIN, etag=True, request_example=examples.update_channel_request, response_example=examples.channel)
async def update_channel(
    channel_id: ChannelId,
    body: UpdateChannelRequest,
    response: Response,
    services: Services,
    actor: CurrentActor,
    if_match: IfMatch = None,
) -> Channel:
    """Change the given fields of a channel."""
    await services.notifications.channels.update(channel_id, body.spec, actor, revision_of(if_match))
    channel = await run_in_threadpool(services.notification_queries.get_channel, channel_id)
    response.headers["ETag"] = etag(channel.revision)
    return channel


@router.delete("/channels/{channel_id}")
@operation(ADMIN, response_example=examples.deleted_channel)
async def delete_channel(channel_id: ChannelId, services: Services, actor: CurrentActor) -> DeletedChannel:
    """Delete a channel with its URL and key. Queued deliveries are skipped."""
    return DeletedChannel(channel_id=channel_id, name=await services.notifications.channels.remove(channel_id, actor))


@router.post("/channels/{channel_id}/test")
@operation(ADMIN, request_example=examples.test_channel_request, response_example=examples.delivery)
async def test_channel(
    channel_id: ChannelId, body: TestChannelRequest, services: Services, actor: CurrentActor
) -> DeliveryDetail:
    """Send a test notification now. Returns the delivery."""
    delivery_id = await services.notifications.channel_tests.run(channel_id, actor, body.recipient)
    return await run_in_threadpool(services.notification_queries.get_delivery, delivery_id)


@router.get("/deliveries")
@operation(ADMIN, response_example=examples.deliveries)
def list_deliveries(
    services: Services,
    paging: Paging,
    channel_id: IdQuery = None,
    pipeline_id: IdQuery = None,
    run_id: IdQuery = None,
    approval_id: IdQuery = None,
    status: Annotated[list[DeliveryStatus] | None, Query(description="One of these.")] = None,
    kind: Annotated[list[NotificationKind] | None, Query(description="One of these.")] = None,
) -> DeliveryPage:
    """List deliveries, newest first."""
    delivery_filter = DeliveryFilter(
        channel_id, pipeline_id, run_id, approval_id, tuple(status or ()), tuple(kind or ())
    )
    return services.notification_queries.list_deliveries(delivery_filter, paging.limit, paging.cursor)


@router.get("/deliveries/{delivery_id}")
@operation(ADMIN, response_example=examples.delivery)
def get_delivery(delivery_id: DeliveryId, services: Services) -> DeliveryDetail:
    """Get a delivery with its content and attempts."""
    return services.notification_queries.get_delivery(delivery_id)


@router.get("/preferences")
@operation(READ, response_example=examples.preferences)
def get_preferences(services: Services, actor: CurrentActor) -> Preferences:
    """Get your notification preferences."""
    return services.notification_queries.get_preferences(actor.name)


@router.put("/preferences")
@operation(OWN, request_example=examples.set_preferences_request, response_example=examples.preferences)
async def set_preferences(body: SetPreferencesRequest, services: Services, actor: CurrentActor) -> Preferences:
    """Replace your notification preferences. Omitted fields are reset."""
    quiet_hours = body.quiet_hours.model_dump() if body.quiet_hours is not None else None
    await services.notifications.preferences.set(actor.name, body.channels, body.notification_kinds, quiet_hours)
    return await run_in_threadpool(services.notification_queries.get_preferences, actor.name)
