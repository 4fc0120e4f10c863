"""Deferred tools end the dispatch. When their result arrives, the turn resumes with it."""

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
from tests.runners.agent_samples import (
    AgentBench,
    FakeConversation,
    FakeModels,
    ReceivedRequest,
    Reply,
    ToolCall,
    final_result,
    texts,
)
from tests.runners.test_fencing import read_markdown
from tests.runners.work_orders import stored

Json = dict[str, Any]
MAIL = {"operation_type": "send_email", "parameters": {"to": "a@example.com"}, "reasoning": "They wait."}
TOOLS = {"tools": ["propose_action", "request_rework", "ask_human", "file_operations"]}
FOUND = ResolvedInputs(completed={"goals": ArtifactSource("Goals", 0, 1, (stored("goals", "json", '{"n": 2}'),))})


class Dispatches:
    """Dispatches the same work order repeatedly, with the results recorded so far."""

    def __init__(self, folder: Path, *replies: Reply, **more: Any) -> None:
        self.bench = AgentBench(folder, FakeModels(lambda request: replies[request.answers]))
        self.more = more
        self.calls: tuple[RecordedCall, ...] = ()

    async def dispatch(self) -> Outcome:
        more: Json = {"resolved": FOUND, "calls": self.calls, **self.more}
        work = self.bench.work("report.md", agent=TOOLS, **more)
        self.bench.conversation = FakeConversation(self.bench.conversation.saved)
        return await self.bench.runner.run(self.prepared(work))

    def prepared(self, work: WorkOrder) -> WorkOrder:
        return replace(work, conversation=self.bench.conversation)

    def answer(self, call: RecordedCall | None, **answer: Any) -> None:
        assert call is not None
        self.calls = (
            *(recorded for recorded in self.calls if recorded.number != call.number),
            replace(call, result=answer or None),
        )


async def test_an_action_is_proposed_with_staged_artifacts_and_its_decision_returns(tmp_path: Path) -> None:
    proposal = {**MAIL, "confidence": 0.9, "risk_level": "high"}
    dispatches = Dispatches(
        tmp_path,
        ToolCall("write_file", {"path": "report.md", "content": "# Draft"}),
        [
            ToolCall("list_files", {}, "l1"),
            ToolCall("propose_action", proposal, "p1"),
        ],
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
    call_site = outcome.call.arguments["call_site"]
    assert (call_site["turn"], call_site["tool_call_id"]) == ("work", "p1")
    request_count = len(dispatches.bench.models.requests)
    again = await dispatches.dispatch()
    assert isinstance(again, ProposesAction), "without an answer, the recorded call is proposed again"
    assert again.call == outcome.call
    assert len(dispatches.bench.models.requests) == request_count
    dispatches.answer(outcome.call, decision="approved", parameters={"to": "b@example.com"}, modified=True)
    done = await dispatches.dispatch()
    assert isinstance(done, Produced)
    assert len(dispatches.bench.models.requests) == request_count + 1
    message = dispatches.bench.models.requests[-1].last
    assert len(read_markdown(message)[1]) == 2
    decided = json.loads(read_markdown(message)[1][-1])
    assert (decided["decision"], decided["parameters"]["to"]) == ("approved", "b@example.com")


async def test_after_a_rework_the_agent_receives_the_new_artifacts(tmp_path: Path) -> None:
    rework = {"checkpoint": "goals", "prompt": "Count again.", "reason": "Two is wrong."}
    dispatches = Dispatches(
        tmp_path,
        ToolCall("request_rework", rework),
        ToolCall("write_file", {"path": "report.md", "content": "x"}),
        "Ok.",
    )
    outcome = await dispatches.dispatch()
    assert isinstance(outcome, NeedsRework)
    assert (outcome.key, outcome.prompt, outcome.reason) == ("goals", "Count again.", "Two is wrong.")
    dispatches.answer(outcome.call, status="completed", reason="", execution_id="e", artifacts=[])
    dispatches.more["resolved"] = ResolvedInputs(
        completed={"goals": ArtifactSource("Goals", 0, 1, (stored("goals", "json", '{"n": 3}'),))}
    )
    assert isinstance(await dispatches.dispatch(), Produced)
    message = dispatches.bench.models.requests[1].last
    assert message == mentions("goals", "goals.json")
    result, content = read_markdown(message)[1]
    assert (json.loads(result)["status"], content) == ("completed", '{"n": 3}')


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"answer": "Blue ```x```", "by": "mira"}, mentions("mira", "````text\nBlue ```x```\n````")),
        ({"declined": True, "reason": "Decide yourself."}, mentions("```text\nDecide yourself.\n```")),
    ],
)
async def test_a_question_is_answered_or_declined(tmp_path: Path, answer: Json, message: str) -> None:
    question = ToolCall("ask_human", {"question": "Which colour?", "options": ["Blue", "Red"]})
    dispatches = Dispatches(tmp_path, question, ToolCall("write_file", {"path": "report.md", "content": "x"}), "Ok.")
    outcome = await dispatches.dispatch()
    assert isinstance(outcome, NeedsInput)
    assert outcome.call is not None
    assert outcome.waiting_on is WaitingOn.QUESTION
    assert outcome.call.arguments["request"] == {"question": "Which colour?", "options": ["Blue", "Red"]}
    dispatches.answer(outcome.call, **answer)
    assert isinstance(await dispatches.dispatch(), Produced)
    assert dispatches.bench.models.requests[1].last == message


