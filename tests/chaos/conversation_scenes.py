"""The process dies at every step of a conversation; stored answers are not requested again."""

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
from tests.chaos.scene import COMMAND, Ids, Scene
from tests.services.app import App, step
from tests.services.conversing import answered, produced

PROVIDER = "provider.txt"
ANSWERS = 3


class Talker:
    """Checkpoints called `talk` ask a provider whose bill stands in a file, whatever happens."""

    def __init__(self, own: Runner, bill: Path) -> None:
        self._own = own
        self._bill = bill

    async def run(self, work: WorkOrder) -> Outcome:
        if work.checkpoint.key != "talk":
            return await self._own.run(work)
        assert work.conversation is not None
        for number in range(len(await work.conversation.messages()) + 1, ANSWERS + 1):
            await work.conversation.check_budget()
            self._ask(number)
            await work.conversation.save(answered(number=number, is_last=number == ANSWERS))
        return produced(work)

    def _ask(self, number: int) -> None:
        with self._bill.open("a", encoding="utf-8") as file:
            file.write(f"{number}\n")
            file.flush()
            os.fsync(file.fileno())


def make_runners(folder: Path, *args: Any, **options: Any) -> RunnerRegistry:
    """Those of the app, with a talker before its functions: there before the first is taken up again."""
    made = registry.make_runners(*args, **options)
    made[ExecutionMode.FUNCTION] = Talker(made[ExecutionMode.FUNCTION], folder / PROVIDER)
    return made


async def before_the_talk(app: App) -> Ids:
    return {"pipeline": await app.pipeline(step("talk"), budget={"max_calls": 10})}


async def talk(app: App, ids: Ids) -> None:
    begun = await app.cairn.runs.start(ids["pipeline"], actor=ADMIN, command_id=COMMAND)
    await app.until_run(begun.run_id, "completed")
    await app.until_quiet()


async def check_talk(app: App, ids: Ids) -> None:
    (run,) = {
        line.key
        for line in app.cairn.cost_queries.get_pipeline_costs(ids["pipeline"], CostQuery("run", 10, None)).items
    }
    await app.until_run(run, "completed")
    await app.until_quiet()
    asked = (app.folder / PROVIDER).read_text().split()
    assert sorted(set(asked)) == ["1", "2", "3"], asked
    assert len(asked) <= ANSWERS + 1, "only what was under way is asked for again"
    execution = app.execution(run, "talk").execution_id
    said = app.cairn.conversation_queries.list_messages(execution, MessageFilter(), ADMIN, 50, None).items
    assert [message.number for message in said] == [1, 2, 3]
    assert app.run(run).usage.calls == ANSWERS


SCENES = {"a conversation": Scene(before_the_talk, talk, check_talk)}
