"""Tools that wait for others end the dispatch, and the turn goes on with what they said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cairn.core.states import WaitingOn
from cairn.ports import (
    ActionOffer,
    ArtifactSource,
    NeedsInput,
    NeedsRework,
    Outcome,
    PastCorrection,
    Produced,
    ProposesAction,
    RecordedCall,
    ResolvedInputs,
    WorkOrder,
)
from tests.mentions import mentions
from tests.runners.agent_samples import Agents, Asked, FakeModels, Kept, Reply, Uses, hands_over, texts
from tests.runners.test_fencing import read_markdown
from tests.runners.work_orders import stored

Json = dict[str, Any]
MAIL = {"operation_type": "send_email", "parameters": {"to": "a@example.com"}, "reasoning": "They wait."}
TOOLS = {"tools": ["propose_action", "request_rework", "ask_human", "file_operations"]}
FOUND = ResolvedInputs(completed={"goals": ArtifactSource("Goals", 0, 1, (stored("goals", "json", '{"n": 2}'),))})


class Dispatches:
    """Dispatches the same work again and again, with what people have answered meanwhile."""

    def __init__(self, folder: Path, *replies: Reply, **more: Any) -> None:
        self.bench = Agents(folder, FakeModels(lambda asked: replies[asked.answers]))
        self.more = more
        self.calls: tuple[RecordedCall, ...] = ()

    async def dispatch(self) -> Outcome:
        more: Json = {"resolved": FOUND, "calls": self.calls, **self.more}
        work = self.bench.work("report.md", agent=TOOLS, **more)
        self.bench.kept = Kept(self.bench.kept.all)
        return await self.bench.runner.run(self.prepared(work))

    def prepared(self, work: WorkOrder) -> WorkOrder:
        return replace(work, conversation=self.bench.kept)

    def answer(self, call: RecordedCall | None, **answer: Any) -> None:
        assert call is not None
        self.calls = (*(one for one in self.calls if one.number != call.number), replace(call, result=answer or None))


async def test_an_action_is_proposed_with_what_is_staged_and_its_decision_comes_back(tmp_path: Path) -> None:
    dispatches = Dispatches(
        tmp_path,
        Uses("write_file", {"path": "report.md", "content": "# Draft"}),
        [Uses("list_files", {}, "l1"), Uses("propose_action", {**MAIL, "confidence": 0.9, "risk_level": "high"}, "p1")],
        "Sent.",
    )
    outcome = await dispatches.dispatch()
    assert isinstance(outcome, ProposesAction)
    assert (outcome.operation_type, outcome.parameters, outcome.reasoning) == (
        "send_email",
        {"to": "a@example.com"},
        "They wait.",
    )
    assert (outcome.confidence, outcome.risk_level, texts(outcome.artifacts)) == (0.9, "high", {"report.md": "# Draft"})
    assert outcome.call is not None
    assert (outcome.call.number, outcome.call.kind) == (1, "action")
    place = outcome.call.arguments["call_site"]
    assert (place["turn"], place["tool_call_id"]) == ("work", "p1")
    asked = len(dispatches.bench.models.asked)
    again = await dispatches.dispatch()
    assert isinstance(again, ProposesAction), "nobody has answered yet: it is proposed again, not asked for again"
    assert again.call == outcome.call
    assert len(dispatches.bench.models.asked) == asked
    dispatches.answer(outcome.call, decision="approved", parameters={"to": "b@example.com"}, modified=True)
    done = await dispatches.dispatch()
    assert isinstance(done, Produced)
    assert len(dispatches.bench.models.asked) == asked + 1
    told = dispatches.bench.models.asked[-1].last
    assert len(read_markdown(told)[1]) == 2
    decided = json.loads(read_markdown(told)[1][-1])
    assert (decided["decision"], decided["parameters"]["to"]) == ("approved", "b@example.com")


async def test_work_is_sent_back_and_what_it_has_become_is_told(tmp_path: Path) -> None:
    asks = {"checkpoint": "goals", "prompt": "Count again.", "reason": "Two is wrong."}
    dispatches = Dispatches(
        tmp_path, Uses("request_rework", asks), Uses("write_file", {"path": "report.md", "content": "x"}), "Ok."
    )
    outcome = await dispatches.dispatch()
    assert isinstance(outcome, NeedsRework)
    assert (outcome.key, outcome.prompt, outcome.reason) == ("goals", "Count again.", "Two is wrong.")
    dispatches.answer(outcome.call, status="completed", reason="", execution_id="e", artifacts=[])
    dispatches.more["resolved"] = ResolvedInputs(
        completed={"goals": ArtifactSource("Goals", 0, 1, (stored("goals", "json", '{"n": 3}'),))}
    )
    assert isinstance(await dispatches.dispatch(), Produced)
    told = dispatches.bench.models.asked[1].last
    assert told == mentions("goals", "goals.json")
    ended, content = read_markdown(told)[1]
    assert (json.loads(ended)["status"], content) == ("completed", '{"n": 3}')


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"answer": "Blue ```x```", "by": "mira"}, mentions("mira", "````text\nBlue ```x```\n````")),
        ({"declined": True, "reason": "Decide yourself."}, mentions("```text\nDecide yourself.\n```")),
    ],
)
async def test_people_are_asked_and_a_declined_question_is_an_answer(tmp_path: Path, answer: Json, told: str) -> None:
    question = Uses("ask_human", {"question": "Which colour?", "options": ["Blue", "Red"]})
    dispatches = Dispatches(tmp_path, question, Uses("write_file", {"path": "report.md", "content": "x"}), "Ok.")
    outcome = await dispatches.dispatch()
    assert isinstance(outcome, NeedsInput)
    assert outcome.call is not None
    assert outcome.waiting_on is WaitingOn.QUESTION
    assert outcome.call.arguments["request"] == {"question": "Which colour?", "options": ["Blue", "Red"]}
    dispatches.answer(outcome.call, **answer)
    assert isinstance(await dispatches.dispatch(), Produced)
    assert dispatches.bench.models.asked[1].last == told


async def test_several_at_once_are_asked_one_after_the_other(tmp_path: Path) -> None:
    first, second = Uses("ask_human", {"question": "A?"}, "a"), Uses("ask_human", {"question": "B?"}, "b")
    dispatches = Dispatches(tmp_path, [first, second], Uses("write_file", {"path": "report.md", "content": "x"}), "Ok.")
    one = await dispatches.dispatch()
    assert isinstance(one, NeedsInput)
    dispatches.answer(one.call, answer="a!", by="x")
    two = await dispatches.dispatch()
    assert isinstance(two, NeedsInput)
    assert two.call is not None
    assert (two.call.number, two.call.arguments["request"]) == (2, {"question": "B?"})
    dispatches.answer(two.call, answer="b!", by="x")
    assert isinstance(await dispatches.dispatch(), Produced)
    assert len(dispatches.bench.models.asked) == 3
    results = dispatches.bench.models.asked[1].results
    assert results == [mentions("x", "```text\na!\n```"), mentions("x", "```text\nb!\n```")]


async def test_an_answer_of_an_earlier_conversation_is_no_answer(tmp_path: Path) -> None:
    """A person's retry begins anew, though the calls of the revision are still recorded."""
    dispatches = Dispatches(tmp_path, Uses("ask_human", {"question": "A?"}, "same-id"), "Ok.")
    outcome = await dispatches.dispatch()
    assert isinstance(outcome, NeedsInput)
    dispatches.answer(outcome.call, answer="old", by="x")
    dispatches.bench.kept = Kept()
    again = await dispatches.dispatch()
    assert isinstance(again, NeedsInput)
    assert again.call is not None
    assert again.call.number == 2


