"""Rework by a function and by a user, and a rollback, with the process dying at every step."""

from __future__ import annotations

from typing import Any

from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.rework.service import ReworkSpec
from cairn.services.rollbacks.service import RollbackSpec as RollbackRequest
from tests.chaos.scenario import COMMAND, ROLLBACK, Ids, Scenario
from tests.services.app import App, form, step


def register_rework_functions(app: App) -> None:
    """Register functions without state, so that they behave the same after a crash."""

    @app.function("write_code")
    async def write_code(ctx: Ctx) -> dict[str, int]:
        return {"version": 1 if ctx.rework is None else 2}

    @app.function("test_code")
    async def test_code(ctx: Ctx) -> dict[str, Any]:
        version = ctx.inputs["code"]["version"]
        if version < 2:
            ctx.stage("test", {"missing": ["reset"]})
            ctx.request_rework("code", "Add the tests.", "Coverage is low.")
        tested = {"version": ctx.inputs["code"]["version"]}
        ctx.stage("test", tested)
        return tested


async def check_loop(app: App, ids: Ids) -> None:
    """The rework was done once, and events, files and lineage agree."""
    done = [e for e in app.executions(ids["run"]) if e.status == "completed"]
    first, rework = [e for e in done if e.checkpoint_key == "code"]
    requester = next(e for e in app.executions(ids["run"]) if e.checkpoint_key == "test")
    assert (first.superseded_by, rework.parent_execution_id) == (rework.execution_id, requester.execution_id)
    event_types = app.event_types(ids["run"])
    assert (event_types.count("rework_requested"), event_types.count("rework_ended")) == (1, 1)
    folder = app.root(ids["pipeline"]) / "runs/v1/checkpoint_0_code"
    assert [file.read_bytes() for file in (folder / "outputs").iterdir()] == [b'{"version":2}']
    superseded = folder / "superseded" / first.execution_id
    assert [file.read_bytes() for file in superseded.iterdir()] == [b'{"version":1}']
    assert {
        (flow.consumer_checkpoint, flow.is_stale) for flow in app.cairn.rework_queries.get_lineage(ids["run"]).flow
    } >= {("test", False)}


# ---- rework requested by a function --------------------------------------------------------------------
async def run_before_test(app: App) -> Ids:
    pipeline = await app.pipeline(
        step("code", "write_code"), form("gate"), step("test", "test_code", outputs=["test.json"]), step("end")
    )
    run = await app.start(pipeline)
    approval = await app.wait_until(lambda: _pending_approval(app, run, "gate"))
    await app.wait_until_idle()
    return {"pipeline": pipeline, "run": run, "approval": approval}


def _pending_approval(app: App, run: str, key: str) -> str | None:
    found = [e for e in app.executions(run) if e.checkpoint_key == key and e.approval is not None]
    return found[-1].approval.approval_id if found and found[-1].approval else None


async def submit_gate(app: App, ids: Ids) -> None:
    await app.cairn.approvals.decide(ids["approval"], "answer", fields={"gate": "open"}, actor=ADMIN)
    await app.wait_for_run(ids["run"], "completed")
    await app.wait_until_idle()


async def check_sent_back(app: App, ids: Ids) -> None:
    await app.wait_for_run(ids["run"], "completed")
    await app.wait_until_idle()
    await check_loop(app, ids)
    assert app.output(ids["run"], "test") == {"version": 2}
    assert app.workspaces(ids["pipeline"]) == set()


# ---- rework requested by a user ------------------------------------------------------------------------
async def reviewed_run(app: App) -> Ids:
    pipeline = await app.pipeline(step("code", "write_code"), step("test", "give_back", approve="complete"))
    run = await app.start(pipeline)
    await app.wait_until(lambda: _pending_approval(app, run, "test"))
    await app.wait_until_idle()
    return {"pipeline": pipeline, "run": run, "asker": app.execution(run, "test").execution_id}


async def request_rework(app: App, ids: Ids) -> None:
    await app.cairn.rework.create(ReworkSpec(ids["asker"], "code", "Shorter."), actor=ADMIN, command_id=COMMAND)
    await _wait_for_repeated_approval(app, ids)


async def _wait_for_repeated_approval(app: App, ids: Ids) -> None:
    await app.wait_until(lambda: app.execution(ids["run"], "test").dispatch_number >= 2 or None)
    await app.wait_until(lambda: _pending_approval(app, ids["run"], "test"))
    await app.wait_until_idle()


async def check_requested(app: App, ids: Ids) -> None:
    await request_rework(app, ids)  # repeating the command requests no second rework
    await check_loop(app, ids)
    assert app.output(ids["run"], "test")["code"] == {"version": 2}
    await app.decide(ids["run"], "test", "approve")
    await app.wait_for_run(ids["run"], "completed")
    await app.wait_until_idle()


# ---- rollback of a rework ------------------------------------------------------------------------------
async def reworked_run(app: App) -> Ids:
    ids = await reviewed_run(app)
    await request_rework(app, ids)
    ids["names"] = app.names(ids["pipeline"], "runs/v1/c")
    assert len(ids["names"]) == 2
    code = app.execution(ids["run"], "code").checkpoint_id
    await app.cairn.pipelines.update_checkpoint(code, {"approve": "start"}, actor=ADMIN)
    return ids


async def roll_back(app: App, ids: Ids) -> None:
    spec = RollbackRequest("checkpoint_level", ids["run"], target_checkpoint_position=-1, rollback_id=ROLLBACK)
    await app.cairn.rollbacks.roll_back(spec, actor=ADMIN)


async def check_rolled_back(app: App, ids: Ids) -> None:
    assert [name for name in app.names(ids["pipeline"], ".archived") if "code" in name] == [
        ".archived/rollback_UUID_TIME/archived_data/v1_checkpoint_0/outputs/code_ID_v1.json",
        ".archived/rollback_UUID_TIME/archived_data/v1_checkpoint_0/superseded/UUID/code_ID_v1.json",
    ]
    assert app.names(ids["pipeline"], "runs/v1/c") == []


async def rolled_back_run(app: App) -> Ids:
    ids = await reworked_run(app)
    await roll_back(app, ids)
    return ids


async def undo(app: App, ids: Ids) -> None:
    await app.cairn.rollbacks.undo(ROLLBACK, actor=ADMIN)


async def check_undone(app: App, ids: Ids) -> None:
    assert app.names(ids["pipeline"], "runs/v1/c") == ids["names"]
    await check_loop(app, ids)


SCENARIOS = {
    "rework requested by a function": Scenario(run_before_test, submit_gate, check_sent_back),
    "rework requested by a user": Scenario(reviewed_run, request_rework, check_requested),
    "roll back a rework": Scenario(reworked_run, roll_back, check_rolled_back),
    "undo the rollback of a rework": Scenario(rolled_back_run, undo, check_undone),
}
