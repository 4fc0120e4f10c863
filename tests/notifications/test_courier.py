"""Three tries, then the fallback; each is written down; nothing leaves that did not commit."""

from __future__ import annotations

import asyncio
import itertools
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.services.actors import ADMIN
from cairn.services.notifications import deliveries
from cairn.services.notifications.channels import ChannelSpec
from cairn.store import tables as t
from cairn.store.tables.notifications import NotificationKind
from tests.adapters.servers import answer, answers, break_off, hang
from tests.mentions import mentions
from tests.notifications.receivers import Receivers, checked
from tests.services.app import step

LOG = (t.delivery_attempts, t.deliveries, t.notification_outbox)
pytestmark = pytest.mark.asyncio(loop_scope="package")


async def asked(receivers: Receivers) -> str:
    """A run that waits for people."""
    return await receivers.app.start(await receivers.app.pipeline(step("goals", approve="complete")))


async def test_what_fails_is_tried_three_times_with_growing_waits(receivers: Receivers) -> None:
    await receivers.channel("ops", "webhook")
    receivers.web.on("/ops", answers(answer(503, b"busy"), answer(500), answer(200, b"at last")))
    run = await asked(receivers)
    (delivery,) = await receivers.until_ended(run)
    assert (delivery.status, delivery.attempt_count, delivery.response, delivery.possible_duplicate) == (
        "sent",
        3,
        "200 at last",
        False,
    )
    history = receivers.detail(delivery).attempts
    assert [(one.number, one.outcome, one.response) for one in history] == [
        (1, "not_sent", mentions("503 busy")),
        (2, "not_sent", mentions("500")),
        (3, "sent", "200 at last"),
    ]
    waits = [
        (after.started_at - (before.ended_at or after.started_at)).total_seconds()
        for before, after in itertools.pairwise(history)
    ]
    assert waits[0] >= 0.05
    assert waits[1] >= 0.1
    assert len({one["id"] for one in await receivers.until_got("ops", 3)}) == 1


async def test_then_the_fallback_is_taken(receivers: Receivers) -> None:
    await receivers.channel("mail", "webhook", notification_kinds=[])
    await receivers.channel("ops", "teams", fallback="mail")
    receivers.web.on("/ops", answer(500))
    run = await asked(receivers)
    first, second = await receivers.until_ended(run, 2)
    assert (first.channel, first.status, first.attempt_count) == ("ops", "failed", 3)
    assert (second.channel, second.status, second.fallback_of) == ("mail", "sent", first.delivery_id)
    (sent,) = await receivers.until_got("mail")
    assert checked("webhook", sent)["kind"] == "approval_requested"


async def test_a_fallback_that_fails_leads_nowhere(receivers: Receivers) -> None:
    await receivers.channel("one", "webhook", notification_kinds=[])
    await receivers.channel("two", "webhook", fallback="one")
    await receivers.app.cairn.notifications.channels.update(_id(receivers, "one"), ChannelSpec(fallback="two"), ADMIN)
    receivers.web.on("/one", answer(500))
    receivers.web.on("/two", answer(500))
    run = await asked(receivers)
    assert [(one.channel, one.status) for one in await receivers.until_ended(run, 2)] == [
        ("two", "failed"),
        ("one", "failed"),
    ]


async def test_what_does_not_get_better_is_not_tried_again(receivers: Receivers) -> None:
    await receivers.channel("gone", "webhook")
    receivers.web.on("/gone", answer(410, b"gone"))
    run = await asked(receivers)
    (delivery,) = await receivers.until_ended(run)
    assert (delivery.status, delivery.attempt_count, delivery.response) == ("failed", 1, mentions("410 gone"))


async def test_who_has_no_time_says_when(receivers: Receivers) -> None:
    await receivers.channel("busy", "slack")
    receivers.web.on("/busy", answers(answer(429, b"slow down", Retry_After="1"), answer(200, b"ok")))
    run = await asked(receivers)
    (delivery,) = await receivers.until_ended(run)
    first, second = receivers.detail(delivery).attempts
    assert first.ended_at is not None
    assert (second.started_at - first.ended_at).total_seconds() >= 1


