"""The `system.log` of each pipeline, from committed events."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.folders.system_log import SystemLog
from tests.mentions import mentions
from tests.services.app import App, step

pytestmark = pytest.mark.asyncio(loop_scope="package")
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z (INFO|ERROR)( v\d+| test)? (\w+): (.*) \[(.*)\] #(\d+)")


def lines(app: App, pipeline: str, name: str = "system.log") -> list[tuple[str, ...]]:
    file: Path = app.root(pipeline) / ".pipeline_system/logs" / name
    found = [LINE.fullmatch(line) for line in file.read_text().splitlines()]
    return [match.groups() for match in found if match is not None]


async def test_each_event_is_one_line(app: App) -> None:
    @app.function("fails")
    async def fails(ctx: Ctx) -> None:
        raise ValueError("one\ntwo")

    pipeline = await app.pipeline(step("goals", "fails"))
    run = await app.start(pipeline)
    await app.wait_for_run(run, "paused")
    await app.wait_until_idle()
    await app.cairn.system_log.write_new_events()
    event_types = [event.event_type for event in app.events(pipeline_id=pipeline)]
    written = lines(app, pipeline)
    assert [line[2] for line in written] == event_types
    assert written[0][:5] == ("INFO", None, "pipeline_created", mentions(), "admin")
    failed = next(line for line in written if line[2] == "execution_failed")
    assert failed[:5] == ("ERROR", " v1", "execution_failed", mentions("Goals", "one two"), "worker")
    await app.cairn.system_log.write_new_events()
    assert lines(app, pipeline) == written


async def test_writing_resumes_at_the_last_position_after_a_restart(app: App) -> None:
    """Even if the process was killed before it saved the position."""
    pipeline = await app.pipeline(step("goals"))
    await app.run_to_completion(pipeline)
    await app.wait_until_idle()
    await app.cairn.system_log.write_new_events()
    before = lines(app, pipeline)
    tree = app.cairn.folder_repair._tree  # pyright: ignore[reportPrivateUsage]
    next_one = SystemLog(app.cairn.database, tree, max_bytes=10**6, backups=2)
    await next_one.write_new_events()
    assert lines(app, pipeline) == before
    await next_one.save_position()
    await app.cairn.pipelines.update(pipeline, {"pipeline_name": "Other"}, actor=ADMIN)
    third = SystemLog(app.cairn.database, tree, max_bytes=10**6, backups=2)
    await third.write_new_events()
    assert lines(app, pipeline)[: len(before)] == before
    assert [line[2] for line in lines(app, pipeline)[len(before) :]] == ["pipeline_updated"]


async def test_large_log_files_are_rotated(app: App) -> None:
    pipeline = await app.pipeline(step("goals"))
    tree = app.cairn.folder_repair._tree  # pyright: ignore[reportPrivateUsage]
    for n in range(6):
        assert tree.append_log(pipeline, "other.log", f"{n}".encode() * 600, max_bytes=1000, backups=2)
    logs = app.root(pipeline) / ".pipeline_system/logs"
    assert {path.name: path.read_text()[0] for path in logs.glob("other*")} == {
        "other.log": "5",
        "other.log.1": "4",
        "other.log.2": "3",
    }


async def test_writing_the_log_does_not_recreate_a_deleted_pipeline(app: App) -> None:
    pipeline = await app.pipeline(step("goals"))
    await app.cairn.system_log.write_new_events()
    location = await app.cairn.pipelines.delete(pipeline, actor=ADMIN)
    await app.cairn.system_log.write_new_events()
    assert not app.root(pipeline).exists()
    assert (app.folder / "pipelines" / location / ".pipeline_system/logs/system.log").is_file()


async def test_a_symbolic_link_is_not_followed(app: App, tmp_path: Path) -> None:
    pipeline = await app.pipeline(step("goals"))
    outside = tmp_path / "outside"
    outside.write_text("untouched")
    log = app.root(pipeline) / ".pipeline_system/logs/system.log"
    log.unlink(missing_ok=True)
    log.symlink_to(outside)
    await app.cairn.pipelines.update(pipeline, {"pipeline_name": "Other"}, actor=ADMIN)
    await app.cairn.system_log.write_new_events()
    assert outside.read_text() == "untouched"
    log.unlink()
