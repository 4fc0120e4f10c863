"""Who is told: by rule, role, group and own preferences."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio
import sqlalchemy as sa

from cairn.services.actors import ADMIN, Actor
from cairn.services.errors import InvalidInput
from cairn.services.identity.users import UserSpec
from cairn.services.notifications.channels import ChannelSpec
from cairn.services.notifications.recipients import QuietPeriod
from cairn.store import tables as t
from cairn.store.tables.notifications import NotificationKind
from tests.mentions import mentions
from tests.notifications.receivers import Receivers
from tests.services.app import form, step

pytestmark = pytest.mark.asyncio(loop_scope="package")

PEOPLE = (
    UserSpec("ann", "Ann", "ann@example.com", ("approver",), ()),
    UserSpec("bob", "Bob", "bob@example.com", ("approver",), ()),
    UserSpec("eve", "Eve", "eve@example.com", ("editor",), ()),
)


@pytest_asyncio.fixture(loop_scope="package")
async def mailing(receivers: Receivers) -> AsyncIterator[Receivers]:
    """With some people, and mail."""
    accounts = receivers.app.cairn.accounts
    for one in PEOPLE:
        await accounts.users.create(one, ADMIN)
    await accounts.groups.create("finance", "Who pays", ["eve"], ADMIN)
    await receivers.channel("mail", "email")
    yield receivers
    await accounts.groups.remove("finance", ADMIN)
    for one in PEOPLE:
        await receivers.app.cairn.notifications.preferences.set(one.name, None, None, None)
        await accounts.users.remove(one.name, ADMIN)
        await receivers.app.cairn.database.transact(lambda c, name=one.name: _forget(c, name))


def _forget(connection: sa.Connection, name: str) -> None:
    """Names stay taken: a test makes them anew."""
    connection.execute(sa.delete(t.group_members).where(t.group_members.c.user_name == name))
    connection.execute(sa.delete(t.users).where(t.users.c.name == name))


async def asked(receivers: Receivers, actor: Actor = ADMIN) -> str:
    pipeline = await receivers.app.pipeline(step("goals", approve="complete"))
    return (await receivers.app.cairn.runs.start(pipeline, actor=actor)).run_id


def around(now: datetime) -> dict[str, str]:
    """Quiet hours that end in two hours."""
    start, end = now - timedelta(hours=1), now + timedelta(hours=2)
    return {"start": f"{start:%H:%M}", "end": f"{end:%H:%M}", "time_zone": "UTC"}


async def told(receivers: Receivers, run: str, count: int) -> set[tuple[str, str]]:
    return {(one.kind.value, one.recipient) for one in await receivers.until_ended(run, count)}


async def test_those_who_may_decide_are_told_where_no_rule_names_anybody(mailing: Receivers) -> None:
    run = await asked(mailing)
    assert await told(mailing, run, 2) == {
        ("approval_requested", "ann@example.com"),
        ("approval_requested", "bob@example.com"),
    }
    mails = await mailing.until_mails(2)
    assert {mail["To"] for mail in mails} == {"ann@example.com", "bob@example.com"}
    assert {mail["Subject"] for mail in mails} == {mails[0]["Subject"]}
    assert mails[0]["Subject"] == mentions("[Cairn]", "Goals")
    assert {mail["Auto-Submitted"] for mail in mails} == {"auto-generated"}
    ids = {one.delivery_id for one in mailing.deliveries(run_id=run)}
    assert {mail["Message-ID"] for mail in mails} == {f"<{one}@example.com>" for one in ids}


async def test_a_rule_names_persons_groups_roles_and_addresses(mailing: Receivers) -> None:
    mailing.asks(channels=("email",), recipients=("finance", "BOB", "outside@example.org"))
    run = await asked(mailing)
    assert {to for _, to in await told(mailing, run, 3)} == {
        "eve@example.com",
        "bob@example.com",
        "outside@example.org",
    }


async def test_those_whom_a_rule_lets_decide_are_told(mailing: Receivers) -> None:
    mailing.asks(approvers=("ann",))
    assert await told(mailing, await asked(mailing), 1) == {("approval_requested", "ann@example.com")}


async def test_escalation_tells_those_who_are_brought_in(mailing: Receivers) -> None:
    mailing.asks(approvers=("ann",), escalate_after=0.2, escalate_to=("bob",), timeout=3600.0)
    run = await asked(mailing)
    assert await told(mailing, run, 2) == {
        ("approval_requested", "ann@example.com"),
        ("approval_escalated", "bob@example.com"),
    }


async def test_a_deadline_reminds_those_asked_and_then_tells_who_started_it(mailing: Receivers) -> None:
    mailing.asks(approvers=("ann",), timeout=0.4)
    eve = Actor("eve", frozenset({"editor"}))
    run = await asked(mailing, eve)
    assert await told(mailing, run, 3) == {
        ("approval_requested", "ann@example.com"),
        ("approval_reminder_due", "ann@example.com"),
        ("approval_timeout", "eve@example.com"),
    }


async def test_handing_over_tells_those_who_have_it_now(mailing: Receivers) -> None:
    mailing.asks(approvers=("ann",))
    run = await asked(mailing)
    approval = await mailing.app.until(lambda: next(iter(mailing.app.run(run).pending_approvals), None))
    await mailing.until_ended(run)
    await mailing.app.cairn.approvals.assign(approval.approval_id, ("bob",), "I am away", actor=ADMIN)
    assert await told(mailing, run, 2) == {
        ("approval_requested", "ann@example.com"),
        ("approval_assigned", "bob@example.com"),
    }


async def test_a_form_is_told_to_those_who_may_fill_it_in(mailing: Receivers) -> None:
    run = await mailing.app.start(await mailing.app.pipeline(form("goals")))
    assert {to for _, to in await told(mailing, run, 3)} == {one.email for one in PEOPLE}


async def test_a_rejection_is_told_to_who_started_it_and_only_once(mailing: Receivers) -> None:
    mailing.asks(approvers=("ann",))
    run = await asked(mailing, Actor("eve", frozenset({"editor"})))
    await mailing.until_ended(run)
    ann = Actor("ann", frozenset({"approver"}))
    await mailing.app.decide(run, "goals", "reject", "Call customer@example.com", actor=ann)
    assert await told(mailing, run, 2) == {
        ("approval_requested", "ann@example.com"),
        ("approval_rejected", "eve@example.com"),
    }
    mail = next(one for one in await mailing.until_mails(2) if one["To"] == "eve@example.com")
    body = mail.get_body(("plain",))
    assert body is not None
    assert "Reason: Call c***@example.com" in body.get_content()


async def test_everybody_gets_what_they_want(mailing: Receivers) -> None:
    preferences = mailing.app.cairn.notifications.preferences
    await preferences.set("ann", None, [NotificationKind.RUN_FAILED], None)
    await preferences.set("bob", ["email"], None, None)
    assert await told(mailing, await asked(mailing), 1) == {("approval_requested", "bob@example.com")}
    await preferences.set("bob", ["another"], None, None)
    await preferences.set("ann", ["mail"], None, None)
    assert await told(mailing, await asked(mailing), 1) == {("approval_requested", "ann@example.com")}


async def test_in_quiet_hours_nothing_is_sent_until_they_are_over(mailing: Receivers) -> None:
    mailing.asks(approvers=("ann",))
    now = datetime.now(UTC)
    quiet = around(now)
    await mailing.app.cairn.notifications.preferences.set("ann", None, None, quiet)
    run = await asked(mailing)
    (delivery,) = await mailing.app.until(lambda: mailing.deliveries(run_id=run) or None)
    assert (delivery.status, delivery.attempt_count) == ("waiting", 0)
    assert timedelta(minutes=118) < delivery.due_at - now < timedelta(minutes=121)
    await mailing.app.cairn.runs.cancel(run, actor=ADMIN)


async def test_what_waits_for_the_end_of_quiet_hours_is_sent_then(mailing: Receivers) -> None:
    """By a job of its own, which is there after any number of starts."""
    mailing.asks(approvers=("ann",))
    now = datetime.now(UTC)
    quiet = around(now)
    await mailing.app.cairn.notifications.preferences.set("ann", None, None, quiet)
    run = await asked(mailing)
    (delivery,) = await mailing.app.until(lambda: mailing.deliveries(run_id=run) or None)

    def come(connection: sa.Connection) -> None:
        own = t.deliveries.c.delivery_id == delivery.delivery_id
        connection.execute(sa.update(t.deliveries).where(own).values(due_at=now))
        mailing.app.cairn.jobs.enqueue_notice(connection, delivery.notification_id, 0.1)

    await mailing.app.cairn.database.transact(come)
    (sent,) = await mailing.until_ended(run)
    assert (sent.status, sent.attempt_count) == ("sent", 1)


async def test_nobody_to_tell_is_told_in_the_log_and_the_fallback_is_taken(mailing: Receivers) -> None:
    await mailing.channel("ops", "teams", notification_kinds=[])
    channels = {
        one.name: one.channel_id for one in mailing.app.cairn.notification_queries.list_channels(10, None).items
    }
    await mailing.app.cairn.notifications.channels.update(channels["mail"], ChannelSpec(fallback="ops"), ADMIN)
    mailing.asks(channels=("email",), recipients=("nobody",))
    run = await asked(mailing)
    found = await mailing.until_ended(run, 2)
    assert {(one.channel, one.status.value) for one in found} == {("mail", "failed"), ("ops", "sent")}


# ---- hours ----------------------------------------------------------------------------------------------
BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = QuietPeriod(time(22), time(7), BERLIN)
NOON = QuietPeriod(time(12), time(13), BERLIN)


@pytest.mark.parametrize(
    ("quiet", "now", "over"),
    [
        (NIGHT, "2026-03-01T21:59:59+01:00", "2026-03-01T21:59:59+01:00"),
        (NIGHT, "2026-03-01T22:00:00+01:00", "2026-03-02T07:00:00+01:00"),
        (NIGHT, "2026-03-02T06:59:00+01:00", "2026-03-02T07:00:00+01:00"),
        (NIGHT, "2026-03-02T07:00:00+01:00", "2026-03-02T07:00:00+01:00"),
        (NIGHT, "2026-03-28T23:00:00+01:00", "2026-03-29T07:00:00+02:00"),  # the clocks go forward meanwhile
        (NIGHT, "2026-10-24T23:00:00+02:00", "2026-10-25T07:00:00+01:00"),  # and back
        (NOON, "2026-03-01T11:59:00+01:00", "2026-03-01T11:59:00+01:00"),
        (NOON, "2026-03-01T12:30:00+01:00", "2026-03-01T13:00:00+01:00"),
        (NOON, "2026-03-01T13:00:00+01:00", "2026-03-01T13:00:00+01:00"),
    ],
)
async def test_quiet_hours_end_by_the_clock_of_their_place(quiet: QuietPeriod, now: str, over: str) -> None:
    assert quiet.over_at(datetime.fromisoformat(now).astimezone(UTC)) == datetime.fromisoformat(over)


@pytest.mark.parametrize(
    ("quiet", "place"),
    [
        ({"start": "25:00", "end": "07:00", "time_zone": "UTC"}, "/quiet_hours/start"),
        ({"start": "22:00", "end": "7", "time_zone": "UTC"}, "/quiet_hours/end"),
        ({"start": "22:00", "end": "07:00", "time_zone": "Mars/Base"}, "/quiet_hours/time_zone"),
        ({"start": "22:00", "end": "07:00", "time_zone": "../../etc/passwd"}, "/quiet_hours/time_zone"),
        ({"start": "22:00", "end": "22:00", "time_zone": "UTC"}, "/quiet_hours"),
    ],
)
async def test_hours_that_are_none_are_refused(receivers: Receivers, quiet: dict[str, str], place: str) -> None:
    with pytest.raises(InvalidInput) as wrong:
        await receivers.app.cairn.notifications.preferences.set("ann", None, None, quiet)
    assert [path for path, _ in wrong.value.errors] == [place]
