"""The process dies between any two steps of a command; the next start completes it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.crashes import DIED, SCENES, Ids, again, die, opened, prepare
from tests.effort import effort, sample
from tests.forked import CONTEXT
from tests.isolation import PATIENCE
from tests.services.app import App

pytestmark = [pytest.mark.chaos, pytest.mark.prove, pytest.mark.timeout(1800)]


def call(function: Callable[..., Any], *args: Any) -> Any:
    with ProcessPoolExecutor(1, mp_context=CONTEXT) as pool:
        return pool.submit(function, *args).result(timeout=PATIENCE)


def numbered(moments: list[str]) -> list[tuple[int, str]]:
    """The first two of each kind that stand next to one another: more would only repeat them."""
    chosen: list[tuple[int, str]] = []
    for number, name in enumerate(moments, 1):
        if moments[max(0, number - 3) : number - 1] != [name, name]:
            chosen.append((number, name))
    return chosen


def killed_at(number: int, ready: Path, folder: Path, scene: str, ids: Ids) -> Path:
    """A copy of the folder whose process died at this moment, or at an earlier one if fewer came on a busy machine."""
    for moment in range(number, -1, -1):
        shutil.copytree(ready, folder, symlinks=True)
        process = CONTEXT.Process(target=die, args=(folder, None, scene, ids, moment))
        process.start()
        process.join(timeout=PATIENCE)
        if process.exitcode != 0:
            assert process.exitcode == DIED
            return folder
        shutil.rmtree(folder)
    raise AssertionError(f"The process never died in the scene {scene!r}.")


@pytest.mark.parametrize("scene", SCENES)
async def test_the_next_start_finishes_what_was_begun(scene: str, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    ids: Ids = call(prepare, ready, None, scene)
    whole = shutil.copytree(ready, tmp_path / "whole", symlinks=True)
    moments = call(die, whole, None, scene, ids, None)
    assert {"before_commit", "after_commit"} <= set(moments)
    for number, name in sample(numbered(moments), effort().crash_points, scene):
        folder = killed_at(number, ready, tmp_path / str(number), scene, ids)
        app = await opened(folder, None)
        try:
            await finish(app, scene, ids)
        except AssertionError as error:
            error.add_note(f"It died at {number}, {name}, of {moments}.")
            raise
        finally:
            await app.close()


async def finish(app: App, scene: str, ids: Ids) -> None:
    report = await app.cairn.folder_repair.repair_all()
    assert report.is_clean, report
    await again(SCENES[scene].act(app, ids))
    await SCENES[scene].check(app, ids)
    await app.check()
    for pipeline in await app.cairn.folder_repair.pipelines():
        assert app.cairn.folder_repair.find_drift(pipeline).is_clean
    left = list((app.folder / "pipelines").glob("**/drift_*"))
    assert left == [], "nothing of Cairn's own is taken for a user's"
