"""Carry out an action with the function that was passed to `ctx.perform`, and report its outcome."""

from __future__ import annotations

import json

from .actions import HANDED_OVER, ActionFailed, ActionOutcomeUnknown, CallResult, reported_result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    Execute = Callable[[dict[str, Any], str], Any]  # called with the parameters and the idempotency key

IS_COROUTINE = 0x80  # the flag of a coroutine function's code


class CallGuard:
    """Refuses calls of `ctx` while an action is carried out, and after one was interrupted."""

    def __init__(self) -> None:
        self._current = ""  # the operation that is carried out
        self._interrupted = ""  # the operation whose outcome is unknown

    def check(self) -> None:
        if self._current:
            raise RuntimeError(f"{self._current} is being carried out. Wait for other calls after ctx.perform returns.")
        if self._interrupted:
            raise ActionOutcomeUnknown(self._interrupted)

    def check_report(self) -> None:
        if self._current:
            raise RuntimeError(f"ctx.perform reports the outcome of {self._current} when its function returns.")

    def clear(self) -> None:
        """The outcome was reported."""
        self._interrupted = ""

    def performing(self, operation: str) -> Performing:
        return Performing(self, operation)

    def enter(self, operation: str) -> None:
        self._current = operation

    def leave(self, *, is_interrupted: bool) -> None:
        self._interrupted, self._current = self._current if is_interrupted else "", ""


class Performing:
    """While the function of `ctx.perform` runs. Any exception but ActionFailed leaves the outcome unknown."""

    def __init__(self, guard: CallGuard, operation: str) -> None:
        self._guard = guard
        self._operation = operation
        self.failure: ActionFailed | None = None

    def __enter__(self) -> Self:
        self._guard.enter(self._operation)
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        self.failure = error if isinstance(error, ActionFailed) else None
        self._guard.leave(is_interrupted=error is not None and self.failure is None)
        return self.failure is not None


def check_execute(execute: object) -> None:
    """Raise TypeError unless this can be called without an event loop."""
    if not callable(execute):
        raise TypeError(f"perform: expected a function, not {type(execute).__name__}")
    if getattr(getattr(execute, "__code__", None), "co_flags", 0) & IS_COROUTINE:
        raise TypeError("perform: the function must not be a coroutine function here")


def perform(
    guard: CallGuard,
    propose: Callable[[], CallResult],
    report: Callable[[str, Any], None],
    operation: str,
    execute: Execute,
) -> Any:
    """Propose an action, carry it out if it is handed over, and report the outcome."""
    check_execute(execute)
    answer = propose()
    if answer["state"] != HANDED_OVER:
        return earlier_result(answer)
    returned: Any = None
    with guard.performing(operation) as performing:
        returned = execute(answer["parameters"], answer["idempotency_key"])
        if hasattr(returned, "__await__"):
            raise TypeError("perform: the function returned an awaitable, so the action was not carried out")
    outcome, result, error = performed(performing.failure, returned, answer)
    report(outcome, result)
    if error is not None:
        raise error
    return result


def performed(failure: ActionFailed | None, returned: Any, answer: CallResult) -> tuple[str, Any, Exception | None]:
    """The outcome and result to report, and the exception to raise afterwards."""
    if failure is None:
        try:
            return "done", json.loads(reported_result("done", returned)), None
        except (TypeError, ValueError) as error:
            message = f"{error} The action was carried out and is recorded as done, without a result."
            return "done", None, type(error)(message)
    failure.action_id = answer.get("action_id")
    result: Any = {"reason": failure.reason} if failure.result is None else failure.result
    try:
        failure.result = json.loads(reported_result("failed", result))
    except (TypeError, ValueError):
        failure.result = {"reason": failure.reason}
    return "failed", failure.result, failure


def earlier_result(answer: CallResult) -> Any:
    """The result of an action that has been executed before. Raises ActionNotHandedOver if that is unknown."""
    return answer["parameters"] if answer["state"] == "unknown" else answer.get("result")
