"""Retries, fallback channels, the delivery log and its retention."""

from __future__ import annotations

import asyncio
import itertools
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.services.actors import ADMIN
from cairn.services.notifications.channels import ChannelSpec
from cairn.services.notifications.records import delete_old_notifications
from cairn.store import tables as t
from cairn.store.tables.notifications import NotificationKind
from tests.adapters.servers import answer, answers, break_off, hang
from tests.mentions import mentions
from tests.notifications.receivers import Receivers, checked
from tests.services.app import step

LOG = (t.delivery_attempts, t.deliveries, t.notification_outbox)
pytestmark = pytest.mark.asyncio(loop_scope="package")


async def start_run(receivers: Receivers) -> str:
    """Start a run that waits for an approval."""
    return await receivers.app.start(await receivers.app.pipeline(step("goals", approve="complete")))


async def test_a_failed_delivery_is_attempted_three_times_with_growing_delays(receivers: Receivers) -> None:
    await receivers.channel("ops", "webhook")
    receivers.web.on("/ops", answers(answer(503, b"busy"), answer(500), answer(200, b"at last")))
    run = await start_run(receivers)
    (delivery,) = await receivers.ended_deliveries(run)
    assert (delivery.status, delivery.attempt_count, delivery.response, delivery.possible_duplicate) == (
        "sent",
        3,
        "200 at last",
        False,
    )
    attempts = receivers.detail(delivery).attempts
    assert [(attempt.number, attempt.outcome, attempt.response) for attempt in attempts] == [
        (1, "not_sent", mentions("503 busy")),
        (2, "not_sent", mentions("500")),
        (3, "sent", "200 at last"),
    ]
    delays = [
        (after.started_at - (before.ended_at or after.started_at)).total_seconds()
        for before, after in itertools.pairwise(attempts)
    ]
    assert delays[0] >= 0.05
    assert delays[1] >= 0.1
    assert len({payload["id"] for payload in await receivers.payloads("ops", 3)}) == 1


async def test_a_failed_delivery_goes_to_the_fallback_channel(receivers: Receivers) -> None:
    await receivers.channel("mail", "webhook", notification_kinds=[])
    await receivers.channel("ops", "teams", fallback="mail")
    receivers.web.on("/ops", answer(500))
    run = await start_run(receivers)
    first, second = await receivers.ended_deliveries(run, 2)
    assert (first.channel, first.status, first.attempt_count) == ("ops", "failed", 3)
    assert (second.channel, second.status, second.fallback_of) == ("mail", "sent", first.delivery_id)
    (sent,) = await receivers.payloads("mail")
    assert checked("webhook", sent)["kind"] == "approval_requested"


async def test_a_failed_fallback_has_no_fallback_itself(receivers: Receivers) -> None:
    await receivers.channel("one", "webhook", notification_kinds=[])
    await receivers.channel("two", "webhook", fallback="one")
    await receivers.app.cairn.notifications.channels.update(_id(receivers, "one"), ChannelSpec(fallback="two"), ADMIN)
    receivers.web.on("/one", answer(500))
    receivers.web.on("/two", answer(500))
    run = await start_run(receivers)
    assert [(delivery.channel, delivery.status) for delivery in await receivers.ended_deliveries(run, 2)] == [
        ("two", "failed"),
        ("one", "failed"),
    ]


async def test_a_permanent_error_is_not_retried(receivers: Receivers) -> None:
    await receivers.channel("gone", "webhook")
    receivers.web.on("/gone", answer(410, b"gone"))
    run = await start_run(receivers)
    (delivery,) = await receivers.ended_deliveries(run)
    assert (delivery.status, delivery.attempt_count, delivery.response) == ("failed", 1, mentions("410 gone"))


async def test_retry_after_delays_the_next_attempt(receivers: Receivers) -> None:
    await receivers.channel("busy", "slack")
    receivers.web.on("/busy", answers(answer(429, b"slow down", Retry_After="1"), answer(200, b"ok")))
    run = await start_run(receivers)
    (delivery,) = await receivers.ended_deliveries(run)
    first, second = receivers.detail(delivery).attempts
    assert first.ended_at is not None
    assert (second.started_at - first.ended_at).total_seconds() >= 1


