"""Scripts: Python functions that run in processes of their own."""

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
from cairn.runners.limits import RunnerLimits
from cairn.runners.processes.child import main as calling  # imported here, it is compiled for every process that starts
from cairn.runners.processes.connection import ProtocolError, ScriptConnection
from cairn.runners.processes.lifecycle import await_shielded, running_process
from cairn.runners.scripts.output_log import STREAMS, OutputLog, follow
from cairn.runners.scripts.policy import ScriptPolicy
from cairn.runners.scripts.script_folder import find_script, furnish
from cairn.runners.scripts.session import ScriptSession

CHILD = Path(calling.__file__).with_name("start.py")
QUESTION = "question"  # the kind of a call by which people are asked for parameters
SIMULATED = "simulated:"  # begins the name of a model that understands nobody: people fill in the plain form
ENDING = 2.0  # seconds that a process has to end by itself when all is said
DRAINING = 2.0  # seconds for what it has printed last


class ScriptRunner:
    """Starts a process for each dispatch. Cancelled, it ends the process with all that it has started."""

    def __init__(
        self,
        sandbox: Sandbox,
        rules: ScriptPolicy | None = None,
        limits: RunnerLimits | None = None,
        resources: AgentResources | None = None,
    ) -> None:
        """`resources`: where there are models to ask people for parameters."""
        self._sandbox = sandbox
        self._rules = rules or ScriptPolicy()
        self._limits = limits or RunnerLimits()
        self._resources = resources

    async def run(self, work: WorkOrder) -> Outcome:
        config = work.checkpoint.execution.script_config
        if config is None:
            return Errored(Failure("script_not_found", "The checkpoint names no script."))
        answers = await self._answers(config, work) if config.requires_user_input else {}
        if isinstance(answers, NeedsInput):
            return answers
        asked = [call for call in work.calls if call.kind == QUESTION]
        own = (call for call in work.calls if call.kind != QUESTION)
        work = replace(work, calls=tuple(replace(call, number=number) for number, call in enumerate(own, 1)))
        return _numbered(await self._run_script(config, work, answers), len(asked))

    async def _answers(self, config: ScriptConfig, work: WorkOrder) -> dict[str, Any] | NeedsInput:
        """What people have entered, or what they are asked: by a model, or by a plain form."""
        has_rounds = any(call.kind == QUESTION for call in work.calls)
        if isinstance(work.answer, dict) and not has_rounds:
            return cast("dict[str, Any]", work.answer)
        if self._resources is None or (self._resources.models.default.startswith(SIMULATED) and not has_rounds):
            return NeedsInput(WaitingOn.SCRIPT_INPUT, form_question(config))
        await import_agents()
        from cairn.runners.agents.parameter_questions import parameters_or_question

        return await parameters_or_question(config, work, self._resources)

    async def _run_script(self, config: ScriptConfig, work: WorkOrder, answers: Mapping[str, Any]) -> Outcome:
        reached = await asyncio.to_thread(self._sandbox.probe)
        script = find_script(config, work)
        fault = script if isinstance(script, Failure) else self._objection(config, reached)
        if fault is not None:
            return Errored(fault)
        talk = ScriptSession(work, book := OutputLog(work, self._rules), self._limits)
        await talk.prepare()
        begin = self._begin(config, work, str(script), answers)
        job = ProcessSpec(
            name=work.execution_id,
            python=config.python or sys.executable,
            child=CHILD,
            workspace=work.workspace,
            scripts=await asyncio.to_thread(furnish, config, work),
            limits=self._rules.bounds_for(config),
        )
        _announce(work, reached, job)
        async with running_process(self._sandbox, job) as process:
            return await _converse(process, talk, begin, book)

    def _objection(self, config: ScriptConfig, reached: SandboxStatus) -> Failure | None:
        if (weak := self._rules.too_weak(reached)) is not None:
            return weak
        told = self._rules.objections(config)
        return Failure("not_allowed", " ".join(told)) if told else None

    def _begin(self, config: ScriptConfig, work: WorkOrder, script: str, answers: Mapping[str, Any]) -> bytes:
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
                    {"kind": call.kind, "arguments": dict(call.arguments), "answer": _plain(call.result)}
                    for call in work.calls
                ],
            }
        )


def _numbered(outcome: Outcome, before: int) -> Outcome:
    """Calls of the script come after those by which its parameters were asked for."""
    if before and isinstance(outcome, NeedsRework | ProposesAction) and outcome.call is not None:
        return replace(outcome, call=replace(outcome.call, number=outcome.call.number + before))
    return outcome


async def _converse(process: Process, talk: ScriptSession, begin: bytes, book: OutputLog) -> Outcome:
    line = await ScriptConnection.open(process)
    printed = [
        asyncio.ensure_future(follow(file, stream, level, book))
        for file, (stream, level) in zip(process.output, STREAMS, strict=True)
    ]
    outcome: Outcome | None = None
    try:
        with contextlib.suppress(ConnectionError):
            await line.send({}, begin)
        try:
            outcome = await talk.carry_on(line)
        except ProtocolError as error:
            return Errored(Failure("protocol_error", f"The script's process sent what nobody understands: {error}."))
        except ConnectionError:
            outcome = None
        if outcome is None:
            return Errored(_ended(await process.wait()))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), ENDING)
        return outcome
    finally:
        line.close()
        await await_shielded(_drain(process, printed))


async def _drain(process: Process, printed: Sequence[asyncio.Future[None]]) -> None:
    """What it has printed last is still said; who holds the pipes open after that is killed first."""
    await process.kill()
    await asyncio.wait(printed, timeout=DRAINING)
    for one in printed:
        one.cancel()
    await asyncio.gather(*printed, return_exceptions=True)


def _announce(work: WorkOrder, reached: SandboxStatus, job: ProcessSpec) -> None:
    network = "with the network" if job.limits.network or reached.level is SandboxLevel.PROCESS else "without network"
    work.log("info", f"Sandbox: {reached.level.value}, {network}.", {"sandbox": reached.level.value})
    if work.on_sandboxed is not None:
        work.on_sandboxed(reached)


def _ended(status: int) -> Failure:
    """It has said nothing at its end."""
    number = -status if status < 0 else status - 128
    if number in {one.value for one in signal.Signals}:
        name = signal.Signals(number).name
        more = " Perhaps it needed more memory than there is." if number == signal.SIGKILL else ""
        return Failure("process_killed", f"The script's process was ended by {name} before it returned.{more}")
    return Failure("process_exited", f"The script's process ended with status {status} before it returned.")


def _plain(answer: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if answer is None else dict(answer)
