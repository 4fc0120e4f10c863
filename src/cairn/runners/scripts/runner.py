"""Run scripts: Python functions in their own sandboxed processes."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from cairn.core.execution import Failure
from cairn.core.states import WaitingOn
from cairn.definitions.execution_config import ScriptConfig
from cairn.definitions.script_forms import form_question
from cairn.documents import encode_json
from cairn.ports import (
    Errored,
    NeedsInput,
    NeedsRework,
    Outcome,
    Process,
    ProcessSpec,
    ProposesAction,
    Sandbox,
    SandboxLevel,
    SandboxStatus,
    WorkOrder,
)
from cairn.runners.agents.resources import AgentResources
from cairn.runners.agents.runner import import_agents
from cairn.runners.hand_overs import OffsetDoor
from cairn.runners.limits import RunnerLimits
from cairn.runners.processes.child import main  # importing it compiles it once for all child processes
from cairn.runners.processes.connection import ProtocolError, ScriptConnection
from cairn.runners.processes.lifecycle import await_shielded, running_process
from cairn.runners.scripts.output_log import STREAMS, OutputLog, log_output
from cairn.runners.scripts.policy import ScriptPolicy
from cairn.runners.scripts.script_folder import find_script, write_scripts
from cairn.runners.scripts.session import ScriptSession

CHILD = Path(main.__file__).with_name("start.py")
QUESTION = "question"  # the kind of a call that asks people for parameters
SIMULATED = "simulated:"  # prefix of simulated models; they can't ask questions, so people get a plain form
EXIT_SECONDS = 2.0  # for a process to exit after its final message
DRAIN_SECONDS = 2.0  # to read the last output of a process


class ScriptRunner:
    """Starts a process for each dispatch. Cancellation kills it and everything that it started."""

    def __init__(
        self,
        sandbox: Sandbox,
        policy: ScriptPolicy | None = None,
        limits: RunnerLimits | None = None,
        resources: AgentResources | None = None,
    ) -> None:
        """`resources`: for a model that asks people for the parameters of a script."""
        self._sandbox = sandbox
        self._policy = policy or ScriptPolicy()
        self._limits = limits or RunnerLimits()
        self._resources = resources

    async def run(self, work: WorkOrder) -> Outcome:
        config = work.checkpoint.execution.script_config
        if config is None:
            return Errored(Failure("script_not_found", "The checkpoint does not name a script."))
        answers = await self._answers(config, work) if config.requires_user_input else {}
        if isinstance(answers, NeedsInput):
            return answers
        questions = [call for call in work.calls if call.kind == QUESTION]
        script_calls = (call for call in work.calls if call.kind != QUESTION)
        calls = tuple(replace(call, number=number) for number, call in enumerate(script_calls, 1))
        work = replace(work, calls=calls, actions=work.actions and OffsetDoor(work.actions, len(questions)))
        return _renumbered(await self._run_script(config, work, answers), len(questions))

    async def _answers(self, config: ScriptConfig, work: WorkOrder) -> dict[str, Any] | NeedsInput:
        """The parameters that people entered, or the question or form that asks for them."""
        has_questions = any(call.kind == QUESTION for call in work.calls)
        if isinstance(work.answer, dict) and not has_questions:
            return cast("dict[str, Any]", work.answer)
        if self._resources is None or (self._resources.models.default.startswith(SIMULATED) and not has_questions):
            return NeedsInput(WaitingOn.SCRIPT_INPUT, form_question(config))
        await import_agents()
        from cairn.runners.agents.parameter_questions import parameters_or_question

        return await parameters_or_question(config, work, self._resources)

    async def _run_script(self, config: ScriptConfig, work: WorkOrder, answers: Mapping[str, Any]) -> Outcome:
        status = await asyncio.to_thread(self._sandbox.probe)
        script = find_script(config, work)
        failure = script if isinstance(script, Failure) else self._policy_violation(config, status)
        if failure is not None:
            return Errored(failure)
        output_log = OutputLog(work, self._policy)
        session = ScriptSession(work, output_log, self._limits)
        await session.prepare()
        order = self._order(config, work, str(script), answers)
        spec = ProcessSpec(
            name=work.execution_id,
            python=config.python or sys.executable,
            child=CHILD,
            workspace=work.workspace,
            scripts=await asyncio.to_thread(write_scripts, config, work),
            limits=self._policy.limits_for(config),
        )
        _log_sandbox(work, status, spec)
        async with running_process(self._sandbox, spec) as process:
            return await _run_session(process, session, order, output_log)

    def _policy_violation(self, config: ScriptConfig, status: SandboxStatus) -> Failure | None:
        if (failure := self._policy.check_sandbox(status)) is not None:
            return failure
        violations = self._policy.violations(config)
        return Failure("not_allowed", " ".join(violations)) if violations else None

    def _order(self, config: ScriptConfig, work: WorkOrder, script: str, answers: Mapping[str, Any]) -> bytes:
        return encode_json(
            {
                "script": script,
                "entry_function": config.entry_function,
                "parameters": {**config.parameters, **answers},
                "feedback": list(work.feedback),
                "attempt": work.attempt,
                "revision": work.revision,
                "max_file_bytes": self._limits.max_file_bytes,
                "calls": [
                    {"kind": call.kind, "arguments": dict(call.arguments), "result": _as_dict(call.result)}
                    for call in work.calls
                ],
            }
        )


def _renumbered(outcome: Outcome, question_count: int) -> Outcome:
    """Number the script's calls after the questions for its parameters."""
    if question_count and isinstance(outcome, NeedsRework | ProposesAction) and outcome.call is not None:
        return replace(outcome, call=replace(outcome.call, number=outcome.call.number + question_count))
    return outcome


