"""Channels, deliveries and preferences over HTTP; secrets are never returned."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa

from tests.adapters.servers import MailServer, WebServer, answer, mail_server, web_server
from tests.api.app import App, open_app
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")

Json = dict[str, Any]
KEY = "0123456789abcdef0123456789abcdef"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def receiver() -> AsyncIterator[WebServer]:
    async with web_server() as web:
        yield web


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def post() -> AsyncIterator[MailServer]:
    async with mail_server() as mail:
        yield mail


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory, receiver: WebServer, post: MailServer) -> AsyncIterator[App]:
    settings: Json = {
        "outbound_allowed": ["127.0.0.1"],
        "smtp_host": "127.0.0.1",
        "smtp_port": post.port,
        "smtp_tls": "none",
        "smtp_from": "cairn@example.com",
    }
    async with open_app(tmp_path_factory.mktemp("data"), **settings) as opened:
        yield opened


@pytest_asyncio.fixture(autouse=True, loop_scope="module")
async def no_channels(app: App, receiver: WebServer) -> AsyncIterator[None]:
    yield
    for channel in (await app.get("/api/channels"))["items"]:
        await app.client.delete(f"/api/channels/{channel['channel_id']}")
    receiver.requests.clear()
    receiver.handlers.clear()


async def created(app: App, receiver: WebServer, name: str = "Ops", **more: Any) -> Json:
    body = {"name": name, "kind": "webhook", "url": receiver.url("/hook?token=very-secret"), **more}
    return await app.post("/api/channels", body, 201)


async def test_a_channel_is_created_read_updated_and_deleted(app: App, receiver: WebServer) -> None:
    channel = await created(app, receiver, signing_key=KEY)
    name = channel["channel_id"]
    assert {key: channel[key] for key in ("name", "kind", "host", "is_enabled", "include_details", "revision")} == {
        "name": "Ops",
        "kind": "webhook",
        "host": "127.0.0.1",
        "is_enabled": True,
        "include_details": True,
        "revision": 1,
    }
    assert channel["signing_key"] is None  # the user has entered this secret, so it is not returned
    assert "run_completed" not in channel["notification_kinds"]
    changed = await app.put(
        f"/api/channels/{name}", {"include_details": False, "notification_kinds": ["run_completed"]}
    )
    assert (changed["include_details"], changed["notification_kinds"], changed["revision"]) == (
        False,
        ["run_completed"],
        2,
    )
    late = await app.client.put(f"/api/channels/{name}", json={"name": "Late"}, headers={"If-Match": '"1"'})
    assert late.status_code == 412
    assert (await app.get(f"/api/channels/{name}")) == changed
    removed = await app.client.delete(f"/api/channels/{name}")
    assert removed.json() == {"channel_id": name, "name": "Ops"}
    assert (await app.client.get(f"/api/channels/{name}")).status_code == 404
    events = (await app.get("/api/events", scope="global"))["items"]
    types = [event["event_type"] for event in events if event["event_type"].startswith("channel_")]
    assert types[:3] == ["channel_deleted", "channel_updated", "channel_created"]


async def test_addresses_and_keys_are_never_returned(app: App, receiver: WebServer) -> None:
    channel = await created(app, receiver)
    key = channel.pop("signing_key")
    assert len(key) >= 32  # only returned here
    receiver.on("/hook", answer(500, f"no {key} at /hook?token=very-secret".encode()))
    tried = await app.post(f"/api/channels/{channel['channel_id']}/test", {})
    assert (tried["status"], len(receiver.requests)) == ("failed", 1)
    answers = [
        tried,
        await app.get("/api/channels"),
        await app.get(f"/api/channels/{channel['channel_id']}"),
        await app.get("/api/deliveries"),
        await app.get("/api/events", scope="global"),
    ]
    for response in answers:
        assert "very-secret" not in json.dumps(response)
        assert key not in json.dumps(response)

    def stored(connection: sa.Connection) -> str:
        names = [n for n in sa.inspect(connection).get_table_names() if not n.startswith("workflow")]
        return " ".join(str(connection.execute(sa.text(f'SELECT * FROM "{n}"')).all()) for n in names)

    row = await app.cairn.database.aread(stored)
    assert "very-secret" not in row
    assert key not in row


async def global_events(app: App) -> list[str]:
    return [event["event_type"] for event in (await app.get("/api/events", scope="global", limit=200))["items"]]


async def test_a_refused_channel_leaves_no_trace(app: App, receiver: WebServer) -> None:
    await created(app, receiver)
    before = await global_events(app)
    body = {"name": "ops", "kind": "webhook", "url": receiver.url("/another?token=other-secret")}
    assert (await app.client.post("/api/channels", json=body)).status_code == 422
    assert await global_events(app) == before
    assert app.cairn.secrets.mask("other-secret") == "other-secret"


async def test_the_url_changes_together_with_the_channel(app: App, receiver: WebServer) -> None:
    """A concurrent change, which is refused, doesn't change it."""
    channel = await created(app, receiver)
    path = f"/api/channels/{channel['channel_id']}"
    for place in ("/hook", "/other"):
        receiver.on(place, answer(200))
    change = {"url": receiver.url("/other"), "signing_key": "another key of the hook"}
    before = await global_events(app)
    assert (await app.client.put(path, json=change, headers={"If-Match": '"7"'})).status_code == 412
    await app.post(f"{path}/test", {})
    assert [request.path.partition("?")[0] for request in receiver.requests] == ["/hook"]
    await app.put(path, change)
    await app.post(f"{path}/test", {})
    assert [request.path.partition("?")[0] for request in receiver.requests] == ["/hook", "/other"]
    assert await global_events(app) == ["channel_updated", *before]


