"""Exchange messages with the process of a script until its outcome."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

from cairn.core.execution import Failure
from cairn.documents import encode_json
from cairn.ports import Errored, NeedsRework, Outcome, RecordedCall, WorkOrder
from cairn.runners.action_proposals import proposal
from cairn.runners.expected_artifacts import expected
from cairn.runners.limits import RunnerLimits, megabytes
from cairn.runners.mismatches import Mismatch
from cairn.runners.processes.child.actions import MAX_RESULT_BYTES
from cairn.runners.processes.connection import ProtocolError, ProtocolMessage, ScriptConnection
from cairn.runners.recorded_calls import call_text
from cairn.runners.replay_inputs import ReplayInputs, checksum_of
from cairn.runners.result_checks import check_result
from cairn.runners.scripts.action_calls import ScriptCalls
from cairn.runners.scripts.output_log import OutputLog
from cairn.runners.staging import Staging

MAX_ON_LOOP = 256 * 1024  # larger results are checked in a thread


class ScriptSession:
    def __init__(self, work: WorkOrder, output_log: OutputLog, limits: RunnerLimits) -> None:
        self._work = work
        self._output_log = output_log
        self._limits = limits
        self._inputs = ReplayInputs(work)
        self._calls = ScriptCalls(work)
        self._staging = Staging(expected(work.checkpoint))

    async def prepare(self) -> None:
        """Read the inputs now, so that an error is raised before the process starts."""
        await asyncio.to_thread(self._inputs.at_call, 0)

    async def run(self, connection: ScriptConnection) -> Outcome | None:
        """Handle messages until the outcome. Return None if the process ended without a final message."""
        while (message := await connection.receive()) is not None:
            outcome = await self._handle(connection, message)
            if outcome is not None:
                return outcome
            await self._output_log.throttle()
        return None

    async def _handle(self, connection: ScriptConnection, message: ProtocolMessage) -> Outcome | None:
        match message.kind:
            case "log":
                text, details = _pair(await connection.read_value(message))
                self._output_log.add(message.text("level"), str(text), _object(details) or None)
            case "progress":
                fraction, text = message.head.get("fraction"), message.head.get("text")
                is_number = isinstance(fraction, int | float)
                self._work.progress(fraction if is_number else None, text if isinstance(text, str) else None)
            case "inputs":
                number = _number(message)
                await self._calls.return_result(number)
                await connection.send({}, await asyncio.to_thread(self._inputs.at_call, number))
            case "hand_over":
                hand_over = await self._calls.hand_over(_number(message))
                if hand_over is None:
                    await connection.send({"held": True})
                else:
                    await connection.send({}, encode_json(cast("Any", hand_over)))
            case "report":
                result = await connection.read_value(message, MAX_RESULT_BYTES)
                await self._calls.report(message.text("outcome"), result)
                await connection.send({})
            case "read":
                content = await asyncio.to_thread(self._inputs.read, message.head.get("checksum"))
                await connection.send(
                    {} if content is not None else {"error": "The file does not exist."}, content or b""
                )
            case "stage":
                await self._stage(connection, message)
            case "reject":
                self._staging.reject(message.text("name"), message.text("message"), message.text("path") or None)
            case _:
                return await self._finish(connection, message)
        return None

    async def _stage(self, connection: ScriptConnection, message: ProtocolMessage) -> None:
        name, max_bytes = message.text("name"), self._limits.max_file_bytes
        if message.size > max_bytes:
            await connection.skip_body(message)
            self._staging.reject(name, f"the file has {megabytes(message.size)}; the limit is {megabytes(max_bytes)}")
            return
        content = await connection.read_body(message, max_bytes)
        if "type" in message.head:
            self._staging.stage_json(name, content, message.text("type"))
        else:
            self._staging.stage(name, content)

    # The final message
    async def _finish(self, connection: ScriptConnection, message: ProtocolMessage) -> Outcome:
        match message.kind:
            case "returned":
                returned = await connection.read_body(message, self._limits.max_file_bytes)
                await self._calls.assume_done()
                return await self._check_result(returned)
            case "not_serializable":
                text = str(await connection.read_value(message))
                await self._calls.assume_done()
                return await self._check_result(Mismatch(message.text("path"), text))
            case "raised":
                text, trace = _pair(await connection.read_value(message))
                return Errored(Failure(message.text("type") or "Exception", str(text), str(trace)))
            case "pending":
                return await self._pending_call(message, await connection.read_value(message))
            case "mismatch":
                before, now = _pair(await connection.read_value(message))
                return Errored(call_mismatch(_number(message), before, now))
            case _:
                raise ProtocolError(f"{message.kind!r} is not a kind of message")

    async def _check_result(self, returned: bytes | Mismatch) -> Outcome:
        files = self._staging.finish_json(returned, self._work)
        if sum(file.size for file in files.artifacts) <= MAX_ON_LOOP:
            return check_result(self._work, files, self._limits)
        lines: list[tuple[str, str, Any]] = []

        def collect(level: str, message: str, details: Any) -> None:
            lines.append((level, message, details))

        outcome = await asyncio.to_thread(check_result, replace(self._work, log=collect), files, self._limits)
        for line in lines:  # the log can be written only on the event loop
            self._work.log(*line)
        return outcome

    async def _pending_call(self, message: ProtocolMessage, body: Any) -> Outcome:
        kind, arguments = message.text("call"), _object(body)
        if kind not in ("rework", "action"):
            raise ProtocolError(f"{kind!r} is not a kind of call")
        number = _number(message)
        await self._calls.end(number, kind, arguments)
        inputs = await asyncio.to_thread(self._inputs.current)
        call = RecordedCall(number, kind, arguments, None, checksum_of(inputs))
        artifacts = tuple(self._staging.files().artifacts)
        if kind == "action":
            return replace(proposal(arguments, artifacts, call, inputs), is_held=self._calls.is_held(number))
        key, prompt, reason = (str(arguments.get(name, "")) for name in ("checkpoint", "prompt", "reason"))
        return NeedsRework(key, prompt, reason, artifacts, call, inputs)


def call_mismatch(number: int, before: Any, now: Any) -> Failure:
    current = f"it is {_call_text(now)}" if now is not None else "the script returned without it"
    return Failure(
        "nondeterministic_calls",
        f"When a script is called again to continue, it must repeat its earlier calls. Call {number} was"
        f" {_call_text(before)}; now {current}. Calls must not depend on time, chance or files in the workspace.",
    )


def _call_text(call: Any) -> str:
    return call_text(str(_object(call).get("kind")), _object(_object(call).get("arguments")))


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _pair(value: Any) -> tuple[Any, Any]:
    pair = cast("list[Any]", value)
    if not isinstance(value, list) or len(pair) != 2:
        raise ProtocolError("a message has an invalid body")
    return pair[0], pair[1]


def _number(message: ProtocolMessage) -> int:
    number = message.head.get("number")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 1_000_000:
        raise ProtocolError("a message has no valid number")
    return number
