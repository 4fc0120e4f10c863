"""Working executions are found without scanning all executions."""

from __future__ import annotations

import asyncio

import sqlalchemy as sa

from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.dispatch.queries import WORKING, working_executions
from tests.services.app import App, form, step


async def test_working_executions_are_found_with_their_drivers(app: App) -> None:
    release = asyncio.Event()

    @app.function("held")
    async def held(ctx: Ctx) -> dict[str, int]:
        await release.wait()
        return {"done": 1}

    pipeline = await app.pipeline(step("first"), step("one", "held", stage="two"), step("other", "held", stage="two"))
    waiting = await app.start(await app.pipeline(form("asked")))  # waits for a user, so no runner works on it
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "one", "in_progress")
    await app.wait_for_execution(run, "other", "in_progress")
    found = app.cairn.database.read(working_executions)
    expected = {app.execution(run, key).execution_id for key in ("one", "other")}
    assert {row.execution_id for row in found if row.run_id == run} == expected
    assert all(row.driver is not None and row.dispatch_number == 1 for row in found if row.run_id == run)
    assert waiting not in {row.run_id for row in found}
    release.set()
    await app.wait_for_run(run, "completed")
    assert run not in {row.run_id for row in app.cairn.database.read(working_executions)}
    await app.cairn.runs.cancel(waiting, actor=ADMIN)


async def test_only_executions_of_active_runs_are_searched(app: App) -> None:
    """The query runs every 15 seconds and there may be a million completed executions."""

    def explain(connection: sa.Connection) -> str:
        statement = str(WORKING.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True}))
        if app.is_sqlite:
            return "\n".join(row.detail for row in connection.execute(sa.text(f"EXPLAIN QUERY PLAN {statement}")))
        # a full scan would be cheapest for the few rows of a test
        connection.execute(sa.text("SET LOCAL enable_seqscan = off"))
        return "\n".join(connection.execute(sa.text(f"EXPLAIN {statement}")).scalars())

    plan = app.cairn.database.read(explain)
    assert "ix_pipeline_runs_active" in plan
    assert "SCAN checkpoint_executions" not in plan
    assert "Seq Scan" not in plan
