"""Takes jobs, has runners carry executions out, and reports back through the engine."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, assert_never

from sqlalchemy.exc import SQLAlchemyError

from cairn.bootstrap import Cairn
from cairn.core.errors import Refused
from cairn.core.messages import Failed, Finished, InputWanted, Interrupted, Invalid, Report, SendLater, Timer
from cairn.core.model import Execution, Fault, State
from cairn.documents import digest
from cairn.ports import Asks, Faulted, Outcome, Produced, Unfit
from cairn.runners import CannotBegin, carry_out
from cairn.services.engine import Step
from cairn.services.errors import NotFound
from cairn.services.products import Products, prepare
from cairn.store import Loaded

log = logging.getLogger(__name__)

FIRST_WAIT, LONGEST_WAIT = 0.05, 5.0  # seconds between tries while the database or the disk is away
STOP_SECONDS = 10.0  # how long a runner may take to stop
ADOPT_SECONDS = 15.0  # how often work without a driver is looked for
FILED_SECONDS = 1.0  # how often it is written down whose files stand
T = TypeVar("T")
WORKER, TIMER = "worker", "timer"  # who reports


@dataclass(frozen=True, slots=True)
class Running:
    dispatch: int
    task: asyncio.Task[Outcome]


class Worker:
    def __init__(self, cairn: Cairn) -> None:
        self._cairn = cairn
        self._engine = cairn.engine
        self._slots = asyncio.Semaphore(cairn.settings.max_runners)
        self._lanes: dict[str, asyncio.Task[None]] = {}
        self._running: dict[str, Running] = {}
        self._reminders: set[asyncio.TimerHandle] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False

    # ---- its own life ------------------------------------------------------------------------------
    async def start(self) -> None:
        self._engine.attach(self)
        await self._cairn.jobs.start(self.lane, self.timer)
        await self.adopt()
        self._spawn(self._every(ADOPT_SECONDS, self.adopt))
        self._spawn(self._every(FILED_SECONDS, self._cairn.keeper.write_down_filed))

    async def stop(self) -> None:
        """Runners stop; what they were at goes on after the next start."""
        self._stopping = True
        self._engine.attach(None)
        for reminder in self._reminders:
            reminder.cancel()
        running = [held.task for held in self._running.values()]
        tasks: list[asyncio.Task[Any]] = [*self._tasks, *self._lanes.values(), *running]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._cairn.keeper.write_down_filed()
        await self._cairn.jobs.stop()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _every(self, seconds: float, act: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await act()
            except (SQLAlchemyError, OSError):
                log.exception("%s failed; it is tried again", act.__qualname__)

    # ---- lanes ---------------------------------------------------------------------------------------
    def wake(self, job: str, run_id: str) -> None:
        """Right after the commit: no need to wait for the queue."""
        self._lane(job, run_id, claim=False)

    async def lane(self, job: str, run_id: str) -> None:
        """Called by the job engine. It joins the lane that was woken; else it takes over what nobody drives."""
        try:
            await asyncio.shield(self._lane(job, run_id, claim=job not in self._engine.own_jobs))
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            await asyncio.Event().wait()  # the job stays unfinished, so that it is taken up after the next start
        self._engine.own_jobs.discard(job)

    def _lane(self, job: str, run_id: str, *, claim: bool) -> asyncio.Task[None]:
        lane = self._lanes.get(job)
        if lane is None:
            lane = asyncio.get_running_loop().create_task(self._drive(job, run_id, claim=claim), name=job)
            self._lanes[job] = lane
            lane.add_done_callback(lambda _: self._lanes.pop(job, None))
        return lane

    async def _drive(self, job: str, run_id: str, *, claim: bool) -> None:
        """An exception would end the job for good: what is away is waited for, what is over is left."""
        try:
            await self._patiently(lambda: self._drive_on(job, run_id, claim=claim))
        except (Refused, NotFound):
            log.info("lane %s is over: somebody else moved the run on", job)
        except Exception:
            log.exception("lane %s broke off; its work is adopted again", job)

    async def _drive_on(self, job: str, run_id: str, *, claim: bool) -> None:
        loaded = await self._engine.read_run(run_id)
        mine = _driven_by(loaded, job)
        if mine is not None and claim:
            step = await self._report(run_id, Interrupted(mine.id, mine.dispatch), job)
            loaded, mine = step.loaded, _driven_by(step.loaded, job)
        while mine is not None:
            outcome = await self._carry_out(loaded, mine)
            if outcome is None:
                break
            step = await self._conclude(loaded, mine, outcome, job)
            loaded, mine = step.loaded, _driven_by(step.loaded, job)
        await self._engine.rest(run_id)

    async def _patiently(self, act: Callable[[], Awaitable[T]]) -> T:
        """Again and again while the database or the disk is away (R9)."""
        wait = FIRST_WAIT
        while True:
            try:
                return await act()
            except (SQLAlchemyError, OSError) as error:
                log.warning("not possible now, tried again in %.2g s: %s", wait, error)
                await asyncio.sleep(wait)
                wait = min(wait * 2, LONGEST_WAIT)

    # ---- one execution -----------------------------------------------------------------------------------
    async def _carry_out(self, loaded: Loaded, e: Execution) -> Outcome | None:
        """What came of it; nothing if it was stopped."""
        async with self._slots:
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

    async def _run(self, loaded: Loaded, e: Execution) -> Outcome:
        try:
            work = await self._cairn.briefing.work(loaded, e)
            return await carry_out(self._cairn.runners, work)
        except CannotBegin as error:
            return Faulted(error.fault)
        except (SQLAlchemyError, OSError, asyncio.CancelledError):
            raise
        except Exception as error:
            log.exception("execution %s could not be carried out", e.id)
            return Faulted(Fault(type(error).__name__, str(error) or type(error).__name__))

    async def stop_execution(self, execution: str, dispatch: int) -> None:
        running = self._running.get(execution)
        if running is None or running.dispatch != dispatch:
            return
        running.task.cancel()
        await asyncio.wait({running.task}, timeout=STOP_SECONDS)

    async def _conclude(self, loaded: Loaded, e: Execution, outcome: Outcome, job: str) -> Step:
        run_id = loaded.facts.run_id
        match outcome:
            case Produced():
                products = await self._prepare(loaded, e, outcome)
                report = Finished(e.id, e.dispatch, products.digest, products.outputs, outcome.ruling)
                step = await self._report(run_id, report, job, products)
                self._cairn.briefing.remember(step, e.id)
                return step
            case Unfit():
                products = await self._prepare(loaded, e, outcome)
                report = Invalid(e.id, e.dispatch, products.digest, products.outputs, outcome.error)
                return await self._report(run_id, report, job, products)
            case Faulted():
                return await self._report(run_id, Failed(e.id, e.dispatch, outcome.error), job)
            case Asks():
                question = digest(outcome.question)
                return await self._report(run_id, InputWanted(e.id, e.dispatch, outcome.waiting_on, question), job)
            case _:
                assert_never(outcome)

    async def _prepare(self, loaded: Loaded, e: Execution, outcome: Produced | Unfit) -> Products:
        checkpoint = await self._cairn.briefing.checkpoint(loaded, e)
        return await self._cairn.keeper.store_large(prepare(e, checkpoint, outcome.artifacts))

    async def _report(self, run_id: str, report: Report, job: str, products: Products | None = None) -> Step:
        artifacts = products.artifacts if products else ()

        async def send() -> Step:
            return await self._engine.send(run_id, report, self._engine.given(WORKER), lane=job, artifacts=artifacts)

        return await self._patiently(send)

    # ---- timers -------------------------------------------------------------------------------------------
    def remind(self, run_id: str, later: SendLater) -> None:
        """The durable timer is only exact to its poll: this one is on time, and the other finds it done."""
        loop = asyncio.get_running_loop()

        def due() -> None:
            self._reminders.discard(handle)
            self._spawn(self.timer(run_id, later.command))

        handle = loop.call_later(later.after, due)
        self._reminders.add(handle)

    async def timer(self, run_id: str, command: Timer) -> None:
        async def send() -> None:
            await self._engine.send(run_id, command, self._engine.given(TIMER))

        try:
            await self._patiently(send)
        except (Refused, NotFound):
            log.debug("timer %s is over", command)

    # ---- work that nobody drives ------------------------------------------------------------------------------
    async def adopt(self) -> None:
        """Executions at work whose job is over are dispatched again (R9, D64)."""
        found = await self._engine.database.aread(self._orphans)
        for run_id, execution, dispatch in found:
            log.warning("execution %s has nobody who drives it: dispatched again", execution)
            try:
                await self._engine.send(run_id, Interrupted(execution, dispatch), self._engine.given(WORKER))
            except (Refused, NotFound):
                log.info("execution %s was moved on meanwhile", execution)

    def _orphans(self, connection: Any) -> Sequence[tuple[str, str, int]]:
        working = self._cairn.keeper.working(connection)
        jobs = tuple({row.driver for row in working if row.driver is not None} - self._lanes.keys())
        over = self._cairn.jobs.over(connection, jobs)
        return [
            (row.run_id, row.execution_id, row.dispatch_number)
            for row in working
            if row.driver is None or row.driver in over
        ]


def _driven_by(loaded: Loaded, job: str) -> Execution | None:
    """The execution at work that this job drives."""
    for execution, driver in loaded.drivers.items():
        if driver == job:
            e = loaded.run.executions[execution]
            if e.state is State.WORKING and e.archived_by is None:
                return e
    return None
