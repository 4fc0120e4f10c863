"""Deliver notifications after the commit, with three attempts and a fallback channel."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cairn.ports import Clock, JobEngine, NotSent, OutboundError
from cairn.services.engine.commit import Commit
from cairn.services.engine.retry import retry_transient
from cairn.services.masking import mask
from cairn.services.notifications import queries, records
from cairn.services.notifications.composer import compose
from cairn.services.notifications.content import NotificationContent
from cairn.services.notifications.records import INTERRUPTED
from cairn.services.notifications.routing import RoutedChannel, Routing, find_fallback
from cairn.services.notifications.sender import DeliverySender, OutgoingDelivery, RetryLater, SecretReader
from cairn.services.notifications.subjects import LoadRun, load_subject
from cairn.services.text import single_line
from cairn.store import Connection, Database
from cairn.store.runs.run_rows import Row
from cairn.store.tables.notifications import DeliveryOutcome, DeliveryStatus, NotificationKind

log = logging.getLogger(__name__)

RETRY_DELAYS = (1.0, 5.0)  # seconds before the second and the third attempt
MAX_CONCURRENT_ATTEMPTS = 16
SHUTDOWN_SECONDS = 3.0  # for attempts in progress when the server stops
REQUEST_KINDS = frozenset(
    {NotificationKind.APPROVAL_REQUESTED, NotificationKind.APPROVAL_REMINDER_DUE}
    | {NotificationKind.APPROVAL_ESCALATED, NotificationKind.APPROVAL_ASSIGNED}
)


@dataclass(frozen=True, slots=True)
class AttemptResult:
    outcome: DeliveryOutcome
    response: str
    is_permanent: bool = False  # retrying won't help
    retry_after: float = 0.0


class Courier:
    def __init__(
        self,
        database: Database,
        jobs: JobEngine,
        clock: Clock,
        load_run: LoadRun,
        routing: Routing,
        sender: DeliverySender,
        secrets: SecretReader,
        retry_delays: tuple[float, ...] = RETRY_DELAYS,
    ) -> None:
        self._database = database
        self._jobs = jobs
        self._clock = clock
        self._load_run = load_run
        self._routing = routing
        self._sender = sender
        self._secrets = secrets
        self.retry_delays = retry_delays
        self._slots = asyncio.Semaphore(MAX_CONCURRENT_ATTEMPTS)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._started = False
        self._stopping = asyncio.Event()

    # Start and stop
    def start(self) -> None:
        """Start to deliver notifications right after the commits that save them."""
        self._started = True

    async def after_commit(self, commits: Sequence[Commit]) -> None:
        if self._started and not self._stopping.is_set():
            self.wake(notification_id for commit in commits for notification_id in commit.outbox)

    def wake(self, notification_ids: Iterable[str]) -> None:
        """Deliver now. The jobs of these notifications start a moment later and join the tasks."""
        for notification_id in notification_ids:
            self._task(notification_id)

    async def deliver(self, notification_id: str) -> None:
        """Run the job of a notification, until all its deliveries have ended."""
        await asyncio.shield(self._task(notification_id))
        if self._stopping.is_set():
            raise asyncio.CancelledError  # resume the job on the next start

    def _task(self, notification_id: str) -> asyncio.Task[None]:
        task = self._tasks.get(notification_id)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._run(notification_id))
            self._tasks[notification_id] = task
            task.add_done_callback(lambda _: self._tasks.pop(notification_id, None))
        return task

    async def stop(self) -> None:
        """Wait for attempts in progress, so that their outcomes are known. The next start resumes the other ones."""
        self._stopping.set()
        tasks = tuple(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=SHUTDOWN_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Notifications
    async def _run(self, notification_id: str) -> None:
        try:
            await retry_transient(
                lambda: self._database.transact(lambda c: self._create_deliveries(c, notification_id))
            )
            while not self._stopping.is_set():
                now = self._clock.now()
                rows = await retry_transient(
                    lambda: self._database.aread(lambda c: queries.open_deliveries(c, notification_id))
                )
                due = [row.delivery_id for row in rows if row.due_at <= now]
                if not due:
                    return
                await asyncio.gather(*(self._deliver(delivery_id) for delivery_id in due))
        except Exception:
            log.exception("couldn't deliver notification %s", notification_id)

    def _create_deliveries(self, connection: Connection, notification_id: str) -> None:
        """Compose the content and choose the targets, unless this has already been done."""
        notification = queries.notification_or_none(connection, notification_id)
        if notification is None or notification.content is not None:
            return
        now = self._clock.now()
        subject = load_subject(connection, notification, self._load_run, now)
        records.save_content(connection, notification_id, compose(subject, self._secrets.mask).to_json())
        for target in self._routing.targets(connection, subject, now):
            delivery_id = records.insert_delivery(connection, notification_id, target, now)
            if delivery_id is not None and target.problem:
                self._create_fallback(connection, notification, delivery_id, target.channel)
            if target.due_at is not None:
                self._jobs.enqueue_notification(connection, notification_id, (target.due_at - now).total_seconds())

    def _create_fallback(
        self, connection: Connection, notification: Row, delivery_id: str, channel: RoutedChannel | None
    ) -> None:
        """Deliver to the fallback channel instead. A fallback has no fallback itself."""
        fallback = find_fallback(connection, channel)
        if fallback is None or notification.kind == NotificationKind.TEST.value:
            return
        now = self._clock.now()
        subject = load_subject(connection, notification, self._load_run, now)
        for target in self._routing.targets_in(connection, subject, [fallback], now):
            records.insert_delivery(connection, notification.notification_id, target, now, fallback_of=delivery_id)

    # Deliveries
    async def _deliver(self, delivery_id: str) -> None:
        """Attempt a delivery until it succeeds or fails for good."""
        while not self._stopping.is_set():
            async with self._slots:
                started = await retry_transient(
                    lambda: self._database.transact(lambda c: self._start_attempt(c, delivery_id))
                )
                if started is None:
                    return
                number, delivery = started
                result = await self.attempt(delivery)
                delay = await retry_transient(
                    lambda n=number, r=result: self._database.transact(
                        lambda c: self._end_attempt(c, delivery_id, n, r)
                    )
                )
            if delay is None:
                return
            await self._sleep(delay)

    async def _sleep(self, seconds: float) -> None:
        """Sleep, but return early when the server stops."""
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return

    def _start_attempt(self, connection: Connection, delivery_id: str) -> tuple[int, OutgoingDelivery] | None:
        """Start the next attempt. Return its number and the delivery, or None if the delivery has ended."""
        row = queries.find_delivery(connection, delivery_id)
        if row.status not in queries.OPEN_STATUSES:
            return None
        now = self._clock.now()
        notification = queries.find_notification(connection, row.notification_id)
        channel = queries.channel_or_none(connection, row.channel_id)
        if channel is None or not channel.is_enabled:
            skipped = "The channel was disabled or deleted."
            records.close_delivery(connection, delivery_id, DeliveryStatus.SKIPPED, skipped, now)
            return None
        if notification.kind in REQUEST_KINDS and queries.is_decided(connection, notification.approval_id):
            skipped = "The approval was decided before delivery."
            records.close_delivery(connection, delivery_id, DeliveryStatus.SKIPPED, skipped, now)
            return None
        if row.attempt_count > len(self.retry_delays):  # the process died during the last attempt
            records.end_attempt(connection, delivery_id, row.attempt_count, DeliveryOutcome.UNKNOWN, INTERRUPTED, now)
            self._give_up(connection, row, DeliveryStatus.UNKNOWN, INTERRUPTED)
            return None
        number = records.start_attempt(connection, row, now)
        content = NotificationContent.from_json(notification.content)
        return number, OutgoingDelivery(delivery_id, RoutedChannel.from_row(channel), row.recipient, content)

    async def attempt(self, delivery: OutgoingDelivery) -> AttemptResult:
        result = await self._send(delivery)
        response = await asyncio.to_thread(self._secrets.mask, result.response)
        return replace(result, response=single_line(mask(response)))

    async def _send(self, delivery: OutgoingDelivery) -> AttemptResult:
        try:
            return AttemptResult(DeliveryOutcome.SENT, await self._sender.send(delivery))
        except RetryLater as error:
            return AttemptResult(DeliveryOutcome.NOT_SENT, str(error), retry_after=error.seconds)
        except OutboundError as error:
            outcome = DeliveryOutcome.NOT_SENT if isinstance(error, NotSent) else DeliveryOutcome.UNKNOWN
            return AttemptResult(outcome, str(error), error.is_permanent)
        except Exception as error:
            log.exception("delivery %s failed unexpectedly", delivery.delivery_id)
            return AttemptResult(DeliveryOutcome.UNKNOWN, f"{type(error).__name__}: {error}", is_permanent=True)

    def _end_attempt(
        self, connection: Connection, delivery_id: str, number: int, result: AttemptResult
    ) -> float | None:
        """Save the result. Return the seconds until the next attempt, or None if this was the last one."""
        now = self._clock.now()
        records.end_attempt(connection, delivery_id, number, result.outcome, result.response, now)
        if result.outcome is DeliveryOutcome.SENT:
            records.close_delivery(connection, delivery_id, DeliveryStatus.SENT, result.response, now)
            return None
        row = queries.find_delivery(connection, delivery_id)
        is_unknown = result.outcome is DeliveryOutcome.UNKNOWN
        if result.is_permanent or number > len(self.retry_delays):
            status = DeliveryStatus.UNKNOWN if is_unknown else DeliveryStatus.FAILED
            self._give_up(connection, row, status, result.response)
            return None
        records.update_delivery(
            connection,
            delivery_id,
            status=DeliveryStatus.QUEUED.value,
            response=result.response,
            possible_duplicate=row.possible_duplicate or is_unknown,
        )
        return max(self.retry_delays[number - 1], result.retry_after)

    def _give_up(self, connection: Connection, row: Row, status: DeliveryStatus, response: str) -> None:
        records.close_delivery(connection, row.delivery_id, status, response, self._clock.now())
        channel = queries.channel_or_none(connection, row.channel_id)
        if row.fallback_of is None and channel is not None:
            notification = queries.find_notification(connection, row.notification_id)
            self._create_fallback(connection, notification, row.delivery_id, RoutedChannel.from_row(channel))
