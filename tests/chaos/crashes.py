"""Scenarios in which a process crashes, and the crash itself. Runs in a separate process."""

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
from tests.chaos import action_scenarios, conversation_scenarios, rework_scenarios, tool_scenarios
from tests.chaos.scenario import COMMAND, NEVER, ROLLBACK, Ids, Scenario
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


class CrashPoints:
    """Counts the points at which the process can crash, and exits at one of them."""

    def __init__(self, crash_at: int | None) -> None:
        self.at = crash_at
        self.reached: list[str] = []
        self.armed = False

    def reach(self, name: str) -> None:
        if self.armed:
            self.reached.append(name)
            if len(self.reached) == self.at:
                os._exit(DIED)

    def watch(self, app: App) -> None:
        app.cairn.database.fault = self.reach
        tree: Tree = app.cairn.folder_repair._tree  # pyright: ignore[reportPrivateUsage]
        for name in OPERATIONS:
            setattr(tree, name, partial(self._before, name, getattr(tree, name)))

    def _before(self, name: str, operation: Callable[..., Any], *args: Any, **options: Any) -> Any:
        self.reach(name)
        return operation(*args, **options)


def register_functions(app: App) -> None:
    @app.function("fails")
    async def fails(ctx: Ctx) -> None:
        (ctx.workspace / "half.txt").write_text("half")
        ctx.log("started")
        await asyncio.sleep(0.15)  # until the log is saved
        raise ValueError("no")

    @app.function("works_for_a_while")
    async def works_for_a_while(ctx: Ctx) -> dict[str, Any]:
        await app.wait_until(lambda: any(app.folder.glob("pipelines/*/runs/latest")))
        return {}


async def ignore_applied(act: Awaitable[Any]) -> None:
    """Ignore that a command was already applied before the crash."""
    try:
        await act
    except (CommandRefused, AlreadyApplied):
        return


# ---- scenarios ---------------------------------------------------------------------------------------
async def pending_approval(app: App) -> Ids:
    pipeline = await app.pipeline(step("goals", approve="complete"), step("design"), step("end"))
    run = await app.start(pipeline)
    approval = await app.wait_until(lambda: app.execution(run, "goals").approval)
    await app.wait_until_idle()
    return {"pipeline": pipeline, "run": run, "approval": approval.approval_id}


async def approve(app: App, ids: Ids) -> None:
    await app.cairn.approvals.decide(ids["approval"], "approve", actor=ADMIN)
    await app.wait_for_run(ids["run"], "completed")
    await app.wait_until_idle()


async def check_approved(app: App, ids: Ids) -> None:
    await app.wait_for_run(ids["run"], "completed")
    await app.wait_until_idle()
    assert len(app.artifacts(ids["run"])) == 3
    assert app.event_types(ids["run"]).count("approval_approved") == 1
    assert app.event_types(ids["run"]).count("execution_completed") == 3
    assert app.workspaces(ids["pipeline"]) == set()


async def failing_pipeline(app: App) -> Ids:
    return {"pipeline": await app.pipeline(step("goals"), step("bad", "fails", execution=retries(0)))}


async def run_until(app: App, ids: Ids, status: str) -> str:
    """Start the run with a fixed command id, so that repeating it starts only one run."""
    run = (await app.cairn.runs.create(ids["pipeline"], actor=ADMIN, command_id=COMMAND)).run_id
    await app.wait_for_run(run, status)
    await app.wait_until_idle()
    return run


async def run_failing(app: App, ids: Ids) -> None:
    await run_until(app, ids, "paused")


async def check_failed(app: App, ids: Ids) -> None:
    run = await run_until(app, ids, "paused")
    assert app.run(run).run_version == 1
    assert app.statuses(run) == {"goals": "completed", "bad": "failed"}
    assert app.names(ids["pipeline"], ".errored") == [
        ".errored/exec_UUID_TIME/error_info.json",
        ".errored/exec_UUID_TIME/error_logs.txt",
        ".errored/exec_UUID_TIME/failed_artifacts/",
        ".errored/exec_UUID_TIME/workspace/half.txt",
    ]


async def partial_run(app: App) -> Ids:
    pipeline = await app.pipeline(step("goals"), form("more"), form("end"))
    run = await app.start(pipeline)
    await app.submit_form(run, "more", more="yes")
    await app.wait_for_execution(run, "end", "in_progress")
    await app.wait_until_idle()
    return {"pipeline": pipeline, "run": run, "names": app.names(pipeline, "runs/v1/c")}


def checkpoint_level(ids: Ids) -> RollbackSpec:
    return RollbackSpec("checkpoint_level", ids["run"], target_checkpoint_position=0, rollback_id=ROLLBACK)


