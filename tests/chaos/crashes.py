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
from tests.chaos import action_scenes, conversation_scenes, rework_scenes
from tests.chaos.scene import COMMAND, NEVER, ROLLBACK, Ids, Scene
from tests.services.app import App, form, registry, retries, step

DIED = 9
OPERATIONS = (
    "create_pipeline",
    "write_definition",
    "archive_definition_runs",
    "archive_pipeline",
    "restore_pipeline",
    "create_workspace",
    "stage",
    "promote",
    "move_to_errored",
    "delete_workspace",
    "write_run_info",
    "update_latest_link",
    "archive_pass",
    "archive_rollback",
    "restore_rollback",
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

    def watch(self, app: App) -> None:
        app.cairn.database.fault = self.moment
        tree: Tree = app.cairn.folder_repair._tree  # pyright: ignore[reportPrivateUsage]
        for name in OPERATIONS:
            setattr(tree, name, partial(self._before, name, getattr(tree, name)))

    def _before(self, name: str, operation: Callable[..., Any], *args: Any, **options: Any) -> Any:
        self.moment(name)
        return operation(*args, **options)


def open_functions(app: App) -> None:
    @app.function("fails")
    async def fails(ctx: Ctx) -> None:
        (ctx.workspace / "half.txt").write_text("half")
        ctx.log("on the way")
        await asyncio.sleep(0.15)  # the log is written down by then
        raise ValueError("no")

    @app.function("works_for_a_while")
    async def works_for_a_while(ctx: Ctx) -> dict[str, Any]:
        await app.until(lambda: any(app.folder.glob("pipelines/*/runs/latest")))
        return {}


async def again(act: Awaitable[Any]) -> None:
    """What was carried out before the process died is not carried out twice."""
    try:
        await act
    except (CommandRefused, AlreadyApplied):
        return


# ---- scenes ------------------------------------------------------------------------------------------
async def asked(app: App) -> Ids:
    pipeline = await app.pipeline(step("goals", approve="complete"), step("design"), step("end"))
    run = await app.start(pipeline)
    approval = await app.until(lambda: app.execution(run, "goals").approval)
    await app.until_quiet()
    return {"pipeline": pipeline, "run": run, "approval": approval.approval_id}


async def approve(app: App, ids: Ids) -> None:
    await app.cairn.approvals.decide(ids["approval"], "approve", actor=ADMIN)
    await app.until_run(ids["run"], "completed")
    await app.until_quiet()


async def approved(app: App, ids: Ids) -> None:
    await app.until_run(ids["run"], "completed")
    await app.until_quiet()
    assert len(app.artifacts(ids["run"])) == 3
    assert app.event_types(ids["run"]).count("approval_approved") == 1
    assert app.event_types(ids["run"]).count("execution_completed") == 3
    assert app.workspaces(ids["pipeline"]) == set()


async def defined(app: App) -> Ids:
    return {"pipeline": await app.pipeline(step("goals"), step("bad", "fails", execution=retries(0)))}


async def run_until(app: App, ids: Ids, status: str) -> str:
    """Started by one command, however often it is sent."""
    run = (await app.cairn.runs.start(ids["pipeline"], actor=ADMIN, command_id=COMMAND)).run_id
    await app.until_run(run, status)
    await app.until_quiet()
    return run


async def fail(app: App, ids: Ids) -> None:
    await run_until(app, ids, "paused")


async def failed(app: App, ids: Ids) -> None:
    run = await run_until(app, ids, "paused")
    assert app.run(run).run_version == 1
    assert app.statuses(run) == {"goals": "completed", "bad": "failed"}
    assert app.names(ids["pipeline"], ".errored") == [
        ".errored/exec_UUID_TIME/error_info.json",
        ".errored/exec_UUID_TIME/error_logs.txt",
        ".errored/exec_UUID_TIME/failed_artifacts/",
        ".errored/exec_UUID_TIME/workspace/half.txt",
    ]


async def half_way(app: App) -> Ids:
    pipeline = await app.pipeline(step("goals"), form("more"), form("end"))
    run = await app.start(pipeline)
    await app.fill(run, "more", more="yes")
    await app.until_execution(run, "end", "in_progress")
    await app.until_quiet()
    return {"pipeline": pipeline, "run": run, "names": app.names(pipeline, "runs/v1/c")}


def checkpoint_level(ids: Ids) -> RollbackSpec:
    return RollbackSpec("checkpoint_level", ids["run"], target_checkpoint_position=0, rollback_id=ROLLBACK)


async def roll_back(app: App, ids: Ids) -> None:
    await app.cairn.rollbacks.roll_back(checkpoint_level(ids), actor=ADMIN)


async def rolled_back(app: App, ids: Ids) -> None:
    assert app.names(ids["pipeline"], ".archived") == [
        ".archived/rollback_UUID_TIME/archived_data/v1_checkpoint_1/outputs/more_ID_v1.json",
        ".archived/rollback_UUID_TIME/rollback_metadata.json",
    ]
    assert app.statuses(ids["run"]) == {"goals": "completed", "more": "in_progress", "end": "upcoming"}
    assert len(list((app.root(ids["pipeline"]) / ".errored").iterdir())) == 1
    await app.fill(ids["run"], "more", more="again")


async def rolled_back_before(app: App) -> Ids:
    ids = await half_way(app)
    await roll_back(app, ids)
    return ids


async def undo(app: App, ids: Ids) -> None:
    await app.cairn.rollbacks.undo(ROLLBACK, actor=ADMIN)


async def undone(app: App, ids: Ids) -> None:
    assert app.names(ids["pipeline"], "runs/v1/c") == ids["names"]
    assert app.names(ids["pipeline"], ".archived") == [".archived/rollback_UUID_TIME/rollback_metadata.json"]
    assert app.statuses(ids["run"]) == {"goals": "completed", "more": "completed", "end": "in_progress"}


async def three_runs(app: App) -> Ids:
    pipeline = await app.pipeline(step("goals"), step("design"))
    runs = [await app.done(pipeline) for _ in range(3)]
    await app.until_quiet()
    return {"pipeline": pipeline, "runs": runs}


async def roll_runs_back(app: App, ids: Ids) -> None:
    first, _, last = ids["runs"]
    request = RollbackSpec("run_level", last, first, target_checkpoint_position=0, rollback_id=ROLLBACK)
    await app.cairn.rollbacks.roll_back(request, actor=ADMIN)
    await app.until_run(first, "completed")
    await app.until_quiet()


async def runs_rolled_back(app: App, ids: Ids) -> None:
    first, *later = ids["runs"]
    await app.until_run(first, "completed")
    await app.until_quiet()
    assert [app.run(run).archived_by for run in later] == [ROLLBACK, ROLLBACK]
    assert app.disk(ids["pipeline"])["runs/latest"] == "-> v1"
    assert len(app.names(ids["pipeline"], ".archived")) == 8
    assert len(app.artifacts(first)) == 2


async def change(app: App, ids: Ids) -> None:
    await app.cairn.pipelines.add_checkpoint(ids["pipeline"], form("more"), actor=ADMIN, command_id=COMMAND)


async def changed(app: App, ids: Ids) -> None:
    pipeline = ids["pipeline"]
    assert [c.key for c in app.cairn.pipeline_queries.get_pipeline(pipeline).checkpoints] == ["goals", "design", "more"]
    assert len(app.names(pipeline, ".archived/definition_v1_")) == 10
    for run in ids["runs"]:
        for artifact in app.artifacts(run):
            assert (app.root(pipeline) / artifact.file_path).is_file(), artifact.file_path
    assert app.run(await app.start(pipeline)).run_version == 1


async def delete(app: App, ids: Ids) -> None:
    await app.cairn.pipelines.delete(ids["pipeline"], force=True, actor=ADMIN)


async def deleted(app: App, ids: Ids) -> None:
    assert not app.root(ids["pipeline"]).exists()
    assert len(list((app.folder / "pipelines/.archived").iterdir())) == 1
    await app.cairn.pipelines.restore(ids["pipeline"], actor=ADMIN)
    assert app.names(ids["pipeline"], "runs/v1/c") == ids["names"]
    assert app.run(ids["run"]).status == "cancelled"


async def deleted_before(app: App) -> Ids:
    ids = await half_way(app)
    await delete(app, ids)
    return ids


async def restore(app: App, ids: Ids) -> None:
    await app.cairn.pipelines.restore(ids["pipeline"], actor=ADMIN)


async def restored(app: App, ids: Ids) -> None:
    assert app.names(ids["pipeline"], "runs/v1/c") == ids["names"]
    assert len(list((app.root(ids["pipeline"]) / ".errored").iterdir())) == 1
    assert list((app.folder / "pipelines/.archived").iterdir()) == []


async def restart(app: App, ids: Ids) -> None:
    await app.cairn.runs.restart(ids["run"], pass_number=1, actor=ADMIN)
    await app.until_execution(ids["run"], "more", "in_progress")
    await app.until_quiet()


async def restarted(app: App, ids: Ids) -> None:
    await app.until_execution(ids["run"], "more", "in_progress")
    await app.until_quiet()
    assert app.run(ids["run"]).pass_number == 2
    assert app.names(ids["pipeline"], "runs/v1/") == [
        "runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/passes/1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/passes/1/checkpoint_1_more/outputs/more_ID_v1.json",
        "runs/v1/run_info.json",
    ]


async def nothing(app: App) -> Ids:
    return {}


async def create(app: App, ids: Ids) -> None:
    document = {"pipeline_name": "New", "config": {"auto_advance": True}, "checkpoints": [step("goals")]}
    saved = await app.cairn.pipelines.create(document, actor=ADMIN, command_id=COMMAND)
    app.pipeline_ids.append(saved.pipeline_id)


async def created(app: App, ids: Ids) -> None:
    await create(app, ids)  # the same command again: there is one
    pipeline = app.pipeline_ids[-1]
    assert [event.event_type for event in app.events(pipeline_id=pipeline)] == ["pipeline_created"]
    await app.done(pipeline)


async def long_defined(app: App) -> Ids:
    return {"pipeline": await app.pipeline(step("long", "works_for_a_while"))}


async def work(app: App, ids: Ids) -> None:
    await run_until(app, ids, "completed")


async def worked(app: App, ids: Ids) -> None:
    run = await run_until(app, ids, "completed")
    assert app.run(run).run_version == 1
    assert app.event_types(run).count("execution_completed") == 1


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
    **conversation_scenes.SCENES,
}


