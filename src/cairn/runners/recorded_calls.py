"""Calls of a function that wait for others: made once, given back with their answers when it is called again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from cairn.core.execution import Failure
from cairn.documents import DocumentError, decode_json, encode_json
from cairn.ports import NeedsRework, ProducedFile, ProposesAction, RecordedCall, StoredFile, WorkInputs, WorkOrder
from cairn.runners.action_proposals import call_of, proposal
from cairn.runners.replay_inputs import ReplayInputs, checksum_of

SHOWN = 200  # characters of an argument in a message


class CallPending(BaseException):
    """The call ends here, until it is answered. Whoever catches it hands it on."""

    def __init__(self, number: int, kind: str, arguments: Mapping[str, Any]) -> None:
        super().__init__("the function is called again when this is done: hand this on")
        self.number = number
        self.kind = kind
        self.arguments = arguments


class CallMismatch(BaseException):
    """The function does not make the calls that it made before."""

    def __init__(self, number: int, before: RecordedCall, now: tuple[str, Mapping[str, Any]] | None) -> None:
        super().__init__("the function does not repeat its calls")
        self.number = number
        self.before = before
        self.now = now

    @property
    def failure(self) -> Failure:
        was = _told(self.before.kind, self.before.arguments)
        is_now = f"it is {_told(*self.now)}" if self.now is not None else "the function ended without it"
        return Failure(
            "nondeterministic_calls",
            f"The function was called again to go on, and has to make the same calls again. Its call {self.number} was"
            f" {was}; now {is_now}. Let nothing that it asks for depend on time or chance.",
        )


def _told(kind: str, arguments: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name}={str(value)[:SHOWN]!r}" for name, value in arguments.items())
    return f"{call_of(kind)}({shown})"


class CallResult(dict[str, Any]):
    """What came of a call, by key or by attribute."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True, slots=True)
class _InputsAtCall:
    """What there was to read until a recorded call."""

    input: Any
    previous: tuple[StoredFile, ...]
    references: Mapping[str, tuple[StoredFile, ...]]


class RecordedCalls:
    """The material of a function, and its calls: until each recorded one it sees what it saw before."""

    def __init__(self, work: WorkOrder) -> None:
        self._work = work
        self._views = ReplayInputs(work)
        self._made = 0
        self._shown: _InputsAtCall | WorkInputs = work.material
        self._show(0)

    # ---- what it reads -------------------------------------------------------------------------------------
    @property
    def input(self) -> Any:
        return self._shown.input

    @property
    def previous(self) -> tuple[StoredFile, ...]:
        return self._shown.previous

    @property
    def references(self) -> Mapping[str, tuple[StoredFile, ...]]:
        return self._shown.references

    @property
    def prompt(self) -> str:
        return self._work.material.prompt

    def _show(self, number: int) -> None:
        calls, contents = self._work.calls, self._work.read_content
        if number >= len(calls) or calls[number].result is None or contents is None:
            self._shown = self._work.material
            return
        seen = cast("dict[str, Any]", decode_json(told := self._views.at(number), max_bytes=max(len(told), 1)))

        def stored(one: Mapping[str, Any]) -> StoredFile:
            checksum = one["checksum"]
            return StoredFile(
                one["name"], one["format"], checksum, one["size"], lambda: contents(checksum), one["path"]
            )

        references = {key: tuple(map(stored, files)) for key, files in seen["references"].items()}
        self._shown = _InputsAtCall(seen["input"], tuple(map(stored, seen["previous"])), references)

    # ---- what it waits for ---------------------------------------------------------------------------------
    def request_rework(self, checkpoint: str, prompt: str, reason: str) -> CallResult:
        return self._call("rework", {"checkpoint": str(checkpoint), "prompt": str(prompt), "reason": str(reason)})

    def propose_action(self, arguments: Mapping[str, Any]) -> CallResult:
        try:
            written = encode_json(dict(arguments))
        except DocumentError as error:
            raise TypeError(f"the action cannot be written as JSON: {error}") from None
        return self._call("action", cast("dict[str, Any]", decode_json(written, max_bytes=len(written))))

    def _call(self, kind: str, arguments: Mapping[str, Any]) -> CallResult:
        number, calls = self._made, self._work.calls
        self._made += 1
        if number < len(calls):
            if (calls[number].kind, dict(calls[number].arguments)) != (kind, arguments):
                raise CallMismatch(number + 1, calls[number], (kind, arguments))
            answer = calls[number].result
            if answer is not None:
                self._show(number + 1)
                return CallResult(answer)
        raise CallPending(number + 1, kind, arguments)

    def check_repeated(self) -> None:
        """Calls that were made before have been made again."""
        if self._made < len(self._work.calls):
            raise CallMismatch(self._made + 1, self._work.calls[self._made], None)

    def wanted(
        self, waits: CallPending, artifacts: tuple[ProducedFile | StoredFile, ...]
    ) -> NeedsRework | ProposesAction:
        said, seen = waits.arguments, self._views.now()
        call = RecordedCall(waits.number, waits.kind, said, None, checksum_of(seen))
        if waits.kind == "action":
            return proposal(said, artifacts, call, seen)
        return NeedsRework(said["checkpoint"], said["prompt"], said["reason"], artifacts, call, seen)
