"""From a checkpoint to its result: who speaks, with which model and tools, and what comes of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from cairn.core.execution import Failure
from cairn.definitions.agent_resolution import agents_of
from cairn.definitions.enums import CreationMode
from cairn.definitions.execution_config import Agent, AgentConfig
from cairn.ports import Errored, Outcome, ProducedFile, ResolvedInputs, StoredFile, WorkOrder
from cairn.ports.conversation import ConversationClosed, Purpose
from cairn.ports.models import ChosenModel, ModelCallContext, ModelError
from cairn.runners.agents.answer_schema import AnswerSchema
from cairn.runners.agents.answers import AgentAnswer
from cairn.runners.agents.discussions import discuss
from cairn.runners.agents.faults import fault_of
from cairn.runners.agents.prompts import FILES, compose
from cairn.runners.agents.resources import AgentResources
from cairn.runners.agents.result_formats import FilesResult, ObjectResult, Result, TextResult, result_of
from cairn.runners.agents.roles import TurnRole, design_part, single, tools_of
from cairn.runners.agents.staged_files import collect, give_back_names, open_jail
from cairn.runners.agents.summaries import sum_up
from cairn.runners.agents.team_design import check_design, designed, shape_of
from cairn.runners.agents.tool_session import ToolSession
from cairn.runners.agents.tools.code import ToolNotAvailable
from cairn.runners.agents.tools.deferred import answer_of, outcome_of
from cairn.runners.agents.tools.jail import Jail
from cairn.runners.agents.transcript import InMemoryConversation, Transcript
from cairn.runners.agents.turns import Turn, TurnLoop, TurnPaused
from cairn.runners.errors import ContextTooLong
from cairn.runners.expected_artifacts import expected
from cairn.runners.mismatches import Mismatch
from cairn.runners.processes.lifecycle import to_its_end
from cairn.runners.prompt_context import check_length, to_summarise
from cairn.runners.result_checks import judge
from cairn.runners.staging import Staging


async def run_session(work: WorkOrder, office: AgentResources) -> Outcome:
    if unknown := [agent.library_agent for agent in agents_of(work.checkpoint) if agent.library_agent]:
        told = f"The agent library has no agent {unknown[0]!r}: save it, or have the checkpoint name another."
        return Errored(Failure("unknown_agent", told, is_final=True))
    try:
        working = await AgentSession.begin(work, office)
        try:
            return await working.run()
        except TurnPaused as pauses:
            return outcome_of(pauses.waiting, work, await working.staged())
        finally:
            await to_its_end(working.equipment.close())
    except ModelError as fault:
        return Errored(fault_of(fault))
    except (ContextTooLong, ToolNotAvailable) as error:
        return Errored(replace(error.fault, is_final=True))
    except ConversationClosed as error:
        return Errored(Failure("stopped", str(error)))


class AgentSession:
    """One dispatch of an agentic checkpoint."""

    def __init__(
        self, work: WorkOrder, office: AgentResources, floor: TurnLoop, found: ResolvedInputs, jail: Jail
    ) -> None:
        self.work = work
        self.office = office
        self.floor = floor
        self.found = found
        self.jail = jail
        self.equipment = ToolSession(work, office, jail)
        self.config = work.checkpoint.execution.agent_config or AgentConfig()

    @classmethod
    async def begin(cls, work: WorkOrder, office: AgentResources) -> AgentSession:
        minutes = await Transcript.open(work.conversation or InMemoryConversation(), office.models)
        found = await asyncio.to_thread(lambda: work.material.resolved_inputs)
        wanted = expected(work.checkpoint)
        jail = await asyncio.to_thread(open_jail, work, wanted)
        await asyncio.to_thread(give_back_names, jail, wanted)
        floor = TurnLoop(minutes, office.models, lambda waiting: answer_of(waiting, work), work.log)
        return cls(work, office, floor, found, jail)

    async def sum_up(self) -> None:
        """Before anybody reads it: what is long and may be given as a summary."""
        work = self.work
        long = await asyncio.to_thread(to_summarise, work.checkpoint, self.found, self.office.limits)
        if not long:
            return
        chosen = await self.choose()
        for checksum, one in long.items():
            summary = self.found.summaries.get(checksum, {}).get(chosen.name)
            await work.material.save_summary(checksum, chosen.name, summary or await sum_up(self.floor, chosen, one))
        self.found = await asyncio.to_thread(lambda: work.material.resolved_inputs)

    async def run(self) -> Outcome:
        await self.sum_up()
        match self.config.creation_mode:
            case CreationMode.SINGLE:
                agent = single(self.work.checkpoint)
                answer = await self.speak("work", TurnRole(agent))
            case CreationMode.PREDEFINED:
                answer, agent = await discuss(self.speak, self.config.agents, self.config)
            case CreationMode.META_AGENT:
                answer, agent = await discuss(self.speak, await self.design(), self.config)
        return await self.conclude(answer, agent)

    async def design(self) -> tuple[Agent, ...]:
        """The agents that the meta-agent sets up."""
        part = design_part(self.config)
        turn = replace(
            await self.turn("design", part),
            purpose=Purpose.DESIGN,
            shape=shape_of(self.config),
            check=partial(check_design, self.config),
        )
        agents = designed(self.config, await self.floor.hold(turn))
        told = "; ".join(f"{agent.name}: {agent.role}" for agent in agents)
        self.work.log("info", f"{part.agent.name} has set up {told}", None)
        return agents

    # ---- one turn --------------------------------------------------------------------------------------------
    async def speak(self, name: str, part: TurnRole) -> AgentAnswer:
        """An agent's turn, with the result at its end if that is its part."""
        self.work.progress(None, f"{part.agent.name} is at work")
        return await self.floor.hold(await self.turn(name, part))

    async def turn(self, name: str, part: TurnRole) -> Turn:
        chosen = await self.choose(part.agent)
        told = await asyncio.to_thread(compose, self.work.checkpoint, self.found, part, self.office.limits)
        said = [(f"what {one.speaker} has said", len(one.text)) for one in part.statements]
        check_length(told, self.office.limits.max_context_length, said)
        result = self.result_of(part.agent) if part.makes_result else None
        return Turn(
            name=name,
            speaker=part.agent.name or "Agent",
            purpose=Purpose.WORK,
            chosen=chosen,
            system=told.system,
            prompt=told.task,
            given_by=self.work.checkpoint.checkpoint_name,
            tools=await self.equipment.toolbox(tools_of(self.config, part.agent), chosen, self.found),
            shape=AnswerSchema(result.schema) if isinstance(result, ObjectResult) else None,
            check=partial(self._check, result) if result is not None else None,
        )

    async def choose(self, agent: Agent | None = None) -> ChosenModel:
        work = self.work
        call_context = ModelCallContext(
            work.execution_id, work.attempt, work.checkpoint.key, lambda words: work.log("warning", words, None)
        )
        name = (agent.model if agent is not None else None) or self.config.model
        settings = {**self.config.model_settings, **(agent.model_settings if agent is not None else {})}
        return await asyncio.to_thread(self.office.models.choose, name, settings, call_context)

    def result_of(self, agent: Agent) -> Result:
        return result_of(self.work.checkpoint, writes=FILES in tools_of(self.config, agent))

    def _check(self, result: Result, answer: AgentAnswer) -> list[Mismatch]:
        match result:
            case TextResult():
                return []
            case ObjectResult():
                return result.check(answer.value)
            case FilesResult():
                there = {entry.path.partition("/")[2] for entry in self.jail.entries("artifacts_staging")}
                return [
                    Mismatch(f"artifacts_staging/{one.file}", "it is asked for, and not written yet")
                    for one in result.declared
                    if one.required and one.file not in there
                ]

    # ---- the end -----------------------------------------------------------------------------------------------
    async def staged(self) -> tuple[ProducedFile | StoredFile, ...]:
        """What has been put forward so far."""
        staging = Staging(expected(self.work.checkpoint))
        await asyncio.to_thread(collect, self.jail, staging, self.office.limits)
        return tuple(staging.so_far().artifacts)

    async def conclude(self, answer: AgentAnswer, agent: Agent) -> Outcome:
        staging = Staging(expected(self.work.checkpoint))
        await asyncio.to_thread(collect, self.jail, staging, self.office.limits)
        match self.result_of(agent):
            case TextResult() as result:
                result.put(answer.text, staging)
            case ObjectResult() as result if answer.value is not None:
                result.put(answer.value, staging)
            case ObjectResult() as result:
                for declared, _ in result.members.values():
                    staging.refuse(declared.name, "the answer could not be read as JSON")
            case FilesResult():
                pass
        return judge(self.work, staging.so_far(), self.office.limits)