async def test_several_questions_are_asked_in_sequence(tmp_path: Path) -> None:
    first, second = ToolCall("ask_human", {"question": "A?"}, "a"), ToolCall("ask_human", {"question": "B?"}, "b")
    dispatches = Dispatches(
        tmp_path, [first, second], ToolCall("write_file", {"path": "report.md", "content": "x"}), "Ok."
    )
    first_outcome = await dispatches.dispatch()
    assert isinstance(first_outcome, NeedsInput)
    dispatches.answer(first_outcome.call, answer="a!", by="x")
    second_outcome = await dispatches.dispatch()
    assert isinstance(second_outcome, NeedsInput)
    assert second_outcome.call is not None
    assert (second_outcome.call.number, second_outcome.call.arguments["request"]) == (2, {"question": "B?"})
    dispatches.answer(second_outcome.call, answer="b!", by="x")
    assert isinstance(await dispatches.dispatch(), Produced)
    assert len(dispatches.bench.models.requests) == 3
    results = dispatches.bench.models.requests[1].results
    assert results == [mentions("x", "```text\na!\n```"), mentions("x", "```text\nb!\n```")]


async def test_an_answer_from_an_earlier_conversation_is_ignored(tmp_path: Path) -> None:
    """A manual retry starts a new conversation, although the calls of the revision are still recorded."""
    dispatches = Dispatches(tmp_path, ToolCall("ask_human", {"question": "A?"}, "same-id"), "Ok.")
    outcome = await dispatches.dispatch()
    assert isinstance(outcome, NeedsInput)
    dispatches.answer(outcome.call, answer="old", by="x")
    dispatches.bench.conversation = FakeConversation()
    again = await dispatches.dispatch()
    assert isinstance(again, NeedsInput)
    assert again.call is not None
    assert again.call.number == 2


async def test_action_offers_show_past_corrections_and_invalid_proposals_are_rejected(
    tmp_path: Path,
) -> None:
    mail = ActionOffer(
        "send_email",
        "medium",
        "Writes to customers.",
        {"type": "object"},
        (PastCorrection({"amount": 9}, {"amount": 8}, "By policy."),),
    )
    dispatches = Dispatches(
        tmp_path, ToolCall("propose_action", MAIL), ToolCall("propose_action", {**MAIL, "confidence": 2}), *["Ok."] * 3
    )

    def prepared(work: WorkOrder) -> WorkOrder:
        def check_proposal(proposed: ProposesAction) -> str | None:
            return f"{proposed.operation_type} is invalid: /subject is missing."

        return replace(
            work, conversation=dispatches.bench.conversation, action_offers=(mail,), check_proposal=check_proposal
        )

    dispatches.prepared = prepared
    await dispatches.dispatch()
    requests = dispatches.bench.models.requests
    tool = next(tool for tool in requests[0].info.function_tools if tool.name == "propose_action")
    assert tool.description is not None
    assert tool.description == mentions(
        *("send_email", "medium", "Writes to customers.", '{"type":"object"}'),
        *('{"amount":9}', '{"amount":8}', "By policy."),
    )
    assert tool.kind == "external"
    assert requests[1].last == "send_email is invalid: /subject is missing."
    assert requests[2].last == mentions("confidence", "1", "2")


async def test_test_runs_have_no_questions_and_first_checkpoints_no_rework(tmp_path: Path) -> None:
    dispatches = Dispatches(tmp_path, "Ok.", "Ok.", "Ok.", resolved=ResolvedInputs())
    dispatches.prepared = lambda work: replace(work, conversation=dispatches.bench.conversation, is_test=True)
    await dispatches.dispatch()
    tools = dispatches.bench.models.requests[0].tools
    assert "propose_action" in tools
    assert not {"ask_human", "request_rework"} & set(tools)


async def test_a_waiting_agent_does_not_stop_the_other_turns_of_its_step(tmp_path: Path) -> None:
    def respond(request: ReceivedRequest) -> Reply:
        if "ask_human" in request.tools and request.answers == 0:
            return ToolCall("ask_human", {"question": "How many?"})
        return "Said."

    config = {
        "creation_mode": "predefined",
        "discussion_mode": "parallel",
        "agents": [
            {"name": "Analyst", "task_prompt": "A", "tools": ["ask_human"]},
            {"name": "Architect", "task_prompt": "B"},
        ],
    }
    bench = AgentBench(tmp_path, FakeModels(respond))
    outcome = await bench.run("plan.md", config=config)
    assert isinstance(outcome, NeedsInput)
    assert outcome.call is not None
    assert sorted(bench.conversation.turns) == ["parallel/analyst", "parallel/architect"]
    call = replace(outcome.call, result={"answer": "Two", "by": "x"})
    again = AgentBench(tmp_path, FakeModels(respond), conversation=FakeConversation(bench.conversation.saved))
    assert await again.texts("plan.md", config=config, calls=(call,)) == {"plan.md": "Said."}
    assert len(again.models.requests) == 2


async def test_a_result_next_to_a_deferred_call_is_rejected(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    replies: list[Reply] = [
        [final_result({"n": 1}), ToolCall("ask_human", {"question": "Sure?"})],
        final_result({"n": 2}),
    ]
    bench = AgentBench(tmp_path, FakeModels(lambda request: replies[request.answers]))
    outputs = ({"name": "n", "format": "json", "schema": schema},)
    outcome = await bench.run(*outputs, agent={"tools": ["ask_human"]})
    assert isinstance(outcome, NeedsInput)
    assert outcome.call is not None
    call = replace(outcome.call, result={"answer": "No", "by": "x"})
    again = AgentBench(
        tmp_path,
        FakeModels(lambda request: replies[request.answers]),
        conversation=FakeConversation(bench.conversation.saved),
    )
    assert await again.texts(*outputs, agent={"tools": ["ask_human"]}, calls=(call,)) == {"n.json": '{"n":2}'}
