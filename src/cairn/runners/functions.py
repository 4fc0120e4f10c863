"""Run functions that are registered in Python, in this process."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeAlias, TypeVar, overload

from cairn.core.execution import Failure
from cairn.ports import Errored, Outcome, WorkInputs, WorkOrder
from cairn.runners.call_threads import CallThread
from cairn.runners.ctx import Ctx, CtxServices, ReworkNote
from cairn.runners.expected_artifacts import expected
from cairn.runners.function_calls import CoroutineCalls, FunctionCalls, ThreadCalls
from cairn.runners.hand_overs import DoorError, HandOvers
from cairn.runners.limits import RunnerLimits
from cairn.runners.recorded_calls import CallMismatch, CallPending, RecordedCalls
from cairn.runners.result_checks import check_result
from cairn.runners.staging import Staging
from cairn.runners.user_exceptions import failure_from

Function: TypeAlias = Callable[..., Any]
F = TypeVar("F", bound=Function)


@dataclass(frozen=True, slots=True)
class Registered:
    name: str
    function: Function
    is_async: bool


class FunctionRegistry(Mapping[str, Registered]):
    """Functions by the names that definitions use.

    Use it as a decorator: `@function` registers a function under its own name, `@function("reports.count")` under
    another name.
    """

    def __init__(self) -> None:
        self._functions: dict[str, Registered] = {}

    def register(self, name: str, function: Function, *, replace: bool = False) -> None:
        """Make a function callable from definitions. A taken name is an error unless `replace` is set."""
        if not name.isascii() or not all(part.isidentifier() for part in name.split(".")):
            raise ValueError(f"{name!r} is not a valid function name. Use letters, digits and _, separated by dots.")
        existing = self._functions.get(name)
        if existing is not None and not replace and _path(existing.function) != _path(function):
            raise ValueError(
                f"{name!r} is already registered for {_path(existing.function)}."
                f" Use another name for {_path(function)}."
            )
        self._functions[name] = Registered(name, function, _is_async(function))

    @overload
    def __call__(self, name: str, /) -> Callable[[F], F]: ...
    @overload
    def __call__(self, function: F, /) -> F: ...
    def __call__(self, name_or_function: str | F, /) -> Callable[[F], F] | F:
        if isinstance(name_or_function, str):

            def decorate(function: F) -> F:
                self.register(name_or_function, function)
                return function

            return decorate
        self.register(name_or_function.__name__, name_or_function)
        return name_or_function

    def __getitem__(self, name: str) -> Registered:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)


function = FunctionRegistry()  # the registry behind `cairn.function`


class FunctionRunner:
    """Calls `f(ctx, **parameters)`: coroutine functions on the event loop, others in their own threads.

    Cancellation ends a coroutine at its next await. A thread can't be killed: it continues, its next call of `ctx`
    raises, and its result is ignored.
    """

    def __init__(self, registry: FunctionRegistry = function, limits: RunnerLimits | None = None) -> None:
        self._registry = registry
        self._limits = limits or RunnerLimits()

    async def run(self, work: WorkOrder) -> Outcome:
        config = work.checkpoint.execution.function_config
        name = config.function if config is not None else ""
        registered = self._registry.get(name)
        if config is None or registered is None:
            return Errored(_unknown(name, self._registry))
        # A copy, because a function may modify its arguments.
        parameters = copy.deepcopy(config.parameters) if config.parameters else config.parameters
        return await FunctionCall(work, registered, self._limits).run(parameters)


class FunctionCall:
    """One call of a function."""

    def __init__(self, work: WorkOrder, registered: Registered, limits: RunnerLimits) -> None:
        self._work = work
        self._function = registered.function
        self._limits = limits
        self._staging = Staging(expected(work.checkpoint))
        self._recorded = RecordedCalls(work)
        self._hand_overs = HandOvers(work.actions)
        self._thread = None if registered.is_async else CallThread()

    async def run(self, parameters: Mapping[str, Any]) -> Outcome:
        work, thread = self._work, self._thread
        calls = (
            CoroutineCalls(self._recorded, self._hand_overs)
            if thread is None
            else ThreadCalls(self._recorded, self._hand_overs, thread)
        )
        try:
            try:
                returned, error = await self._call(calls, parameters)
                if error is not None:
                    return await self._outcome_of(error)
                calls.check_repeated()
            finally:
                await calls.close()
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            return Errored(failure_from(error, self._function))
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - including SystemExit
            return await self._outcome_of(error)
        await self._hand_overs.assume_done()
        return check_result(work, self._staging.finish(returned, work), self._limits)

    async def _call(self, calls: FunctionCalls, parameters: Mapping[str, Any]) -> tuple[Any, BaseException | None]:
        """The return value of the function, or the exception that it raised in its thread."""
        work, staging, thread = self._work, self._staging, self._thread
        if thread is None:
            services = CtxServices(staging.stage, work.log, work.progress, calls)
            return await self._function(ctx_of(work, self._recorded, services), **parameters), None
        services = CtxServices(thread.guard(staging.stage), thread.post(work.log), thread.post(work.progress), calls)
        ctx = ctx_of(work, self._recorded, services)
        returned, error = await thread.run(partial(self._function, ctx, **parameters))
        if error is None and inspect.isawaitable(returned):  # for example a lambda that calls a coroutine function
            returned = await returned
            await asyncio.sleep(0)  # so that posted log lines are handled first
        return returned, error

    async def _outcome_of(self, error: BaseException) -> Outcome:
        """The outcome of a call that raised an exception, because it waits for a result or failed."""
        match error:
            case CallPending():
                await self._hand_overs.assume_done()
                return self._recorded.outcome_of(error, tuple(self._staging.files().artifacts))
            case CallMismatch():
                return Errored(error.failure)
            case DoorError():
                raise error
            case _:
                return Errored(failure_from(error, self._function))


def ctx_of(work: WorkOrder, material: WorkInputs, services: CtxServices) -> Ctx:
    rework = ReworkNote.from_brief(work.rework) if work.rework is not None else None
    return Ctx(material, work.workspace, work.feedback, work.attempt, work.revision, services, rework)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _is_async(function: Function) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _path(function: Function) -> str:
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', repr(function))}"


def _unknown(name: str, registry: FunctionRegistry) -> Failure:
    names = get_close_matches(name, registry, 3) or sorted(registry)[:10]
    hint = f"Registered functions include: {', '.join(names)}." if names else "No functions are registered."
    return Failure("unknown_function", f"No function is registered as {name!r}. {hint}")