async def test_the_secrets_of_channels_are_not_listed_and_cannot_be_changed(app: App, receiver: WebServer) -> None:
    channel = await created(app, receiver)
    await app.put("/api/secrets/mine", {"value": "a value"})
    assert [secret["name"] for secret in (await app.get("/api/secrets"))["items"]] == ["mine"]
    name = f"channel.{channel['channel_id']}.url"
    refused = await app.put(f"/api/secrets/{name}", {"value": "https://evil.example"}, 422)
    assert [error["path"] for error in refused["errors"]] == ["/name"]
    assert (await app.client.delete(f"/api/secrets/{name}")).status_code == 404
    receiver.on("/hook", answer(200))
    rotated = await app.post("/api/secrets/rotate")
    assert rotated["count"] == 1
    tried = await app.post(f"/api/channels/{channel['channel_id']}/test", {})
    assert (tried["status"], len(receiver.requests)) == ("sent", 1)


async def test_testing_a_channel_returns_the_delivery(app: App, receiver: WebServer, post: MailServer) -> None:
    channel = await created(app, receiver)
    receiver.on("/hook", answer(202, b"taken"))
    tried = await app.post(f"/api/channels/{channel['channel_id']}/test", {})
    assert (tried["status"], tried["response"], tried["kind"], tried["attempt_count"]) == (
        "sent",
        "202 taken",
        "test",
        1,
    )
    assert [attempt["outcome"] for attempt in tried["attempts"]] == ["sent"]
    assert tried["content"]["title"]
    assert (await app.get(f"/api/deliveries/{tried['delivery_id']}")) == tried
    mail = await app.post("/api/channels", {"name": "Mail", "kind": "email"}, 201)
    rejected = await app.client.post(f"/api/channels/{mail['channel_id']}/test", json={})
    assert rejected.status_code == 422
    sent = await app.post(f"/api/channels/{mail['channel_id']}/test", {"recipient": "me@example.com"})
    assert (sent["status"], sent["recipient"]) == ("sent", "me@example.com")
    assert post.mails[-1].rcpt_tos == ["me@example.com"]
    listed = await app.get("/api/deliveries", channel_id=mail["channel_id"], status="sent", kind="test")
    assert [delivery["delivery_id"] for delivery in listed["items"]] == [sent["delivery_id"]]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"name": "Ops", "kind": "teams"}, "/url"),
        ({"name": "Ops", "kind": "fax", "url": "https://example.com"}, "/kind"),
        ({"name": "Ops", "kind": "teams", "url": "ftp://example.com/x"}, "/url"),
        ({"name": "Ops", "kind": "teams", "url": "https://user:pass@example.com/x"}, "/url"),
        ({"name": "Ops", "kind": "slack", "url": "javascript:alert(1)"}, "/url"),
        ({"name": "Ops", "kind": "email", "url": "https://example.com"}, "/url"),
        ({"name": "Ops\r\nX: y", "kind": "email"}, "/name"),
        ({"name": "<b>", "kind": "email"}, "/name"),
        ({"name": "Slack", "kind": "email"}, "/name"),
        ({"name": "Ops", "kind": "slack", "url": "https://example.com", "signing_key": KEY}, "/signing_key"),
        ({"name": "Ops", "kind": "webhook", "url": "https://example.com", "signing_key": "short"}, "/signing_key"),
        ({"name": "Ops", "kind": "email", "fallback": "Nowhere"}, "/fallback"),
        ({"name": "Ops", "kind": "email", "notification_kinds": ["everything"]}, "/notification_kinds/0"),
        ({"name": "Ops", "kind": "slack", "url": "https://example.com", "recipients": ["a"]}, "/recipients"),
        ({"name": "Ops", "kind": "email", "recipients": ["ops@example.com", "nobody"]}, "/recipients/1"),
        (
            {"name": "Ops", "kind": "email", "pipelines": ["00000000-0000-4000-8000-000000000000"]},
            "/pipelines",
        ),
        ({"name": "Ops", "kind": "apprise", "url": "nonsense"}, "/url"),
        ({"name": "Ops", "kind": "apprise", "url": "json://localhost"}, "/url"),
        ({"name": "Ops", "kind": "apprise", "url": "syslog://"}, "/url"),
    ],
)
async def test_invalid_channels_are_rejected_with_the_path(app: App, body: Json, path: str) -> None:
    response = await app.client.post("/api/channels", json=body)
    assert response.status_code == 422
    assert path in [error["path"] for error in response.json()["errors"]], response.text


