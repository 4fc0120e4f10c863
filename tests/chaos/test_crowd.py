"""The API stays fast with many agent executions at once, on a real server. `make bench` has the target."""

from __future__ import annotations

import pytest

from bench.crowd import crowd
from tests.effort import effort
from tests.isolation import limit

pytestmark = [pytest.mark.chaos, pytest.mark.prove, pytest.mark.timeout(600)]
MOST = 1000.0  # milliseconds: the goal is 100 on a machine that does nothing else


async def test_many_executions_that_talk_leave_the_api_quick(capsys: pytest.CaptureFixture[str]) -> None:
    many = effort().crowd
    found = await crowd(many, to_the_end=False)
    with capsys.disabled():
        print(f"\n{many} agents at once: {found}")  # noqa: T201
    assert found["at_work"] >= many * 0.9
    assert found["events_told"] > 100
    assert found["requests"] > 20
    assert found["request_p95_ms"] < limit(MOST)