async def test_what_may_have_arrived_is_tried_again_and_says_so(receivers: Receivers) -> None:
    await receivers.channel("shaky", "webhook")
    receivers.web.on("/shaky", answers(break_off, answer(200, b"ok")))
    run = await asked(receivers)
    (delivery,) = await receivers.until_ended(run)
    assert (delivery.status, delivery.attempt_count, delivery.possible_duplicate) == ("sent", 2, True)
    assert [one.outcome for one in receivers.detail(delivery).attempts] == ["unknown", "sent"]


async def test_a_channel_that_leads_into_the_network_is_refused(receivers: Receivers) -> None:
    await receivers.channel("inside", "webhook", url="http://127.0.0.2/hook")
    run = await asked(receivers)
    (delivery,) = await receivers.until_ended(run)
    assert (delivery.status, delivery.attempt_count) == ("failed", 1)
    assert delivery.response == mentions("127.0.0.2", "CAIRN_OUTBOUND_ALLOWED")


async def test_a_rule_that_names_a_channel_that_is_not_there_is_told_in_the_log(receivers: Receivers) -> None:
    await receivers.channel("ops", "teams")
    receivers.asks(channels=("slack",))
    run = await asked(receivers)
    (delivery,) = await receivers.until_ended(run)
    assert (delivery.channel, delivery.status, delivery.response) == (
        "slack",
        "failed",
        mentions(),
    )
    assert receivers.got("ops") == []


async def test_what_was_decided_meanwhile_is_not_sent(receivers: Receivers) -> None:
    await receivers.channel("slow", "webhook", notification_kinds=[NotificationKind.APPROVAL_REQUESTED])
    decided = asyncio.Event()

    async def first(request: Any, writer: Any) -> None:
        await answer(500)(request, writer)
        decided.set()

    receivers.web.on("/slow", answers(first, answer(200)))
    receivers.app.cairn.notifications.courier.waits = (0.5, 0.5)
    run = await asked(receivers)
    await decided.wait()
    await receivers.app.decide(run, "goals", "approve")
    (delivery,) = await receivers.until_ended(run)
    receivers.app.cairn.notifications.courier.waits = (0.05, 0.1)
    assert (delivery.status, delivery.attempt_count, delivery.response) == ("skipped", 1, mentions())
    assert len(receivers.got("slow")) == 1


async def test_nothing_leaves_that_did_not_commit(receivers: Receivers) -> None:
    await receivers.channel("ops", "webhook")
    run = await asked(receivers)
    await receivers.until_ended(run)

    def fail(point: str) -> None:
        if point == "before_commit":
            raise ConnectionError("the database is gone")

    database = receivers.app.cairn.database
    fault = database.fault
    approval = receivers.app.run(run).pending_approvals[0]
    database.fault = fail
    try:
        with pytest.raises(ConnectionError):
            await receivers.app.cairn.approvals.decide(approval.approval_id, "reject", feedback="no", actor=ADMIN)
    finally:
        database.fault = fault
    count = sa.select(sa.func.count()).select_from(t.notification_outbox).where(t.notification_outbox.c.run_id == run)
    assert database.read(lambda c: c.execute(count).scalar_one()) == 1
    assert len(receivers.got("ops")) == 1
    receivers.app.cairn.engine.forget(run)
    await receivers.app.decide(run, "goals", "approve")


async def test_a_try_that_is_under_way_when_the_server_stops_goes_on_after_the_next_start(receivers: Receivers) -> None:
    await receivers.channel("ops", "webhook")
    receivers.web.on("/ops", answers(hang, answer(200, b"ok")))
    run = await asked(receivers)
    await receivers.until_got("ops")
    await receivers.app.reopen()
    receivers.app.cairn.notifications.courier.waits = (0.05, 0.1)
    (delivery,) = await receivers.until_ended(run)
    assert (delivery.status, delivery.attempt_count, delivery.possible_duplicate) == ("sent", 2, True)
    assert [(one.outcome, one.response) for one in receivers.detail(delivery).attempts] == [
        ("unknown", mentions()),
        ("sent", "200 ok"),
    ]