async def test_an_unknown_outcome_is_retried_and_marked_as_a_possible_duplicate(receivers: Receivers) -> None:
    await receivers.channel("shaky", "webhook")
    receivers.web.on("/shaky", answers(break_off, answer(200, b"ok")))
    run = await start_run(receivers)
    (delivery,) = await receivers.ended_deliveries(run)
    assert (delivery.status, delivery.attempt_count, delivery.possible_duplicate) == ("sent", 2, True)
    assert [attempt.outcome for attempt in receivers.detail(delivery).attempts] == ["unknown", "sent"]


async def test_a_channel_with_a_private_address_fails(receivers: Receivers) -> None:
    await receivers.channel("inside", "webhook", url="http://127.0.0.2/hook")
    run = await start_run(receivers)
    (delivery,) = await receivers.ended_deliveries(run)
    assert (delivery.status, delivery.attempt_count) == ("failed", 1)
    assert delivery.response == mentions("127.0.0.2", "CAIRN_OUTBOUND_ALLOWED")


async def test_a_rule_with_an_unknown_channel_is_logged_as_a_failed_delivery(receivers: Receivers) -> None:
    await receivers.channel("ops", "teams")
    receivers.require_approval(channels=("slack",))
    run = await start_run(receivers)
    (delivery,) = await receivers.ended_deliveries(run)
    assert (delivery.channel, delivery.status, delivery.response) == (
        "slack",
        "failed",
        mentions(),
    )
    assert receivers.requests("ops") == []


async def test_a_delivery_is_skipped_if_the_approval_was_decided_before_it(receivers: Receivers) -> None:
    await receivers.channel("slow", "webhook", notification_kinds=[NotificationKind.APPROVAL_REQUESTED])
    decided = asyncio.Event()

    async def first(request: Any, writer: Any) -> None:
        await answer(500)(request, writer)
        decided.set()

    receivers.web.on("/slow", answers(first, answer(200)))
    receivers.app.cairn.notifications.courier.retry_delays = (0.5, 0.5)
    run = await start_run(receivers)
    await decided.wait()
    await receivers.app.decide(run, "goals", "approve")
    (delivery,) = await receivers.ended_deliveries(run)
    receivers.app.cairn.notifications.courier.retry_delays = (0.05, 0.1)
    assert (delivery.status, delivery.attempt_count, delivery.response) == ("skipped", 1, mentions())
    assert len(receivers.requests("slow")) == 1


async def test_a_failed_commit_sends_no_notification(receivers: Receivers) -> None:
    await receivers.channel("ops", "webhook")
    run = await start_run(receivers)
    await receivers.ended_deliveries(run)

    def fail(point: str) -> None:
        if point == "before_commit":
            raise ConnectionError("the database is gone")

    database = receivers.app.cairn.database
    original_fault = database.fault
    approval = receivers.app.run(run).pending_approvals[0]
    database.fault = fail
    try:
        with pytest.raises(ConnectionError):
            await receivers.app.cairn.approvals.decide(approval.approval_id, "reject", feedback="no", actor=ADMIN)
    finally:
        database.fault = original_fault
    count = sa.select(sa.func.count()).select_from(t.notification_outbox).where(t.notification_outbox.c.run_id == run)
    assert database.read(lambda c: c.execute(count).scalar_one()) == 1
    assert len(receivers.requests("ops")) == 1
    receivers.app.cairn.engine.forget(run)
    await receivers.app.decide(run, "goals", "approve")


async def test_an_attempt_interrupted_by_a_shutdown_is_repeated_after_the_next_start(receivers: Receivers) -> None:
    await receivers.channel("ops", "webhook")
    receivers.web.on("/ops", answers(hang, answer(200, b"ok")))
    run = await start_run(receivers)
    await receivers.payloads("ops")
    await receivers.app.reopen()
    receivers.app.cairn.notifications.courier.retry_delays = (0.05, 0.1)
    (delivery,) = await receivers.ended_deliveries(run)
    assert (delivery.status, delivery.attempt_count, delivery.possible_duplicate) == ("sent", 2, True)
    assert [(attempt.outcome, attempt.response) for attempt in receivers.detail(delivery).attempts] == [
        ("unknown", mentions()),
        ("sent", "200 ok"),
    ]