# ---- the process that dies ---------------------------------------------------------------------------
def prepare(folder: Path, url: str | None, scene: str) -> Ids:
    async def run() -> Ids:
        app = await opened(folder, url)
        try:
            return await SCENES[scene].prepare(app)
        finally:
            await app.close()

    return asyncio.run(run())


def die(folder: Path, url: str | None, scene: str, ids: Ids, at: int | None) -> list[str]:
    """Act, and die at the moment of this number; without one, the answer is what moments there are."""

    async def run() -> list[str]:
        death = Death(at)
        app = await opened(folder, url)
        death.watch(app)
        death.armed = True
        await SCENES[scene].act(app, ids)
        death.armed = False
        await app.close()
        return death.moments

    # What the clock adds on a busy machine would be another moment each time.
    by_the_clock = dict.fromkeys(("FILED_SECONDS", "WATCH_SECONDS", "MEND_SECONDS", "ADOPT_SECONDS"), NEVER)
    with patch.object(folder_sync, "OPEN_AFTER", SCENES[scene].opens_after), patch.multiple(worker, **by_the_clock):
        return asyncio.run(run())


async def opened(folder: Path, url: str | None) -> App:
    app = App(folder, url, functions=registry())
    open_functions(app)
    rework_scenes.open_rework_functions(app)
    action_scenes.open_action_functions(app)
    mailer = action_scenes.FileMailer(folder)
    runners = partial(conversation_scenes.make_runners, folder)
    with patch.object(adapters, "SmtpMailer", return_value=mailer), patch.object(services, "make_runners", runners):
        await app.open()
    return app
