"""Delivers what was noted: durable jobs, three tries with growing waits, then the fallback channel."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from cairn.ports import Clock, JobEngine, NotSent, OutboundError
from cairn.services.engine.commit import Commit
from cairn.services.engine.retry import retry_transient
from cairn.services.masking import mask
from cairn.services.notifications import content, deliveries, subjects
from cairn.services.notifications.composer import compose
from cairn.services.notifications.deliveries import CUT_OFF, Row
from cairn.services.notifications.routing import DeliveryTarget, Routing, channels, fallback_of, read
from cairn.services.notifications.sender import DeliverySender, OutgoingDelivery, RetryLater, SealedAddress
from cairn.services.notifications.subjects import Load
from cairn.services.text import single_line
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.tables.notifications import DeliveryOutcome, DeliveryStatus, NotificationKind

log = logging.getLogger(__name__)

WAITS = (1.0, 5.0)  # seconds before the second and the third try
AT_ONCE = 16  # tries that are under way at the same time
LET_FINISH = 3.0  # seconds that tries have when the server stops
ASKING = frozenset(
    {NotificationKind.APPROVAL_REQUESTED, NotificationKind.APPROVAL_REMINDER_DUE}
    | {NotificationKind.APPROVAL_ESCALATED, NotificationKind.APPROVAL_ASSIGNED}
)


@dataclass(frozen=True, slots=True)
class DeliveryEnded:
    """How a try ended."""

    outcome: DeliveryOutcome
    told: str
    lasting: bool = False
    wait: float = 0.0


class Courier:
    def __init__(
        self,
        database: Database,
        jobs: JobEngine,
        clock: Clock,
        load: Load,
        routing: Routing,
        sending: DeliverySender,
        secrets: SealedAddress,
        waits: tuple[float, ...] = WAITS,
    ) -> None:
        self._database = database
        self._jobs = jobs
        self._clock = clock
        self._load = load
        self._routing = routing
        self._sending = sending
        self._secrets = secrets
        self.waits = waits
        self._places = asyncio.Semaphore(AT_ONCE)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._started = False
        self._stopping = asyncio.Event()

    # ---- its life --------------------------------------------------------------------------------------
    def start(self) -> None:
        """From now on notifications are delivered right after the commit that saved them."""
        self._started = True

    async def after_commit(self, commits: Sequence[Commit]) -> None:
        if self._started and not self._stopping.is_set():
            self.wake(notice for commit in commits for notice in commit.outbox)

    def wake(self, notices: Iterable[str]) -> None:
        """After the commit: their jobs come a moment later, and join."""
        for notification_id in notices:
            self._task(notification_id)

    async def deliver(self, notice: str) -> None:
        """The job of a notice; it is over when each of its deliveries is."""
        await asyncio.shield(self._task(notice))
        if self._stopping.is_set():
            raise asyncio.CancelledError  # the job stays for the next start

    def _task(self, notification_id: str) -> asyncio.Task[None]:
        task = self._tasks.get(notification_id)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._run(notification_id))
            self._tasks[notification_id] = task
            task.add_done_callback(lambda _: self._tasks.pop(notification_id, None))
        return task

    async def stop(self) -> None:
        """A try that is under way comes to its end, so that it is known; the rest goes on after the next start."""
        self._stopping.set()
        tasks = tuple(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=LET_FINISH)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ---- one notice ------------------------------------------------------------------------------------
    async def _run(self, notification_id: str) -> None:
        try:
            await retry_transient(lambda: self._database.transact(lambda c: self._spread(c, notification_id)))
            while not self._stopping.is_set():
                now = self._clock.now()
                rows = await retry_transient(
                    lambda: self._database.aread(lambda c: deliveries.open_of(c, notification_id))
                )
                due = [row for row in rows if row.due_at <= now]
                if not due:
                    return
                await asyncio.gather(*(self._carry(row.delivery_id) for row in due))
        except Exception:
            log.exception("notice %s could not be delivered", notification_id)

    def _spread(self, connection: Connection, notification_id: str) -> None:
        """Who is told what, once."""
        own = t.notification_outbox.c.notification_id == notification_id
        row = connection.execute(sa.select(t.notification_outbox).where(own)).one_or_none()
        if row is None or row.content is not None:
            return
        now = self._clock.now()
        subject = subjects.read(connection, row, self._load, now)
        told = content.write(compose(subject, self._secrets.mask))
        connection.execute(sa.update(t.notification_outbox).where(own).values(content=told))
        for to in self._routing.route(connection, subject, now):
            made = deliveries.make(connection, notification_id, to, now)
            if made is not None and to.problem:
                self._fall_back(connection, row, made, to)
            if to.due_at is not None:
                self._jobs.enqueue_notice(connection, notification_id, (to.due_at - now).total_seconds())

    def _fall_back(self, connection: Connection, notice: Row, delivery_id: str, to: DeliveryTarget) -> None:
        """To the channel that stands in for it; one that stands in has no other."""
        other = fallback_of(channels(connection), to.channel)
        if other is None:
            return
        now = self._clock.now()
        if notice.kind == NotificationKind.TEST.value:
            return
        subject = subjects.read(connection, notice, self._load, now)
        for next_to in self._routing.address(connection, subject, [other], now):
            deliveries.make(connection, notice.notification_id, next_to, now, fallback_of=delivery_id)

    # ---- one delivery ----------------------------------------------------------------------------------
    async def _carry(self, delivery_id: str) -> None:
        """Until it has arrived or is given up."""
        while not self._stopping.is_set():
            async with self._places:
                out = await retry_transient(lambda: self._database.transact(lambda c: self._begin(c, delivery_id)))
                if out is None:
                    return
                number, outgoing = out
                ended = await self.try_once(outgoing)
                wait = await retry_transient(
                    lambda n=number, e=ended: self._database.transact(lambda c: self._end(c, delivery_id, n, e))
                )
            if wait is None:
                return
            await self._rest(wait)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return

    def _begin(self, connection: Connection, delivery_id: str) -> tuple[int, OutgoingDelivery] | None:
        row = deliveries.find(connection, delivery_id)
        if row.status not in deliveries.OPEN:
            return None
        now = self._clock.now()
        notice = deliveries.notification_of(connection, row)
        channel = deliveries.channel_of(connection, row)
        if channel is None or not channel.is_enabled:
            deliveries.close(connection, delivery_id, DeliveryStatus.SKIPPED, "The channel is not in use now.", now)
            return None
        if notice.kind in ASKING and deliveries.is_decided(connection, notice.approval_id):
            deliveries.close(connection, delivery_id, DeliveryStatus.SKIPPED, "It has been decided meanwhile.", now)
            return None
        if row.attempt_count > len(self.waits):  # the process died in the last one
            deliveries.end_try(connection, delivery_id, row.attempt_count, DeliveryOutcome.UNKNOWN, CUT_OFF, now)
            self._give_up(connection, row, DeliveryStatus.UNKNOWN, CUT_OFF)
            return None
        number = deliveries.begin_try(connection, row, now)
        return number, OutgoingDelivery(delivery_id, read(channel), row.recipient, content.read(notice.content))

    async def try_once(self, out: OutgoingDelivery) -> DeliveryEnded:
        ended = await self._tried(out)
        told = await asyncio.to_thread(self._secrets.mask, ended.told)
        return replace(ended, told=single_line(mask(told)))

    async def _tried(self, out: OutgoingDelivery) -> DeliveryEnded:
        try:
            return DeliveryEnded(DeliveryOutcome.SENT, await self._sending.send(out))
        except RetryLater as fault:
            return DeliveryEnded(DeliveryOutcome.NOT_SENT, str(fault), wait=fault.seconds)
        except OutboundError as fault:
            outcome = DeliveryOutcome.NOT_SENT if isinstance(fault, NotSent) else DeliveryOutcome.UNKNOWN
            return DeliveryEnded(outcome, str(fault), fault.lasting)
        except Exception as error:
            log.exception("delivery %s went wrong", out.delivery_id)
            return DeliveryEnded(DeliveryOutcome.UNKNOWN, f"{type(error).__name__}: {error}", lasting=True)

    def _end(self, connection: Connection, delivery_id: str, number: int, ended: DeliveryEnded) -> float | None:
        """The seconds until the next try; None if there is none."""
        now = self._clock.now()
        deliveries.end_try(connection, delivery_id, number, ended.outcome, ended.told, now)
        if ended.outcome is DeliveryOutcome.SENT:
            deliveries.close(connection, delivery_id, DeliveryStatus.SENT, ended.told, now)
            return None
        row = deliveries.find(connection, delivery_id)
        is_unknown = ended.outcome is DeliveryOutcome.UNKNOWN
        if ended.lasting or number > len(self.waits):
            self._give_up(connection, row, DeliveryStatus.UNKNOWN if is_unknown else DeliveryStatus.FAILED, ended.told)
            return None
        values: dict[str, Any] = {"status": DeliveryStatus.WAITING.value, "response": ended.told}
        deliveries.update(connection, delivery_id, **values, possible_duplicate=row.possible_duplicate or is_unknown)
        return max(self.waits[number - 1], ended.wait)

    def _give_up(self, connection: Connection, row: Row, status: DeliveryStatus, told: str) -> None:
        deliveries.close(connection, row.delivery_id, status, told, self._clock.now())
        channel = deliveries.channel_of(connection, row)
        if row.fallback_of is None and channel is not None:
            notice = deliveries.notification_of(connection, row)
            self._fall_back(connection, notice, row.delivery_id, deliveries.direct(read(channel)))
