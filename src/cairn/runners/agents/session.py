"""One dispatch of an agentic checkpoint: choose models, run the turns and build the outcome."""

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
from cairn.runners.agents.prompts import FILE_OPERATIONS, compose
from cairn.runners.agents.resources import AgentResources
from cairn.runners.agents.result_formats import FilesResult, ObjectResult, Result, TextResult, result_format
from cairn.runners.agents.roles import TurnRole, design_role, model_of, single_agent, tools_of
from cairn.runners.agents.staged_files import open_jail, restore_names, stage_files
from cairn.runners.agents.summaries import summarize
from cairn.runners.agents.team_design import check_design, design_schema, designed_agents
from cairn.runners.agents.tool_session import ToolSession
from cairn.runners.agents.tools.code import ToolNotAvailable
from cairn.runners.agents.tools.deferred import outcome_of, recorded_answer
from cairn.runners.agents.tools.jail import Jail
from cairn.runners.agents.transcript import Transcript
from cairn.runners.agents.turns import Turn, TurnLoop, TurnPaused, failure_of
from cairn.runners.errors import ContextTooLong
from cairn.runners.expected_artifacts import expected
from cairn.runners.mismatches import Mismatch
from cairn.runners.processes.lifecycle import await_shielded
from cairn.runners.prompt_context import check_length, files_to_summarize
from cairn.runners.result_checks import check_result
from cairn.runners.staging import Staging


async def run_session(work: WorkOrder, resources: AgentResources) -> Outcome:
    """Run the work order. Errors of models, tools and prompts become outcomes."""
    if unknown := [agent.library_agent for agent in agents_of(work.checkpoint) if agent.library_agent]:
        message = f"The agent library has no agent {unknown[0]!r}. Save it, or choose another agent in the checkpoint."
        return Errored(Failure("unknown_agent", message, is_final=True))
    try:
        session = await AgentSession.open(work, resources)
        try:
            return await session.run()
        except TurnPaused as paused:
            return outcome_of(paused.call, work, await session.staged_artifacts())
        finally:
            await await_shielded(session.tools.close())
    except ModelError as error:
        return Errored(failure_of(error))
    except (ContextTooLong, ToolNotAvailable) as error:
        return Errored(replace(error.failure, is_final=True))
    except ConversationClosed as error:
        return Errored(Failure("cancelled", str(error)))


