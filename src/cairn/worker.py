"""Takes jobs, has runners carry executions out, and reports back through the engine."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, assert_never

from cairn.bootstrap import Cairn
from cairn.core.errors import Refused
from cairn.core.messages import Failed, Finished, InputWanted, Interrupted, Invalid, Report, SendLater, Timer
from cairn.core.model import Execution, Fault, State
from cairn.documents import digest
from cairn.ports import Asks, Faulted, Outcome, Produced, Unfit
from cairn.runners import CannotBegin, carry_out
from cairn.services.engine import Step
from cairn.services.errors import NotFound
from cairn.services.logbook import plain
from cairn.services.orphans import working
from cairn.services.patience import UNSAVABLE, patiently
from cairn.services.products import NOTHING, Brought, Products
from cairn.store import Loaded

log = logging.getLogger(__name__)

STOP_SECONDS = 10.0  # how long a runner may take to stop
ADOPT_SECONDS = 15.0  # how often work without a driver is looked for
FILED_SECONDS = 1.0  # how often it is written down whose files stand
JOBS_SECONDS = 600.0  # how often jobs that are over are removed
DAILY_SECONDS = 60.0  # how often it is asked whether the day's sweep is due
MEND_SECONDS = 5.0  # how often files that could not follow are tried again
WORKER, TIMER = "worker", "timer"  # who reports


@dataclass(frozen=True, slots=True)
class Running:
    dispatch: int
    task: asyncio.Task[Came]


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a dispatch, and the context that it was given."""

    outcome: Outcome
    context: bytes | None = None