async def test_what_can_be_proposed_is_offered_with_what_people_have_corrected(tmp_path: Path) -> None:
    """And what does not fit comes back at once, without anybody being bothered."""
    mail = ActionOffer(
        "send_email",
        "medium",
        "Writes to customers.",
        {"type": "object"},
        (PastCorrection({"amount": 9}, {"amount": 8}, "By policy."),),
    )
    dispatches = Dispatches(
        tmp_path, Uses("propose_action", MAIL), Uses("propose_action", {**MAIL, "confidence": 2}), *["Ok."] * 3
    )

    def prepared(work: WorkOrder) -> WorkOrder:
        def check_proposal(proposed: ProposesAction) -> str | None:
            return f"{proposed.operation_type} does not fit: /subject is missing."

        return replace(work, conversation=dispatches.bench.kept, action_offers=(mail,), check_proposal=check_proposal)

    dispatches.prepared = prepared
    await dispatches.dispatch()
    asked = dispatches.bench.models.asked
    tool = next(one for one in asked[0].info.function_tools if one.name == "propose_action")
    assert tool.description is not None
    assert tool.description == mentions(
        *("send_email", "medium", "Writes to customers.", '{"type":"object"}'),
        *('{"amount":9}', '{"amount":8}', "By policy."),
    )
    assert tool.kind == "external"
    assert asked[1].last == "send_email does not fit: /subject is missing."
    assert asked[2].last == mentions("confidence", "1", "2")


