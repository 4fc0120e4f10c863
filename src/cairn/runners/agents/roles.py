"""The roles of agents in a discussion, and their prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cairn.definitions.enums import CreationMode, DiscussionMode
from cairn.definitions.execution_config import Agent, AgentConfig
from cairn.definitions.model import CheckpointDefinition
from cairn.runners.prompt_layouts import PromptStatement

AGREED = "AGREED"  # the last line of a reply from an agent that has nothing to add
NO_RESULT_YET = "Contribute to the discussion. Do not produce the result yet."

SEQUENTIAL = (
    "You are {name} in a team that takes turns: {names}. Add what is missing and correct what is wrong. If you have"
    f" nothing to add and no objections, end your reply with the line {AGREED}."
)
SEQUENTIAL_LAST = (
    "You are {name} in a team that takes turns: {names}. You have the last turn: produce the result of the discussion"
    " so far."
)
PARALLEL = (
    "You are {name} in a team that works in parallel: {names}. Give your own answer, independent of the others. An"
    " editor combines all answers afterwards."
)
PARALLEL_MERGE = (
    "The answers above were written independently. Combine them into one result: keep the best of each, and resolve"
    " contradictions."
)
COUNCIL_ANSWER = "You are {name} in a council of {names}. Give your own answer. The other members will review it."
COUNCIL_REVIEW = (
    "You are {name} in a council of {names}. Review the answers of the other members: what is right, what is wrong,"
    " what is missing, and which answer you would choose."
)
COUNCIL_CHAIR = "You chair a council. Weigh the answers and the reviews, decide, and produce the result."
DEBATE = (
    "You are {name} in a debate of {names}, round {round} of {rounds}. Argue for your position, respond to the"
    " arguments of the others, and concede what is right."
)
DEBATE_JUDGE = (
    "You judge a debate. Weigh the arguments, not who made them or how often. Decide, and produce the result."
)
TEAM_DESIGN = (
    "Do not do the task yourself. Design the team that does it: at most {max_agents} agents, who {how}. Give each agent"
    " a unique name, a role, a system prompt and a task prompt. Put everything an agent needs into its prompts, because"
    " it will not see this message. Use as few agents as the task needs."
)
TEAM_DESIGN_RESULT = "Return one object in the requested format. It contains the agents."
MODE_DESCRIPTIONS = {
    DiscussionMode.SEQUENTIAL: "take turns and see all earlier contributions",
    DiscussionMode.PARALLEL: "answer independently before an editor combines their answers",
    DiscussionMode.COUNCIL: "answer, review each other and leave the decision to a chair",
    DiscussionMode.DEBATE: "argue for different positions and leave the decision to a judge",
}
FINAL_AGENTS = {
    DiscussionMode.PARALLEL: ("Editor", "merger", "merges", "editor"),
    DiscussionMode.COUNCIL: ("Chair", "chair", "chairs", "chairperson"),
    DiscussionMode.DEBATE: ("Judge", "judge", "judges", "arbiter"),
}  # the default name of the agent that produces the result, and words in a name or role that select an agent for it


@dataclass(frozen=True, slots=True)
class TurnRole:
    """The part of an agent in one turn."""

    agent: Agent
    produces_result: bool = True
    statements: Sequence[PromptStatement] = ()  # of other agents so far
    instructions: str = ""  # in addition to the task, such as those of a chair
    no_result: str = NO_RESULT_YET  # replaces the result instructions if the turn produces no result


@dataclass(frozen=True, slots=True)
class Team:
    """The agents of a discussion."""

    members: tuple[Agent, ...]
    final_agent: Agent  # produces the result

    @property
    def names(self) -> str:
        return ", ".join(member.name or "" for member in self.members)

    def member_role(
        self, agent: Agent, instructions: str, statements: Sequence[PromptStatement] = (), **values: Any
    ) -> TurnRole:
        """The role in a turn without a result. `values` are further fields of the instructions."""
        text = instructions.format(name=agent.name, names=self.names, **values)
        return TurnRole(agent, produces_result=False, statements=statements, instructions=text)

    def last_role(self, agent: Agent, statements: Sequence[PromptStatement]) -> TurnRole:
        """The role in the turn that ends a sequential discussion with the result."""
        text = SEQUENTIAL_LAST.format(name=agent.name, names=self.names) if len(self.members) > 1 else ""
        return TurnRole(agent, statements=statements, instructions=text)


def team_of(agents: Sequence[Agent], mode: DiscussionMode) -> Team:
    """The team for a discussion mode.

    An agent whose name or role says that it is the chair, judge or editor produces the result. Without one, an agent
    with the default name is added.
    """
    if mode is DiscussionMode.SEQUENTIAL:
        return Team(tuple(agents), agents[-1])
    name, *words = FINAL_AGENTS[mode]
    for agent in agents if len(agents) > 1 else ():
        description = f"{agent.name} {agent.role or ''}".casefold()
        if set(words) & set(description.replace(",", " ").replace(".", " ").split()):
            return Team(tuple(member for member in agents if member is not agent), agent)
    taken = {agent.name for agent in agents}
    while name in taken:
        name = f"Cairn {name}"
    return Team(tuple(agents), Agent(name=name))


def first_role(checkpoint: CheckpointDefinition) -> TurnRole:
    """The role of the first turn."""
    config = checkpoint.execution.agent_config or AgentConfig()
    match config.creation_mode:
        case CreationMode.SINGLE:
            return TurnRole(single_agent(checkpoint))
        case CreationMode.META_AGENT:
            return design_role(config)
        case CreationMode.PREDEFINED:
            return opening_role(team_of(config.agents, config.discussion_mode), config)


def opening_role(team: Team, config: AgentConfig) -> TurnRole:
    """The role of the first turn in a discussion."""
    agent = team.members[0]
    match config.discussion_mode:
        case DiscussionMode.SEQUENTIAL if last_turn(team, config) == 1:
            return team.last_role(agent, ())
        case DiscussionMode.SEQUENTIAL:
            return team.member_role(agent, SEQUENTIAL)
        case DiscussionMode.PARALLEL:
            return team.member_role(agent, PARALLEL)
        case DiscussionMode.COUNCIL:
            return team.member_role(agent, COUNCIL_ANSWER)
        case DiscussionMode.DEBATE:
            return team.member_role(agent, DEBATE, round=1, rounds=rounds_of(team, config))


def last_turn(team: Team, config: AgentConfig) -> int:
    """The number of the turn that produces the result. Every agent has a turn, even if max_turns is lower."""
    return 1 if len(team.members) == 1 else max(config.max_turns, len(team.members))


def rounds_of(team: Team, config: AgentConfig) -> int:
    return max(1, config.max_turns // len(team.members))


def single_agent(checkpoint: CheckpointDefinition) -> Agent:
    """The agent of a checkpoint with one agent. Its default name is the checkpoint's."""
    config = checkpoint.execution.agent_config or AgentConfig()
    agent = config.agent or Agent()
    return agent if agent.name else agent.model_copy(update={"name": checkpoint.checkpoint_name})


