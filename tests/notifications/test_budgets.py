"""Notifications about budgets that are almost used up or exhausted."""

from __future__ import annotations

import pytest

from cairn.ports import Conversation, Outcome, WorkOrder
from tests.mentions import mentions
from tests.notifications.receivers import PUBLIC, Receivers, card, texts
from tests.services.app import step
from tests.services.conversing import produced, response_message, scripted_conversations

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def use_calls(work: WorkOrder, conversation: Conversation) -> Outcome:
    for number in range(1, 7):
        await conversation.check_budget()
        await conversation.save(response_message(number=number))
    return produced(work)


async def test_a_budget_sends_a_warning_and_then_reports_that_it_is_exhausted(receivers: Receivers) -> None:
    await receivers.channel("ops", "teams")
    with scripted_conversations(receivers.app.cairn, use_calls):
        run = await receivers.app.start(await receivers.app.pipeline(step("talk"), budget={"max_calls": 5}))
        await receivers.app.wait_for_run(run, "paused")
        sent = await receivers.payloads("ops", 2)
    texts_by_url = {card(payload)["actions"][0]["url"]: texts(payload)[0] for payload in sent}
    assert texts_by_url == {
        f"{PUBLIC}/runs/{run}": mentions("4 calls", "5 calls"),
        f"{PUBLIC}/runs/{run}?checkpoint={receivers.app.execution(run, 'talk').checkpoint_id}": mentions("5 calls"),
    }
