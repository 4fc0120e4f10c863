"""Who does what in a turn: the parts that a discussion gives to agents, in the words that they are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cairn.definitions.enums import CreationMode, DiscussionMode
from cairn.definitions.execution_config import Agent, AgentConfig
from cairn.definitions.model import CheckpointDefinition
from cairn.runners.prompt_layouts import PromptStatement

AGREED = "AGREED"  # the last line of who has nothing to add
NOT_YET = "Say your part. You are not asked for the result yet."

IN_TURN = (
    "You work on this in turn: {names}. You are {name}. Say what is missing, and put right what is wrong. If there is"
    f" nothing left to add or to object to, let {AGREED} be your last line."
)
LAST_IN_TURN = "You work on this in turn: {names}. You are {name}, and you speak last: make the result of all this."
ALONE = "{names} answer this at the same time, each alone; then one result is made of all answers. You are {name}."
MERGES = "All have answered alone. Make one result of their answers: keep the best, settle what differs."
ANSWERS = "You are {name} in a council of {names}. Give your answer; the others will review it."
REVIEWS = (
    "You are {name} in a council of {names}. Review the answers of the others: what is right, what is wrong, what is"
    " missing, and which of them you would take."
)
CHAIRS = "You chair a council. Weigh the answers and the reviews, decide, and make the result."
ARGUES = (
    "You are {name} in a debate of {names}, round {round} of {rounds}. Argue for your side, answer what the others have"
    " said, and concede what is right."
)
RULES = "You judge a debate. Weigh the arguments, not who has said them or how often; rule, and make the result."
DESIGNS = (
    "Do not do the task yourself: decide who is to do it. Set up at most {most} agents who then {how}. Give each a name"
    " of its own, a role, and a system prompt and a task prompt that say everything it needs: it knows nothing else of"
    " these words. Take as few as the task needs."
)
DESIGNED = "Your answer is one object, in the form that is asked for: the agents."
HOW = {
    DiscussionMode.SEQUENTIAL: "speak in turn, each seeing all before",
    DiscussionMode.PARALLEL: "answer alone at the same time, before one merges their answers",
    DiscussionMode.COUNCIL: "answer, review one another, and have a chair decide",
    DiscussionMode.DEBATE: "argue over rounds as sides, and have a judge rule",
}
CLOSERS = {
    DiscussionMode.PARALLEL: ("Editor", "merger", "merges", "editor"),
    DiscussionMode.COUNCIL: ("Chair", "chair", "chairs", "chairperson"),
    DiscussionMode.DEBATE: ("Judge", "judge", "judges", "arbiter"),
}


@dataclass(frozen=True, slots=True)
class TurnRole:
    """What one agent does in one turn."""

    agent: Agent
    makes_result: bool = True
    statements: Sequence[PromptStatement] = ()  # of others, so far
    duty: str = ""  # besides the task, such as that of a chair
    instead: str = NOT_YET  # of a result


@dataclass(frozen=True, slots=True)
class Team:
    """Those who discuss, and who makes the result of it."""

    members: tuple[Agent, ...]
    closer: Agent

    def part(self, agent: Agent, duty: str, statements: Sequence[PromptStatement] = (), **more: Any) -> TurnRole:
        names = ", ".join(member.name or "" for member in self.members)
        return TurnRole(
            agent, makes_result=False, statements=statements, duty=duty.format(name=agent.name, names=names, **more)
        )

    def last_in_turn(self, agent: Agent, statements: Sequence[PromptStatement]) -> TurnRole:
        names = ", ".join(member.name or "" for member in self.members)
        duty = LAST_IN_TURN.format(name=agent.name, names=names) if len(self.members) > 1 else ""
        return TurnRole(agent, statements=statements, duty=duty)


def circle_of(agents: Sequence[Agent], mode: DiscussionMode) -> Team:
    """An agent that is called or described as the chair (the judge, the editor) is it; else the house brings one."""
    if mode is DiscussionMode.SEQUENTIAL:
        return Team(tuple(agents), agents[-1])
    name, *words = CLOSERS[mode]
    for agent in agents if len(agents) > 1 else ():
        said = f"{agent.name} {agent.role or ''}".casefold()
        if set(words) & set(said.replace(",", " ").replace(".", " ").split()):
            return Team(tuple(one for one in agents if one is not agent), agent)
    taken = {agent.name for agent in agents}
    while name in taken:
        name = f"{name} of the house"
    return Team(tuple(agents), Agent(name=name))


def first_part(checkpoint: CheckpointDefinition) -> TurnRole:
    """The part of whoever speaks first."""
    config = checkpoint.execution.agent_config or AgentConfig()
    match config.creation_mode:
        case CreationMode.SINGLE:
            return TurnRole(single(checkpoint))
        case CreationMode.META_AGENT:
            return design_part(config)
        case CreationMode.PREDEFINED:
            return opening_part(circle_of(config.agents, config.discussion_mode), config)


def opening_part(circle: Team, config: AgentConfig) -> TurnRole:
    agent = circle.members[0]
    match config.discussion_mode:
        case DiscussionMode.SEQUENTIAL if last_turn(circle, config) == 1:
            return circle.last_in_turn(agent, ())
        case DiscussionMode.SEQUENTIAL:
            return circle.part(agent, IN_TURN)
        case DiscussionMode.PARALLEL:
            return circle.part(agent, ALONE)
        case DiscussionMode.COUNCIL:
            return circle.part(agent, ANSWERS)
        case DiscussionMode.DEBATE:
            return circle.part(agent, ARGUES, round=1, rounds=rounds_of(circle, config))


def last_turn(circle: Team, config: AgentConfig) -> int:
    """The turn that makes the result: everybody has spoken by then, however low the limit."""
    return 1 if len(circle.members) == 1 else max(config.max_turns, len(circle.members))


def rounds_of(circle: Team, config: AgentConfig) -> int:
    return max(1, config.max_turns // len(circle.members))


def single(checkpoint: CheckpointDefinition) -> Agent:
    """The one agent; without a name it is called as the checkpoint."""
    config = checkpoint.execution.agent_config or AgentConfig()
    agent = config.agent or Agent()
    return agent if agent.name else agent.model_copy(update={"name": checkpoint.checkpoint_name})


def design_part(config: AgentConfig) -> TurnRole:
    agent = Agent(name="Meta-agent", system_prompt="You set up teams of agents.", tools=())
    wanted = config.meta_agent_instructions or ""
    duty = DESIGNS.format(most=config.max_agents, how=HOW[config.discussion_mode])
    return TurnRole(agent, makes_result=False, duty=f"{duty}\n\n{wanted}".strip(), instead=DESIGNED)


def introduced(agent: Agent) -> Agent:
    """With a system prompt, made from name and role where there is none."""
    if agent.system_prompt or not (agent.name and agent.role):
        return agent
    return agent.model_copy(update={"system_prompt": f"You are {agent.name}. {agent.role}"})


def tools_of(config: AgentConfig, agent: Agent) -> tuple[str, ...]:
    return config.tools if agent.tools is None else agent.tools


def uses_tool(checkpoint: CheckpointDefinition, tool: str) -> bool:
    """Whether any of its agents may use the tool."""
    config = checkpoint.execution.agent_config
    if config is None:
        return False
    agents = [*config.agents, *([config.agent] if config.agent is not None else [])]
    return tool in config.tools or any(tool in (agent.tools or ()) for agent in agents)