async def roll_back(app: App, ids: Ids) -> None:
    await app.cairn.rollbacks.roll_back(checkpoint_level(ids), actor=ADMIN)


async def check_rolled_back(app: App, ids: Ids) -> None:
    assert app.names(ids["pipeline"], ".archived") == [
        ".archived/rollback_UUID_TIME/archived_data/v1_checkpoint_1/outputs/more_ID_v1.json",
        ".archived/rollback_UUID_TIME/rollback_metadata.json",
    ]
    assert app.statuses(ids["run"]) == {"goals": "completed", "more": "in_progress", "end": "upcoming"}
    assert len(list((app.root(ids["pipeline"]) / ".errored").iterdir())) == 1
    await app.submit_form(ids["run"], "more", more="again")


async def rolled_back_run(app: App) -> Ids:
    ids = await partial_run(app)
    await roll_back(app, ids)
    return ids


async def undo(app: App, ids: Ids) -> None:
    await app.cairn.rollbacks.undo(ROLLBACK, actor=ADMIN)


async def check_undone(app: App, ids: Ids) -> None:
    assert app.names(ids["pipeline"], "runs/v1/c") == ids["names"]
    assert app.names(ids["pipeline"], ".archived") == [".archived/rollback_UUID_TIME/rollback_metadata.json"]
    assert app.statuses(ids["run"]) == {"goals": "completed", "more": "completed", "end": "in_progress"}


async def three_runs(app: App) -> Ids:
    pipeline = await app.pipeline(step("goals"), step("design"))
    runs = [await app.run_to_completion(pipeline) for _ in range(3)]
    await app.wait_until_idle()
    return {"pipeline": pipeline, "runs": runs}


async def roll_runs_back(app: App, ids: Ids) -> None:
    first, _, last = ids["runs"]
    request = RollbackSpec("run_level", last, first, target_checkpoint_position=0, rollback_id=ROLLBACK)
    await app.cairn.rollbacks.roll_back(request, actor=ADMIN)
    await app.wait_for_run(first, "completed")
    await app.wait_until_idle()


async def check_runs_rolled_back(app: App, ids: Ids) -> None:
    first, *later = ids["runs"]
    await app.wait_for_run(first, "completed")
    await app.wait_until_idle()
    assert [app.run(run).archived_by for run in later] == [ROLLBACK, ROLLBACK]
    assert app.folder_contents(ids["pipeline"])["runs/latest"] == "-> v1"
    assert len(app.names(ids["pipeline"], ".archived")) == 8
    assert len(app.artifacts(first)) == 2


async def change_definition(app: App, ids: Ids) -> None:
    await app.cairn.pipelines.add_checkpoint(ids["pipeline"], form("more"), actor=ADMIN, command_id=COMMAND)


async def check_changed(app: App, ids: Ids) -> None:
    pipeline = ids["pipeline"]
    assert [c.key for c in app.cairn.pipeline_queries.get_pipeline(pipeline).checkpoints] == ["goals", "design", "more"]
    assert len(app.names(pipeline, ".archived/definition_v1_")) == 10
    for run in ids["runs"]:
        for artifact in app.artifacts(run):
            assert (app.root(pipeline) / artifact.file_path).is_file(), artifact.file_path
    assert app.run(await app.start(pipeline)).run_version == 1


async def delete_pipeline(app: App, ids: Ids) -> None:
    await app.cairn.pipelines.delete(ids["pipeline"], force=True, actor=ADMIN)


async def check_deleted(app: App, ids: Ids) -> None:
    assert not app.root(ids["pipeline"]).exists()
    assert len(list((app.folder / "pipelines/.archived").iterdir())) == 1
    await app.cairn.pipelines.restore(ids["pipeline"], actor=ADMIN)
    assert app.names(ids["pipeline"], "runs/v1/c") == ids["names"]
    assert app.run(ids["run"]).status == "cancelled"


async def deleted_pipeline(app: App) -> Ids:
    ids = await partial_run(app)
    await delete_pipeline(app, ids)
    return ids


async def restore_pipeline(app: App, ids: Ids) -> None:
    await app.cairn.pipelines.restore(ids["pipeline"], actor=ADMIN)


async def check_restored(app: App, ids: Ids) -> None:
    assert app.names(ids["pipeline"], "runs/v1/c") == ids["names"]
    assert len(list((app.root(ids["pipeline"]) / ".errored").iterdir())) == 1
    assert list((app.folder / "pipelines/.archived").iterdir()) == []


