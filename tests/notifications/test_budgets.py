"""People are told that a budget is nearly spent, and that it is."""

from __future__ import annotations

import pytest

from cairn.ports import Conversation, Outcome, WorkOrder
from tests.mentions import mentions
from tests.notifications.receivers import PUBLIC, Receivers, card, texts
from tests.services.app import step
from tests.services.conversing import answered, produced, talking

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def spend(work: WorkOrder, conversation: Conversation) -> Outcome:
    for number in range(1, 7):
        await conversation.check_budget()
        await conversation.save(answered(number=number))
    return produced(work)


async def test_a_budget_is_told_when_it_is_nearly_spent_and_when_it_is(receivers: Receivers) -> None:
    await receivers.channel("ops", "teams")
    with talking(receivers.app.cairn, spend):
        run = await receivers.app.start(await receivers.app.pipeline(step("talk"), budget={"max_calls": 5}))
        await receivers.app.until_run(run, "paused")
        sent = await receivers.until_got("ops", 2)
    told = {card(one)["actions"][0]["url"]: texts(one)[0] for one in sent}
    assert told == {
        f"{PUBLIC}/runs/{run}": mentions("4 calls", "5 calls"),
        f"{PUBLIC}/runs/{run}?checkpoint=talk": mentions("5 calls"),
    }
