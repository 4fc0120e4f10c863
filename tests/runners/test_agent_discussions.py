"""Discussions in each mode, and teams designed by a meta-agent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cairn.ports import Produced
from cairn.ports.conversation import Purpose
from cairn.ports.models import ModelError, ModelErrorKind
from cairn.runners.agents.roles import (
    AGREED,
    COUNCIL_ANSWER,
    COUNCIL_REVIEW,
    DEBATE,
    NO_RESULT_YET,
    PARALLEL,
    SEQUENTIAL,
    SEQUENTIAL_LAST,
)
from tests.mentions import mentions
from tests.runners.agent_samples import (
    AgentBench,
    FakeConversation,
    FakeModels,
    ReceivedRequest,
    Reply,
    ToolCall,
    failure_of,
    final_result,
    template_pattern,
)
from tests.runners.test_agent_resume import replay_every_prefix, result_of

Json = dict[str, Any]
TWO = [
    {"name": "Analyst", "role": "You know the business.", "task_prompt": "Analyse."},
    {"name": "Architect", "role": "You know the machines.", "task_prompt": "Design.", "model": "fake:big"},
]
THREE = [*TWO, {"name": "Tester", "system_prompt": "You break things.", "task_prompt": "Test."}]


def predefined(mode: str, agents: list[Json] = TWO, **more: Any) -> Json:
    return {"creation_mode": "predefined", "discussion_mode": mode, "agents": agents, **more}


ROLES = (SEQUENTIAL, SEQUENTIAL_LAST, PARALLEL, COUNCIL_ANSWER, COUNCIL_REVIEW, DEBATE)
PATTERNS = [template_pattern(role) for role in ROLES]


def speaker(request: ReceivedRequest) -> str:
    """The agent whose turn it is, from the role in the prompt."""
    role = request.prompt.partition("=== YOUR ROLE ===\n")[2].partition("\n\n===")[0]
    found = next(filter(None, (pattern.fullmatch(role) for pattern in PATTERNS)), None)
    return found["name"] if found else "Editor"


def echo(request: ReceivedRequest) -> Reply:
    return f"{speaker(request)} says {request.number}."


async def test_sequential_agents_take_turns_and_see_all_earlier_statements(tmp_path: Path) -> None:
    bench = AgentBench(tmp_path, FakeModels(echo))
    text = await bench.texts("plan.md", config=predefined("sequential", max_turns=4))
    assert text == {"plan.md": "Architect says 4."}
    assert bench.conversation.turns == [
        "sequential/1/analyst",
        "sequential/1/architect",
        "sequential/2/analyst",
        "sequential/2/architect",
    ]
    assert [request.model for request in bench.models.requests] == ["fake:default", "fake:big"] * 2
    first, _, _, last = bench.models.requests
    assert first.system.partition("\n\n")[0] == mentions("Analyst", "You know the business.")
    assert first.prompt.startswith("=== YOUR TASK ===\nDo it.\n\nAnalyse.\n\n=== YOUR ROLE ===\n")
    assert first.prompt == mentions("Analyst, Architect", AGREED, f"=== RESULT ===\n{NO_RESULT_YET}")
    assert last.prompt.startswith(
        "=== YOUR TASK ===\nDo it.\n\nDesign.\n\n=== DISCUSSION SO FAR ===\n"
        "Analyst:\n```text\nAnalyst says 1.\n```\n\n"
        "Architect:\n```text\nArchitect says 2.\n```\n\n"
        "Analyst:\n```text\nAnalyst says 3.\n```\n\n"
        "=== YOUR ROLE ===\n"
    )
    assert last.prompt.partition("=== RESULT ===\n")[2] == mentions("plan.md", "Markdown")
    assert [(message.speaker, message.role) for message in bench.conversation.saved if message.role == "assistant"] == [
        ("Analyst", "assistant"),
        ("Architect", "assistant"),
    ] * 2
    progress = sorted({text or "" for _, text in bench.logs.progress})
    assert progress == [mentions("Analyst"), mentions("Architect")]


async def test_a_sequential_discussion_ends_when_all_agree_but_every_agent_has_a_turn(tmp_path: Path) -> None:
    bench = AgentBench(tmp_path, FakeModels(lambda request: f"{echo(request)}\n\n**AGREED**"))
    text = await bench.texts("plan.txt", config=predefined("sequential", max_turns=20))
    assert bench.conversation.turns == ["sequential/1/analyst", "sequential/1/architect", "sequential/2/analyst"]
    assert text["plan.txt"].startswith("Analyst says 3.")
    bench = AgentBench(tmp_path, FakeModels(echo))
    await bench.texts("plan.txt", config=predefined("sequential", THREE, max_turns=1))
    assert len(bench.models.requests) == 3
    bench = AgentBench(tmp_path, FakeModels(lambda _: "Alone."))
    assert await bench.texts("plan.txt", config=predefined("sequential", TWO[:1])) == {"plan.txt": "Alone."}
    assert len(bench.models.requests) == 1


async def test_parallel_agents_answer_at_the_same_time_and_an_editor_merges(tmp_path: Path) -> None:
    working, max_working = 0, 0

    async def respond(request: ReceivedRequest) -> Reply:
        nonlocal working, max_working
        working += 1
        max_working = max(max_working, working)
        await asyncio.sleep(0.05)
        working -= 1
        return echo(request)

    bench = AgentBench(tmp_path, FakeModels(respond))
    assert await bench.texts("plan.md", config=predefined("parallel", THREE)) == {"plan.md": "Editor says 4."}
    assert max_working == 3
    assert sorted(bench.conversation.turns) == [
        "parallel/analyst",
        "parallel/architect",
        "parallel/merge",
        "parallel/tester",
    ]
    *independent, merging = bench.models.requests
    assert not any("DISCUSSION SO FAR" in request.prompt for request in independent)
    assert [name in merging.prompt for name in ("Analyst:\n", "Architect:\n", "Tester:\n")] == [True] * 3


async def test_council_members_answer_and_review_and_a_chair_decides(tmp_path: Path) -> None:
    agents = [*TWO, {"name": "Head", "role": "The chair of this council.", "task_prompt": "Lead."}]
    bench = AgentBench(tmp_path, FakeModels(echo))
    await bench.texts("plan.md", config=predefined("council", agents))
    assert sorted(bench.conversation.turns) == [
        "council/answer/analyst",
        "council/answer/architect",
        "council/chair",
        "council/review/analyst",
        "council/review/architect",
    ]
    chair = bench.models.requests[-1]
    assert chair.system.partition("\n\n")[0] == mentions("Head", "The chair of this council.")
    assert chair.prompt.count("Analyst") == 4  # two headings with one statement each
    assert bench.conversation.saved[-1].speaker == "Head"


async def test_debate_agents_argue_in_rounds_and_a_judge_decides(tmp_path: Path) -> None:
    bench = AgentBench(tmp_path, FakeModels(echo))
    await bench.texts("ruling.md", config=predefined("debate", max_turns=5))
    assert bench.conversation.turns == [
        "debate/1/analyst",
        "debate/1/architect",
        "debate/2/analyst",
        "debate/2/architect",
        "debate/judge",
    ]
    assert bench.models.requests[3].prompt == mentions("Architect", "Analyst, Architect", "2")
    assert bench.models.requests[4].prompt.count("\nArchitect, ") == 2


TEAM = {
    "agents": [
        {"name": "UX", "role": "Designs.", "system_prompt": "You design.", "task_prompt": "Draw."},
        {"name": "Backend", "role": "Builds.", "system_prompt": "You build.", "task_prompt": "Build."},
    ]
}


def meta(mode: str = "sequential", **more: Any) -> Json:
    return {
        "creation_mode": "meta_agent",
        "meta_agent_instructions": "Agents for a mobile app.",
        "discussion_mode": mode,
        "max_agents": 3,
        "max_turns": 2,
        **more,
    }


async def test_a_meta_agent_designs_the_team_and_corrects_an_invalid_design(tmp_path: Path) -> None:
    four = {"agents": [{**TEAM["agents"][0], "name": f"A{number}"} for number in range(4)]}
    repeated = {"agents": [TEAM["agents"][0], TEAM["agents"][0]]}

    def respond(request: ReceivedRequest) -> Reply:
        if request.schema is not None:
            return [final_result(four), final_result(repeated), final_result(TEAM)][request.answers]
        return echo(request)

    bench = AgentBench(tmp_path, FakeModels(respond))
    config = meta(tools=["file_operations"])
    outcome = await bench.run("app.md", config=config)
    design = bench.models.requests[0]
    assert design.schema is not None
    items = design.schema["properties"]["agents"]
    assert (items["maxItems"], items["items"]["properties"]["tools"]["items"]) == (3, {"enum": ["file_operations"]})
    assert design.tools == []
    assert design.prompt.partition("=== YOUR ROLE ===")[2] == mentions("3", "Agents for a mobile app.")
    assert bench.models.requests[1].last == mentions("3", "4")
    assert bench.models.requests[2].last == mentions("'ux'")
    assert bench.conversation.turns == ["design", "sequential/1/ux", "sequential/1/backend"]
    assert {message.purpose for message in bench.conversation.saved if message.turn == "design"} == {Purpose.DESIGN}
    assert bench.models.requests[3].system.startswith("You design.\n\n")
    assert ("info", mentions("UX: Designs.", "Backend: Builds."), None) in bench.logs.lines
    assert not isinstance(outcome, Produced), "app.md is missing"


@pytest.mark.parametrize("mode", ["sequential", "parallel", "council", "debate"])
async def test_an_interrupted_discussion_repeats_no_turn(tmp_path: Path, mode: str) -> None:
    """For every prefix of the conversation, the outcome is the same."""

    def respond(request: ReceivedRequest) -> Reply:
        if request.schema is not None:
            return final_result(TEAM)
        if NO_RESULT_YET in request.prompt:
            return [
                ToolCall("write_file", {"path": f"workspace/{speaker(request)}.txt", "content": "x"}),
                speaker(request),
            ][request.answers]
        return [ToolCall("write_file", {"path": "app.md", "content": "# App"}), "Done."][request.answers]

    outcome, requests = await replay_every_prefix(
        tmp_path, respond, lambda bench: bench.work("app.md", config=meta(mode, tools=["file_operations"]))
    )
    turns = {"sequential": 2, "parallel": 3, "council": 5, "debate": 3}[mode]
    assert (result_of(outcome), len(requests)) == ({"app.md": "# App"}, 1 + 2 * turns)


async def test_answers_of_other_agents_are_kept_when_one_fails(tmp_path: Path) -> None:
    async def respond(request: ReceivedRequest) -> Reply:
        if speaker(request) == "Analyst":
            raise ModelError(ModelErrorKind.OVERLOAD, "Too busy.")
        await asyncio.sleep(0.02)
        return echo(request)

    bench = AgentBench(tmp_path, FakeModels(respond))
    assert failure_of(await bench.run("plan.md", config=predefined("parallel")))[0] == "overload"
    again = AgentBench(tmp_path, FakeModels(echo), conversation=FakeConversation(bench.conversation.saved))
    assert await again.texts("plan.md", config=predefined("parallel")) == {"plan.md": "Editor says 2."}
    assert [speaker(request) for request in again.models.requests] == ["Analyst", "Editor"]


async def test_a_discussion_over_the_context_limit_lists_the_size_of_each_statement(tmp_path: Path) -> None:
    bench = AgentBench(tmp_path, FakeModels(lambda _: "x" * 150_000))
    kind, message, _ = failure_of(await bench.run("plan.md", config=predefined("parallel")))
    assert kind == "context_too_long"
    assert message == mentions("Analyst", "150,000")
