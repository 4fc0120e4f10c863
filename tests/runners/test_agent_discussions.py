"""Several agents, in each way to discuss, and a team that an agent sets up."""

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
from tests.runners.agent_samples import Agents, Asked, FakeModels, Kept, Reply, Uses, faulted, hands_over, pattern_of
from tests.runners.test_agent_resume import kind_of, replay_every_prefix

Json = dict[str, Any]
TWO = [
    {"name": "Analyst", "role": "You know the business.", "task_prompt": "Analyse."},
    {"name": "Architect", "role": "You know the machines.", "task_prompt": "Design.", "model": "fake:big"},
]
THREE = [*TWO, {"name": "Tester", "system_prompt": "You break things.", "task_prompt": "Test."}]


def predefined(mode: str, agents: list[Json] = TWO, **more: Any) -> Json:
    return {"creation_mode": "predefined", "discussion_mode": mode, "agents": agents, **more}


PARTS = [pattern_of(part) for part in (SEQUENTIAL, SEQUENTIAL_LAST, PARALLEL, COUNCIL_ANSWER, COUNCIL_REVIEW, DEBATE)]


def who(asked: Asked) -> str:
    """Whose turn it is, by the part of the prompt that says so."""
    part = asked.prompt.partition("=== YOUR ROLE ===\n")[2].partition("\n\n===")[0]
    found = next(filter(None, (pattern.fullmatch(part) for pattern in PARTS)), None)
    return found["name"] if found else "Editor"


def echo(asked: Asked) -> Reply:
    return f"{who(asked)} says {asked.number}."


async def test_sequential_each_speaks_in_turn_and_sees_all_before(tmp_path: Path) -> None:
    bench = Agents(tmp_path, FakeModels(echo))
    text = await bench.texts("plan.md", config=predefined("sequential", max_turns=4))
    assert text == {"plan.md": "Architect says 4."}
    assert bench.kept.turns == [
        "sequential/1/analyst",
        "sequential/1/architect",
        "sequential/2/analyst",
        "sequential/2/architect",
    ]
    assert [one.model for one in bench.models.asked] == ["fake:default", "fake:big"] * 2
    first, _, _, last = bench.models.asked
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
    assert [(one.speaker, one.role) for one in bench.kept.all if one.role == "assistant"] == [
        ("Analyst", "assistant"),
        ("Architect", "assistant"),
    ] * 2
    progress = sorted({text or "" for _, text in bench.told.progress})
    assert progress == [mentions("Analyst"), mentions("Architect")]


async def test_sequential_ends_when_all_agree_and_everybody_speaks_at_least_once(tmp_path: Path) -> None:
    bench = Agents(tmp_path, FakeModels(lambda asked: f"{echo(asked)}\n\n**AGREED**"))
    text = await bench.texts("plan.txt", config=predefined("sequential", max_turns=20))
    assert bench.kept.turns == ["sequential/1/analyst", "sequential/1/architect", "sequential/2/analyst"]
    assert text["plan.txt"].startswith("Analyst says 3.")
    bench = Agents(tmp_path, FakeModels(echo))
    await bench.texts("plan.txt", config=predefined("sequential", THREE, max_turns=1))
    assert len(bench.models.asked) == 3
    bench = Agents(tmp_path, FakeModels(lambda _: "Alone."))
    assert await bench.texts("plan.txt", config=predefined("sequential", TWO[:1])) == {"plan.txt": "Alone."}
    assert len(bench.models.asked) == 1


async def test_parallel_all_answer_alone_at_once_and_one_merges(tmp_path: Path) -> None:
    working, most = 0, 0

    async def mind(asked: Asked) -> Reply:
        nonlocal working, most
        working += 1
        most = max(most, working)
        await asyncio.sleep(0.05)
        working -= 1
        return echo(asked)

    bench = Agents(tmp_path, FakeModels(mind))
    assert await bench.texts("plan.md", config=predefined("parallel", THREE)) == {"plan.md": "Editor says 4."}
    assert most == 3
    assert sorted(bench.kept.turns) == ["parallel/analyst", "parallel/architect", "parallel/merge", "parallel/tester"]
    *alone, merging = bench.models.asked
    assert not any("DISCUSSION SO FAR" in one.prompt for one in alone)
    assert [name in merging.prompt for name in ("Analyst:\n", "Architect:\n", "Tester:\n")] == [True] * 3


async def test_council_all_answer_each_reviews_and_a_chair_decides(tmp_path: Path) -> None:
    agents = [*TWO, {"name": "Head", "role": "The chair of this council.", "task_prompt": "Lead."}]
    bench = Agents(tmp_path, FakeModels(echo))
    await bench.texts("plan.md", config=predefined("council", agents))
    assert sorted(bench.kept.turns) == [
        "council/answer/analyst",
        "council/answer/architect",
        "council/chair",
        "council/review/analyst",
        "council/review/architect",
    ]
    chair = bench.models.asked[-1]
    assert chair.system.partition("\n\n")[0] == mentions("Head", "The chair of this council.")
    assert chair.prompt.count("Analyst") == 4  # two headings, and what was said under each
    assert bench.kept.all[-1].speaker == "Head"


