"""Recipients by rule, role, group and preference."""

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
async def with_email(receivers: Receivers) -> AsyncIterator[Receivers]:
    """Receivers with some users and an email channel."""
    accounts = receivers.app.cairn.identity
    for user in PEOPLE:
        await accounts.users.create(user, ADMIN)
    await accounts.groups.create("finance", "Who pays", ["eve"], ADMIN)
    await receivers.channel("mail", "email")
    yield receivers
    await accounts.groups.remove("finance", ADMIN)
    for user in PEOPLE:
        await receivers.app.cairn.notifications.preferences.set(user.name, None, None, None)
        await accounts.users.remove(user.name, ADMIN)
        await receivers.app.cairn.database.transact(lambda c, name=user.name: _forget(c, name))


def _forget(connection: sa.Connection, name: str) -> None:
    """Delete removed users, so that the next test can create them again."""
    connection.execute(sa.delete(t.group_members).where(t.group_members.c.user_name == name))
    connection.execute(sa.delete(t.users).where(t.users.c.name == name))


async def start_run(receivers: Receivers, actor: Actor = ADMIN) -> str:
    pipeline = await receivers.app.pipeline(step("goals", approve="complete"))
    return (await receivers.app.cairn.runs.create(pipeline, actor=actor)).run_id


def current_quiet_hours(now: datetime) -> dict[str, str]:
    """Quiet hours that end in two hours."""
    start, end = now - timedelta(hours=1), now + timedelta(hours=2)
    return {"start": f"{start:%H:%M}", "end": f"{end:%H:%M}", "time_zone": "UTC"}


async def notified(receivers: Receivers, run: str, count: int) -> set[tuple[str, str]]:
    return {(delivery.kind.value, delivery.recipient) for delivery in await receivers.ended_deliveries(run, count)}


async def test_approvers_are_notified_if_no_rule_names_recipients(with_email: Receivers) -> None:
    run = await start_run(with_email)
    assert await notified(with_email, run, 2) == {
        ("approval_requested", "ann@example.com"),
        ("approval_requested", "bob@example.com"),
    }
    mails = await with_email.emails(2)
    assert {mail["To"] for mail in mails} == {"ann@example.com", "bob@example.com"}
    assert {mail["Subject"] for mail in mails} == {mails[0]["Subject"]}
    assert mails[0]["Subject"] == mentions("[Cairn]", "Goals")
    assert {mail["Auto-Submitted"] for mail in mails} == {"auto-generated"}
    ids = {delivery.delivery_id for delivery in with_email.deliveries(run_id=run)}
    assert {mail["Message-ID"] for mail in mails} == {f"<{delivery_id}@example.com>" for delivery_id in ids}


async def test_a_rule_can_name_users_groups_roles_and_addresses(with_email: Receivers) -> None:
    with_email.require_approval(channels=("email",), recipients=("finance", "BOB", "outside@example.org"))
    run = await start_run(with_email)
    assert {to for _, to in await notified(with_email, run, 3)} == {
        "eve@example.com",
        "bob@example.com",
        "outside@example.org",
    }


async def test_approvers_named_by_a_rule_are_notified(with_email: Receivers) -> None:
    with_email.require_approval(approvers=("ann",))
    assert await notified(with_email, await start_run(with_email), 1) == {("approval_requested", "ann@example.com")}


async def test_an_escalation_notifies_the_additional_approvers(with_email: Receivers) -> None:
    with_email.require_approval(approvers=("ann",), escalate_after=0.2, escalate_to=("bob",), timeout=3600.0)
    run = await start_run(with_email)
    assert await notified(with_email, run, 2) == {
        ("approval_requested", "ann@example.com"),
        ("approval_escalated", "bob@example.com"),
    }


async def test_a_deadline_reminds_the_approvers_and_then_notifies_the_starter(with_email: Receivers) -> None:
    with_email.require_approval(approvers=("ann",), timeout=0.4)
    eve = Actor("eve", frozenset({"editor"}))
    run = await start_run(with_email, eve)
    assert await notified(with_email, run, 3) == {
        ("approval_requested", "ann@example.com"),
        ("approval_reminder_due", "ann@example.com"),
        ("approval_timeout", "eve@example.com"),
    }


async def test_a_reassignment_notifies_the_new_approvers(with_email: Receivers) -> None:
    with_email.require_approval(approvers=("ann",))
    run = await start_run(with_email)
    approval = await with_email.app.wait_until(lambda: next(iter(with_email.app.run(run).pending_approvals), None))
    await with_email.ended_deliveries(run)
    await with_email.app.cairn.approvals.assign(approval.approval_id, ("bob",), "I am away", actor=ADMIN)
    assert await notified(with_email, run, 2) == {
        ("approval_requested", "ann@example.com"),
        ("approval_assigned", "bob@example.com"),
    }


async def test_a_form_notifies_everyone_who_can_submit_it(with_email: Receivers) -> None:
    run = await with_email.app.start(await with_email.app.pipeline(form("goals")))
    assert {to for _, to in await notified(with_email, run, 3)} == {user.email for user in PEOPLE}


