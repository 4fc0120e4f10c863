"""The process dies at every step of a conversation. Stored answers are not requested again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from cairn.core.states import ExecutionMode
from cairn.ports import Outcome, Runner, WorkOrder
from cairn.runners import RunnerRegistry, registry
from cairn.services.actors import ADMIN
from cairn.services.conversations.queries import MessageFilter
from cairn.services.costs.queries import CostQuery
from tests.chaos.scenario import COMMAND, Ids, Scenario
from tests.services.app import App, step
from tests.services.conversing import produced, response_message

PROVIDER = "provider.txt"
ANSWERS = 3


class ConversationRunner:
    """Runs the checkpoint `talk` as a conversation with a provider. Records each request in a file."""

    def __init__(self, functions: Runner, bill: Path) -> None:
        self._functions = functions
        self._bill = bill

    async def run(self, work: WorkOrder) -> Outcome:
        if work.checkpoint.key != "talk":
            return await self._functions.run(work)
        assert work.conversation is not None
        for number in range(len(await work.conversation.messages()) + 1, ANSWERS + 1):
            await work.conversation.check_budget()
            self._request_answer(number)
            await work.conversation.save(response_message(number=number, is_last=number == ANSWERS))
        return produced(work)

    def _request_answer(self, number: int) -> None:
        with self._bill.open("a", encoding="utf-8") as file:
            file.write(f"{number}\n")
            file.flush()
            os.fsync(file.fileno())


def make_runners(folder: Path, *args: Any, **options: Any) -> RunnerRegistry:
    """The app's runners, with a `ConversationRunner` in front of the function runner."""
    runners = registry.make_runners(*args, **options)
    runners[ExecutionMode.FUNCTION] = ConversationRunner(runners[ExecutionMode.FUNCTION], folder / PROVIDER)
    return runners


async def pipeline(app: App) -> Ids:
    return {"pipeline": await app.pipeline(step("talk"), budget={"max_calls": 10})}


async def run_conversation(app: App, ids: Ids) -> None:
    started = await app.cairn.runs.create(ids["pipeline"], actor=ADMIN, command_id=COMMAND)
    await app.wait_for_run(started.run_id, "completed")
    await app.wait_until_idle()


async def check_conversation(app: App, ids: Ids) -> None:
    (run,) = {
        line.key
        for line in app.cairn.cost_queries.get_pipeline_costs(ids["pipeline"], CostQuery("run", 10, None)).items
    }
    await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    requests = (app.folder / PROVIDER).read_text().split()
    assert sorted(set(requests)) == ["1", "2", "3"], requests
    assert len(requests) <= ANSWERS + 1, "only the interrupted request is repeated"
    execution = app.execution(run, "talk").execution_id
    messages = app.cairn.conversation_queries.list_messages(execution, MessageFilter(), ADMIN, 50, None).items
    assert [message.number for message in messages] == [1, 2, 3]
    assert app.run(run).usage.calls == ANSWERS


SCENARIOS = {"a conversation": Scenario(pipeline, run_conversation, check_conversation)}