async def test_debate_sides_argue_over_rounds_and_a_judge_rules(tmp_path: Path) -> None:
    bench = Agents(tmp_path, FakeModels(echo))
    await bench.texts("ruling.md", config=predefined("debate", max_turns=5))
    assert bench.kept.turns == [
        "debate/1/analyst",
        "debate/1/architect",
        "debate/2/analyst",
        "debate/2/architect",
        "debate/judge",
    ]
    assert bench.models.asked[3].prompt == mentions("Architect", "Analyst, Architect", "2")
    assert bench.models.asked[4].prompt.count("\nArchitect, ") == 2


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


async def test_a_meta_agent_sets_up_those_who_work(tmp_path: Path) -> None:
    four = {"agents": [{**TEAM["agents"][0], "name": f"A{number}"} for number in range(4)]}
    twice = {"agents": [TEAM["agents"][0], TEAM["agents"][0]]}

    def mind(asked: Asked) -> Reply:
        if asked.schema is not None:
            return [hands_over(four), hands_over(twice), hands_over(TEAM)][asked.answers]
        return echo(asked)

    bench = Agents(tmp_path, FakeModels(mind))
    config = meta(tools=["file_operations"])
    outcome = await bench.run("app.md", config=config)
    design = bench.models.asked[0]
    assert design.schema is not None
    items = design.schema["properties"]["agents"]
    assert (items["maxItems"], items["items"]["properties"]["tools"]["items"]) == (3, {"enum": ["file_operations"]})
    assert design.tools == []
    assert design.prompt.partition("=== YOUR ROLE ===")[2] == mentions("3", "Agents for a mobile app.")
    assert bench.models.asked[1].last == mentions("3", "4")
    assert bench.models.asked[2].last == mentions("'ux'")
    assert bench.kept.turns == ["design", "sequential/1/ux", "sequential/1/backend"]
    assert {one.purpose for one in bench.kept.all if one.turn == "design"} == {Purpose.DESIGN}
    assert bench.models.asked[3].system.startswith("You design.\n\n")
    assert ("info", mentions("UX: Designs.", "Backend: Builds."), None) in bench.told.lines
    assert not isinstance(outcome, Produced), "nobody has written app.md"


@pytest.mark.parametrize("mode", ["sequential", "parallel", "council", "debate"])
async def test_broken_off_anywhere_no_turn_is_held_twice(tmp_path: Path, mode: str) -> None:
    """The same whatever was kept: every prefix of the conversation."""

    def mind(asked: Asked) -> Reply:
        if asked.schema is not None:
            return hands_over(TEAM)
        if NO_RESULT_YET in asked.prompt:
            return [Uses("write_file", {"path": f"workspace/{who(asked)}.txt", "content": "x"}), who(asked)][
                asked.answers
            ]
        return [Uses("write_file", {"path": "app.md", "content": "# App"}), "Done."][asked.answers]

    outcome, asked = await replay_every_prefix(
        tmp_path, mind, lambda bench: bench.work("app.md", config=meta(mode, tools=["file_operations"]))
    )
    turns = {"sequential": 2, "parallel": 3, "council": 5, "debate": 3}[mode]
    assert (kind_of(outcome), len(asked)) == ({"app.md": "# App"}, 1 + 2 * turns)


async def test_what_others_have_answered_is_kept_when_one_fails(tmp_path: Path) -> None:
    async def mind(asked: Asked) -> Reply:
        if who(asked) == "Analyst":
            raise ModelError(ModelErrorKind.OVERLOAD, "Too busy.")
        await asyncio.sleep(0.02)
        return echo(asked)

    bench = Agents(tmp_path, FakeModels(mind))
    assert faulted(await bench.run("plan.md", config=predefined("parallel")))[0] == "overload"
    again = Agents(tmp_path, FakeModels(echo), kept=Kept(bench.kept.all))
    assert await again.texts("plan.md", config=predefined("parallel")) == {"plan.md": "Editor says 2."}
    assert [who(one) for one in again.models.asked] == ["Analyst", "Editor"]


async def test_a_discussion_that_grows_too_long_says_who_has_said_how_much(tmp_path: Path) -> None:
    bench = Agents(tmp_path, FakeModels(lambda _: "x" * 150_000))
    kind, told, _ = faulted(await bench.run("plan.md", config=predefined("parallel")))
    assert kind == "context_too_long"
    assert told == mentions("Analyst", "150,000")
