"""Live streams send every event once and in order, and clients can resume."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.api import event_streams
from cairn.services.engine.event_bus import ChangeHint
from cairn.services.errors import InvalidInput
from cairn.services.runs.stream import StreamPosition
from cairn.store import tables as t
from tests.api.app import TOKEN, App, Json
from tests.api.listening import StreamMessage, listening
from tests.api.users import revoke_all, token_for
from tests.isolation import limit

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOBODY = "00000000-0000-0000-0000-000000000000"


async def completed_run(app: App) -> Json:
    run = await app.run(await app.pipeline())
    await app.submit_form(run, goals="grow")
    return run


async def log(app: App, run: Json, *messages: str) -> None:
    """Log lines as a runner would."""
    execution = (await app.execution(run))["execution_id"]
    rows = [
        {
            "execution_id": execution,
            "timestamp": app.cairn.clock.now(),
            "level": "info",
            "message": m,
            "details": {"n": 2**70},
        }
        for m in messages
    ]
    await app.cairn.database.transact(lambda c: c.execute(sa.insert(t.execution_logs), rows))


async def test_a_stream_sends_everything_from_the_start(app: App) -> None:
    run = await completed_run(app)
    async with listening(app, f"/api/runs/{run['run_id']}/stream") as stream:
        assert (stream.status, stream.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        assert (stream.headers["cache-control"], "content-encoding" in stream.headers) == ("no-store", False)
        messages = await stream.until("run_completed")
    events = [message for message in messages if message.event == "event"]
    assert [message.data["seq"] for message in events] == list(range(1, len(events) + 1))
    listed = (await app.get("/api/events", run_id=run["run_id"], limit=500))["items"]
    assert [message.data for message in events] == listed[::-1]
    assert events[-1].id == f"e{len(events)}.l{(events[-1].id or '').partition('.l')[2]}"


async def test_events_are_streamed_at_once(app: App) -> None:
    run = await app.run(await app.pipeline())
    async with listening(app, f"/api/runs/{run['run_id']}/stream") as stream:
        await stream.until("execution_waiting")
        began = asyncio.get_running_loop().time()
        await app.submit_form(run, goals="grow")
        await stream.until("run_completed")
        assert asyncio.get_running_loop().time() - began < limit(3.0)


@pytest.mark.parametrize("way", ["header", "query"])
async def test_a_client_resumes_exactly_after_its_last_event(app: App, way: str) -> None:
    run = await completed_run(app)
    await log(app, run, "one", "two", "three")
    path = f"/api/runs/{run['run_id']}/stream"
    async with listening(app, path) as stream:
        complete = await stream.until("run_completed")
        logs = 3 - sum(message.event == "log" for message in complete)
        complete += [await stream.next() for _ in range(logs)]
    assert len({message.id for message in complete}) == len(complete)
    for seen in (0, 3, len(complete) - 2, len(complete) - 1):
        position = complete[seen].id or ""
        suffix, headers = (f"?last_event_id={position}", {}) if way == "query" else ("", {"Last-Event-ID": position})
        async with listening(app, path + suffix, **headers) as stream:
            rest = [await stream.next() for _ in range(len(complete) - seen - 1)]
            assert [(m.event, m.data) for m in rest] == [(m.event, m.data) for m in complete[seen + 1 :]]
            with pytest.raises(TimeoutError):
                await stream.next(0.1)


async def test_a_client_can_start_from_now(app: App) -> None:
    """Earlier events are skipped. The stream first sends its position, from which a client can resume."""
    run = await app.run(await app.pipeline())
    await app.execution(run)
    await log(app, run, "before")
    await app.wait_until(lambda: logs_are_visible(app, run, 1))
    async with listening(app, f"/api/runs/{run['run_id']}/stream?last_event_id=now") as stream:
        with pytest.raises(TimeoutError):
            await stream.next(0.1)
        await log(app, run, "after")
        app.cairn.event_bus.publish(ChangeHint(run["pipeline_id"], run["run_id"], "log"))
        message = await stream.next()
        assert (message.event, message.data["message"]) == ("log", "after")


async def logs_are_visible(app: App, run: Json, lines: int) -> bool | None:
    """On PostgreSQL the newest lines become visible a moment later."""
    found = await asyncio.to_thread(app.cairn.run_stream.read_after, run["run_id"], StreamPosition(), 500)
    return True if len(found.logs) >= lines else None


async def test_progress_is_streamed_when_it_changes(app: App) -> None:
    """Without a log line. Progress of an earlier dispatch is ignored."""
    run = await app.run(await app.pipeline())
    execution = (await app.execution(run))["execution_id"]
    e = t.checkpoint_executions

    async def report(fraction: float, text: str | None, dispatch: int) -> None:
        progress = {"fraction": fraction, "text": text, "dispatch": dispatch}
        change = sa.update(e).where(e.c.execution_id == execution).values(progress=progress, waiting_on=None)
        await app.cairn.database.transact(lambda c: c.execute(change))
        app.cairn.event_bus.publish(ChangeHint(run["pipeline_id"], run["run_id"], "log"))

    number = (await app.get(f"/api/executions/{execution}"))["dispatch_number"]
    async with listening(app, f"/api/runs/{run['run_id']}/stream?last_event_id=now") as stream:
        await report(0.25, "a quarter", number)
        quarter = {"execution_id": execution, "fraction": 0.25, "text": "a quarter"}
        assert await stream.next() == StreamMessage("progress", quarter)
        await report(0.9, "long ago", number - 1)
        await report(0.5, None, number)
        half = {"execution_id": execution, "fraction": 0.5, "text": None}
        assert await stream.next() == StreamMessage("progress", half)
    shown = await app.get(f"/api/runs/{run['run_id']}")
    expected = {"fraction": 0.5, "text": None}
    assert (shown["checkpoints"][0]["progress"], shown["open_executions"][0]["progress"]) == (expected, expected)
    assert (await app.get(f"/api/executions/{execution}"))["progress"] == expected
    restored = sa.update(e).where(e.c.execution_id == execution).values(progress=None, waiting_on="human_form")
    await app.cairn.database.transact(lambda c: c.execute(restored))


async def test_numbers_in_log_details_keep_all_digits(app: App) -> None:
    run = await completed_run(app)
    await log(app, run, "größer 🚀\nzweite Zeile")
    async with listening(app, f"/api/runs/{run['run_id']}/stream") as stream:
        message = await stream.next()
        while message.event != "log":
            message = await stream.next()
    assert (message.data["message"], message.data["details"]) == ("größer 🚀\nzweite Zeile", {"n": 2**70})
    listed = (await app.get(f"/api/executions/{message.data['execution_id']}/logs", limit=500))["items"]
    assert message.data in listed


async def test_an_idle_stream_sends_heartbeats(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_streams, "HEARTBEAT", 0.05)
    monkeypatch.setattr(event_streams, "POLL", 0.02)
    run = await completed_run(app)
    async with listening(app, f"/api/runs/{run['run_id']}/stream") as stream:
        await stream.until("run_completed")
        assert (await stream.next()).event == "ping"
    async with listening(app, "/api/stream") as stream:
        assert (await stream.next()).event == "ping"


async def test_a_stream_ends_when_the_permission_is_revoked(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_streams, "HEARTBEAT", 0.05)
    monkeypatch.setattr(event_streams, "POLL", 0.02)
    token = await token_for(app, "viewer")
    async with listening(app, "/api/stream", token) as stream:
        assert (await stream.next()).event == "ping"
        await revoke_all(app, "some-viewer")
        await stream.ended()


async def test_a_run_stream_ends_when_the_permission_is_revoked(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_streams, "HEARTBEAT", 0.05)
    run = await completed_run(app)
    token = await token_for(app, "viewer")
    async with listening(app, f"/api/runs/{run['run_id']}/stream", token) as stream:
        await stream.until("run_completed")
        await revoke_all(app, "some-viewer")
        await stream.ended()


async def test_a_disconnected_client_is_removed(app: App) -> None:
    run = await completed_run(app)
    before = len(app.cairn.event_bus._subscriptions)  # pyright: ignore[reportPrivateUsage]
    async with listening(app, f"/api/runs/{run['run_id']}/stream") as stream:
        await stream.until("run_completed")
        assert len(app.cairn.event_bus._subscriptions) == before + 1  # pyright: ignore[reportPrivateUsage]
    assert len(app.cairn.event_bus._subscriptions) == before  # pyright: ignore[reportPrivateUsage]


async def test_a_stream_waits_for_a_slow_client(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Backpressure: at most one batch is read ahead."""
    monkeypatch.setattr(event_streams, "BATCH", 5)
    run = await completed_run(app)
    await log(app, run, *(f"line {n}" for n in range(40)))
    reads: list[Any] = []
    run_stream = app.cairn.run_stream
    original = run_stream.read_after

    def after(*args: Any) -> Any:
        reads.append(args)
        return original(*args)

    monkeypatch.setattr(run_stream, "read_after", after)
    async with listening(app, f"/api/runs/{run['run_id']}/stream", TOKEN, True) as stream:
        await asyncio.sleep(0.2)
        assert len(reads) <= 1
        stream.gate.set()
        message = await stream.next()
        while message.data.get("message") != "line 39":
            message = await stream.next()


