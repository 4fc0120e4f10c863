"""Arguments and results of proposed actions, in scripts and functions."""

from __future__ import annotations

import json

from .exact_json import NotSerializable, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from typing import Any

APPROVED, HANDED_OVER = "approved", "handed_over"
OUTCOMES = ("done", "failed")  # that proposers can report
NOT_ALLOWED = ("refused", "expired", "withdrawn")  # states of an action that nobody has started
MAX_INSTANCE = 200  # characters
MAX_RESULT_BYTES = 256 * 1024
MAX_SHOWN = 500  # characters of a result in a message


# ---- exceptions ------------------------------------------------------------------------------------
class ActionError(Exception):
    """An action has an outcome that the caller has to handle."""

    def __init__(self, reason: str = "", *, result: Any = None, action_id: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.result = result
        self.action_id = action_id


class ActionFailed(ActionError):
    """The action was not executed, or it failed. Raise it in a function that you pass to `ctx.perform`."""


class ActionRefused(ActionError):
    """People or rules did not allow the action."""


class ActionNotHandedOver(ActionError):
    """The parameters were read, but the action is not to be executed: it has an outcome already."""


class ActionOutcomeUnknown(BaseException):
    """Ends the call because an action was interrupted, so its outcome has to be found out first."""

    def __init__(self, operation: str) -> None:
        super().__init__(
            f"{operation} was started, but its function raised an exception, so its outcome is unknown. Find out the"
            " outcome and call ctx.report_outcome before you use ctx again, or don't catch the exception."
        )


# ---- results ---------------------------------------------------------------------------------------
class CallResult(dict["str", "Any"]):
    """The result of a call. Fields can be read as keys or as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __await__(self) -> Generator[Any, Any, CallResult]:
        """Coroutine functions await their calls."""
        yield from ()
        return self


class ActionResult(CallResult):
    """The result of a proposed action. It has `parameters` only if the caller has to carry out the action now."""

    def __init__(self, values: Mapping[str, Any], operation: str) -> None:
        super().__init__(values)
        self.setdefault("modified", self.get("decision") == "modified")
        self.__dict__["_operation"] = operation

    def __missing__(self, name: str) -> Any:
        if name == "parameters":
            raise self._not_handed_over()
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self or name == "parameters" else default

    def _not_handed_over(self) -> ActionNotHandedOver:
        operation, state, result = self.__dict__["_operation"], self["state"], self.get("result")
        message = (
            f"{operation} has no parameters to execute: its state is {state!r}, and its result is {_shown(result)}."
            " Only an action that was just handed over has parameters. Use ctx.perform, or check that `state` is"
            f" {HANDED_OVER!r}."
        )
        return ActionNotHandedOver(message, result=result, action_id=self.get("action_id"))


def has_state(recorded: Mapping[str, Any]) -> bool:
    """Whether a recorded result has the state of its action. Results without one contain the parameters."""
    return "state" in recorded


def is_approved(recorded: Mapping[str, Any] | None) -> bool:
    """Whether the action has not started and is handed over when the call is made."""
    return recorded is not None and recorded.get("state") == APPROVED


def read_result(recorded: Mapping[str, Any], operation: str) -> CallResult:
    """The recorded result of an action. Raises ActionFailed or ActionRefused."""
    if not has_state(recorded):
        return CallResult(recorded)
    state = recorded["state"]
    if state != "failed" and state not in NOT_ALLOWED:
        return ActionResult(recorded, operation)
    error, text = (ActionFailed, "failed") if state == "failed" else (ActionRefused, f"was {state}")
    reason = reason_of(recorded)
    raised = error(
        f"{operation} {text}{f': {reason}' if reason else '.'}",
        result=recorded.get("result"),
        action_id=recorded.get("action_id"),
    )
    raised.reason = reason
    raise raised


def reason_of(recorded: Mapping[str, Any]) -> str:
    """Why an action failed or was refused."""
    result = recorded.get("result")
    reason = recorded.get("reason") or (result.get("reason") if isinstance(result, dict) else None)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return str(reason or "")  # pyright: ignore[reportUnknownArgumentType]


def handed_over(recorded: Mapping[str, Any], hand_over: Mapping[str, Any], operation: str) -> ActionResult:
    return ActionResult({**recorded, **hand_over, "state": HANDED_OVER}, operation)


def _shown(result: Any) -> str:
    text = json.dumps(result, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"


# ---- arguments -------------------------------------------------------------------------------------
def proposal_arguments(
    operation_type: object,
    parameters: object,
    reasoning: object,
    confidence: object,
    risk_level: object,
    supporting_data: object,
    instance: object = None,
) -> dict[str, Any]:
    """The arguments as JSON. Raises TypeError or ValueError if one is invalid."""
    if not isinstance(operation_type, str) or not operation_type:
        raise TypeError("propose_action: operation_type must be a non-empty string, such as 'send_email'")
    if not hasattr(parameters, "keys"):
        raise TypeError(f"propose_action: parameters must be a dict, not {type(parameters).__name__}")
    if confidence is not None and fraction(confidence) is None:
        raise ValueError("propose_action: confidence must be a number from 0 to 1, or None")
    if instance is not None and (not isinstance(instance, str) or not 0 < len(instance) <= MAX_INSTANCE):
        raise ValueError(f"propose_action: instance must be a string of 1 to {MAX_INSTANCE} characters, or None")
    arguments: dict[str, Any] = {
        "operation_type": operation_type,
        "parameters": dict(parameters),  # pyright: ignore[reportArgumentType, reportCallIssue]
        "reasoning": str(reasoning),
        "confidence": confidence,
        "risk_level": None if risk_level is None else str(risk_level),
        "supporting_data": supporting_data,
    }
    if instance is not None:
        arguments["instance"] = instance
    try:
        return json.loads(encode(arguments))
    except NotSerializable as error:
        raise TypeError(f"propose_action: the arguments can't be encoded as JSON: {error}") from None


def fraction(value: object) -> float | None:
    """The value, if it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= 1 else None


def reported_result(outcome: object, result: object) -> bytes:
    """The result of an action as JSON. Raises TypeError or ValueError if it can't be reported."""
    if outcome not in OUTCOMES:
        raise ValueError(f"report_outcome: {outcome!r} is not an outcome. Use one of: {', '.join(OUTCOMES)}.")
    try:
        data = encode(result)
    except NotSerializable as error:
        raise TypeError(f"report_outcome: the result can't be encoded as JSON: {error}") from None
    if len(data) > MAX_RESULT_BYTES:
        limit = MAX_RESULT_BYTES // 1024
        raise ValueError(f"report_outcome: the result is larger than {limit} KB. Stage it and report a summary.")
    return data
