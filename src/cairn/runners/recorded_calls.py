"""Calls of a function that wait for a result. When the function is called again, recorded calls return the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from cairn.core.execution import Failure
from cairn.documents import decode_json
from cairn.ports import NeedsRework, ProducedFile, ProposesAction, RecordedCall, StoredFile, WorkInputs, WorkOrder
from cairn.runners.action_proposals import method_name, proposal
from cairn.runners.replay_inputs import ReplayInputs, checksum_of

MAX_ARGUMENT = 200  # characters in a message


class CallPending(BaseException):
    """Ends the function because a call has no result yet. Code that catches it must raise it again."""

    def __init__(self, number: int, kind: str, arguments: Mapping[str, Any], *, is_held: bool = False) -> None:
        super().__init__("The function will be called again when the result is available. Do not catch this exception.")
        self.number = number
        self.kind = kind
        self.arguments = arguments
        self.is_held = is_held  # the action is approved, but can't start now


class CallMismatch(BaseException):
    """The function did not repeat its earlier calls."""

    def __init__(self, number: int, before: RecordedCall, now: tuple[str, Mapping[str, Any]] | None) -> None:
        super().__init__("The function did not repeat its earlier calls.")
        self.number = number
        self.before = before
        self.now = now

    @property
    def failure(self) -> Failure:
        before = call_text(self.before.kind, self.before.arguments)
        current = f"it is {call_text(*self.now)}" if self.now is not None else "the function returned without it"
        return Failure(
            "nondeterministic_calls",
            f"When a function is called again to continue, it must repeat its earlier calls. Call {self.number} was"
            f" {before}; now {current}. Calls must not depend on time or chance.",
        )


def call_text(kind: str, arguments: Mapping[str, Any]) -> str:
    """The call as Python code, for messages."""
    argument_text = ", ".join(f"{name}={str(value)[:MAX_ARGUMENT]!r}" for name, value in arguments.items())
    return f"{method_name(kind)}({argument_text})"


@dataclass(frozen=True, slots=True)
class _InputsAtCall:
    """The inputs that were recorded with a call."""

    input: Any
    previous: tuple[StoredFile, ...]
    references: Mapping[str, tuple[StoredFile, ...]]


class RecordedCalls:
    """The calls and inputs of a function. Up to each recorded call, it sees the inputs recorded with that call."""

    def __init__(self, work: WorkOrder) -> None:
        self._work = work
        self._replay = ReplayInputs(work)
        self._call_count = 0
        self._inputs: _InputsAtCall | WorkInputs = work.material
        self._set_inputs(0)

    # WorkInputs
    @property
    def input(self) -> Any:
        return self._inputs.input

    @property
    def previous(self) -> tuple[StoredFile, ...]:
        return self._inputs.previous

    @property
    def references(self) -> Mapping[str, tuple[StoredFile, ...]]:
        return self._inputs.references

    @property
    def prompt(self) -> str:
        return self._work.material.prompt

    def _set_inputs(self, number: int) -> None:
        """Set the inputs that the function sees after `number` calls."""
        calls, read_content = self._work.calls, self._work.read_content
        if number >= len(calls) or calls[number].result is None or read_content is None:
            self._inputs = self._work.material
            return
        content = self._replay.at_call(number)
        recorded = cast("dict[str, Any]", decode_json(content, max_bytes=max(len(content), 1)))

        def stored(file: Mapping[str, Any]) -> StoredFile:
            checksum = file["checksum"]
            return StoredFile(
                file["name"], file["format"], checksum, file["size"], lambda: read_content(checksum), file["path"]
            )

        references = {key: tuple(map(stored, files)) for key, files in recorded["references"].items()}
        self._inputs = _InputsAtCall(recorded["input"], tuple(map(stored, recorded["previous"])), references)

    # Calls
    def next_call(self, kind: str, arguments: Mapping[str, Any]) -> RecordedCall:
        """The recorded call that is made again now. Raises CallMismatch, or CallPending if there is none."""
        number, calls = self._call_count, self._work.calls
        self._call_count += 1
        if number < len(calls) and (calls[number].kind, dict(calls[number].arguments)) != (kind, arguments):
            raise CallMismatch(number + 1, calls[number], (kind, arguments))
        if number < len(calls) and calls[number].result is not None:
            return replace(calls[number], number=number + 1)
        raise CallPending(number + 1, kind, arguments)

    def update_inputs(self) -> None:
        """From now on, the function sees the inputs as they were after its last call."""
        self._set_inputs(self._call_count)

    def check_repeated(self) -> None:
        """Raise CallMismatch unless all recorded calls were made again."""
        if self._call_count < len(self._work.calls):
            raise CallMismatch(self._call_count + 1, self._work.calls[self._call_count], None)

    def outcome_of(
        self, pending: CallPending, artifacts: tuple[ProducedFile | StoredFile, ...]
    ) -> NeedsRework | ProposesAction:
        arguments, inputs = pending.arguments, self._replay.current()
        call = RecordedCall(pending.number, pending.kind, arguments, None, checksum_of(inputs))
        if pending.kind == "action":
            return replace(proposal(arguments, artifacts, call, inputs), is_held=pending.is_held)
        return NeedsRework(arguments["checkpoint"], arguments["prompt"], arguments["reason"], artifacts, call, inputs)
