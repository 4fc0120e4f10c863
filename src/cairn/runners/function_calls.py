"""The calls of a function that wait for a result: request rework, propose an action, report its outcome."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from cairn.ports import HandOver, RecordedCall
from cairn.runners.call_threads import CallThread
from cairn.runners.hand_overs import HandOvers
from cairn.runners.processes.child.actions import (
    HANDED_OVER,
    CallResult,
    handed_over,
    is_approved,
    read_result,
    reported_result,
)
from cairn.runners.processes.child.performing import CallGuard, earlier_result, perform, performed
from cairn.runners.processes.lifecycle import await_shielded
from cairn.runners.recorded_calls import CallPending, RecordedCalls

if TYPE_CHECKING:
    from cairn.runners.processes.child.performing import Execute


class FunctionCalls(Protocol):
    """The methods of `ctx` that wait. A coroutine function awaits them."""

    def request_rework(self, checkpoint: str, prompt: str, reason: str) -> CallResult: ...

    def propose_action(self, arguments: Mapping[str, Any]) -> CallResult: ...

    def perform(self, arguments: Mapping[str, Any], execute: Execute) -> Any: ...

    def report_outcome(self, outcome: str, result: Any) -> Awaitable[None]: ...


class _Calls:
    """What both kinds of functions share."""

    def __init__(self, recorded: RecordedCalls, hand_overs: HandOvers) -> None:
        self._recorded = recorded
        self._hand_overs = hand_overs
        self._guard = CallGuard()

    def check_repeated(self) -> None:
        """Raise CallMismatch unless all recorded calls were made again."""
        self._guard.check()
        self._recorded.check_repeated()

    def _next_call(self, kind: str, arguments: Mapping[str, Any]) -> RecordedCall:
        self._guard.check()
        return self._recorded.next_call(kind, arguments)

    def _result(self, call: RecordedCall) -> CallResult:
        self._recorded.update_inputs()
        result = call.result or {}
        return read_result(result, _operation(call)) if call.kind == "action" else CallResult(result)

    def _handed_over(self, call: RecordedCall, hand_over: HandOver | None) -> CallResult:
        if hand_over is None:
            raise CallPending(call.number, call.kind, call.arguments, is_held=True)
        self._recorded.update_inputs()
        return handed_over(call.result or {}, hand_over, _operation(call))

    def _checked_report(self, outcome: str, result: Any) -> tuple[int, str, Any]:
        """The number of the call to report, the outcome, and the result as JSON."""
        value, unreported = json.loads(reported_result(outcome, result)), self._hand_overs.unreported
        if not unreported:
            raise RuntimeError("report_outcome: no action was handed over, or its outcome was reported already")
        return unreported[-1], outcome, value


class ThreadCalls(_Calls):
    """The calls of a function in its own thread. They wait for the event loop."""

    def __init__(self, recorded: RecordedCalls, hand_overs: HandOvers, thread: CallThread) -> None:
        super().__init__(recorded, hand_overs)
        self._thread = thread

    def request_rework(self, checkpoint: str, prompt: str, reason: str) -> CallResult:
        return self._result(self._made("rework", rework_arguments(checkpoint, prompt, reason)))

    def propose_action(self, arguments: Mapping[str, Any]) -> CallResult:
        call = self._made("action", arguments)
        return self._begin(call) if is_approved(call.result) else self._result(call)

    def _begin(self, call: RecordedCall) -> CallResult:
        return self._handed_over(call, self._thread.wait(lambda: self._hand_overs.begin(call.number)))

    def _made(self, kind: str, arguments: Mapping[str, Any]) -> RecordedCall:
        self._thread.check()
        call = self._next_call(kind, arguments)
        if self._hand_overs.unreported:
            self._thread.wait(self._hand_overs.assume_done)
        return call

    def perform(self, arguments: Mapping[str, Any], execute: Execute) -> Any:
        operation = str(arguments["operation_type"])
        return perform(self._guard, lambda: self.propose_action(arguments), self._send_report, operation, execute)

    def report_outcome(self, outcome: str, result: Any) -> Awaitable[None]:
        self._guard.check_report()
        self._send_report(outcome, result)
        self._guard.clear()
        return _Reported()

    def _send_report(self, outcome: str, result: Any) -> None:
        values = self._checked_report(outcome, result)
        self._thread.wait(lambda: self._hand_overs.report(*values))

    async def close(self) -> None:
        """Complete what was started."""


class CoroutineCalls(_Calls):
    """The calls of a coroutine function, which awaits them. Reports are sent even if it doesn't."""

    def __init__(self, recorded: RecordedCalls, hand_overs: HandOvers) -> None:
        super().__init__(recorded, hand_overs)
        self._started: list[asyncio.Task[None]] = []

    def request_rework(self, checkpoint: str, prompt: str, reason: str) -> CallResult:
        return self._result(self._made("rework", rework_arguments(checkpoint, prompt, reason)))

    def propose_action(self, arguments: Mapping[str, Any]) -> CallResult:
        call = self._made("action", arguments)
        return _AwaitedAction(lambda: self._begin(call)) if is_approved(call.result) else self._result(call)

    async def _begin(self, call: RecordedCall) -> CallResult:
        return self._handed_over(call, await self._hand_overs.begin(call.number))

    def _made(self, kind: str, arguments: Mapping[str, Any]) -> RecordedCall:
        call = self._next_call(kind, arguments)
        if self._hand_overs.unreported:
            self._start(self._hand_overs.assume_done())
        return call

    def perform(self, arguments: Mapping[str, Any], execute: Execute) -> Any:
        if not callable(execute):
            raise TypeError(f"perform: expected a function, not {type(execute).__name__}")
        return self._perform(self.propose_action(arguments), str(arguments["operation_type"]), execute)

    async def _perform(self, proposed: CallResult, operation: str, execute: Execute) -> Any:
        answer: CallResult = await proposed
        if answer["state"] != HANDED_OVER:
            return earlier_result(answer)
        returned: Any = None
        with self._guard.performing(operation) as performing:
            returned = execute(answer["parameters"], answer["idempotency_key"])
            if hasattr(returned, "__await__"):
                returned = await returned
        outcome, result, error = performed(performing.failure, returned, answer)
        await self._send_report(outcome, result)
        if error is not None:
            raise error
        return result

    def report_outcome(self, outcome: str, result: Any) -> Awaitable[None]:
        self._guard.check_report()
        sent = self._send_report(outcome, result)
        self._guard.clear()
        return sent

    def _send_report(self, outcome: str, result: Any) -> Awaitable[None]:
        return self._start(self._hand_overs.report(*self._checked_report(outcome, result)))

    def _start(self, work: Coroutine[Any, Any, None]) -> Awaitable[None]:
        task = asyncio.ensure_future(work)
        self._started.append(task)
        return asyncio.shield(task)

    async def close(self) -> None:
        """Complete what was started. Raises the error of a request that failed."""
        if self._started:
            await await_shielded(asyncio.gather(*self._started, return_exceptions=True))
            for task in self._started:
                task.result()


class _AwaitedAction(CallResult):
    """An approved action of a coroutine function. Awaiting it hands over the action."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, CallResult]]) -> None:
        super().__init__()
        self.__dict__["_begin"] = begin

    def __missing__(self, name: str) -> Any:
        raise RuntimeError(f"Await the call before you read its {name}: `await ctx.propose_action(...)`")

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ARG002 - there is nothing to read
        return self[name]

    def __await__(self) -> Generator[Any, Any, CallResult]:
        if "_begun" not in self.__dict__:
            self.__dict__["_begun"] = asyncio.ensure_future(self.__dict__["_begin"]())
        return self.__dict__["_begun"].__await__()


class _Reported:
    """A report that was sent."""

    def __await__(self) -> Generator[Any, Any, None]:
        yield from ()


def rework_arguments(checkpoint: str, prompt: str, reason: str) -> dict[str, Any]:
    return {"checkpoint": str(checkpoint), "prompt": str(prompt), "reason": str(reason)}


def _operation(call: RecordedCall) -> str:
    return str(call.arguments.get("operation_type", ""))
