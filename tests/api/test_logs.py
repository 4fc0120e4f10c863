"""The log of an execution over HTTP: from its start or end, filtered, or complete."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_asyncio
import sqlalchemy as sa

from cairn.services.logs import queries as logs
from cairn.store import tables as t
from tests.api.app import App
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")
NOBODY = "00000000-0000-0000-0000-000000000000"
LEVELS = ("debug", "info", "warning", "error")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def path(app: App) -> str:
    """The path of a log with twelve lines, three of each level."""
    run = await app.run(await app.pipeline())
    execution = (await app.execution(run))["execution_id"]
    rows = [
        {
            "execution_id": execution,
            "timestamp": app.cairn.clock.now(),
            "level": LEVELS[number % 4],
            "message": f"Line {number} at 100% of a_b",
            "details": {"stream": "stderr"} if number == 5 else None,
        }
        for number in range(12)
    ]
    await app.cairn.database.transact(lambda c: c.execute(sa.insert(t.execution_logs), rows))
    return f"/api/executions/{execution}/logs"


async def numbers(app: App, path: str, **query: Any) -> list[int]:
    return [int(line["message"].split()[1]) for line in (await app.get(path, **query))["items"]]


async def test_a_log_is_read_from_its_start_or_its_end(app: App, path: str) -> None:
    assert await numbers(app, path, limit=3) == [0, 1, 2]
    seen: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = await app.get(path, order="newest", limit=5, **cursor)
        seen += [int(line["message"].split()[1]) for line in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == list(range(11, -1, -1))


async def test_lines_before_and_after_a_known_line(app: App, path: str) -> None:
    ids = [line["log_id"] for line in (await app.get(path))["items"]]
    assert await numbers(app, path, order="newest", before=ids[4], limit=3) == [3, 2, 1]
    assert await numbers(app, path, after=ids[8]) == [9, 10, 11]
    assert await numbers(app, path, after=ids[2], before=ids[5]) == [3, 4]
    assert await numbers(app, path, after=ids[11]) == []


async def test_lines_are_filtered_by_level_and_text(app: App, path: str) -> None:
    assert await numbers(app, path, level="error") == [3, 7, 11]
    assert await numbers(app, path, level=["warning", "error"], order="newest", limit=4) == [11, 10, 7, 6]
    assert await numbers(app, path, search="LINE 1") == [1, 10, 11]
    assert await numbers(app, path, search="line 1", level="error") == [11]
    assert await numbers(app, path, search="100%", limit=2) == [0, 1]
    assert await numbers(app, path, search="1%0") == []
    assert await numbers(app, path, search="axb") == []


async def test_the_complete_log_can_be_downloaded_as_text(app: App, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "TEXT_BATCH", 5)
    answer = await app.client.get(f"{path}/download")
    execution = path.split("/")[3]
    assert (answer.headers["content-type"], answer.headers["content-disposition"]) == (
        "text/plain; charset=utf-8",
        f'attachment; filename="execution_{execution}.log"',
    )
    listed = (await app.get(path))["items"]
    assert answer.text.splitlines() == [
        f"{line['timestamp']} {'stderr' if line['details'] else line['level']} {line['message']}" for line in listed
    ]


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ({"level": "loud"}, "?level"),
        ({"order": "random"}, "?order"),
        ({"before": "yesterday"}, "?before"),
        ({"after": -1}, "?after"),
        ({"before": 2**63}, "?before"),
        ({"search": "a\0"}, "?search"),
        ({"cursor": "nonsense"}, "?cursor"),
    ],
)
async def test_invalid_queries_are_reported(app: App, path: str, query: dict[str, Any], wrong: str) -> None:
    answer = await app.client.get(path, params=query)
    assert (answer.status_code, answer.json()["errors"][0]["path"].split("/")[0]) == (422, wrong)


async def test_the_log_of_an_unknown_execution_is_not_found(app: App) -> None:
    for end in ("logs", "logs/download"):
        answer = await app.client.get(f"/api/executions/{NOBODY}/{end}")
        assert (answer.status_code, answer.json()["detail"]) == (404, mentions(NOBODY))
