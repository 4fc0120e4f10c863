"""Artifacts and events over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from cairn.api.middleware import CONTENT_POLICY
from cairn.api.routes.artifacts import disposition
from cairn.store import DamagedBlob, MissingBlob
from cairn.store import tables as t
from tests.api.app import App, Json, form

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOBODY = "00000000-0000-0000-0000-000000000000"


async def completed_run(app: App, text: str = "grow", **more: object) -> Json:
    run = await app.run(await app.pipeline(form("goals", **more)))
    await app.submit_form(run, goals=text)
    return run


async def test_artifacts_are_listed_and_downloaded_completely(app: App) -> None:
    run = await completed_run(app, "größer 🚀")
    [artifact] = (await app.get("/api/artifacts/list", run_id=run["run_id"]))["items"]
    assert (artifact["artifact_name"], artifact["format"], artifact["media_type"]) == (
        "goals",
        "json",
        "application/json",
    )
    assert (artifact["run_version"], artifact["checkpoint_name"], artifact["is_stale"]) == (1, "Goals", False)
    path = f"/api/artifacts/{artifact['artifact_record_id']}"
    assert await app.get(path) == artifact
    download = await app.client.get(f"{path}/download", headers={"Accept-Encoding": "gzip"})
    assert (len(download.content), download.headers["content-length"]) == (
        artifact["size_bytes"],
        str(artifact["size_bytes"]),
    )
    assert download.headers["content-type"] == "application/octet-stream"
    assert download.headers["content-disposition"].startswith('attachment; filename="goals_')
    shown = await app.client.get(f"{path}/content")
    assert (shown.json(), shown.headers["content-type"]) == ({"goals": "größer 🚀"}, "application/json")
    assert shown.headers["content-security-policy"] == CONTENT_POLICY
    assert shown.headers["x-content-type-options"] == "nosniff"


async def test_content_is_never_served_as_a_page(app: App) -> None:
    """Browsers never execute content written by users."""
    page = "<script>alert(1)</script>"
    run = await completed_run(app, page, outputs=["goals.md"])
    [artifact] = (await app.get("/api/artifacts/list", run_id=run["run_id"]))["items"]
    shown = await app.client.get(f"/api/artifacts/{artifact['artifact_record_id']}/content")
    assert shown.headers["content-type"] == "text/plain; charset=utf-8"
    assert shown.headers["content-security-policy"].startswith("sandbox;")
    assert "alert" in shown.text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain.json", "attachment; filename=\"plain.json\"; filename*=UTF-8''plain.json"),
        ('a"b;c.txt', "attachment; filename=\"a_b_c.txt\"; filename*=UTF-8''a%22b%3Bc.txt"),
        ("größe.md", "attachment; filename=\"gr__e.md\"; filename*=UTF-8''gr%C3%B6%C3%9Fe.md"),
        ("a\r\nSet-Cookie: x", "attachment; filename=\"a__Set-Cookie: x\"; filename*=UTF-8''aSet-Cookie%3A%20x"),
    ],
)
async def test_file_names_cannot_break_the_header(name: str, expected: str) -> None:
    """RFC 6266."""
    assert disposition("attachment", name) == expected


async def test_a_download_of_tampered_content_fails(app: App) -> None:
    run = await completed_run(app, f"only once {app.cairn.database.kind}")
    [artifact] = (await app.get("/api/artifacts/list", run_id=run["run_id"]))["items"]
    blobs = t.blobs
    own = blobs.c.checksum == artifact["checksum"]
    change = sa.update(blobs).where(own).values(data=b"x" * artifact["size_bytes"], compression="none")
    await app.cairn.database.transact(lambda c: c.execute(change))
    artifacts = app.cairn.artifact_queries
    with pytest.raises(DamagedBlob, match=artifact["checksum"]):
        list(artifacts.stream_content(artifact["checksum"]))
    lose = sa.update(blobs).where(own).values(data=None, chunk_count=1)
    await app.cairn.database.transact(lambda c: c.execute(lose))
    with pytest.raises(DamagedBlob, match=artifact["checksum"]):
        list(artifacts.stream_content(artifact["checksum"]))
    with pytest.raises(MissingBlob):
        list(artifacts.stream_content("0" * 64))


async def test_unknown_artifacts_are_not_found(app: App) -> None:
    for path in ("", "/download", "/content"):
        assert (await app.client.get(f"/api/artifacts/{NOBODY}{path}")).status_code == 404
    assert (await app.get("/api/artifacts/list", run_id=NOBODY))["items"] == []


async def test_events_are_listed_newest_first_and_filtered(app: App) -> None:
    run = await completed_run(app)
    own = {"run_id": run["run_id"]}
    events = (await app.get("/api/events", **own, limit=500))["items"]
    assert [event["seq"] for event in events] == list(range(len(events), 0, -1))
    assert events[0]["event_type"] == "run_completed"
    assert all(event["description"] and event["actor"] for event in events)
    answer = await app.client.get("/api/events", params={"since": "2030"})
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, "?since")
    first = await app.get("/api/events", **own, limit=2)
    rest = await app.get("/api/events", **own, limit=500, cursor=first["next_cursor"])
    assert first["items"] + rest["items"] == events
    started = await app.get("/api/events", **own, event_type=["run_started", "run_completed"])
    assert [event["event_type"] for event in started["items"]] == ["run_completed", "run_started"]
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert (await app.get("/api/events", **own, since=tomorrow))["items"] == []
    assert len((await app.get("/api/events", **own, until=tomorrow, limit=500))["items"]) == len(events)
    assert (await app.client.get("/api/events", params={"since": "2026-01-01T00:00:00"})).status_code == 422
    of_pipeline = (await app.get("/api/events", pipeline_id=run["pipeline_id"], limit=500))["items"]
    assert {"pipeline_created", "run_started"} <= {event["event_type"] for event in of_pipeline}
    execution = await app.execution(run)
    of_execution = (await app.get("/api/events", execution_id=execution["execution_id"], limit=500))["items"]
    assert {event["execution_id"] for event in of_execution} == {execution["execution_id"]}


async def test_event_chains_are_verified(app: App) -> None:
    run = await completed_run(app)
    verdict = await app.get("/api/events/verify", run_id=run["run_id"])
    assert (verdict["is_valid"], verdict["chains"], verdict["broken"]) == (True, 1, [])
    complete = await app.get("/api/events/verify", pipeline_id=run["pipeline_id"])
    assert (complete["is_valid"], complete["chains"]) == (True, 2)
    assert complete["events"] > verdict["events"]
    assert (await app.get("/api/events/verify"))["is_valid"] is True
    for unknown in ({"run_id": NOBODY}, {"pipeline_id": NOBODY}):
        assert (await app.client.get("/api/events/verify", params=unknown)).status_code == 404