class AgentSession:
    """The agents of one dispatch, with their inputs, tools and folders."""

    def __init__(
        self, work: WorkOrder, resources: AgentResources, loop: TurnLoop, inputs: ResolvedInputs, jail: Jail
    ) -> None:
        self.work = work
        self.resources = resources
        self.loop = loop
        self.inputs = inputs
        self.jail = jail
        self.tools = ToolSession(work, resources, jail)
        self.config = work.checkpoint.execution.agent_config or AgentConfig()

    @classmethod
    async def open(cls, work: WorkOrder, resources: AgentResources) -> AgentSession:
        transcript = await Transcript.open(work.conversation, resources.models)
        inputs = await asyncio.to_thread(lambda: work.material.resolved_inputs)
        artifacts = expected(work.checkpoint)
        jail = await asyncio.to_thread(open_jail, work, artifacts)
        await asyncio.to_thread(restore_names, jail, artifacts)
        loop = TurnLoop(transcript, resources.models, lambda call: recorded_answer(call, work), work.log)
        return cls(work, resources, loop, inputs, jail)

    async def run(self) -> Outcome:
        await self.summarize_inputs()
        match self.config.creation_mode:
            case CreationMode.SINGLE:
                agent = single_agent(self.work.checkpoint)
                answer = await self.take_turn("work", TurnRole(agent))
            case CreationMode.PREDEFINED:
                answer, agent = await discuss(self.take_turn, self.config.agents, self.config)
            case CreationMode.META_AGENT:
                answer, agent = await discuss(self.take_turn, await self.design_team(), self.config)
        return await self.build_outcome(answer, agent)

    # Before the work
    async def summarize_inputs(self) -> None:
        """Summarize long inputs where the definition allows it, with the checkpoint's model."""
        work = self.work
        files = await asyncio.to_thread(files_to_summarize, work.checkpoint, self.inputs, self.resources.limits)
        if not files:
            return
        chosen = await self.choose_model()
        for checksum, file in files.items():
            summary = self.inputs.summaries.get(checksum, {}).get(chosen.name)
            await work.material.save_summary(checksum, chosen.name, summary or await summarize(self.loop, chosen, file))
        self.inputs = await asyncio.to_thread(lambda: work.material.resolved_inputs)

    async def design_team(self) -> tuple[Agent, ...]:
        """Let the meta-agent choose the agents."""
        role = design_role(self.config)
        turn = replace(
            await self.build_turn("design", role),
            purpose=Purpose.DESIGN,
            schema=design_schema(self.config),
            check=partial(check_design, self.config),
        )
        agents = designed_agents(self.config, await self.loop.run(turn))
        names = "; ".join(f"{agent.name}: {agent.role}" for agent in agents)
        self.work.log("info", f"{role.agent.name} designed the team: {names}", None)
        return agents

    # Turns
    async def take_turn(self, name: str, role: TurnRole) -> AgentAnswer:
        self.work.progress(None, f"{role.agent.name} is working")
        return await self.loop.run(await self.build_turn(name, role))

    async def build_turn(self, name: str, role: TurnRole) -> Turn:
        chosen = await self.choose_model(role.agent)
        limits = self.resources.limits
        context = await asyncio.to_thread(compose, self.work.checkpoint, self.inputs, role, limits)
        statements = [(f"statement of {statement.speaker}", len(statement.text)) for statement in role.statements]
        check_length(context, limits.max_context_length, statements)
        result = self.result_format(role.agent) if role.produces_result else None
        return Turn(
            name=name,
            speaker=role.agent.name or "Agent",
            purpose=Purpose.WORK,
            chosen=chosen,
            system=context.system,
            prompt=context.task,
            sender=self.work.checkpoint.checkpoint_name,
            tools=await self.tools.toolbox(tools_of(self.config, role.agent), chosen, self.inputs),
            schema=AnswerSchema(result.schema) if isinstance(result, ObjectResult) else None,
            check=partial(self._check, result) if result is not None else None,
        )

    async def choose_model(self, agent: Agent | None = None) -> ChosenModel:
        work = self.work
        call_context = ModelCallContext(
            work.execution_id, work.attempt, work.checkpoint.key, lambda message: work.log("warning", message, None)
        )
        name, settings = model_of(self.config, agent)
        return await asyncio.to_thread(self.resources.models.choose, name, settings, call_context)

    def result_format(self, agent: Agent) -> Result:
        return result_format(self.work.checkpoint, writes=FILE_OPERATIONS in tools_of(self.config, agent))

    def _check(self, result: Result, answer: AgentAnswer) -> list[Mismatch]:
        match result:
            case TextResult():
                return []
            case ObjectResult():
                return result.check(answer.value)
            case FilesResult():
                written = {entry.path.partition("/")[2] for entry in self.jail.entries("artifacts_staging")}
                return [
                    Mismatch(f"artifacts_staging/{artifact.file}", "required, but not written yet")
                    for artifact in result.declared
                    if artifact.required and artifact.file not in written
                ]

    # The result
    async def staged_artifacts(self) -> tuple[ProducedFile | StoredFile, ...]:
        """The artifacts staged so far."""
        staging = Staging(expected(self.work.checkpoint))
        await asyncio.to_thread(stage_files, self.jail, staging, self.resources.limits)
        return tuple(staging.files().artifacts)

    async def build_outcome(self, answer: AgentAnswer, agent: Agent) -> Outcome:
        staging = Staging(expected(self.work.checkpoint))
        await asyncio.to_thread(stage_files, self.jail, staging, self.resources.limits)
        match self.result_format(agent):
            case TextResult() as result:
                result.stage(answer.text, staging)
            case ObjectResult() as result if answer.value is not None:
                result.stage(answer.value, staging)
            case ObjectResult() as result:
                for declared, _ in result.members.values():
                    staging.reject(declared.name, "the answer is not valid JSON")
            case FilesResult():
                pass
        return check_result(self.work, staging.files(), self.resources.limits)
