"""Actions of agents: handed over one message at a time, reported with a tool, and never lost in a restart."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelRequest, ToolReturnPart

from cairn.ports import ActionOffer, NeedsInput, Outcome, Produced, ProposesAction, RecordedCall, WorkOrder
from cairn.ports.models import ModelError, ModelErrorKind
from tests.mentions import mentions
from tests.runners.action_samples import APPROVED, REFUND, MemoryDoor, recorded
from tests.runners.agent_samples import AgentBench, FakeConversation, FakeModels, ReceivedRequest, Reply, ToolCall
from tests.runners.test_fencing import read_markdown

Json = dict[str, Any]
OFFER = ActionOffer("refund", "high", executor="proposer")
HAND_OVER, ASSUMED = ("hand_over", 1), ("assume_done",)


def propose(call_id: str = "p1", **more: Any) -> ToolCall:
    return ToolCall(
        "propose_action", {"operation_type": "refund", "parameters": REFUND, "reasoning": "r"} | more, call_id
    )


def report(**arguments: Any) -> ToolCall:
    return ToolCall("report_outcome", arguments)


class Agent:
    """An agent with these replies. Each dispatch continues its conversation."""

    def __init__(self, folder: Path, *replies: Reply, offers: tuple[ActionOffer, ...] = (OFFER,)) -> None:
        self.bench = AgentBench(folder, FakeModels(lambda request: replies[request.answers]))
        self.offers = offers
        self.calls: dict[int, RecordedCall] = {}

    async def dispatch(self, door: MemoryDoor | None = None, **more: Any) -> Outcome:
        calls = tuple(self.calls[number] for number in sorted(self.calls))
        tools = {"tools": ["propose_action", "ask_human"]}
        work: WorkOrder = self.bench.work("report.md", agent=tools, calls=calls, **more)
        self.bench.conversation = FakeConversation(self.bench.conversation.saved)
        work = replace(work, conversation=self.bench.conversation, action_offers=self.offers, actions=door)
        outcome = await self.bench.runner.run(work)
        if isinstance(outcome, ProposesAction | NeedsInput):
            assert outcome.call is not None
            self.calls.setdefault(outcome.call.number, outcome.call)
        return outcome

    def answer(self, number: int, result: Json | None) -> None:
        self.calls[number] = replace(self.calls[number], result=result)

    async def proposed(self) -> None:
        """Run until the agent has proposed its action."""
        assert isinstance(await self.dispatch(), ProposesAction)

    @property
    def requests(self) -> list[ReceivedRequest]:
        return self.bench.models.requests


def last_results(request: ReceivedRequest) -> list[ToolReturnPart]:
    last = request.messages[-1]
    assert isinstance(last, ModelRequest)
    return [part for part in last.parts if isinstance(part, ToolReturnPart)]


def data_of(text: str) -> Any:
    return json.loads(read_markdown(text)[1][-1])


# ---- handing over ----------------------------------------------------------------------------------
async def test_an_approved_action_is_handed_over_and_reported(tmp_path: Path) -> None:
    agent, door = Agent(tmp_path, propose(), report(outcome="done", result={"receipt": 7}), "Paid."), MemoryDoor()
    await agent.proposed()
    agent.answer(1, APPROVED)
    assert isinstance(await agent.dispatch(door), Produced)
    (result,) = last_results(agent.requests[1])
    assert result.outcome == "success"
    assert result.content == mentions("refund", "report_outcome", "action 1")
    assert data_of(str(result.content)) == {"parameters": REFUND, "idempotency_key": "key-1"}
    assert door.log == [HAND_OVER, ("report", 1, "done", {"receipt": 7})]


async def test_changed_parameters_are_named(tmp_path: Path) -> None:
    agent = Agent(tmp_path, propose(), "Paid.")
    await agent.proposed()
    agent.answer(1, APPROVED)
    await agent.dispatch(MemoryDoor(approved={"amount": 4}, modified=True))
    text = agent.requests[1].last
    assert text == mentions("People have changed")
    assert data_of(text)["parameters"] == {"amount": 4}


@pytest.mark.parametrize("door", [MemoryDoor(held=frozenset({1})), None])
async def test_a_held_action_stays_pending_under_its_number(tmp_path: Path, door: MemoryDoor | None) -> None:
    agent = Agent(tmp_path, propose(), "Paid.")
    await agent.proposed()
    agent.answer(1, APPROVED)
    for _ in range(2):
        outcome = await agent.dispatch(door)
        assert isinstance(outcome, ProposesAction)
        assert outcome.call is not None
        assert (outcome.is_held, outcome.call.number, outcome.operation_type) == (True, 1, "refund")
    assert len(agent.requests) == 1
    assert isinstance(await agent.dispatch(MemoryDoor()), Produced)


async def test_without_a_report_a_normal_end_counts_as_done(tmp_path: Path) -> None:
    agent, door = Agent(tmp_path, propose(), "Paid."), MemoryDoor()
    await agent.proposed()
    agent.answer(1, APPROVED)
    await agent.dispatch(door)
    assert door.log == [HAND_OVER, ASSUMED]


@pytest.mark.parametrize("call", [propose("p2"), ToolCall("ask_human", {"question": "Next?"})])
async def test_without_a_report_the_next_call_that_waits_counts_as_done(tmp_path: Path, call: ToolCall) -> None:
    agent, door = Agent(tmp_path, propose(), call, "Paid."), MemoryDoor()
    await agent.proposed()
    agent.answer(1, APPROVED)
    outcome = await agent.dispatch(door)
    assert isinstance(outcome, ProposesAction | NeedsInput)
    assert outcome.call is not None
    assert (outcome.call.number, door.log) == (2, [HAND_OVER, ASSUMED])


async def test_an_error_reports_nothing(tmp_path: Path) -> None:
    agent = Agent(tmp_path, propose(), ModelError(ModelErrorKind.NETWORK, "busy", model="m"))
    door = MemoryDoor()
    await agent.proposed()
    agent.answer(1, APPROVED)
    await agent.dispatch(door)
    assert door.log == [HAND_OVER]


async def test_a_stopped_agent_completes_its_hand_over_and_reports_nothing(tmp_path: Path) -> None:
    agent, door = Agent(tmp_path, propose(), "Paid."), MemoryDoor(delay=0.3)
    await agent.proposed()
    agent.answer(1, APPROVED)
    running = asyncio.ensure_future(agent.dispatch(door))
    await asyncio.sleep(0.1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (door.log, len(agent.requests)) == ([HAND_OVER], 1)


# ---- several actions -------------------------------------------------------------------------------
async def test_actions_of_one_message_are_handed_over_when_none_is_pending(tmp_path: Path) -> None:
    reports = [report(outcome="failed", action=2), report(outcome="done", action=1)]
    agent, door = Agent(tmp_path, [propose("p1"), propose("p2")], reports, "Paid."), MemoryDoor()
    await agent.proposed()
    agent.answer(1, APPROVED)
    assert isinstance(await agent.dispatch(door), ProposesAction)
    assert door.log == []
    agent.answer(2, APPROVED)
    assert isinstance(await agent.dispatch(door), Produced)
    assert door.log == [HAND_OVER, ("hand_over", 2), ("report", 2, "failed", None), ("report", 1, "done", None)]


async def test_if_the_second_action_of_a_message_is_held_the_first_was_not_carried_out(tmp_path: Path) -> None:
    agent, door = Agent(tmp_path, [propose("p1"), propose("p2")], "Paid."), MemoryDoor(held=frozenset({2}))
    await agent.proposed()
    agent.answer(1, APPROVED)
    await agent.dispatch(door)
    agent.answer(2, APPROVED)
    outcome = await agent.dispatch(door)
    assert isinstance(outcome, ProposesAction)
    assert outcome.call is not None
    assert (outcome.is_held, outcome.call.number, len(agent.requests)) == (True, 2, 1)
    assert [entry[:3] for entry in door.log] == [HAND_OVER, ("held", 2), ("report", 1, "failed")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"outcome": "done"}, ("1, 2",)),
        ({"outcome": "done", "action": 3}, ("1, 2",)),
        ({"outcome": "unknown", "action": 1}, ("outcome",)),
        ({"outcome": "done", "action": 1, "result": "x" * 300_000}, ("256 KB",)),
    ],
)
async def test_an_invalid_report_is_refused(tmp_path: Path, arguments: Json, words: tuple[str, ...]) -> None:
    agent, door = Agent(tmp_path, [propose("p1"), propose("p2")], report(**arguments), "Paid."), MemoryDoor()
    await agent.proposed()
    agent.answer(1, APPROVED)
    await agent.dispatch()
    agent.answer(2, APPROVED)
    await agent.dispatch(door)
    (result,) = last_results(agent.requests[2])
    assert (result.outcome, result.content) == ("failed", mentions(*words))
    assert door.log == [HAND_OVER, ("hand_over", 2), ASSUMED]


# ---- outcomes --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("result", "failed", "data"),
    [
        (
            recorded("done", result={"receipt": 7}),
            False,
            {"state": "done", "modified": False, "parameters": REFUND, "result": {"receipt": 7}},
        ),
        (
            recorded("done", decision="modified", executed={"amount": 4}),
            False,
            {"state": "done", "modified": True, "parameters": {"amount": 4}, "result": None},
        ),
        (
            recorded("done", decision="modified"),
            False,
            {"state": "done", "modified": True, "parameters": None, "result": None},
        ),
        (
            recorded("reused", result=1),
            False,
            {"state": "reused", "modified": False, "parameters": REFUND, "result": 1},
        ),
        (recorded("test"), False, {"state": "test", "modified": False, "parameters": REFUND, "result": None}),
        (recorded("unknown"), False, {"state": "unknown", "modified": False, "parameters": REFUND, "result": None}),
        (
            recorded("failed", reason="no money"),
            True,
            {"state": "failed", "modified": False, "reason": "no money", "result": None},
        ),
        (
            recorded("refused", reason="too much"),
            True,
            {"state": "refused", "modified": False, "reason": "too much", "result": None},
        ),
    ],
)
async def test_an_outcome_states_what_was_carried_out(tmp_path: Path, result: Json, failed: bool, data: Json) -> None:
    agent, door = Agent(tmp_path, propose(), "Ok."), MemoryDoor()
    await agent.proposed()
    agent.answer(1, result)
    assert isinstance(await agent.dispatch(door), Produced)
    (answer,) = last_results(agent.requests[1])
    assert (answer.outcome, answer.content) == ("failed" if failed else "success", mentions("refund"))
    assert data_of(str(answer.content)) == data
    assert door.log == []


async def test_the_report_tool_is_offered_if_the_agent_carries_out_actions(tmp_path: Path) -> None:
    for number, (offers, offered) in enumerate((((OFFER,), True), ((replace(OFFER, executor="cairn"),), False))):
        agent = Agent(tmp_path / str(number), propose(), offers=offers)
        await agent.proposed()
        assert ("report_outcome" in agent.requests[0].tools) is offered


async def test_a_report_without_a_hand_over_is_refused(tmp_path: Path) -> None:
    agent, door = Agent(tmp_path, report(outcome="done"), "Ok."), MemoryDoor()
    await agent.dispatch(door)
    (result,) = last_results(agent.requests[1])
    assert (result.outcome, door.log) == ("failed", [])


# ---- restarts --------------------------------------------------------------------------------------
async def interrupted(folder: Path, *replies: Reply) -> Agent:
    """An agent that was killed after its action was handed over."""
    agent = Agent(folder, propose(), *replies)
    await agent.proposed()
    agent.answer(1, APPROVED)
    respond = agent.bench.models.respond

    def die(_: ReceivedRequest) -> Reply:
        raise asyncio.CancelledError

    agent.bench.models.respond = die
    with pytest.raises(asyncio.CancelledError):
        await agent.dispatch(MemoryDoor())
    agent.bench.models.respond = respond
    return agent


@pytest.mark.parametrize("state", ["done", "failed", "unknown"])
async def test_after_a_restart_the_agent_learns_what_became_of_its_action(tmp_path: Path, state: str) -> None:
    agent, door = await interrupted(tmp_path, report(outcome="done"), "Ok."), MemoryDoor()
    agent.answer(1, recorded(state))
    assert isinstance(await agent.dispatch(door), Produced)
    asked = agent.requests[2]
    assert data_of(asked.last)["state"] == state
    assert asked.last == mentions("refund", "you carry it out")
    (result,) = last_results(agent.requests[3])
    assert (result.outcome, door.log) == ("failed", [])
    assert sum(message.text.count('"state"') for message in agent.bench.conversation.saved) == 1


async def test_after_a_restart_the_agent_waits_while_the_outcome_is_open(tmp_path: Path) -> None:
    agent, door = await interrupted(tmp_path, "Ok."), MemoryDoor()
    agent.answer(1, None)
    outcome = await agent.dispatch(door)
    assert isinstance(outcome, ProposesAction)
    assert outcome.call is not None
    assert (outcome.is_held, outcome.call.number, outcome.parameters) == (True, 1, REFUND)
    assert (len(agent.requests), door.log) == (2, [])
    agent.answer(1, APPROVED)  # people decided to send it again
    held = await agent.dispatch(MemoryDoor(held=frozenset({1})))
    assert isinstance(held, ProposesAction)
    assert held.is_held
    assert isinstance(await agent.dispatch(door), Produced)
    assert door.log == [HAND_OVER, ASSUMED]


async def test_a_reported_action_is_not_announced_after_a_restart(tmp_path: Path) -> None:
    agent, door = (
        Agent(tmp_path, propose(), report(outcome="done"), ToolCall("ask_human", {"question": "?"}), "Ok."),
        MemoryDoor(),
    )
    await agent.proposed()
    agent.answer(1, APPROVED)
    assert isinstance(await agent.dispatch(door), NeedsInput)
    agent.answer(1, recorded("done"))
    agent.answer(2, {"answer": "Yes", "by": "x"})
    assert isinstance(await agent.dispatch(door), Produced)
    assert agent.requests[-1].last == mentions("Yes")
    assert len(agent.requests[-1].messages[-1].parts) == 1
    assert door.log == [HAND_OVER, ("report", 1, "done", None)]
