"""A6, H7: people are told that a budget is nearly spent, and that it is."""

from __future__ import annotations

import pytest

from cairn.ports import Conversation, Outcome, WorkOrder
from tests.notices.receivers import PUBLIC, Desk, card, texts
from tests.services.house import step
from tests.services.talking import answered, produced, talking

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def spend(work: WorkOrder, conversation: Conversation) -> Outcome:
    for number in range(1, 7):
        await conversation.afford()
        await conversation.keep(answered(number=number))
    return produced(work)


async def test_a_budget_is_told_when_it_is_nearly_spent_and_when_it_is(desk: Desk) -> None:
    await desk.channel("ops", "teams")
    with talking(desk.house.cairn, spend):
        run = await desk.house.start(await desk.house.pipeline(step("talk"), budget={"max_calls": 5}))
        await desk.house.until_run(run, "paused")
        sent = await desk.until_got("ops", 2)
    told = {card(one)["body"][0]["items"][0]["text"]: (texts(one)[0], card(one)["actions"][0]["url"]) for one in sent}
    assert told == {
        "Most of the budget is used": (
            "The run has used 4 calls, and its budget is 5 calls.",
            f"{PUBLIC}/runs/{run}",
        ),
        "The budget is spent: the run pauses": (
            "The run has used 5 calls, and its budget is 5 calls.",
            f"{PUBLIC}/runs/{run}?checkpoint=talk",
        ),
    }
