"""R9, A1: a process dies at every step of a conversation; what was answered and kept is not asked for again."""

from __future__ import annotations

import os
from typing import Any

from cairn.core.model import Mode
from cairn.ports import Outcome, Work
from cairn.services.actors import ADMIN
from cairn.services.reading.conversations import MessageFilter
from cairn.services.reading.costs import Wanted
from tests.chaos.scene import COMMAND, Ids, Scene
from tests.services.house import House, step
from tests.services.talking import answered, produced

PROVIDER = "provider.txt"
ANSWERS = 3


def open_talk(house: House) -> None:
    """Once it is open: checkpoints called `talk` ask a provider whose bill stands in a file, whatever happens."""
    own: Any = house.cairn.runners[Mode.FUNCTION]

    class Talker:
        async def carry_out(self, work: Work) -> Outcome:
            if work.checkpoint.key != "talk":
                return await own.carry_out(work)
            assert work.conversation is not None
            for number in range(len(await work.conversation.said()) + 1, ANSWERS + 1):
                await work.conversation.afford()
                ask(house, number)
                await work.conversation.keep(answered(number=number, is_last=number == ANSWERS))
            return produced(work)

    house.cairn.runners[Mode.FUNCTION] = Talker()


def ask(house: House, number: int) -> None:
    with (house.folder / PROVIDER).open("a", encoding="utf-8") as file:
        file.write(f"{number}\n")
        file.flush()
        os.fsync(file.fileno())


async def before_the_talk(house: House) -> Ids:
    return {"pipeline": await house.pipeline(step("talk"), budget={"max_calls": 10})}


async def talk(house: House, ids: Ids) -> None:
    begun = await house.cairn.runs.start(ids["pipeline"], by=ADMIN, command_id=COMMAND)
    await house.until_run(begun.run_id, "completed")
    await house.until_quiet()


async def check_talk(house: House, ids: Ids) -> None:
    (run,) = {line.key for line in house.cairn.reading.pipeline_costs(ids["pipeline"], Wanted("run", 10, None)).items}
    await house.until_run(run, "completed")
    await house.until_quiet()
    asked = (house.folder / PROVIDER).read_text().split()
    assert sorted(set(asked)) == ["1", "2", "3"]
    assert len(asked) <= ANSWERS + 1, "only what was under way is asked for again"
    execution = house.execution(run, "talk").execution_id
    said = house.cairn.reading.messages(execution, MessageFilter(), ADMIN, 50, None).items
    assert [message.number for message in said] == [1, 2, 3]
    assert house.run(run).usage.calls == ANSWERS


SCENES = {"a conversation": Scene(before_the_talk, talk, check_talk)}
