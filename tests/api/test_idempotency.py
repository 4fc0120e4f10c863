"""Repeated requests with the same key and body get the same response and have no further effect."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest
import sqlalchemy as sa

from cairn.store import tables as t
from tests.api.app import App, form

pytestmark = pytest.mark.asyncio(loop_scope="module")


def keyed() -> dict[str, str]:
    return {"Idempotency-Key": str(uuid4())}


async def test_a_repeated_request_gets_the_same_response_and_runs_once(app: App) -> None:
    pipeline = await app.pipeline()
    key, body = keyed(), {"pipeline_id": pipeline["pipeline_id"]}
    first = await app.client.post("/api/runs", json=body, headers=key)
    again = await app.client.post("/api/runs", json=body, headers=key)
    assert (again.status_code, again.content, again.headers["location"]) == (
        201,
        first.content,
        first.headers["location"],
    )
    assert ("idempotency-replayed" in first.headers, again.headers["idempotency-replayed"]) == (False, "true")
    assert len((await app.get(f"/api/pipelines/{pipeline['pipeline_id']}/runs"))["items"]) == 1
    other = await app.client.post("/api/runs", json=body, headers=keyed())
    assert other.json()["run_version"] == 2


async def test_a_key_cannot_be_reused_for_another_request(app: App) -> None:
    pipeline = await app.pipeline()
    key, body = keyed(), {"pipeline_id": pipeline["pipeline_id"]}
    assert (await app.client.post("/api/runs", json=body, headers=key)).status_code == 201
    for path, other in (("/api/runs", {**body, "test": True}), ("/api/pipelines", body), ("/api/runs?x=1", body)):
        answer = await app.client.post(path, json=other, headers=key)
        assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, "Idempotency-Key"), path


async def test_a_failed_request_is_not_stored(app: App) -> None:
    """It has changed nothing, so the key can be used again."""
    pipeline = await app.pipeline()
    run = await app.run(pipeline, start=False)
    key = keyed()
    path = f"/api/runs/{run['run_id']}/pause"
    assert (await app.client.post(path, headers=key)).status_code == 409
    await app.post(f"/api/runs/{run['run_id']}/start")
    paused = await app.client.post(path, headers=key)
    assert (paused.status_code, paused.json()["status"]) == (200, "paused")
    assert (await app.client.post(path, headers=key)).json()["status"] == "paused"


async def test_one_of_two_concurrent_requests_runs(app: App) -> None:
    pipeline = await app.pipeline()
    key, body = keyed(), {"pipeline_id": pipeline["pipeline_id"]}
    answers = await asyncio.gather(*(app.client.post("/api/runs", json=body, headers=key) for _ in range(4)))
    done = [answer for answer in answers if answer.status_code == 201]
    assert {answer.json()["run_id"] for answer in done} == {done[0].json()["run_id"]}
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert len((await app.get(f"/api/pipelines/{pipeline['pipeline_id']}/runs"))["items"]) == 1


async def test_keys_belong_to_their_user(app: App) -> None:
    from tests.api.users import token_for

    key = keyed()
    body = {"pipeline_name": "Mine"}
    first = await app.client.post("/api/pipelines", json=body, headers=key)
    async with app.client_for(await token_for(app, "editor")) as other:
        second = await other.post("/api/pipelines", json=body, headers=key)
    assert first.json()["pipeline_id"] != second.json()["pipeline_id"]


async def test_an_interrupted_key_can_be_used_again(app: App) -> None:
    """The process of the first request was killed before it could respond."""
    pipeline = await app.pipeline()
    key, body = keyed(), {"pipeline_id": pipeline["pipeline_id"]}
    first = (await app.client.post("/api/runs", json=body, headers=key)).json()
    keys = t.idempotency_keys
    lost = sa.update(keys).where(keys.c.key == key["Idempotency-Key"])
    long_ago = app.cairn.clock.now() - timedelta(minutes=5)
    await app.cairn.database.transact(lambda c: c.execute(lost.values(status=None, response=None, created_at=long_ago)))
    again = await app.client.post("/api/runs", json=body, headers=key)
    assert (again.status_code, again.json()["run_id"]) == (201, first["run_id"])
    listed = (await app.get(f"/api/pipelines/{pipeline['pipeline_id']}/runs"))["items"]
    assert [run["run_id"] for run in listed] == [first["run_id"]]


async def test_a_replayed_response_has_its_etag(app: App) -> None:
    pipeline = await app.pipeline(form("goals"))
    key = keyed()
    path = f"/api/pipelines/{pipeline['pipeline_id']}"
    for _ in range(2):
        answer = await app.client.put(path, json={"pipeline_name": "New"}, headers=key)
        assert (answer.status_code, answer.headers["etag"], answer.json()["revision"]) == (200, '"2"', 2)


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "\u00e9"])
async def test_a_key_is_printable_ascii(app: App, key: str) -> None:
    headers = [(b"Idempotency-Key", key.encode("latin-1"))]
    answer = await app.client.post("/api/pipelines", json={"pipeline_name": "P"}, headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (400, "urn:cairn:problem:bad-request")


async def test_an_invalid_request_does_not_use_its_key(app: App) -> None:
    key = keyed()
    broken = await app.client.post("/api/pipelines", content="{", headers={**key, "Content-Type": "application/json"})
    assert broken.status_code == 400
    assert (await app.client.post("/api/pipelines", json={"pipeline_name": "P"}, headers=key)).status_code == 201