async def restart_run(app: App, ids: Ids) -> None:
    await app.cairn.runs.restart(ids["run"], pass_number=1, actor=ADMIN)
    await app.wait_for_execution(ids["run"], "more", "in_progress")
    await app.wait_until_idle()


async def check_restarted(app: App, ids: Ids) -> None:
    await app.wait_for_execution(ids["run"], "more", "in_progress")
    await app.wait_until_idle()
    assert app.run(ids["run"]).pass_number == 2
    assert app.names(ids["pipeline"], "runs/v1/") == [
        "runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/passes/1/checkpoint_0_goals/outputs/goals_ID_v1.json",
        "runs/v1/passes/1/checkpoint_1_more/outputs/more_ID_v1.json",
        "runs/v1/run_info.json",
    ]


async def empty_folder(app: App) -> Ids:
    return {}


async def create_pipeline(app: App, ids: Ids) -> None:
    document = {"pipeline_name": "New", "config": {"auto_advance": True}, "checkpoints": [step("goals")]}
    saved = await app.cairn.pipelines.create(document, actor=ADMIN, command_id=COMMAND)
    app.pipeline_ids.append(saved.pipeline_id)


async def check_created(app: App, ids: Ids) -> None:
    await create_pipeline(app, ids)  # repeating the command creates no second pipeline
    pipeline = app.pipeline_ids[-1]
    assert [event.event_type for event in app.events(pipeline_id=pipeline)] == ["pipeline_created"]
    await app.run_to_completion(pipeline)


async def slow_pipeline(app: App) -> Ids:
    return {"pipeline": await app.pipeline(step("long", "works_for_a_while"))}


async def run_slow(app: App, ids: Ids) -> None:
    await run_until(app, ids, "completed")


async def check_slow(app: App, ids: Ids) -> None:
    run = await run_until(app, ids, "completed")
    assert app.run(run).run_version == 1
    assert app.event_types(run).count("execution_completed") == 1


SCENARIOS = {
    "approve": Scenario(pending_approval, approve, check_approved),
    "fail": Scenario(failing_pipeline, run_failing, check_failed),
    "roll back": Scenario(partial_run, roll_back, check_rolled_back),
    "undo": Scenario(rolled_back_run, undo, check_undone),
    "roll runs back": Scenario(three_runs, roll_runs_back, check_runs_rolled_back),
    "change the definition": Scenario(three_runs, change_definition, check_changed),
    "delete": Scenario(partial_run, delete_pipeline, check_deleted),
    "restore": Scenario(deleted_pipeline, restore_pipeline, check_restored),
    "restart": Scenario(partial_run, restart_run, check_restarted),
    "create": Scenario(empty_folder, create_pipeline, check_created),
    "work for a while": Scenario(slow_pipeline, run_slow, check_slow, open_after=0.05),
    **rework_scenarios.SCENARIOS,
    **action_scenarios.SCENARIOS,
    **conversation_scenarios.SCENARIOS,
    **tool_scenarios.SCENARIOS,
}


# ---- the process that crashes ------------------------------------------------------------------------
def prepare(folder: Path, url: str | None, scenario: str) -> Ids:
    async def run() -> Ids:
        app = await open_app(folder, url)
        try:
            return await SCENARIOS[scenario].prepare(app)
        finally:
            await app.close()

    return asyncio.run(run())


def die(folder: Path, url: str | None, scenario: str, ids: Ids, at: int | None) -> list[str]:
    """Act and crash at the crash point with this number. Without a number, return the names of all crash points."""

    async def run() -> list[str]:
        crash_points = CrashPoints(at)
        app = await open_app(folder, url)
        crash_points.watch(app)
        crash_points.armed = True
        await SCENARIOS[scenario].act(app, ids)
        crash_points.armed = False
        await app.close()
        return crash_points.reached

    # Periodic jobs would add a random number of crash points.
    intervals = dict.fromkeys(("SYNC_SECONDS", "RULES_FILE_SECONDS", "REPAIR_SECONDS", "ORPHAN_SECONDS"), NEVER)
    with patch.object(folder_sync, "OPEN_AFTER", SCENARIOS[scenario].open_after), patch.multiple(worker, **intervals):
        return asyncio.run(run())


async def open_app(folder: Path, url: str | None) -> App:
    app = App(folder, url, functions=registry())
    register_functions(app)
    rework_scenarios.register_rework_functions(app)
    action_scenarios.register_action_functions(app)
    tool_scenarios.prepare_tools(app)
    mailer = action_scenarios.FileMailer(folder)
    runners = partial(conversation_scenarios.make_runners, folder)
    with patch.object(adapters, "SmtpMailer", return_value=mailer), patch.object(services, "make_runners", runners):
        await app.open()
    return app
