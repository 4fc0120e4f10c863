"""Discussions: several agents work towards one result, in turn, in parallel, as a council or in a debate."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from cairn.definitions.enums import DiscussionMode
from cairn.definitions.execution_config import Agent, AgentConfig
from cairn.runners.agents.answers import AgentAnswer
from cairn.runners.agents.deferred_calls import TurnPaused
from cairn.runners.agents.roles import (
    AGREED,
    COUNCIL_ANSWER,
    COUNCIL_CHAIR,
    COUNCIL_REVIEW,
    DEBATE,
    DEBATE_JUDGE,
    PARALLEL,
    PARALLEL_MERGE,
    SEQUENTIAL,
    Team,
    TurnRole,
    last_turn,
    rounds_of,
    team_of,
)
from cairn.runners.prompt_layouts import PromptStatement

TakeTurn = Callable[[str, TurnRole], Coroutine[Any, Any, AgentAnswer]]
T = TypeVar("T")
_NOT_IN_NAMES = re.compile(r"[^\w]+")


async def discuss(take_turn: TakeTurn, agents: Sequence[Agent], config: AgentConfig) -> tuple[AgentAnswer, Agent]:
    """Run a discussion. Return the answer that contains the result, and its agent."""
    discussion = Discussion(take_turn, team_of(agents, config.discussion_mode), config)
    match config.discussion_mode:
        case DiscussionMode.SEQUENTIAL:
            return await discussion.sequential()
        case DiscussionMode.PARALLEL:
            return await discussion.parallel()
        case DiscussionMode.COUNCIL:
            return await discussion.council()
        case DiscussionMode.DEBATE:
            return await discussion.debate()


class Discussion:
    """One discussion. Its turns keep their names after a restart, so completed turns are not repeated."""

    def __init__(self, take_turn: TakeTurn, team: Team, config: AgentConfig) -> None:
        self._take_turn = take_turn
        self._team = team
        self._config = config
        self._slugs = slugs(team.members)

    async def sequential(self) -> tuple[AgentAnswer, Agent]:
        members, statements = self._team.members, list[PromptStatement]()
        last, agreed = last_turn(self._team, self._config), 0
        for turn in range(1, last + 1):
            agent = members[(turn - 1) % len(members)]
            name = f"sequential/{(turn - 1) // len(members) + 1}/{self._slugs[agent.name]}"
            if turn == last or agreed >= len(members):
                return await self._take_turn(name, self._team.last_role(agent, tuple(statements))), agent
            answer = await self._take_turn(name, self._team.member_role(agent, SEQUENTIAL, tuple(statements)))
            agreed = agreed + 1 if has_agreed(answer.text) else 0
            statements.append(_statement(agent, answer))
        raise AssertionError

    async def parallel(self) -> tuple[AgentAnswer, Agent]:
        answers = await self._all("parallel/{}", lambda agent: self._team.member_role(agent, PARALLEL))
        return await self._final_turn("parallel/merge", PARALLEL_MERGE, answers)

    async def council(self) -> tuple[AgentAnswer, Agent]:
        team = self._team
        answers = await self._all("council/answer/{}", lambda agent: team.member_role(agent, COUNCIL_ANSWER))
        reviews = await self._all("council/review/{}", lambda agent: team.member_role(agent, COUNCIL_REVIEW, answers))
        reviewed = [PromptStatement(f"{review.speaker}, reviewing", review.text) for review in reviews]
        return await self._final_turn("council/chair", COUNCIL_CHAIR, [*answers, *reviewed])

    async def debate(self) -> tuple[AgentAnswer, Agent]:
        statements, rounds = list[PromptStatement](), rounds_of(self._team, self._config)
        for number in range(1, rounds + 1):
            for agent in self._team.members:
                role = self._team.member_role(agent, DEBATE, tuple(statements), round=number, rounds=rounds)
                answer = await self._take_turn(f"debate/{number}/{self._slugs[agent.name]}", role)
                statements.append(PromptStatement(f"{agent.name}, round {number}", answer.text))
        return await self._final_turn("debate/judge", DEBATE_JUDGE, statements)

    async def _all(self, name: str, role: Callable[[Agent], TurnRole]) -> list[PromptStatement]:
        """Run one turn of each member, all at the same time."""
        members = self._team.members
        answers = await gather_all(
            [self._take_turn(name.format(self._slugs[agent.name]), role(agent)) for agent in members]
        )
        return [_statement(agent, answer) for agent, answer in zip(members, answers, strict=True)]

    async def _final_turn(
        self, name: str, instructions: str, statements: Sequence[PromptStatement]
    ) -> tuple[AgentAnswer, Agent]:
        agent = self._team.final_agent
        role = TurnRole(agent, statements=tuple(statements), instructions=instructions)
        return await self._take_turn(name, role), agent


async def gather_all(turns: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all turns to their end, even if one fails, so that every answer is saved. Then raise the first error.

    Errors take precedence over pauses.
    """
    results = await asyncio.gather(*turns, return_exceptions=True)
    errors = [result for result in results if isinstance(result, BaseException)]
    for error in sorted(errors, key=lambda error: isinstance(error, TurnPaused)):
        raise error
    return [result for result in results if not isinstance(result, BaseException)]


def has_agreed(text: str) -> bool:
    lines = text.rstrip().splitlines()
    return bool(lines) and lines[-1].strip(" .*_`#").upper() == AGREED


def slugs(agents: Sequence[Agent]) -> dict[str | None, str]:
    """A unique slug for each agent, by name. Turn names contain them."""
    found: dict[str | None, str] = {}
    for agent in agents:
        name = unicodedata.normalize("NFC", agent.name or "agent").casefold()
        slug = base = _NOT_IN_NAMES.sub("_", name).strip("_")[:60] or "agent"
        number = 1
        while slug in found.values():
            number += 1
            slug = f"{base}_{number}"
        found[agent.name] = slug
    return found


def _statement(agent: Agent, answer: AgentAnswer) -> PromptStatement:
    return PromptStatement(agent.name or "", answer.text)
