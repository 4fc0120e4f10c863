"""Random walks of the gate on a ledger in memory, judged by an oracle that reads the rules on its own."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.core.gate.ending import end_well
from tests.core.gate.walk import Walk
from tests.effort import chance, effort

pytestmark = [pytest.mark.prove, pytest.mark.timeout(3600)]
COMMANDS = 260  # in each walk, before its good ending


def walk(seed: int) -> Walk:
    walked = Walk(seed)
    for _ in range(COMMANDS):
        walked.command()
    end_well(walked)
    return walked


def test_nothing_is_sent_without_people_or_rules_and_everything_ends() -> None:
    draw, counted = chance("action walks"), Counter[str]()
    for _ in range(effort().action_walks):
        seed = draw.randrange(10**9)
        try:
            walked = walk(seed)
        except Exception as broken:  # noqa: BLE001 - report the seed of any error
            pytest.fail(f"the walk with seed {seed} broke: {broken!r}")
        counted += walked.counted + Counter(a.state.value for a in walked.gate.db.actions.values())
        counted += Counter(starts=len(walked.witness.begun), effects=len(walked.witness.effects))
    print(dict(sorted(counted.items())))  # noqa: T201 - shown with -s


@pytest.mark.parametrize("seed", range(3))
def test_a_walk_can_be_repeated(seed: int) -> None:
    first, second = (walk(seed) for _ in range(2))
    assert first.gate.db == second.gate.db
    assert first.gate.journal == second.gate.journal
