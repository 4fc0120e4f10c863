"""The random walk of `test_walk` on plain `random`, which is faster."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from cairn.core.commands import Command
from cairn.core.run import Run
from cairn.core.states import RunStatus
from tests.core import walk_choices as choices
from tests.core.walk import Walker
from tests.core.walk_helper import next_command
from tests.effort import chance, effort

pytestmark = [pytest.mark.prove, pytest.mark.timeout(3600)]
OFFERS: list[Callable[[Run], list[Command]]] = [
    choices.reports,
    choices.reports,
    choices.finishes,
    choices.finishes,
    choices.decisions,
    choices.decisions,
    choices.approvals,
    choices.resumptions,
    choices.timers,
    choices.requests,
    choices.interruptions,
]


def walk(seed: int) -> Walker:
    draw = random.Random(seed)
    walker = Walker(Run("run", choices.plan(draw.choice)))
    for _ in range(draw.choice([10, 20, 40, 80])):
        step = draw.randrange(len(OFFERS) + 4)
        if step < len(OFFERS):
            if offered := OFFERS[step](walker.run):
                walker.send(draw.choice(offered), draw.choice(["ann", "bob", "rule:7"]))
        elif step == len(OFFERS):
            walker.send_late(draw.choice)
        elif step == len(OFFERS) + 1 and draw.random() < 0.2:
            walker.edit(draw.choice)
        elif walker.run.status is not RunStatus.COMPLETED:
            walker.send(next_command(walker.run, walker.sent), f"helper {walker.sent}")
        if draw.random() < 0.05:
            walker.check_can_end()
    walker.check_can_end()
    return walker


def test_no_walk_breaks_the_run() -> None:
    """The invariants hold for any order of commands, and the run can always end."""
    draw = chance("walks")
    counted: Counter[str] = Counter()
    while counted["commands"] < effort().walk_commands:
        seed = draw.randrange(10**9)
        try:
            walker = walk(seed)
        except Exception as broken:  # noqa: BLE001 - report the seed of any error
            pytest.fail(f"the walk with seed {seed} broke: {broken!r}")
        counted += walker.counted
    print(dict(sorted(counted.items())))  # noqa: T201 - shown with -s
