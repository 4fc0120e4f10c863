"""Functions registered in Python, called in this process."""

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
from cairn.runners.limits import RunnerLimits
from cairn.runners.recorded_calls import CallMismatch, CallPending, RecordedCalls
from cairn.runners.result_checks import check_result
from cairn.runners.staging import Staging
from cairn.runners.user_exceptions import fault_of

Function: TypeAlias = Callable[..., Any]
F = TypeVar("F", bound=Function)


@dataclass(frozen=True, slots=True)
class Registered:
    name: str
    function: Function
    is_async: bool


class FunctionRegistry(Mapping[str, Registered]):
    """Functions by the names that definitions call them by.

    As a decorator: `@function` takes the function's own name, `@function("reports.count")` the one that is given.
    """

    def __init__(self) -> None:
        self._functions: dict[str, Registered] = {}

    def register(self, name: str, function: Function, *, replace: bool = False) -> None:
        """Make a function callable from definitions. A name has one function, unless the new one is to replace it."""
        if not name.isascii() or not all(part.isidentifier() for part in name.split(".")):
            raise ValueError(f"{name!r} cannot name a function: take letters, digits and _, in parts joined by dots")
        before = self._functions.get(name)
        if before is not None and not replace and _place(before.function) != _place(function):
            raise ValueError(f"{name!r} is already {_place(before.function)}; give {_place(function)} another name")
        self._functions[name] = Registered(name, function, _is_async(function))

    @overload
    def __call__(self, name: str, /) -> Callable[[F], F]: ...
    @overload
    def __call__(self, function: F, /) -> F: ...
    def __call__(self, named: str | F, /) -> Callable[[F], F] | F:
        if isinstance(named, str):

            def decorate(function: F) -> F:
                self.register(named, function)
                return function

            return decorate
        self.register(named.__name__, named)
        return named

    def __getitem__(self, name: str) -> Registered:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)


function = FunctionRegistry()  # what `cairn.function` registers in


class FunctionRunner:
    """Calls `f(ctx, **parameters)`: a coroutine function on the event loop, any other in a thread of its own.

    Cancelled, a coroutine ends at its next await. A thread cannot be killed: it goes on, its next call of `ctx`
    raises, and what it returns is dropped.
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
        staging, recorded = Staging(expected(work.checkpoint)), RecordedCalls(work)
        # A function may change what it is given; the definition stays as it is.
        parameters = copy.deepcopy(config.parameters) if config.parameters else config.parameters
        try:
            if registered.is_async:
                services = CtxServices(
                    staging.stage, work.log, work.progress, recorded.request_rework, recorded.propose_action
                )
                returned = await registered.function(ctx_of(work, recorded, services), **parameters)
            else:
                line = CallThread()
                put, ask = line.guard(staging.stage), line.guard(recorded.request_rework)
                services = CtxServices(
                    put, line.post(work.log), line.post(work.progress), ask, line.guard(recorded.propose_action)
                )
                ctx = ctx_of(work, recorded, services)
                returned, error = await line.run(partial(registered.function, ctx, **parameters))
                if error is not None:
                    return _come_to(error, registered.function, recorded, staging)
                if inspect.isawaitable(returned):  # as of a lambda around a coroutine function
                    returned = await returned
                    await asyncio.sleep(0)  # what it has posted comes before its end
            recorded.check_repeated()
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            return Errored(fault_of(error, registered.function))
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, also sys.exit(), only this execution fails
            return _come_to(error, registered.function, recorded, staging)
        return check_result(work, staging.finish(returned, work), self._limits)


def _come_to(error: BaseException, function: Function, recorded: RecordedCalls, staging: Staging) -> Outcome:
    """What a call that was left comes to: it waits for others, or it has failed."""
    if isinstance(error, CallPending):
        return recorded.wanted(error, tuple(staging.files().artifacts))
    return Errored(error.failure if isinstance(error, CallMismatch) else fault_of(error, function))


def ctx_of(work: WorkOrder, material: WorkInputs, services: CtxServices) -> Ctx:
    rework = ReworkNote.of(work.rework) if work.rework is not None else None
    return Ctx(material, work.workspace, work.feedback, work.attempt, work.revision, services, rework)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _is_async(function: Function) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _place(function: Function) -> str:
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', repr(function))}"


def _unknown(name: str, registry: FunctionRegistry) -> Failure:
    near = get_close_matches(name, registry, 3) or sorted(registry)[:10]
    known = f"Registered are, among others: {', '.join(near)}." if near else "No function is registered at all."
    return Failure("unknown_function", f"No function is registered as {name!r}. {known}")