async def _run_session(process: Process, session: ScriptSession, order: bytes, output_log: OutputLog) -> Outcome:
    connection = await ScriptConnection.open(process)
    readers = [
        asyncio.ensure_future(log_output(file, stream, level, output_log))
        for file, (stream, level) in zip(process.output, STREAMS, strict=True)
    ]
    outcome: Outcome | None = None
    try:
        with contextlib.suppress(ConnectionError):
            await connection.send({}, order)
        try:
            outcome = await session.run(connection)
        except ProtocolError as error:
            return Errored(Failure("protocol_error", f"The script's process sent an invalid message: {error}."))
        except ConnectionError:
            outcome = None
        if outcome is None:
            return Errored(_unexpected_exit(await process.wait()))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), EXIT_SECONDS)
        return outcome
    finally:
        connection.close()
        await await_shielded(_drain(process, readers))


async def _drain(process: Process, readers: Sequence[asyncio.Future[None]]) -> None:
    """Log the last output. The process is killed first, because its children could keep the pipes open."""
    await process.kill()
    await asyncio.wait(readers, timeout=DRAIN_SECONDS)
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)


def _log_sandbox(work: WorkOrder, status: SandboxStatus, spec: ProcessSpec) -> None:
    has_network = spec.limits.network or status.level is SandboxLevel.PROCESS
    network = "with network access" if has_network else "without network access"
    work.log("info", f"Sandbox: {status.level.value}, {network}.", {"sandbox": status.level.value})
    if work.on_sandboxed is not None:
        work.on_sandboxed(status)


def _unexpected_exit(status: int) -> Failure:
    """The failure of a process that exited without a final message."""
    number = -status if status < 0 else status - 128
    if number in {known.value for known in signal.Signals}:
        name = signal.Signals(number).name
        more = " It may have run out of memory." if number == signal.SIGKILL else ""
        return Failure("process_killed", f"The script's process was killed by {name} before it returned.{more}")
    return Failure("process_exited", f"The script's process exited with status {status} before it returned.")


def _as_dict(result: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if result is None else dict(result)
