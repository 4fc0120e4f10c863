"""The conversation with a script's process, from its beginning to what came of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

from cairn.core.execution import Failure
from cairn.ports import Errored, NeedsRework, Outcome, RecordedCall, WorkOrder
from cairn.runners.action_proposals import call_of, proposal
from cairn.runners.expected_artifacts import expected
from cairn.runners.limits import RunnerLimits, megabytes
from cairn.runners.mismatches import Mismatch
from cairn.runners.processes.connection import ProtocolError, ProtocolMessage, ScriptConnection
from cairn.runners.replay_inputs import ReplayInputs, checksum_of
from cairn.runners.result_checks import check_result
from cairn.runners.scripts.output_log import OutputLog
from cairn.runners.staging import Staging

AT_ONCE = 256 * 1024  # more than this is looked at beside the event loop
SHOWN = 200  # characters of an argument in a message


class ScriptSession:
    def __init__(self, work: WorkOrder, book: OutputLog, limits: RunnerLimits) -> None:
        self._work = work
        self._book = book
        self._limits = limits
        self._views = ReplayInputs(work)
        self._staging = Staging(expected(work.checkpoint))

    async def prepare(self) -> None:
        """Bring together what it reads: what is missing is told before a process is started."""
        await asyncio.to_thread(self._views.at, 0)

    async def carry_on(self, line: ScriptConnection) -> Outcome | None:
        """What came of it; None if the process ended without a word."""
        while (message := await line.receive()) is not None:
            outcome = await self._take(line, message)
            if outcome is not None:
                return outcome
            await self._book.breathe()
        return None

    async def _take(self, line: ScriptConnection, message: ProtocolMessage) -> Outcome | None:
        match message.kind:
            case "log":
                text, details = _pair(await line.read_value(message))
                self._book.say(message.text("level"), str(text), _object(details) or None)
            case "progress":
                fraction, text = message.head.get("fraction"), message.head.get("text")
                is_number = isinstance(fraction, int | float)
                self._work.progress(fraction if is_number else None, text if isinstance(text, str) else None)
            case "see":
                content = await asyncio.to_thread(self._views.at, _number(message))
                await line.send({}, content)
            case "read":
                content = await asyncio.to_thread(self._views.read, message.head.get("checksum"))
                await line.send({} if content is not None else {"error": "There is no such file."}, content or b"")
            case "stage":
                await self._stage(line, message)
            case "refuse":
                self._staging.reject(message.text("name"), message.text("message"), message.text("path") or None)
            case _:
                return await self._end(line, message)
        return None

    async def _stage(self, line: ScriptConnection, message: ProtocolMessage) -> None:
        name, most = message.text("name"), self._limits.max_file_bytes
        if message.size > most:
            await line.skip_body(message)
            self._staging.reject(name, f"it has {megabytes(message.size)}; at most {megabytes(most)} are taken")
            return
        content = await line.read_body(message, most)
        if "type" in message.head:
            self._staging.stage_json(name, content, message.text("type"))
        else:
            self._staging.stage(name, content)

    # ---- the last message ------------------------------------------------------------------------------
    async def _end(self, line: ScriptConnection, message: ProtocolMessage) -> Outcome:
        match message.kind:
            case "returned":
                returned = await line.read_body(message, self._limits.max_file_bytes)
                return await self._judge(returned)
            case "unwritable":
                return await self._judge(Mismatch(message.text("path"), str(await line.read_value(message))))
            case "raised":
                text, trace = _pair(await line.read_value(message))
                return Errored(Failure(message.text("type") or "Exception", str(text), str(trace)))
            case "waits":
                return await self._wait(message, await line.read_value(message))
            case "differs":
                before, now = _pair(await line.read_value(message))
                return Errored(differs(_number(message), before, now))
            case _:
                raise ProtocolError(f"there are no messages of the kind {message.kind!r}")

    async def _judge(self, returned: bytes | Mismatch) -> Outcome:
        made = self._staging.finish_json(returned, self._work)
        if sum(one.size for one in made.artifacts) <= AT_ONCE:
            return check_result(self._work, made, self._limits)
        said: list[tuple[str, str, Any]] = []

        def note(level: str, message: str, details: Any) -> None:
            said.append((level, message, details))

        outcome = await asyncio.to_thread(check_result, replace(self._work, log=note), made, self._limits)
        for line in said:  # the log is the event loop's
            self._work.log(*line)
        return outcome

    async def _wait(self, message: ProtocolMessage, arguments: Any) -> Outcome:
        kind = message.text("call")
        if kind not in ("rework", "action"):
            raise ProtocolError("nobody waits for that")
        said = _object(arguments)
        if kind == "action":
            seen = await asyncio.to_thread(self._views.now)
            call = RecordedCall(_number(message), kind, said, None, checksum_of(seen))
            return proposal(said, tuple(self._staging.files().artifacts), call, seen)
        key, prompt, reason = (str(said.get(name, "")) for name in ("checkpoint", "prompt", "reason"))
        seen = await asyncio.to_thread(self._views.now)
        call = RecordedCall(_number(message), "rework", said, None, checksum_of(seen))
        return NeedsRework(key, prompt, reason, tuple(self._staging.files().artifacts), call, seen)


def differs(number: int, before: Any, now: Any) -> Failure:
    """The script does not repeat itself: which call, what it was, what it is."""
    is_now = f"it is {_call(now)}" if now is not None else "the script ended without it"
    return Failure(
        "nondeterministic_calls",
        f"The script was called again to go on, and has to make the same calls again. Its call {number} was"
        f" {_call(before)}; now {is_now}. Let nothing that it asks for depend on time, chance or what it left in the"
        " workspace.",
    )


def _call(told: Any) -> str:
    kind, arguments = str(_object(told).get("kind")), _object(_object(told).get("arguments"))
    shown = ", ".join(f"{name}={str(value)[:SHOWN]!r}" for name, value in arguments.items())
    return f"{call_of(kind)}({shown})"


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _pair(value: Any) -> tuple[Any, Any]:
    pair = cast("list[Any]", value)
    if not isinstance(value, list) or len(pair) != 2:
        raise ProtocolError("a message is not whole")
    return pair[0], pair[1]


def _number(message: ProtocolMessage) -> int:
    number = message.head.get("number")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 1_000_000:
        raise ProtocolError("a message has no number")
    return number
