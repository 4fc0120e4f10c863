"""What a process is at when it dies, and how it dies there. Runs in a process of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from cairn import worker
from cairn.bootstrap import adapters, services
from cairn.core.errors import AlreadyApplied, CommandRefused
from cairn.files import Tree
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.folders import folder_sync
from cairn.services.rollbacks.service import RollbackSpec
from tests.chaos import action_scenes, rework_scenes, talk_scenes
from tests.chaos.scene import COMMAND, NEVER, ROLLBACK, Ids, Scene
from tests.services.house import House, form, registry, retries, step

DIED = 9
OPERATIONS = (
    "make_pipeline",
    "write_definition",
    "archive_definition_runs",
    "archive_pipeline",
    "restore_pipeline",
    "make_workspace",
    "stage",
    "promote",
    "move_to_errored",
    "drop_workspace",
    "write_run_info",
    "point_latest",
    "set_pass_aside",
    "archive",
    "unarchive",
)


class Death:
    """Counts the moments at which a process may die, and dies at one of them."""

    def __init__(self, at: int | None) -> None:
        self.at = at
        self.moments: list[str] = []
        self.armed = False

    def moment(self, name: str) -> None:
        if self.armed:
            self.moments.append(name)
            if len(self.moments) == self.at:
                os._exit(DIED)

    def watch(self, house: House) -> None:
        house.cairn.database.fault = self.moment
        tree: Tree = house.cairn.keeper._tree  # pyright: ignore[reportPrivateUsage]
        for name in OPERATIONS:
            setattr(tree, name, partial(self._before, name, getattr(tree, name)))

    def _before(self, name: str, operation: Callable[..., Any], *args: Any, **options: Any) -> Any:
        self.moment(name)
        return operation(*args, **options)


def open_functions(house: House) -> None:
    @house.does("fails")
    async def fails(ctx: Ctx) -> None:
        (ctx.workspace / "half.txt").write_text("half")
        ctx.log("on the way")
        await asyncio.sleep(0.15)  # the log is written down by then
        raise ValueError("no")

    @house.does("works_for_a_while")
    async def works_for_a_while(ctx: Ctx) -> dict[str, Any]:
        await house.until(lambda: any(house.folder.glob("pipelines/*/runs/latest")))
        return {}


async def again(act: Awaitable[Any]) -> None:
    """What was carried out before the process died is not carried out twice."""
    try:
        await act
    except (CommandRefused, AlreadyApplied):
        return


# ---- scenes ------------------------------------------------------------------------------------------
async def asked(house: House) -> Ids:
    pipeline = await house.pipeline(step("goals", approve="complete"), step("design"), step("end"))
    run = await house.start(pipeline)
    approval = await house.until(lambda: house.execution(run, "goals").approval)
    await house.until_quiet()
    return {"pipeline": pipeline, "run": run, "approval": approval.approval_id}


async def approve(house: House, ids: Ids) -> None:
    await house.cairn.approvals.decide(ids["approval"], "approve", by=ADMIN)
    await house.until_run(ids["run"], "completed")
    await house.until_quiet()


async def approved(house: House, ids: Ids) -> None:
    await house.until_run(ids["run"], "completed")
    await house.until_quiet()
    assert len(house.artifacts(ids["run"])) == 3
    assert house.told(ids["run"]).count("approval_approved") == 1
    assert house.told(ids["run"]).count("execution_completed") == 3
    assert house.workspaces(ids["pipeline"]) == set()


async def defined(house: House) -> Ids:
    return {"pipeline": await house.pipeline(step("goals"), step("bad", "fails", execution=retries(0)))}


async def run_until(house: House, ids: Ids, status: str) -> str:
    """Started by one command, however often it is sent."""
    run = (await house.cairn.runs.start(ids["pipeline"], by=ADMIN, command_id=COMMAND)).run_id
    await house.until_run(run, status)
    await house.until_quiet()
    return run


async def fail(house: House, ids: Ids) -> None:
    await run_until(house, ids, "paused")


async def failed(house: House, ids: Ids) -> None:
    run = await run_until(house, ids, "paused")
    assert house.run(run).run_version == 1
    assert house.statuses(run) == {"goals": "completed", "bad": "failed"}
    assert house.names(ids["pipeline"], ".errored") == [
        ".errored/exec_UUID_TIME/error_info.json",
        ".errored/exec_UUID_TIME/error_logs.txt",
        ".errored/exec_UUID_TIME/failed_artifacts/",
        ".errored/exec_UUID_TIME/workspace/half.txt",
    ]


async def half_way(house: House) -> Ids:
    pipeline = await house.pipeline(step("goals"), form("more"), form("end"))
    run = await house.start(pipeline)
    await house.fill(run, "more", more="yes")
    await house.until_execution(run, "end", "in_progress")
    await house.until_quiet()
    return {"pipeline": pipeline, "run": run, "names": house.names(pipeline, "runs/v1/c")}


def checkpoint_level(ids: Ids) -> RollbackSpec:
    return RollbackSpec("checkpoint_level", ids["run"], target_checkpoint_position=0, rollback_id=ROLLBACK)


async def roll_back(house: House, ids: Ids) -> None:
    await house.cairn.rollbacks.roll_back(checkpoint_level(ids), by=ADMIN)


async def rolled_back(house: House, ids: Ids) -> None:
    assert house.names(ids["pipeline"], ".archived") == [
        ".archived/rollback_UUID_TIME/archived_data/v1_checkpoint_1/outputs/more_ID_v1.json",
        ".archived/rollback_UUID_TIME/rollback_metadata.json",
    ]
    assert house.statuses(ids["run"]) == {"goals": "completed", "more": "in_progress", "end": "upcoming"}
    assert len(list((house.root(ids["pipeline"]) / ".errored").iterdir())) == 1
    await house.fill(ids["run"], "more", more="again")


async def rolled_back_before(house: House) -> Ids:
    ids = await half_way(house)
    await roll_back(house, ids)
    return ids


async def undo(house: House, ids: Ids) -> None:
    await house.cairn.rollbacks.undo(ROLLBACK, by=ADMIN)


async def undone(house: House, ids: Ids) -> None:
    assert house.names(ids["pipeline"], "runs/v1/c") == ids["names"]
    assert house.names(ids["pipeline"], ".archived") == [".archived/rollback_UUID_TIME/rollback_metadata.json"]
    assert house.statuses(ids["run"]) == {"goals": "completed", "more": "completed", "end": "in_progress"}


async def three_runs(house: House) -> Ids:
    pipeline = await house.pipeline(step("goals"), step("design"))
    runs = [await house.done(pipeline) for _ in range(3)]
    await house.until_quiet()
    return {"pipeline": pipeline, "runs": runs}


async def roll_runs_back(house: House, ids: Ids) -> None:
    first, _, last = ids["runs"]
    request = RollbackSpec("run_level", last, first, target_checkpoint_position=0, rollback_id=ROLLBACK)
    await house.cairn.rollbacks.roll_back(request, by=ADMIN)
    await house.until_run(first, "completed")
    await house.until_quiet()


async def runs_rolled_back(house: House, ids: Ids) -> None:
    first, *later = ids["runs"]
    await house.until_run(first, "completed")
    await house.until_quiet()
    assert [house.run(run).archived_by for run in later] == [ROLLBACK, ROLLBACK]
    assert house.disk(ids["pipeline"])["runs/latest"] == "-> v1"
    assert len(house.names(ids["pipeline"], ".archived")) == 8
    assert len(house.artifacts(first)) == 2


async def change(house: House, ids: Ids) -> None:
    await house.cairn.pipelines.add_checkpoint(ids["pipeline"], form("more"), by=ADMIN, command_id=COMMAND)


async def changed(house: House, ids: Ids) -> None:
    pipeline = ids["pipeline"]
    assert [c.key for c in house.cairn.reading.pipeline(pipeline).checkpoints] == ["goals", "design", "more"]
    assert len(house.names(pipeline, ".archived/definition_v1_")) == 10
    for run in ids["runs"]:
        for artifact in house.artifacts(run):
            assert (house.root(pipeline) / artifact.file_path).is_file(), artifact.file_path
    assert house.run(await house.start(pipeline)).run_version == 1


async def delete(house: House, ids: Ids) -> None:
    await house.cairn.pipelines.delete(ids["pipeline"], force=True, by=ADMIN)


async def deleted(house: House, ids: Ids) -> None:
    assert not house.root(ids["pipeline"]).exists()
    assert len(list((house.folder / "pipelines/.archived").iterdir())) == 1
    await house.cairn.pipelines.restore(ids["pipeline"], by=ADMIN)
    assert house.names(ids["pipeline"], "runs/v1/c") == ids["names"]
    assert house.run(ids["run"]).status == "cancelled"


async def deleted_before(house: House) -> Ids:
    ids = await half_way(house)
    await delete(house, ids)
    return ids


async def restore(house: House, ids: Ids) -> None:
    await house.cairn.pipelines.restore(ids["pipeline"], by=ADMIN)


async def restored(house: House, ids: Ids) -> None:
    assert house.names(ids["pipeline"], "runs/v1/c") == ids["names"]
    assert len(list((house.root(ids["pipeline"]) / ".errored").iterdir())) == 1
    assert list((house.folder / "pipelines/.archived").iterdir()) == []


async def restart(house: House, ids: Ids) -> None:
    await house.cairn.runs.restart(ids["run"], pass_number=1, by=ADMIN)
    await house.until_execution(ids["run"], "more", "in_progress")
    await house.until_quiet()


async def restarted(house: House, ids: Ids) -> None:
    await house.until_execution(ids["run"], "more", "in_progress")
    await house.until_quiet()
    assert house.run(ids["run"]).pass_number == 2
    assert house.names(ids["pipeline"], "runs/v1/") == [
        "runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/passes/1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/passes/1/checkpoint_1_more/outputs/more_ID_v1.json",
        "runs/v1/run_info.json",
    ]


async def nothing(house: House) -> Ids:
    return {}


async def create(house: House, ids: Ids) -> None:
    document = {"pipeline_name": "New", "config": {"auto_advance": True}, "checkpoints": [step("goals")]}
    saved = await house.cairn.pipelines.create(document, by=ADMIN, command_id=COMMAND)
    house.made.append(saved.pipeline_id)


async def created(house: House, ids: Ids) -> None:
    await create(house, ids)  # the same command again: there is one
    pipeline = house.made[-1]
    assert [event.event_type for event in house.events(pipeline_id=pipeline)] == ["pipeline_created"]
    await house.done(pipeline)


async def long_defined(house: House) -> Ids:
    return {"pipeline": await house.pipeline(step("long", "works_for_a_while"))}


async def work(house: House, ids: Ids) -> None:
    await run_until(house, ids, "completed")


async def worked(house: House, ids: Ids) -> None:
    run = await run_until(house, ids, "completed")
    assert house.run(run).run_version == 1
    assert house.told(run).count("execution_completed") == 1


SCENES = {
    "approve": Scene(asked, approve, approved),
    "fail": Scene(defined, fail, failed),
    "roll back": Scene(half_way, roll_back, rolled_back),
    "undo": Scene(rolled_back_before, undo, undone),
    "roll runs back": Scene(three_runs, roll_runs_back, runs_rolled_back),
    "change the definition": Scene(three_runs, change, changed),
    "delete": Scene(half_way, delete, deleted),
    "restore": Scene(deleted_before, restore, restored),
    "restart": Scene(half_way, restart, restarted),
    "create": Scene(nothing, create, created),
    "work for a while": Scene(long_defined, work, worked, opens_after=0.05),
    **rework_scenes.SCENES,
    **action_scenes.SCENES,
    **talk_scenes.SCENES,
}


# ---- the process that dies ---------------------------------------------------------------------------
def prepare(folder: Path, url: str | None, scene: str) -> Ids:
    async def run() -> Ids:
        house = await opened(folder, url)
        try:
            return await SCENES[scene].prepare(house)
        finally:
            await house.close()

    return asyncio.run(run())


def die(folder: Path, url: str | None, scene: str, ids: Ids, at: int | None) -> list[str]:
    """Act, and die at the moment of this number; without one, the answer is what moments there are."""

    async def run() -> list[str]:
        death = Death(at)
        house = await opened(folder, url)
        death.watch(house)
        death.armed = True
        await SCENES[scene].act(house, ids)
        death.armed = False
        await house.close()
        return death.moments

    # What the clock adds on a busy machine would be another moment each time.
    by_the_clock = dict.fromkeys(("FILED_SECONDS", "WATCH_SECONDS", "MEND_SECONDS", "ADOPT_SECONDS"), NEVER)
    with patch.object(folder_sync, "OPEN_AFTER", SCENES[scene].opens_after), patch.multiple(worker, **by_the_clock):
        return asyncio.run(run())


async def opened(folder: Path, url: str | None) -> House:
    house = House(folder, url, functions=registry())
    open_functions(house)
    rework_scenes.open_rework_functions(house)
    action_scenes.open_action_functions(house)
    mailer = action_scenes.FileMailer(folder)
    runners = partial(talk_scenes.make_runners, folder)
    with patch.object(adapters, "SmtpMailer", return_value=mailer), patch.object(services, "make_runners", runners):
        await house.open()
    return house