async def test_many_are_told_at_once_and_each_once(receivers: Receivers) -> None:
    await receivers.channel("ops", "webhook", notification_kinds=[NotificationKind.APPROVAL_REQUESTED])
    pipeline = await receivers.app.pipeline(step("goals", approve="complete"))
    runs = await asyncio.gather(*(receivers.app.start(pipeline) for _ in range(30)))
    await receivers.until_got("ops", 30)
    for run in runs:
        (delivery,) = await receivers.until_ended(run)
        assert (delivery.status, delivery.attempt_count) == ("sent", 1)
    assert len(receivers.got("ops")) == 30
    await asyncio.gather(*(receivers.app.cairn.runs.cancel(run, actor=ADMIN) for run in runs))


def _id(receivers: Receivers, name: str) -> str:
    channels = receivers.app.cairn.notification_queries.list_channels(500, None).items
    return next(channel.channel_id for channel in channels if channel.name == name)


async def until_over(receivers: Receivers, delivery_id: str) -> None:
    """Until nobody looks any more whether something of this notice is to be sent: its job may come late."""
    cairn, d = receivers.app.cairn, t.deliveries.c
    notice = cairn.database.read(lambda c: c.scalar(sa.select(d.notification_id).where(d.delivery_id == delivery_id)))
    job = f"notice:{notice}"
    await receivers.app.until(lambda: job in cairn.database.read(lambda c: cairn.jobs.over(c, (job,))))


async def test_the_log_goes_after_its_time_and_what_waits_stays(receivers: Receivers) -> None:
    await receivers.channel("mail", "webhook", notification_kinds=[])
    await receivers.channel("ops", "webhook", fallback="mail")
    receivers.web.on("/ops", answer(410))
    run = await asked(receivers)
    assert len(await receivers.until_ended(run, 2)) == 2
    database, now = receivers.app.cairn.database, receivers.app.cairn.clock.now()
    waiting = receivers.deliveries(run_id=run)[0].delivery_id
    await until_over(receivers, waiting)

    def set_status(status: str) -> Any:
        own = t.deliveries.c.delivery_id == waiting
        return database.transact(lambda c: c.execute(sa.update(t.deliveries).where(own).values(status=status)))

    await set_status("waiting")
    while await database.transact(lambda c: deliveries.sweep(c, now + timedelta(days=1), limit=1)):
        pass
    assert len(receivers.deliveries(run_id=run)) == 2
    await set_status("failed")
    while await database.transact(lambda c: deliveries.sweep(c, now - timedelta(days=1))):
        pass
    assert len(receivers.deliveries(run_id=run)) == 2
    while await database.transact(lambda c: deliveries.sweep(c, now + timedelta(days=1))):
        pass
    left = [database.read(lambda c, table=table: c.execute(sa.select(table)).all()) for table in LOG]
    assert left == [[], [], []]
    await receivers.app.decide(run, "goals", "approve")


async def test_the_doctor_says_what_did_not_arrive(receivers: Receivers) -> None:
    async def found() -> list[tuple[str, str]]:
        diagnosis = await receivers.app.cairn.doctor.examine()
        return [(one.verdict, one.detail) for one in diagnosis.findings if one.what == "notifications"]

    database = receivers.app.cairn.database
    for table in LOG:
        await database.transact(lambda c, table=table: c.execute(sa.delete(table)))
    assert await found() == [("ok", mentions())]
    await receivers.channel("ops", "webhook")
    assert await found() == [("ok", mentions("1"))]
    receivers.web.on("/ops", answer(410))
    run = await asked(receivers)
    await receivers.until_ended(run)
    assert await found() == [("warning", mentions("ops", "1"))]
    early = {"status": "waiting", "due_at": receivers.app.cairn.clock.now() - timedelta(hours=1)}
    await database.transact(lambda c: c.execute(sa.update(t.deliveries).values(early)))
    assert await found() == [("warning", mentions("1"))]
    await database.transact(lambda c: c.execute(sa.update(t.deliveries).values(status="skipped")))
    await receivers.app.decide(run, "goals", "approve")
