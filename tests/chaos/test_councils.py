"""`kill -9` during a council. Stored answers are neither requested nor paid for again."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.models.fake_provider import FakeProvider
from tests.adapters.models.replies import NoReply, Reply
from tests.chaos.councils import CALLS, Call, ProviderRecorder, answer_to, check_conversation, server_with, start_run
from tests.chaos.server import Server
from tests.runners.script_samples import wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(200)]

# The calls without an answer in each council when the server is killed. All earlier calls have been answered.
UNANSWERED: tuple[tuple[Call, ...], ...] = (
    (("council/answer/ann", 0),),
    (("council/answer/ann", 1),),  # after a tool
    (("council/answer/ben", 0), ("council/answer/cleo", 0)),
    (("council/review/ben", 0),),
    tuple((f"council/review/{name}", 0) for name in ("ann", "ben", "cleo")),
    (("council/chair", 0),),
    (("council/chair", 1),),  # its file is written
)
CASES = tuple(
    enumerate((unanswered, n % 2 == 1) for n, unanswered in enumerate(UNANSWERED))
)  # either no response at all, or its first chunk
RUNS, KILLS = 5, 2  # more interruptions of one attempt would fail it


@pytest.fixture
def server(provider_in_thread: FakeProvider, tmp_path: Path) -> Iterator[Server]:
    server = server_with(provider_in_thread, tmp_path)
    yield server
    server.kill()


def stage_of(call: Call) -> int:
    return ("answer", "review", "chair").index(call[0].split("/")[1])


def before(unanswered: tuple[Call, ...]) -> set[Call]:
    """The calls that are answered when only these are unanswered."""
    stage = max(map(stage_of, unanswered))
    following = {(turn, number + 1) for turn, number in unanswered}
    return {call for call in CALLS if stage_of(call) <= stage and call not in unanswered and call not in following}


def stored_answers(database: Path) -> dict[tuple[str, str], int]:
    """The number of answers in the database, by run and turn."""
    connection = sqlite3.connect(database)
    try:
        rows = connection.execute(
            "SELECT run_id, turn, count(*) FROM messages WHERE role = 'assistant' GROUP BY run_id, turn"
        ).fetchall()
    finally:
        connection.close()
    return {(run, turn): count for run, turn, count in rows}


def test_a_kill_while_councils_wait_for_answers(server: Server, provider_in_thread: FakeProvider) -> None:
    recorder, holds = ProviderRecorder(provider_in_thread), True

    def reply(case: int, call: Call) -> Reply:
        unanswered, streaming = CASES[case][1]
        if holds and call in unanswered:
            return answer_to(call, chunk_delay=600.0) if streaming else NoReply()
        return answer_to(call)

    recorder.reply = reply
    server.start()
    runs = [start_run(server, case) for case, _ in CASES]
    expected = {(runs[case], turn) for case, (unanswered, _) in CASES for turn, _ in before(unanswered)}
    answers = sum(len(before(unanswered)) for _, (unanswered, _) in CASES)
    request = answers + sum(len(unanswered) for _, (unanswered, _) in CASES)
    wait_until(lambda: sum(recorder.request_counts().values()) >= request, 60)
    wait_until(lambda: sum(stored_answers(server.data / "cairn.db").values()) >= answers, 30)
    server.kill()
    assert set(stored_answers(server.data / "cairn.db")) == expected
    for case, (unanswered, _) in CASES:
        assert recorder.counts(case) == dict.fromkeys([*before(unanswered), *unanswered], 1), case

    holds = False
    server.start()
    for (case, (unanswered, _)), run_id in zip(CASES, runs, strict=True):
        server.wait_for_run(run_id, "completed")
        assert recorder.counts(case) == {call: 2 if call in unanswered else 1 for call in CALLS}, case
        for call in unanswered:
            first, second = recorder.requests[case][call]
            assert second == first, "the repeated request is the same"
        check_conversation(server, run_id)
    assert server.stop() == 0
    assert server.doctor().returncode == 0


def test_a_kill_at_a_random_time_during_councils(
    server: Server, provider_in_thread: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = random.randrange(10**6)
    rng = random.Random(seed)
    recorder = ProviderRecorder(provider_in_thread)
    recorder.reply = lambda _, call: answer_to(call, chunk_delay=0.03)
    server.start()
    runs = [start_run(server, case) for case in range(RUNS)]
    stored_counts: dict[tuple[int, Call], int] = {}  # requests per call when its answer was already stored
    unanswered_counts: list[int] = []
    for _ in range(KILLS):
        target = sum(recorder.request_counts().values()) + rng.randint(5, 20)
        wait_until(lambda target=target: sum(recorder.request_counts().values()) >= target, 30)
        time.sleep(rng.uniform(0.0, 0.3))
        server.kill()
        answered, request = stored_answers(server.data / "cairn.db"), recorder.request_counts()
        unanswered_counts.append(RUNS * len(CALLS) - sum(answered.values()))
        for (case, (turn, number)), count in request.items():
            if number < answered.get((runs[case], turn), 0):
                stored_counts.setdefault((case, (turn, number)), count)
        server.start()
        if not unanswered_counts[-1]:
            break
    for run_id in runs:
        server.wait_for_run(run_id, "completed")
        check_conversation(server, run_id)
    counts = recorder.request_counts()
    assert {call: counts[call] for call in stored_counts} == stored_counts, seed
    assert max(counts.values()) <= 1 + len(unanswered_counts)
    assert stored_counts
    assert unanswered_counts[0] > 0
    with capsys.disabled():
        print(f"\n{RUNS} councils, {KILLS} kills (seed {seed}), unanswered calls after each kill: {unanswered_counts}")  # noqa: T201
    assert server.stop() == 0