async def test_changes_are_streamed_to_lists(app: App) -> None:
    async with listening(app, "/api/stream") as stream:
        await asyncio.sleep(0.05)
        run = await app.run(await app.pipeline())
        seen: set[tuple[str | None, str | None, str]] = set()
        while (run["pipeline_id"], run["run_id"], "run_started") not in seen:
            message = await stream.next()
            assert message.event == "change"
            assert set(message.data) == {"pipeline_id", "run_id", "event_type"}
            seen.add((message.data["pipeline_id"], message.data["run_id"], message.data["event_type"]))
        assert (run["pipeline_id"], None, "pipeline_created") in seen


async def test_invalid_ids_and_unknown_runs_are_rejected(app: App) -> None:
    run = await completed_run(app)
    path = f"/api/runs/{run['run_id']}/stream"
    for wrong in ("nonsense", "e1", "e-1.l0", "e1.l99999999999999999999999"):
        answer = await app.client.get(path, headers={"Last-Event-ID": wrong})
        assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, "Last-Event-ID")
    assert (await app.client.get(f"/api/runs/{NOBODY}/stream")).status_code == 404
    async with app.client_for() as stranger:
        assert (await stranger.get(path)).status_code == 401
        assert (await stranger.get("/api/stream")).status_code == 401


async def test_stream_positions_are_encoded_and_decoded() -> None:
    assert StreamPosition.parse(str(StreamPosition(12, 40))) == StreamPosition(12, 40)
    assert str(StreamPosition(12, 40, 7)) == "e12.l40.m7"
    assert StreamPosition.parse("e12.l40") == StreamPosition(12, 40)  # from a client without message positions
    assert StreamPosition.parse("e12.l40.m7") == StreamPosition(12, 40, 7)
    assert StreamPosition.parse(None) == StreamPosition(0, 0)
    with pytest.raises(InvalidInput):
        StreamPosition.parse("e12")