async def test_a_rejection_notifies_the_starter_once(with_email: Receivers) -> None:
    with_email.require_approval(approvers=("ann",))
    run = await start_run(with_email, Actor("eve", frozenset({"editor"})))
    await with_email.ended_deliveries(run)
    ann = Actor("ann", frozenset({"approver"}))
    await with_email.app.decide(run, "goals", "reject", "Call customer@example.com", actor=ann)
    assert await notified(with_email, run, 2) == {
        ("approval_requested", "ann@example.com"),
        ("approval_rejected", "eve@example.com"),
    }
    mail = next(message for message in await with_email.emails(2) if message["To"] == "eve@example.com")
    body = mail.get_body(("plain",))
    assert body is not None
    assert "Reason: Call c***@example.com" in body.get_content()


async def test_preferences_select_kinds_and_channels(with_email: Receivers) -> None:
    preferences = with_email.app.cairn.notifications.preferences
    await preferences.set("ann", None, [NotificationKind.RUN_FAILED], None)
    await preferences.set("bob", ["email"], None, None)
    assert await notified(with_email, await start_run(with_email), 1) == {("approval_requested", "bob@example.com")}
    with pytest.raises(InvalidInput) as error:
        await preferences.set("bob", ["email", "another"], None, None)
    assert list(error.value.errors) == [("/channels/1", mentions("'another'"))]
    await preferences.set("bob", ["slack"], None, None)
    await preferences.set("ann", ["mail"], None, None)
    assert await notified(with_email, await start_run(with_email), 1) == {("approval_requested", "ann@example.com")}


async def test_quiet_hours_delay_delivery_until_they_end(with_email: Receivers) -> None:
    with_email.require_approval(approvers=("ann",))
    now = datetime.now(UTC)
    quiet = current_quiet_hours(now)
    await with_email.app.cairn.notifications.preferences.set("ann", None, None, quiet)
    run = await start_run(with_email)
    (delivery,) = await with_email.app.wait_until(lambda: with_email.deliveries(run_id=run) or None)
    assert (delivery.status, delivery.attempt_count) == ("queued", 0)
    assert timedelta(minutes=118) < delivery.due_at - now < timedelta(minutes=121)
    await with_email.app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_delayed_delivery_is_sent_when_quiet_hours_end(with_email: Receivers) -> None:
    """A durable job sends it, even after restarts."""
    with_email.require_approval(approvers=("ann",))
    now = datetime.now(UTC)
    quiet = current_quiet_hours(now)
    await with_email.app.cairn.notifications.preferences.set("ann", None, None, quiet)
    run = await start_run(with_email)
    (delivery,) = await with_email.app.wait_until(lambda: with_email.deliveries(run_id=run) or None)

    def end_quiet_hours(connection: sa.Connection) -> None:
        own = t.deliveries.c.delivery_id == delivery.delivery_id
        connection.execute(sa.update(t.deliveries).where(own).values(due_at=now))
        with_email.app.cairn.jobs.enqueue_notification(connection, delivery.notification_id, 0.1)

    await with_email.app.cairn.database.transact(end_quiet_hours)
    (sent,) = await with_email.ended_deliveries(run)
    assert (sent.status, sent.attempt_count) == ("sent", 1)


async def test_without_recipients_the_delivery_fails_and_the_fallback_is_used(with_email: Receivers) -> None:
    await with_email.channel("ops", "teams", notification_kinds=[])
    channels = {
        channel.name: channel.channel_id
        for channel in with_email.app.cairn.notification_queries.list_channels(10, None).items
    }
    await with_email.app.cairn.notifications.channels.update(channels["mail"], ChannelSpec(fallback="ops"), ADMIN)
    with_email.require_approval(channels=("email",), recipients=("nobody",))
    run = await start_run(with_email)
    found = await with_email.ended_deliveries(run, 2)
    assert {(delivery.channel, delivery.status.value) for delivery in found} == {("mail", "failed"), ("ops", "sent")}


# Quiet hours
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
        (NIGHT, "2026-03-28T23:00:00+01:00", "2026-03-29T07:00:00+02:00"),  # the clocks go forward
        (NIGHT, "2026-10-24T23:00:00+02:00", "2026-10-25T07:00:00+01:00"),  # and back
        (NOON, "2026-03-01T11:59:00+01:00", "2026-03-01T11:59:00+01:00"),
        (NOON, "2026-03-01T12:30:00+01:00", "2026-03-01T13:00:00+01:00"),
        (NOON, "2026-03-01T13:00:00+01:00", "2026-03-01T13:00:00+01:00"),
    ],
)
async def test_quiet_hours_use_local_time(quiet: QuietPeriod, now: str, over: str) -> None:
    assert quiet.earliest_delivery(datetime.fromisoformat(now).astimezone(UTC)) == datetime.fromisoformat(over)


@pytest.mark.parametrize(
    ("quiet", "path"),
    [
        ({"start": "25:00", "end": "07:00", "time_zone": "UTC"}, "/quiet_hours/start"),
        ({"start": "22:00", "end": "7", "time_zone": "UTC"}, "/quiet_hours/end"),
        ({"start": "22:00", "end": "07:00", "time_zone": "Mars/Base"}, "/quiet_hours/time_zone"),
        ({"start": "22:00", "end": "07:00", "time_zone": "../../etc/passwd"}, "/quiet_hours/time_zone"),
        ({"start": "22:00", "end": "22:00", "time_zone": "UTC"}, "/quiet_hours"),
    ],
)
async def test_invalid_quiet_hours_are_rejected(receivers: Receivers, quiet: dict[str, str], path: str) -> None:
    with pytest.raises(InvalidInput) as error:
        await receivers.app.cairn.notifications.preferences.set("ann", None, None, quiet)
    assert [error_path for error_path, _ in error.value.errors] == [path]
