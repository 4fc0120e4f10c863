"""The process crashes between any two steps of a command. The next start completes the command."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.crashes import DIED, SCENARIOS, Ids, die, ignore_applied, open_app, prepare
from tests.effort import effort, sample
from tests.forked import CONTEXT
from tests.isolation import PATIENCE
from tests.services.app import App

pytestmark = [pytest.mark.chaos, pytest.mark.prove, pytest.mark.timeout(1800)]


def run_in_process(function: Callable[..., Any], *args: Any) -> Any:
    with ProcessPoolExecutor(1, mp_context=CONTEXT) as pool:
        return pool.submit(function, *args).result(timeout=PATIENCE)


def numbered(points: list[str]) -> list[tuple[int, str]]:
    """Number the crash points. Keeps only the first two of consecutive equal ones."""
    chosen: list[tuple[int, str]] = []
    for number, name in enumerate(points, 1):
        if points[max(0, number - 3) : number - 1] != [name, name]:
            chosen.append((number, name))
    return chosen


def killed_at(number: int, prepared: Path, folder: Path, scenario: str, ids: Ids) -> Path:
    """A copy of the folder whose process crashed at this point, or at an earlier one if it was not reached."""
    for point in range(number, -1, -1):
        shutil.copytree(prepared, folder, symlinks=True)
        process = CONTEXT.Process(target=die, args=(folder, None, scenario, ids, point))
        process.start()
        process.join(timeout=PATIENCE)
        if process.exitcode != 0:
            assert process.exitcode == DIED
            return folder
        shutil.rmtree(folder)
    raise AssertionError(f"The process never crashed in the scenario {scenario!r}.")


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_the_next_start_completes_the_command(scenario: str, tmp_path: Path) -> None:
    prepared = tmp_path / "ready"
    ids: Ids = run_in_process(prepare, prepared, None, scenario)
    complete = shutil.copytree(prepared, tmp_path / "whole", symlinks=True)
    points = run_in_process(die, complete, None, scenario, ids, None)
    assert {"before_commit", "after_commit"} <= set(points)
    for number, name in sample(numbered(points), effort().crash_points, scenario):
        folder = killed_at(number, prepared, tmp_path / str(number), scenario, ids)
        app = await open_app(folder, None)
        try:
            await finish(app, scenario, ids)
        except AssertionError as error:
            error.add_note(f"Crash point {number} ({name}) of {points}")
            raise
        finally:
            await app.close()


async def finish(app: App, scenario: str, ids: Ids) -> None:
    report = await app.cairn.folder_repair.repair_all()
    assert report.is_clean, report
    await ignore_applied(SCENARIOS[scenario].act(app, ids))
    await SCENARIOS[scenario].check(app, ids)
    await app.check()
    for pipeline in await app.cairn.folder_repair.active_pipelines():
        assert app.cairn.folder_repair.find_drift(pipeline).is_clean
    left = list((app.folder / "pipelines").glob("**/drift_*"))
    assert left == [], "a file of Cairn's own was mistaken for a user's"