async def test_a_role_is_a_recipient(app: App) -> None:
    mail = await app.post("/api/channels", {"name": "Mail", "kind": "email", "recipients": ["admin", "approver"]}, 201)
    assert mail["recipients"] == ["admin", "approver"]


async def test_channel_names_are_unique_and_a_fallback_is_another_channel(app: App, receiver: WebServer) -> None:
    channel = await created(app, receiver)
    assert (await app.client.post("/api/channels", json={"name": "ops", "kind": "email"})).status_code == 422
    own = await app.client.put(f"/api/channels/{channel['channel_id']}", json={"fallback": "Ops"})
    assert own.json()["errors"] == [{"path": "/fallback", "message": mentions()}]
    mail = await app.post("/api/channels", {"name": "Mail", "kind": "email", "fallback": "Ops"}, 201)
    assert (await app.put(f"/api/channels/{mail['channel_id']}", {"fallback": ""}))["fallback"] is None
    await app.put(f"/api/channels/{mail['channel_id']}", {"fallback": "Ops"})
    await app.client.delete(f"/api/channels/{channel['channel_id']}")
    assert (await app.get(f"/api/channels/{mail['channel_id']}"))["fallback"] is None


async def test_users_set_their_own_preferences(app: App) -> None:
    await app.post("/api/channels", {"name": "Mail", "kind": "email"}, 201)
    preferences: Json = {
        "channels": ["email"],
        "notification_kinds": ["approval_requested"],
        "quiet_hours": {"start": "22:00", "end": "07:00", "time_zone": "Europe/Berlin"},
    }
    saved = await app.put("/api/preferences", preferences)
    assert saved == {**preferences, "user": "admin", "available_channels": [{"name": "Mail", "kind": "email"}]}
    assert await app.get("/api/preferences") == saved
    wrong = await app.client.put(
        "/api/preferences", json={"quiet_hours": {**preferences["quiet_hours"], "time_zone": "Mars/Base"}}
    )
    assert wrong.json()["errors"] == [{"path": "/quiet_hours/time_zone", "message": mentions("Europe/Berlin")}]
    cleared = await app.put("/api/preferences", {})
    assert (cleared["channels"], cleared["notification_kinds"], cleared["quiet_hours"]) == (None, None, None)