def design_role(config: AgentConfig) -> TurnRole:
    """The role of a meta-agent."""
    agent = Agent(name="Meta-agent", system_prompt="You design teams of agents.", tools=())
    text = TEAM_DESIGN.format(max_agents=config.max_agents, how=MODE_DESCRIPTIONS[config.discussion_mode])
    instructions = f"{text}\n\n{config.meta_agent_instructions or ''}".strip()
    return TurnRole(agent, produces_result=False, instructions=instructions, no_result=TEAM_DESIGN_RESULT)


def model_of(config: AgentConfig, agent: Agent | None = None) -> tuple[str | None, dict[str, Any]]:
    """The model of an agent, by default the checkpoint's, and its settings. The model can be None: the default one."""
    name = (agent.model if agent is not None else None) or config.model
    return name, {**config.model_settings, **(agent.model_settings if agent is not None else {})}


def with_system_prompt(agent: Agent) -> Agent:
    """The agent with a system prompt, by default built from its name and role."""
    if agent.system_prompt or not (agent.name and agent.role):
        return agent
    return agent.model_copy(update={"system_prompt": f"You are {agent.name}. {agent.role}"})


def tools_of(config: AgentConfig, agent: Agent) -> tuple[str, ...]:
    return config.tools if agent.tools is None else agent.tools


def uses_tool(checkpoint: CheckpointDefinition, tool: str) -> bool:
    """Whether any agent of the checkpoint can use the tool."""
    config = checkpoint.execution.agent_config
    if config is None:
        return False
    agents = [*config.agents, *([config.agent] if config.agent is not None else [])]
    return tool in config.tools or any(tool in (agent.tools or ()) for agent in agents)
