"""A model call has less than 5 ms of overhead in the turn loop. `make bench` measures complete turns."""

from __future__ import annotations

from bench.agent_turns import turns
from tests.isolation import limit

MAX_CALL_MS = 5.0  # for one model call in the loop
MAX_TURN_MS = 40.0  # with every commit


async def test_a_turn_has_little_overhead() -> None:
    measured = await turns(40, runs=4)
    assert measured["whole_p50_ms"] < limit(MAX_TURN_MS)
    assert measured["one_call_p50_ms"] < limit(MAX_CALL_MS)
    assert measured["tool_and_two_calls_p50_ms"] < limit(2 * MAX_CALL_MS)
