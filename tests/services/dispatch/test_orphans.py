"""Working executions are found through their runs, however many executions there are."""

from __future__ import annotations

import asyncio

import sqlalchemy as sa

from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.dispatch.orphans import WORKING, working
from tests.services.app import App, form, step


async def test_executions_that_a_runner_holds(app: App) -> None:
    let_go = asyncio.Event()

    @app.does("held")
    async def held(ctx: Ctx) -> dict[str, int]:
        await let_go.wait()
        return {"done": 1}

    pipeline = await app.pipeline(step("first"), step("one", "held", stage="two"), step("other", "held", stage="two"))
    waiting = await app.start(await app.pipeline(form("asked")))  # for a person, not for a runner
    run = await app.start(pipeline)
    await app.until_execution(run, "one", "in_progress")
    await app.until_execution(run, "other", "in_progress")
    found = app.cairn.database.read(working)
    mine = {app.execution(run, key).execution_id for key in ("one", "other")}
    assert {row.execution_id for row in found if row.run_id == run} == mine
    assert all(row.driver is not None and row.dispatch_number == 1 for row in found if row.run_id == run)
    assert waiting not in {row.run_id for row in found}
    let_go.set()
    await app.until_run(run, "completed")
    assert run not in {row.run_id for row in app.cairn.database.read(working)}
    await app.cairn.runs.cancel(waiting, actor=ADMIN)


async def test_it_is_looked_for_among_the_runs_at_work_alone(app: App) -> None:
    """Every 15 seconds, beside a million executions that are over."""

    def explain(connection: sa.Connection) -> str:
        said = str(WORKING.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True}))
        if app.is_sqlite:
            return "\n".join(row.detail for row in connection.execute(sa.text(f"EXPLAIN QUERY PLAN {said}")))
        connection.execute(sa.text("SET LOCAL enable_seqscan = off"))  # which is best for the few rows of a test
        return "\n".join(connection.execute(sa.text(f"EXPLAIN {said}")).scalars())

    plan = app.cairn.database.read(explain)
    assert "ix_pipeline_runs_active" in plan
    assert "SCAN checkpoint_executions" not in plan
    assert "Seq Scan" not in plan
