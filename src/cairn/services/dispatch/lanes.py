"""Lanes: each lane drives one run from execution to execution and lets runners do the work."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from cairn.core.commands import ExecutionInterrupted, Report
from cairn.core.effects import StopExecution
from cairn.core.errors import CommandRefused
from cairn.core.execution import Execution, Failure
from cairn.ports import BudgetExhausted, Errored, OverBudget
from cairn.runners import CannotStart, RunnerRegistry
from cairn.services.actions.sender import ActionSender
from cairn.services.dispatch.reports import DispatchResult, ReportBuilder, result_not_saved
from cairn.services.dispatch.runner_slots import RunnerSlots
from cairn.services.dispatch.work_orders import WorkOrders
from cairn.services.engine.commit import NO_ATTACHMENTS, Attachments, CommandSource, Commit
from cairn.services.engine.engine import Engine
from cairn.services.engine.job_ids import driven_by
from cairn.services.engine.retry import PERMANENT_ERRORS, retry_transient
from cairn.store import LoadedRun
from cairn.store.errors import NotFound

log = logging.getLogger(__name__)

STOP_SECONDS = 10.0  # how long a runner may take to stop
WORKER = "worker"  # the actor of reports


@dataclass(frozen=True, slots=True)
class RunningExecution:
    dispatch: int
    task: asyncio.Task[DispatchResult]
    dispatched_at: float  # by the monotonic clock
    slot_acquired: asyncio.Future[float]  # resolves to the monotonic time at which the execution gets its slot


class Lanes:
    def __init__(
        self,
        engine: Engine,
        work_orders: WorkOrders,
        reports: ReportBuilder,
        runners: RunnerRegistry,
        sender: ActionSender,
        slots: RunnerSlots,
    ) -> None:
        self._engine = engine
        self._work_orders = work_orders
        self._reports = reports
        self._runners = runners
        self._sender = sender
        self._slots = slots
        self._lanes: dict[str, asyncio.Task[None]] = {}  # by job
        self._running: dict[str, RunningExecution] = {}  # by execution
        self._reporting: set[str] = set()  # lanes that are committing a report or applying its effects
        self._started = False
        self._stopping = False
        self.own_work_resumed = asyncio.Event()  # set once the work of the previous process is dispatched again

    def __contains__(self, job: str | None) -> bool:
        return job in self._lanes

    @property
    def stopper(self) -> ExecutionStopper:
        return ExecutionStopper(self)

    @property
    def is_idle(self) -> bool:
        """Whether no lane is running."""
        return not self._lanes

    def start(self) -> None:
        """Let commits wake lanes."""
        self._started = True

    async def stop(self) -> None:
        """Stop all runners. Their work is dispatched again after the next start."""
        self._stopping = True
        tasks: list[asyncio.Task[Any]] = [*self._lanes.values(), *(running.task for running in self._running.values())]
        for task in tasks:
            if task.get_name() not in self._reporting:  # a reporting lane ends by itself
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Lanes
    async def after_commit(self, commits: Sequence[Commit]) -> None:
        for commit in commits:
            for job in commit.jobs:
                self.wake(job, commit.run_id)

    def wake(self, job: str, run_id: str) -> None:
        """Start the lane right after the commit instead of waiting for the job queue."""
        if self._started and not self._stopping:
            self._start_lane(job, run_id, claim=False)

    async def run_job(self, job: str, run_id: str, *, enqueued_here: bool) -> None:
        """Run a job for the job engine: join the lane if a commit has woken it, otherwise take over its run."""
        await self.own_work_resumed.wait()
        if enqueued_here and job not in self._lanes:
            async with self._engine.lock(run_id):
                pass  # the commit that enqueued the job wakes the lane once its files are in place
        await asyncio.shield(self._start_lane(job, run_id, claim=not enqueued_here))

    def _start_lane(self, job: str, run_id: str, *, claim: bool) -> asyncio.Task[None]:
        lane = self._lanes.get(job)
        if lane is None:
            if self._stopping:
                raise asyncio.CancelledError  # the job stays in the queue for the next start
            lane = asyncio.get_running_loop().create_task(self._run_lane(job, run_id, claim=claim), name=job)
            self._lanes[job] = lane
            lane.add_done_callback(lambda _: self._lanes.pop(job, None))
        return lane

    async def _run_lane(self, job: str, run_id: str, *, claim: bool) -> None:
        """Never raises, because an exception would end the job for good."""
        try:
            loaded = await retry_transient(lambda: self._engine.read_run(run_id))
            execution = driven_by(loaded, job)
            if execution is not None:
                await self._drive(job, loaded, execution, claim=claim)
        except (CommandRefused, NotFound):
            log.info("lane %s ended: another command has changed the run", job)
        except Exception:
            log.exception("lane %s failed; its execution will be dispatched again", job)

    async def _drive(self, job: str, loaded: LoadedRun, e: Execution, *, claim: bool) -> None:
        current: Execution | None = e
        if claim:
            loaded = (await self._send(loaded.facts.run_id, ExecutionInterrupted(e.id, e.dispatch), job)).after
            current = driven_by(loaded, job)
        while current is not None:
            result = await self._run_execution(loaded, current)
            if result is None:
                return
            loaded = (await self._report_outcome(loaded, current, result, job)).after
            current = driven_by(loaded, job)

    # One execution
    async def _run_execution(self, loaded: LoadedRun, e: Execution) -> DispatchResult | None:
        """Run one dispatch. Return None if it was stopped."""
        loop = asyncio.get_running_loop()
        slot_acquired: asyncio.Future[float] = loop.create_future()
        task = loop.create_task(self._dispatch(loaded, e, slot_acquired))
        self._running[e.id] = RunningExecution(e.dispatch, task, monotonic(), slot_acquired)
        try:
            return await task
        except asyncio.CancelledError:
            if task.cancelled() and not self._stopping:
                return None
            raise
        finally:
            self._running.pop(e.id, None)
            slot_acquired.cancel()

    async def _dispatch(self, loaded: LoadedRun, e: Execution, slot_acquired: asyncio.Future[float]) -> DispatchResult:
        try:
            async with self._slots.for_mode(e.policy.mode):
                slot_acquired.set_result(monotonic())
                self._check_current(loaded, e)
                held = await retry_transient(lambda: self._sender.prepare(loaded, e))
                if held is not None:
                    return DispatchResult(held)
                work = await retry_transient(lambda: self._work_orders.build(loaded, e))
                outcome = await self._runners.run(work)
                return DispatchResult(outcome, await retry_transient(lambda: self._work_orders.recorded_inputs(work)))
        except CannotStart as error:
            return DispatchResult(Errored(error.failure))
        except BudgetExhausted as error:
            return DispatchResult(OverBudget(str(error)))
        except Exception as error:
            log.exception("execution %s could not be run", e.id)
            return DispatchResult(Errored(Failure(type(error).__name__, str(error) or type(error).__name__)))
        finally:
            self._work_orders.end_dispatch(loaded, e)

    def _check_current(self, loaded: LoadedRun, e: Execution) -> None:
        if not self._engine.is_current(loaded.facts.run_id, e):
            raise asyncio.CancelledError  # stopped while it waited for a slot

    async def stop_execution(self, execution: str, dispatch: int) -> None:
        running = self._running.get(execution)
        if running is None or running.dispatch != dispatch:
            return
        running.task.cancel()
        _, pending = await asyncio.wait({running.task}, timeout=STOP_SECONDS)
        if pending:
            log.error("execution %s does not stop; its result will be ignored", execution)

    async def wait_for_active_time(self, execution: str, dispatch: int) -> None:
        """Extend a timeout by the time that the execution spent waiting for a slot."""
        running = self._running.get(execution)
        if running is None or running.dispatch != dispatch:
            return
        timeout = monotonic() - running.dispatched_at
        await asyncio.wait({running.slot_acquired})  # cancelled when the execution ends
        if not running.slot_acquired.cancelled():
            await asyncio.sleep(running.slot_acquired.result() + timeout - monotonic())

    # Reports
    async def _report_outcome(self, loaded: LoadedRun, e: Execution, result: DispatchResult, job: str) -> Commit:
        run_id = loaded.facts.run_id
        try:
            report, attachments = await self._reports.build(loaded, e, result)
            commit = await self._send(run_id, report, job, attachments)
        except PERMANENT_ERRORS as error:
            log.exception("the result of execution %s could not be saved", e.id)
            report, attachments = result_not_saved(e, error)
            return await self._send(run_id, report, job, attachments)
        self._work_orders.remember(commit, e.id)
        return commit

    async def _send(
        self, run_id: str, report: Report | CommandSource, job: str, attachments: Attachments = NO_ATTACHMENTS
    ) -> Commit:
        """Send a report. `stop` doesn't cancel the lane during this call, so all after-commit steps run."""

        async def send() -> Commit:
            self._reporting.add(job)
            try:
                context = self._engine.context(WORKER)
                return await self._engine.send_unshielded(run_id, report, context, lane=job, attachments=attachments)
            finally:
                self._reporting.discard(job)
                if self._stopping:
                    raise asyncio.CancelledError

        return await retry_transient(send)

    async def resume(self, interrupted: ExecutionInterrupted, run_id: str, job: str) -> None:
        """Dispatch the interrupted execution of this job again and wake its lane."""
        try:
            await retry_transient(
                lambda: self._engine.send(run_id, interrupted, self._engine.context(WORKER), lane=job)
            )
        except (CommandRefused, NotFound):
            return
        self.wake(job, run_id)


class ExecutionStopper:
    """An after-commit step. Stops the runners of executions that a commit has cancelled or dispatched again."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes

    async def after_commit(self, commits: Sequence[Commit]) -> None:
        for effect in (effect for commit in commits for effect in commit.decision.effects):
            if isinstance(effect, StopExecution):
                try:
                    await self._lanes.stop_execution(effect.execution, effect.dispatch)
                except Exception:
                    log.exception("execution %s could not be stopped; its result will be ignored", effect.execution)
