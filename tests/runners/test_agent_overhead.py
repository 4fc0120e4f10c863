"""A turn takes less than 5 ms besides the model: the loop here, the whole of it in `make bench`."""

from __future__ import annotations

from bench.agent_turns import turns

MOST = 5.0  # milliseconds for each call of a model, with everything around it
WHOLE = 40.0  # with every commit, on a machine that does much else


async def test_a_turn_is_quick() -> None:
    taken = await turns(40, runs=4)
    assert taken["whole_p50_ms"] < WHOLE
    assert taken["one_call_p50_ms"] < MOST
    assert taken["tool_and_two_calls_p50_ms"] < 2 * MOST
