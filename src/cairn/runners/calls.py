"""Calls of a function that wait for others: made once, given back with their answers when it is called again (X11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from cairn.core.model import Fault
from cairn.documents import decode_json
from cairn.ports import Call, Content, Material, Stored, WantsRework, Work
from cairn.runners.script_seen import Views, checksum_of

SHOWN = 200  # characters of an argument in a message


class Waits(BaseException):
    """The call ends here, until it is answered. Whoever catches it hands it on."""

    def __init__(self, number: int, arguments: Mapping[str, str]) -> None:
        super().__init__("the function is called again when this is done: hand this on")
        self.number = number
        self.arguments = arguments


class Differs(BaseException):
    """The function does not make the calls that it made before."""

    def __init__(self, number: int, before: Call, now: Mapping[str, str] | None) -> None:
        super().__init__("the function does not repeat its calls")
        self.number = number
        self.before = before
        self.now = now

    @property
    def fault(self) -> Fault:
        is_now = f"it is {_told(self.now)}" if self.now is not None else "the function ended without it"
        return Fault(
            "not_repeated",
            f"The function was called again to go on, and has to make the same calls again. Its call {self.number} was"
            f" {_told(self.before.arguments)}; now {is_now}. Let nothing that it asks for depend on time or chance.",
        )


def _told(arguments: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name}={str(value)[:SHOWN]!r}" for name, value in arguments.items())
    return f"request_rework({shown})"


class Answer(dict[str, Any]):
    """What came of a call, by key or by attribute: `ended`, `reason`, `execution_id`, `artifacts`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True, slots=True)
class _Then:
    """What there was to read until a recorded call."""

    input: Any
    previous: tuple[Stored, ...]
    references: Mapping[str, tuple[Stored, ...]]


class Recorded:
    """The material of a function, and its calls: until each recorded one it sees what it saw before."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._views = Views(work)
        self._made = 0
        self._shown: _Then | Material = work.material
        self._show(0)

    # ---- what it reads -------------------------------------------------------------------------------------
    @property
    def input(self) -> Any:
        return self._shown.input

    @property
    def previous(self) -> tuple[Stored, ...]:
        return self._shown.previous

    @property
    def references(self) -> Mapping[str, tuple[Stored, ...]]:
        return self._shown.references

    @property
    def prompt(self) -> str:
        return self._work.material.prompt

    def _show(self, number: int) -> None:
        calls, contents = self._work.calls, self._work.contents
        if number >= len(calls) or calls[number].answer is None or contents is None:
            self._shown = self._work.material
            return
        seen = cast("dict[str, Any]", decode_json(told := self._views.at(number), max_bytes=max(len(told), 1)))

        def stored(one: Mapping[str, Any]) -> Stored:
            checksum = one["checksum"]
            return Stored(one["name"], one["format"], checksum, one["size"], lambda: contents(checksum), one["path"])

        references = {key: tuple(map(stored, files)) for key, files in seen["references"].items()}
        self._shown = _Then(seen["input"], tuple(map(stored, seen["previous"])), references)

    # ---- what it waits for ---------------------------------------------------------------------------------
    def request_rework(self, checkpoint: str, prompt: str, reason: str) -> Answer:
        arguments = {"checkpoint": str(checkpoint), "prompt": str(prompt), "reason": str(reason)}
        number, calls = self._made, self._work.calls
        self._made += 1
        if number < len(calls):
            if dict(calls[number].arguments) != arguments:
                raise Differs(number + 1, calls[number], arguments)
            answer = calls[number].answer
            if answer is not None:
                self._show(number + 1)
                return Answer(answer)
        raise Waits(number + 1, arguments)

    def check_repeated(self) -> None:
        """Calls that were made before have been made again."""
        if self._made < len(self._work.calls):
            raise Differs(self._made + 1, self._work.calls[self._made], None)

    def wanted(self, waits: Waits, artifacts: tuple[Content | Stored, ...]) -> WantsRework:
        said, seen = waits.arguments, self._views.now()
        call = Call(waits.number, "rework", said, None, checksum_of(seen))
        return WantsRework(said["checkpoint"], said["prompt"], said["reason"], artifacts, call, seen)