class Worker:
    def __init__(self, cairn: Cairn) -> None:
        self._cairn = cairn
        self._engine = cairn.engine
        self._slots = asyncio.Semaphore(cairn.settings.max_runners)
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._running: dict[str, Running] = {}
        self._reminders: set[asyncio.TimerHandle] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._taken_up = asyncio.Event()
        self._stopping = False

    # ---- its own life --------------------------------------------------------------------------------
    async def start(self) -> None:
        keeper = self._cairn.keeper
        self._engine.effects.attach(self)
        await self._cairn.jobs.start(self.lane, self.timer)
        await self._take_up()
        await self.adopt()
        for seconds, act in (
            (FILED_SECONDS, keeper.write_down_filed),
            (FILED_SECONDS, self._cairn.system_log.follow),
            (MEND_SECONDS, keeper.mend_failed),
            (ADOPT_SECONDS, self.adopt),
            (ADOPT_SECONDS, self._cairn.system_log.note),
            (JOBS_SECONDS, self._cairn.retention.sweep_jobs),
            (DAILY_SECONDS, self._cairn.retention.sweep_daily),
        ):
            self._spawn(self._every(seconds, act))

    async def stop(self) -> None:
        """Runners stop; what they were at goes on after the next start. What is being saved is saved to its end."""
        self._stopping = True
        for reminder in self._reminders:
            reminder.cancel()
        running = [held.task for held in self._running.values()]
        tasks: list[asyncio.Task[Any]] = [*self._tasks, *self._lanes.values(), *running]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._engine.come_to_rest()
        self._engine.effects.attach(None)
        await self._cairn.logbook.flush()
        await self._cairn.keeper.write_down_filed()
        await self._cairn.system_log.follow()
        await self._cairn.system_log.note()
        await self._cairn.jobs.stop()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _every(self, seconds: float, act: Callable[[], Awaitable[Any]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await act()
            except Exception:
                log.exception("%s failed; it is tried again", act.__qualname__)

    # ---- lanes ---------------------------------------------------------------------------------------
    def wake(self, job: str, run_id: str) -> None:
        """Right after the commit: no need to wait for the queue."""
        if not self._stopping:
            self._lane(job, run_id, claim=False)

    async def lane(self, job: str, run_id: str, *, own: bool) -> None:
        """Called by the job engine. It joins the lane that was woken; else it takes over what nobody drives."""
        if own and job not in self._lanes:
            async with self._engine.holding(run_id):
                pass  # who committed it wakes it when the files stand
        await asyncio.shield(self._lane(job, run_id, claim=not own))

    def _lane(self, job: str, run_id: str, *, claim: bool) -> asyncio.Task[None]:
        lane = self._lanes.get(job)
        if lane is None:
            if self._stopping:
                raise asyncio.CancelledError  # the job stays as it is for the next start
            lane = asyncio.get_running_loop().create_task(self._drive(job, run_id, claim=claim), name=job)
            self._lanes[job] = lane
            lane.add_done_callback(lambda _: self._lanes.pop(job, None))
        return lane

    async def _drive(self, job: str, run_id: str, *, claim: bool) -> None:
        """An exception would end the job for good: what is away is waited for, what is over is left."""
        try:
            loaded = await patiently(lambda: self._engine.read_run(run_id))
            if claim and (mine := _driven_by(loaded, job)) is not None:
                loaded = (await self._report(run_id, Interrupted(mine.id, mine.dispatch), job)).loaded
            await self._drive_on(job, loaded)
        except (Refused, NotFound):
            log.info("lane %s is over: somebody else moved the run on", job)
        except Exception:
            log.exception("lane %s broke off; its work is adopted again", job)

    async def _drive_on(self, job: str, loaded: Loaded) -> None:
        mine = _driven_by(loaded, job)
        if mine is None:
            return
        while mine is not None:
            came = await self._carry_out(loaded, mine)
            if came is None:
                return
            loaded = (await self._conclude(loaded, mine, came, job)).loaded
            mine = _driven_by(loaded, job)
        if not loaded.run.working:  # the last of several lanes does it for all
            await self._cairn.keeper.rest(loaded.facts.run_id)

    # ---- one execution -------------------------------------------------------------------------------
    async def _carry_out(self, loaded: Loaded, e: Execution) -> Came | None:
        """What came of it; nothing if it was stopped."""
        task = asyncio.get_running_loop().create_task(self._run(loaded, e))
        self._running[e.id] = Running(e.dispatch, task)
        try:
            return await task
        except asyncio.CancelledError:
            if task.cancelled() and not self._stopping:
                return None
            raise
        finally:
            self._running.pop(e.id, None)

    async def _run(self, loaded: Loaded, e: Execution) -> Came:
        try:
            async with self._slots:
                self._check_current(loaded, e)
                work = await patiently(lambda: self._cairn.briefing.work(loaded, e))
                outcome = await carry_out(self._cairn.runners, work)
                return Came(outcome, await patiently(lambda: self._cairn.briefing.told(work)))
        except CannotBegin as error:
            return Came(Faulted(error.fault))
        except Exception as error:
            log.exception("execution %s could not be carried out", e.id)
            return Came(Faulted(Fault(type(error).__name__, str(error) or type(error).__name__)))

    def _check_current(self, loaded: Loaded, e: Execution) -> None:
        if not self._engine.is_current(loaded.facts.run_id, e):
            raise asyncio.CancelledError  # it was stopped before it had begun

    async def stop_execution(self, execution: str, dispatch: int) -> None:
        running = self._running.get(execution)
        if running is None or running.dispatch != dispatch:
            return
        running.task.cancel()
        _, left = await asyncio.wait({running.task}, timeout=STOP_SECONDS)
        if left:
            log.error("execution %s does not stop; whatever it still does is dropped", execution)

    # ---- what came of it -----------------------------------------------------------------------------
    async def _conclude(self, loaded: Loaded, e: Execution, came: Came, job: str) -> Step:
        try:
            step = await self._tell(loaded, e, came, job)
        except UNSAVABLE as error:
            log.exception("what execution %s came to could not be saved", e.id)
            fault = plain_fault(Fault("cannot_be_saved", f"What came of it could not be saved: {error}"))
            return await self._report(loaded.facts.run_id, Failed(e.id, e.dispatch, fault), job)
        self._cairn.briefing.remember(step, e.id)
        return step

    async def _tell(self, loaded: Loaded, e: Execution, came: Came, job: str) -> Step:
        run_id, outcome, context = loaded.facts.run_id, came.outcome, came.context
        if context is not None:
            await patiently(lambda: self._cairn.storing.put_ahead(context))
        match outcome:
            case Produced():
                products = await self._store(loaded, e, outcome)
                report = Finished(e.id, e.dispatch, products.digest, products.outputs, outcome.ruling)
                return await self._report(run_id, report, job, Brought(products.artifacts, context))
            case Unfit():
                products = await self._store(loaded, e, outcome)
                report = Invalid(e.id, e.dispatch, products.digest, products.outputs, plain_fault(outcome.error))
                return await self._report(run_id, report, job, Brought(products.artifacts, context))
            case Faulted():
                report = Failed(e.id, e.dispatch, plain_fault(outcome.error))
                return await self._report(run_id, report, job, Brought(context=context))
            case Asks():
                report = InputWanted(e.id, e.dispatch, outcome.waiting_on, digest(outcome.question))
                return await self._report(run_id, report, job, Brought(context=context))
            case _:
                assert_never(outcome)

    async def _store(self, loaded: Loaded, e: Execution, outcome: Produced | Unfit) -> Products:
        checkpoint = await self._cairn.briefing.checkpoint(loaded, e)
        return await patiently(lambda: self._cairn.storing.store(e, checkpoint, outcome.artifacts))

    async def _report(self, run_id: str, report: Report, job: str, brought: Brought = NOTHING) -> Step:
        async def send() -> Step:
            return await self._engine.send(run_id, report, self._engine.given(WORKER), lane=job, brought=brought)

        return await patiently(send)

    # ---- timers --------------------------------------------------------------------------------------
    def remind(self, run_id: str, later: SendLater) -> None:
        """The durable timer is only exact to its poll: this one is on time, and the other finds it done."""

        def due() -> None:
            self._reminders.discard(handle)
            self._spawn(self.timer(run_id, later.command))

        if not self._stopping:
            handle = asyncio.get_running_loop().call_later(later.after, due)
            self._reminders.add(handle)

    async def timer(self, run_id: str, command: Timer) -> None:
        async def send() -> None:
            await self._engine.send(run_id, command, self._engine.given(TIMER))

        if self._stopping:
            raise asyncio.CancelledError  # its job stays for the next start
        await self._taken_up.wait()
        try:
            await patiently(send)
        except (Refused, NotFound):
            log.debug("timer %s is over", command)

    # ---- work that nobody drives ---------------------------------------------------------------------
    async def _take_up(self) -> None:
        """After a crash: on SQLite nobody else is there, so that the queue need not be waited for."""
        if self._engine.database.kind == "sqlite":
            for row in await self._engine.database.aread(working):
                if row.driver is not None:
                    await self._claim(row)
        self._taken_up.set()

    async def _claim(self, row: Any) -> None:
        """Before any timer: what fell due while nobody worked is not held against it (D18)."""
        interrupted = Interrupted(row.execution_id, row.dispatch_number)
        try:
            await self._engine.send(row.run_id, interrupted, self._engine.given(WORKER), lane=row.driver)
        except (Refused, NotFound):
            return
        self._lane(row.driver, row.run_id, claim=False)

    async def adopt(self) -> None:
        """Executions at work whose job is over are dispatched again (R9, D64)."""
        held = frozenset(self._lanes)
        rows = [row for row in await self._engine.database.aread(working) if row.driver not in held]
        jobs = tuple({row.driver for row in rows if row.driver is not None})
        over = await self._engine.database.aread(lambda c: self._cairn.jobs.over(c, jobs))
        for row in rows:
            if row.driver is not None and (row.driver not in over or row.driver in self._lanes):
                continue
            log.warning("execution %s has nobody who drives it: dispatched again", row.execution_id)
            interrupted = Interrupted(row.execution_id, row.dispatch_number)
            try:
                await self._engine.send(row.run_id, interrupted, self._engine.given(WORKER))
            except (Refused, NotFound):
                log.info("execution %s was moved on meanwhile", row.execution_id)


def plain_fault(fault: Fault) -> Fault:
    return Fault(plain(fault.type), plain(fault.message), plain(fault.trace))


def _driven_by(loaded: Loaded, job: str) -> Execution | None:
    """The execution at work that this job drives."""
    for execution, driver in loaded.drivers.items():
        if driver == job:
            e = loaded.run.executions[execution]
            if e.state is State.WORKING and e.archived_by is None:
                return e
    return None
