"""How several agents come to one result: in turn, in parallel, as a council, in a debate."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from cairn.definitions.enums import DiscussionMode
from cairn.definitions.execution_config import Agent, AgentConfig
from cairn.runners.agents.answers import AgentAnswer
from cairn.runners.agents.roles import (
    AGREED,
    ALONE,
    ANSWERS,
    ARGUES,
    CHAIRS,
    IN_TURN,
    MERGES,
    REVIEWS,
    RULES,
    Team,
    TurnRole,
    circle_of,
    last_turn,
    rounds_of,
)
from cairn.runners.agents.turns import TurnPaused
from cairn.runners.prompt_layouts import PromptStatement

Speak = Callable[[str, TurnRole], Awaitable[AgentAnswer]]
T = TypeVar("T")
_NOT_IN_NAMES = re.compile(r"[^\w]+")


async def discuss(speak: Speak, agents: Sequence[Agent], config: AgentConfig) -> tuple[AgentAnswer, Agent]:
    """The answer that holds the result, and who has given it."""
    circle = circle_of(agents, config.discussion_mode)
    discussion = Discussion(speak, circle, config)
    match config.discussion_mode:
        case DiscussionMode.SEQUENTIAL:
            return await discussion.in_turn()
        case DiscussionMode.PARALLEL:
            return await discussion.in_parallel()
        case DiscussionMode.COUNCIL:
            return await discussion.as_council()
        case DiscussionMode.DEBATE:
            return await discussion.as_debate()


class Discussion:
    """Turns are named after who speaks when: the same after a restart, so that none is held twice."""

    def __init__(self, speak: Speak, circle: Team, config: AgentConfig) -> None:
        self._speak = speak
        self._circle = circle
        self._config = config
        self._slugs = slugs(circle.members)

    async def in_turn(self) -> tuple[AgentAnswer, Agent]:
        members, said = self._circle.members, list[PromptStatement]()
        last, agreed = last_turn(self._circle, self._config), 0
        for turn in range(1, last + 1):
            agent = members[(turn - 1) % len(members)]
            name = f"sequential/{(turn - 1) // len(members) + 1}/{self._slugs[agent.name]}"
            if turn == last or agreed >= len(members):
                return await self._speak(name, self._circle.last_in_turn(agent, tuple(said))), agent
            answer = await self._speak(name, self._circle.part(agent, IN_TURN, tuple(said)))
            agreed = agreed + 1 if has_agreed(answer.text) else 0
            said.append(_said(agent, answer))
        raise AssertionError

    async def in_parallel(self) -> tuple[AgentAnswer, Agent]:
        answers = await self._all("parallel/{}", lambda agent: self._circle.part(agent, ALONE))
        return await self._close("parallel/merge", MERGES, answers)

    async def as_council(self) -> tuple[AgentAnswer, Agent]:
        answers = await self._all("council/answer/{}", lambda agent: self._circle.part(agent, ANSWERS))
        reviews = await self._all("council/review/{}", lambda agent: self._circle.part(agent, REVIEWS, answers))
        reviewed = [PromptStatement(f"{one.speaker}, reviewing", one.text) for one in reviews]
        return await self._close("council/chair", CHAIRS, [*answers, *reviewed])

    async def as_debate(self) -> tuple[AgentAnswer, Agent]:
        said, rounds = list[PromptStatement](), rounds_of(self._circle, self._config)
        for number in range(1, rounds + 1):
            for agent in self._circle.members:
                part = self._circle.part(agent, ARGUES, tuple(said), round=number, rounds=rounds)
                answer = await self._speak(f"debate/{number}/{self._slugs[agent.name]}", part)
                said.append(PromptStatement(f"{agent.name}, round {number}", answer.text))
        return await self._close("debate/judge", RULES, said)

    async def _all(self, name: str, part: Callable[[Agent], TurnRole]) -> list[PromptStatement]:
        """Everybody at once."""
        members = self._circle.members
        answers = await together([self._turn(name.format(self._slugs[agent.name]), part(agent)) for agent in members])
        return [_said(agent, answer) for agent, answer in zip(members, answers, strict=True)]

    async def _turn(self, name: str, part: TurnRole) -> AgentAnswer:
        return await self._speak(name, part)

    async def _close(self, name: str, duty: str, said: Sequence[PromptStatement]) -> tuple[AgentAnswer, Agent]:
        closer = self._circle.closer
        return await self._speak(name, TurnRole(closer, statements=tuple(said), duty=duty)), closer


async def together(turns: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """All of them to their end, also when one fails: what others have answered is kept. Then the fault is raised."""
    results = await asyncio.gather(*turns, return_exceptions=True)
    faults = [result for result in results if isinstance(result, BaseException)]
    for fault in sorted(faults, key=lambda fault: isinstance(fault, TurnPaused)):
        raise fault
    return [result for result in results if not isinstance(result, BaseException)]


def has_agreed(text: str) -> bool:
    lines = text.rstrip().splitlines()
    return bool(lines) and lines[-1].strip(" .*_`#").upper() == AGREED


def slugs(agents: Sequence[Agent]) -> dict[str | None, str]:
    """What agents are called in the names of turns."""
    found: dict[str | None, str] = {}
    for agent in agents:
        plain = unicodedata.normalize("NFC", agent.name or "agent").casefold()
        slug = wanted = _NOT_IN_NAMES.sub("_", plain).strip("_")[:60] or "agent"
        number = 1
        while slug in found.values():
            number += 1
            slug = f"{wanted}_{number}"
        found[agent.name] = slug
    return found


def _said(agent: Agent, answer: AgentAnswer) -> PromptStatement:
    return PromptStatement(agent.name or "", answer.text)