async def test_concurrent_notifications_are_each_sent_once(receivers: Receivers) -> None:
    await receivers.channel("ops", "webhook", notification_kinds=[NotificationKind.APPROVAL_REQUESTED])
    pipeline = await receivers.app.pipeline(step("goals", approve="complete"))
    runs = await asyncio.gather(*(receivers.app.start(pipeline) for _ in range(30)))
    await receivers.payloads("ops", 30)
    for run in runs:
        (delivery,) = await receivers.ended_deliveries(run)
        assert (delivery.status, delivery.attempt_count) == ("sent", 1)
    assert len(receivers.requests("ops")) == 30
    await asyncio.gather(*(receivers.app.cairn.runs.cancel(run, actor=ADMIN) for run in runs))


def _id(receivers: Receivers, name: str) -> str:
    channels = receivers.app.cairn.notification_queries.list_channels(500, None).items
    return next(channel.channel_id for channel in channels if channel.name == name)


async def wait_for_job(receivers: Receivers, delivery_id: str) -> None:
    """Wait for the notification's job, which may end after its deliveries."""
    cairn, d = receivers.app.cairn, t.deliveries.c
    notification_id = cairn.database.read(
        lambda c: c.scalar(sa.select(d.notification_id).where(d.delivery_id == delivery_id))
    )
    job = f"notice:{notification_id}"
    await receivers.app.wait_until(lambda: job in cairn.database.read(lambda c: cairn.jobs.finished_jobs(c, (job,))))


async def test_old_deliveries_are_deleted_unless_one_is_open(receivers: Receivers) -> None:
    await receivers.channel("mail", "webhook", notification_kinds=[])
    await receivers.channel("ops", "webhook", fallback="mail")
    receivers.web.on("/ops", answer(410))
    run = await start_run(receivers)
    assert len(await receivers.ended_deliveries(run, 2)) == 2
    database, now = receivers.app.cairn.database, receivers.app.cairn.clock.now()
    delivery_id = receivers.deliveries(run_id=run)[0].delivery_id
    await wait_for_job(receivers, delivery_id)

    def set_status(status: str) -> Any:
        update = sa.update(t.deliveries).where(t.deliveries.c.delivery_id == delivery_id)
        return database.transact(lambda c: c.execute(update.values(status=status)))

    await set_status("queued")
    while await database.transact(lambda c: delete_old_notifications(c, now + timedelta(days=1), limit=1)):
        pass
    assert len(receivers.deliveries(run_id=run)) == 2
    await set_status("failed")
    while await database.transact(lambda c: delete_old_notifications(c, now - timedelta(days=1))):
        pass
    assert len(receivers.deliveries(run_id=run)) == 2
    while await database.transact(lambda c: delete_old_notifications(c, now + timedelta(days=1))):
        pass
    rows = [database.read(lambda c, table=table: c.execute(sa.select(table)).all()) for table in LOG]
    assert rows == [[], [], []]
    await receivers.app.decide(run, "goals", "approve")


async def test_the_doctor_reports_failed_and_overdue_deliveries(receivers: Receivers) -> None:
    async def checks() -> list[tuple[str, str]]:
        diagnosis = await receivers.app.cairn.doctor.examine()
        return [(check.status, check.detail) for check in diagnosis.checks if check.name == "notifications"]

    database = receivers.app.cairn.database
    for table in LOG:
        await database.transact(lambda c, table=table: c.execute(sa.delete(table)))
    assert await checks() == [("ok", mentions())]
    await receivers.channel("ops", "webhook")
    assert await checks() == [("ok", mentions("1"))]
    receivers.web.on("/ops", answer(410))
    run = await start_run(receivers)
    await receivers.ended_deliveries(run)
    assert await checks() == [("warning", mentions("ops", "1"))]
    overdue = {"status": "queued", "due_at": receivers.app.cairn.clock.now() - timedelta(hours=1)}
    await database.transact(lambda c: c.execute(sa.update(t.deliveries).values(overdue)))
    assert await checks() == [("warning", mentions("1"))]
    await database.transact(lambda c: c.execute(sa.update(t.deliveries).values(status="skipped")))
    await receivers.app.decide(run, "goals", "approve")