async def test_nobody_is_asked_in_a_test_run_and_nothing_sent_back_where_nothing_is(tmp_path: Path) -> None:
    dispatches = Dispatches(tmp_path, "Ok.", "Ok.", "Ok.", resolved=ResolvedInputs())
    dispatches.prepared = lambda work: replace(work, conversation=dispatches.bench.kept, is_test=True)
    await dispatches.dispatch()
    tools = dispatches.bench.models.asked[0].tools
    assert "propose_action" in tools
    assert not {"ask_human", "request_rework"} & set(tools)


async def test_in_a_discussion_whoever_waits_holds_up_only_the_next_step(tmp_path: Path) -> None:
    def mind(asked: Asked) -> Reply:
        if "ask_human" in asked.tools and asked.answers == 0:
            return Uses("ask_human", {"question": "How many?"})
        return "Said."

    config = {
        "creation_mode": "predefined",
        "discussion_mode": "parallel",
        "agents": [
            {"name": "Analyst", "task_prompt": "A", "tools": ["ask_human"]},
            {"name": "Architect", "task_prompt": "B"},
        ],
    }
    bench = Agents(tmp_path, FakeModels(mind))
    outcome = await bench.run("plan.md", config=config)
    assert isinstance(outcome, NeedsInput)
    assert outcome.call is not None
    assert sorted(bench.kept.turns) == ["parallel/analyst", "parallel/architect"]
    call = replace(outcome.call, result={"answer": "Two", "by": "x"})
    again = Agents(tmp_path, FakeModels(mind), kept=Kept(bench.kept.all))
    assert await again.texts("plan.md", config=config, calls=(call,)) == {"plan.md": "Said."}
    assert len(again.models.asked) == 2


async def test_a_result_that_comes_with_a_wait_is_not_taken(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    replies: list[Reply] = [
        [hands_over({"n": 1}), Uses("ask_human", {"question": "Sure?"})],
        hands_over({"n": 2}),
    ]
    bench = Agents(tmp_path, FakeModels(lambda asked: replies[asked.answers]))
    given = ({"name": "n", "format": "json", "schema": schema},)
    outcome = await bench.run(*given, agent={"tools": ["ask_human"]})
    assert isinstance(outcome, NeedsInput)
    assert outcome.call is not None
    call = replace(outcome.call, result={"answer": "No", "by": "x"})
    again = Agents(tmp_path, FakeModels(lambda asked: replies[asked.answers]), kept=Kept(bench.kept.all))
    assert await again.texts(*given, agent={"tools": ["ask_human"]}, calls=(call,)) == {"n.json": '{"n":2}'}
