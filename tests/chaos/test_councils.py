"""`kill -9` in the middle of a council: stored answers are neither requested nor paid for again."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.models.fake_provider import FakeProvider
from tests.adapters.models.replies import NoReply, Reply
from tests.chaos.councils import CALLS, Call, Clerk, answer_to, begin, check_conversation, server_with
from tests.chaos.server import Server
from tests.runners.script_samples import until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(200)]

# What is under way in each council when the server dies; all else that came before has been answered.
HELD: tuple[tuple[Call, ...], ...] = (
    (("council/answer/ann", 0),),
    (("council/answer/ann", 1),),  # after a tool
    (("council/answer/ben", 0), ("council/answer/cleo", 0)),
    (("council/review/ben", 0),),
    tuple((f"council/review/{name}", 0) for name in ("ann", "ben", "cleo")),
    (("council/chair", 0),),
    (("council/chair", 1),),  # its file is written
)
CASES = tuple(enumerate((held, n % 2 == 1) for n, held in enumerate(HELD)))  # silence, or the first piece is there
RUNS, KILLS = 5, 2  # a worker that dies oftener on one attempt makes it a fault


@pytest.fixture
def server(provider_in_thread: FakeProvider, tmp_path: Path) -> Iterator[Server]:
    server = server_with(provider_in_thread, tmp_path)
    yield server
    server.kill()


def stage_of(call: Call) -> int:
    return ("answer", "review", "chair").index(call[0].split("/")[1])


def before(held: tuple[Call, ...]) -> set[Call]:
    """What has been asked, and is answered, by the time that only these are left."""
    stage = max(map(stage_of, held))
    following = {(turn, number + 1) for turn, number in held}
    return {call for call in CALLS if stage_of(call) <= stage and call not in held and call not in following}


def kept(database: Path) -> dict[tuple[str, str], int]:
    """Answers that stand in the database, by run and turn."""
    connection = sqlite3.connect(database)
    try:
        rows = connection.execute(
            "SELECT run_id, turn, count(*) FROM messages WHERE role = 'assistant' GROUP BY run_id, turn"
        ).fetchall()
    finally:
        connection.close()
    return {(run, turn): count for run, turn, count in rows}


def test_killed_while_councils_wait_for_answers(server: Server, provider_in_thread: FakeProvider) -> None:
    clerk, holds = Clerk(provider_in_thread), True

    def reply(case: int, call: Call) -> Reply:
        held, mid = CASES[case][1]
        if holds and call in held:
            return answer_to(call, chunk_delay=600.0) if mid else NoReply()
        return answer_to(call)

    clerk.reply = reply
    server.start()
    runs = [begin(server, case) for case, _ in CASES]
    wanted = {(runs[case], turn) for case, (held, _) in CASES for turn, _ in before(held)}
    answers = sum(len(before(held)) for _, (held, _) in CASES)
    asked = answers + sum(len(held) for _, (held, _) in CASES)
    until(lambda: sum(clerk.asked_in_all().values()) >= asked, 60)
    until(lambda: sum(kept(server.data / "cairn.db").values()) >= answers, 30)
    server.kill()
    assert set(kept(server.data / "cairn.db")) == wanted
    for case, (held, _) in CASES:
        assert clerk.counts(case) == dict.fromkeys([*before(held), *held], 1), case

    holds = False
    server.start()
    for (case, (held, _)), run_id in zip(CASES, runs, strict=True):
        server.until_run_is(run_id, "completed")
        assert clerk.counts(case) == {call: 2 if call in held else 1 for call in CALLS}, case
        for call in held:
            first, second = clerk.asked[case][call]
            assert second == first, "it is asked again in the very same words"
        check_conversation(server, run_id)
    assert server.stop() == 0
    assert server.doctor().returncode == 0


def test_killed_at_random_while_councils_speak(
    server: Server, provider_in_thread: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    clerk = Clerk(provider_in_thread)
    clerk.reply = lambda _, call: answer_to(call, chunk_delay=0.03)
    server.start()
    runs = [begin(server, case) for case in range(RUNS)]
    settled: dict[tuple[int, Call], int] = {}  # how often a call had been asked for when its answer was found kept
    left: list[int] = []
    for _ in range(KILLS):
        least = sum(clerk.asked_in_all().values()) + moments.randint(5, 20)
        until(lambda least=least: sum(clerk.asked_in_all().values()) >= least, 30)
        time.sleep(moments.uniform(0.0, 0.3))
        server.kill()
        answered, asked = kept(server.data / "cairn.db"), clerk.asked_in_all()
        left.append(RUNS * len(CALLS) - sum(answered.values()))
        for (case, (turn, number)), count in asked.items():
            if number < answered.get((runs[case], turn), 0):
                settled.setdefault((case, (turn, number)), count)
        server.start()
        if not left[-1]:
            break
    for run_id in runs:
        server.until_run_is(run_id, "completed")
        check_conversation(server, run_id)
    counts = clerk.asked_in_all()
    assert {call: counts[call] for call in settled} == settled, seed
    assert max(counts.values()) <= 1 + len(left)
    assert settled
    assert left[0] > 0
    with capsys.disabled():
        print(f"\n{RUNS} councils, {KILLS} kills (seed {seed}), answers that were left: {left}")  # noqa: T201
    assert server.stop() == 0
