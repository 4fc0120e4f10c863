"""Lineage: artifact flow, dependencies and staleness."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.rework.service import ReworkSpec
from cairn.services.runs.execution_views import Execution
from tests.mentions import mentions
from tests.services.app import App, form, step
from tests.services.rework_functions import requested_reworks

pytestmark = pytest.mark.asyncio(loop_scope="package")


def rows(app: App, view: str, *columns: str, order: str, **where: str) -> list[dict[str, Any]]:
    """Return the rows of a view, with all or some columns."""
    named = ", ".join(columns) or "*"
    conditions = " AND ".join(f"{name} = :{name}" for name in where)
    query = sa.text(f"SELECT {named} FROM {view} WHERE {conditions} ORDER BY {order}")
    return app.cairn.database.read(lambda c: [dict(row) for row in c.execute(query, where).mappings()])


def mapped(key: str, *sources: str, **more: Any) -> dict[str, Any]:
    """Return a checkpoint that outputs its mapped inputs."""
    return step(key, "give_back", input_mapping={source: source for source in sources}, **more)


def without_times(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Remove the times after checking that they are set."""
    for row in found:
        assert row.pop("created_at") is not None
        row.pop("started_at", None)
        row.pop("completed_at", None)
    return found


async def feedback_loop(app: App) -> tuple[str, str, dict[str, Execution]]:
    """Run plan, dev, test and verify, where test requests rework of dev. Stops at the last form."""
    versions = iter(range(1, 9))

    @app.function("develop")
    async def develop(ctx: Ctx) -> dict[str, Any]:
        return {"version": next(versions), "plan": ctx.inputs["plan"]}

    pipeline = await app.pipeline(
        step("plan"),
        step("dev", "develop", stage="build", input_mapping={"plan": "plan"}),
        mapped("test", "dev", stage="check"),
        mapped("verify", "plan", "dev", "test", stage="check", needs=["test"]),
        form("end"),
        pipeline_name="Clowder",
    )
    with requested_reworks(app) as runner:
        runner.request(
            "test", "dev", "Add test for password reset", "Missing test coverage", test={"missing": ["reset"]}
        )
        run = await app.start(pipeline, original_prompt="Add user authentication")
        await app.wait_for_execution(run, "end", "in_progress")
    plan, dev, test, again, verify, end = app.executions(run)
    jobs = {"plan": plan, "dev": dev, "test": test, "again": again, "verify": verify, "end": end}
    return pipeline, run, jobs


async def test_the_views_show_a_feedback_loop(app: App) -> None:
    """All columns, with equal values on both databases."""
    pipeline, run, jobs = await feedback_loop(app)
    ids = {name: e.execution_id for name, e in jobs.items()}
    assert without_times(rows(app, "active_pipelines", order="run_id", pipeline_id=pipeline)) == [
        {
            "pipeline_id": pipeline,
            "pipeline_name": "Clowder",
            "run_id": run,
            "run_version": 1,
            "original_prompt": "Add user authentication",
            "status": "in_progress",
            "current_stage": "end",
            "total_jobs": 6,
            "pending_jobs": 0,
            "running_jobs": 1,
            "completed_jobs": 5,
            "failed_jobs": 0,
            "cancelled_jobs": 0,
        }
    ]
    summary = without_times(rows(app, "job_summary", order="created_at, checkpoint_position", pipeline_id=pipeline))
    prompt = "Add user authentication"
    expected: list[tuple[str, str, str, int, str, int, int]] = [
        ("plan", "plan", prompt, 0, "completed", 1, 0),
        ("dev", "build", prompt, 1, "completed", 1, 1),
        ("test", "check", prompt, 2, "completed", 2, 2),
        ("again", "build", "Add test for password reset", 1, "completed", 1, 2),
        ("verify", "check", prompt, 3, "completed", 1, 3),
        ("end", "end", prompt, 4, "in_progress", 0, 0),
    ]
    context = '{"reason":"Missing test coverage","prompt":"Add test for password reset","requested_by":"test",'
    context += f'"requested_by_execution_id":"{ids["test"]}"}}'
    assert sorted(summary, key=lambda row: list(ids.values()).index(row["job_id"])) == [
        {
            "job_id": ids[name],
            "pipeline_id": pipeline,
            "run_id": run,
            "run_version": 1,
            "stage": stage,
            "checkpoint_position": position,
            "checkpoint_key": jobs[name].checkpoint_key,
            "checkpoint_name": jobs[name].checkpoint_name,
            "prompt": own,
            "status": status,
            "pass_number": 1,
            "attempt_number": 1,
            "parent_job_id": ids["test"] if name == "again" else None,
            "regression_context": context if name == "again" else None,
            "archived_by": None,
            "artifacts_produced": produced,
            "artifacts_consumed": consumed,
        }
        for name, stage, own, position, status, produced, consumed in expected
    ]
    chain = without_times(rows(app, "regression_chains", order="depth", root_job_id=ids["test"]))
    link = {"root_job_id": ids["test"], "pipeline_id": pipeline, "run_id": run, "status": "completed"}
    assert chain == [
        {
            **link,
            "job_id": ids["test"],
            "depth": 0,
            "parent_job_id": None,
            "checkpoint_key": "test",
            "prompt": None,
            "reason": None,
            "requested_by": None,
        },
        {
            **link,
            "job_id": ids["again"],
            "depth": 1,
            "parent_job_id": ids["test"],
            "checkpoint_key": "dev",
            "prompt": "Add test for password reset",
            "reason": "Missing test coverage",
            "requested_by": "test",
        },
    ]
    await app.cairn.runs.cancel(run, actor=ADMIN)
    assert rows(app, "active_pipelines", order="run_id", pipeline_id=pipeline) == []


async def test_artifacts_flow_from_producers_to_consumers(app: App) -> None:
    """Dev → test → dev again → test → verify."""
    pipeline, run, jobs = await feedback_loop(app)
    names = {e.execution_id: name for name, e in jobs.items()}
    flow = rows(app, "artifact_flow", order="consumed_at, artifact_name", pipeline_id=pipeline)
    edges = {(names[row["producer_job_id"]], row["artifact_name"], names.get(row["consumer_job_id"])) for row in flow}
    assert edges == {
        ("plan", "plan", "dev"),
        ("plan", "plan", "again"),
        ("plan", "plan", "verify"),
        ("dev", "dev", "test"),  # before the rework
        ("test", "test", "again"),  # the findings so far
        ("again", "dev", "test"),
        ("again", "dev", "verify"),
        ("test", "test", "verify"),
        ("verify", "verify", None),
    }
    of_plan = next(
        row for row in flow if names.get(row["consumer_job_id"]) == "verify" and row["artifact_name"] == "plan"
    )
    assert of_plan.pop("consumed_at") is not None
    (plan_artifact,) = jobs["plan"].artifacts_generated
    assert of_plan == {
        "pipeline_id": pipeline,
        "run_id": run,
        "artifact_id": plan_artifact.artifact_record_id,
        "artifact_name": "plan",
        "artifact_type": "file",
        "file_path": plan_artifact.file_path,
        "producer_job_id": jobs["plan"].execution_id,
        "producer_checkpoint": "plan",
        "consumer_job_id": jobs["verify"].execution_id,
        "consumer_checkpoint": "verify",
        "consumer_run_id": run,
    }
    lineage = app.cairn.rework_queries.get_lineage(run)
    assert {
        (names[edge.producer_execution_id], edge.artifact_name, names[edge.consumer_execution_id])
        for edge in lineage.flow
    } == {edge for edge in edges if edge[2] is not None}
    assert not any(edge.is_stale for edge in lineage.flow)
    assert {
        (names[dependency.execution_id], names[dependency.depends_on_execution_id], dependency.dependency_type)
        for dependency in lineage.dependencies
    } == {
        ("dev", "plan", "success"),
        ("again", "plan", "success"),
        ("test", "dev", "success"),
        ("test", "again", "success"),
        ("verify", "test", "success"),
    }
    assert [item.model_dump(exclude={"created_at", "completed_at"}) for item in lineage.reworks] == [
        {
            "execution_id": jobs["again"].execution_id,
            "checkpoint_id": jobs["dev"].checkpoint_id,
            "checkpoint_key": "dev",
            "checkpoint_name": "Dev",
            "checkpoint_position": 1,
            "status": "completed",
            "depth": 1,
            "parent_execution_id": jobs["test"].execution_id,
            "parent_checkpoint_name": "Test",
            "requested_by": "test",
            "prompt": "Add test for password reset",
            "reason": "Missing test coverage",
            "supersedes": jobs["dev"].execution_id,
            "archived_by": None,
        }
    ]
    assert [e.stale_inputs for e in app.executions(run)] == [[]] * 6
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_only_requested_inputs_count_as_reads(app: App) -> None:
    """Mappings, references and the previous version are reads. A checkpoint without inputs has none."""

    @app.function("look_back")
    async def look_back(ctx: Ctx) -> dict[str, int]:
        return {"n": len(ctx.previous)}

    references = {"include_previous_version": True, "include_checkpoint_outputs": [{"checkpoint_id": "b"}]}
    pipeline = await app.pipeline(
        step("a"),
        step("b"),
        step("blind"),
        mapped("one", "a"),
        step("two", "look_back", inputs=references, input_mapping={"b": "b"}),
    )
    await app.run_to_completion(pipeline)
    run = await app.run_to_completion(pipeline)
    read = {
        (edge.producer_checkpoint, edge.consumer_checkpoint) for edge in app.cairn.rework_queries.get_lineage(run).flow
    }
    assert read == {("a", "one"), ("b", "two"), ("two", "two")}


async def test_a_form_reads_its_reference_material(app: App) -> None:
    """Reference material of a form is a read, too."""
    shown = {"include_checkpoint_outputs": [{"checkpoint_id": "a"}]}
    pipeline = await app.pipeline(step("a"), form("ask", inputs=shown))
    run = await app.start(pipeline)
    await app.submit_form(run, "ask", ask="yes")
    await app.wait_for_run(run, "completed")
    assert [
        (edge.producer_checkpoint, edge.consumer_checkpoint) for edge in app.cairn.rework_queries.get_lineage(run).flow
    ] == [("a", "ask")]


async def test_each_dispatch_records_its_reads_and_one_dependency(app: App) -> None:
    """Only the reads of the dispatch that produced the result count."""
    calls: list[int] = []

    @app.function("second_time")
    async def second_time(ctx: Ctx) -> Any:
        calls.append(len(ctx.inputs))
        if len(calls) == 1:
            raise ValueError("not yet")
        return {}

    again = {"retry_config": {"max_auto_retries": 1, "retry_delay_seconds": 0}}
    pipeline = await app.pipeline(step("a"), step("b", "second_time", execution=again))
    run = await app.run_to_completion(pipeline)
    a, b = app.executions(run)
    query = "SELECT dispatch_number FROM artifact_consumption WHERE execution_id = :id ORDER BY 1"
    found = app.cairn.database.read(lambda c: list(c.execute(sa.text(query), {"id": b.execution_id}).scalars()))
    assert found == [1, 2]
    lineage = app.cairn.rework_queries.get_lineage(run)
    assert len(lineage.flow) == 1
    assert [(dependency.execution_id, dependency.depends_on_execution_id) for dependency in lineage.dependencies] == [
        (b.execution_id, a.execution_id)
    ]


# ---- staleness ---------------------------------------------------------------------------------------------
async def counting_pipeline(app: App) -> tuple[str, str]:
    """Run a pipeline where `a` outputs a new number each time, `b` reads `a`, `c` reads `b` and `d` reads nothing."""
    numbers = iter(range(1, 99))

    @app.function("count")
    async def count(ctx: Ctx) -> dict[str, int]:
        return {"n": next(numbers)}

    pipeline = await app.pipeline(step("a", "count"), mapped("b", "a"), mapped("c", "b"), step("d"))
    return pipeline, await app.run_to_completion(pipeline)


def stale(app: App, run: str) -> list[str]:
    return [item.key for item in app.run(run).checkpoints if item.is_stale]


async def test_stale_executions_are_rerun_one_by_one(app: App) -> None:
    """Without a parent, at the same position. Only consumers of changed artifacts are stale."""
    _, run = await counting_pipeline(app)
    assert stale(app, run) == []
    await app.cairn.rework.create(ReworkSpec(app.execution(run, "d").execution_id, "a"), actor=ADMIN)
    await app.wait_for_run(run, "completed")
    assert stale(app, run) == ["b"]
    old = app.execution(run, "b")
    assert "rerun" in old.available_commands
    created = await app.cairn.rework.rerun(old.execution_id, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    new = app.cairn.execution_queries.get_execution(created.execution_id)
    assert (new.checkpoint_key, new.parent_execution_id, new.superseded_by) == ("b", None, None)
    assert new.regression_context == {
        "reason": mentions(),
        "prompt": "",
        "requested_by": "admin",
        "requested_by_execution_id": None,
    }
    assert app.output(run, "b") == {"a": {"n": 2}}
    assert stale(app, run) == ["c"]
    with pytest.raises(CommandRefused):
        await app.cairn.rework.rerun(new.execution_id, actor=ADMIN)
    with pytest.raises(CommandRefused):
        await app.cairn.rework.rerun(old.execution_id, actor=ADMIN)
    await app.cairn.rework.rerun(app.execution(run, "c").execution_id, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    assert stale(app, run) == []


async def test_an_unchanged_artifact_makes_nothing_stale(app: App) -> None:
    """Only changed artifacts count."""
    pipeline = await app.pipeline(step("a"), mapped("b", "a"))
    run = await app.run_to_completion(pipeline)
    await app.cairn.rework.create(ReworkSpec(app.execution(run, "b").execution_id, "a"), actor=ADMIN)
    await app.wait_for_run(run, "completed")
    assert len(app.executions(run)) == 3
    assert stale(app, run) == []


async def test_readers_of_an_archived_artifact_are_stale(app: App) -> None:
    """A rollback in an earlier run does not change later runs."""
    numbers = iter(range(1, 99))

    @app.function("count_on")
    async def count_on(ctx: Ctx) -> dict[str, int]:
        return {"n": next(numbers), "before": len(ctx.previous)}

    pipeline = await app.pipeline(step("a", "count_on", inputs={"include_previous_version": True}), form("end"))
    first = await app.start(pipeline)
    await app.wait_for_execution(first, "end", "in_progress")
    second = await app.start(pipeline)
    await app.wait_for_execution(second, "end", "in_progress")
    assert stale(app, second) == []
    await app.cairn.pipelines.update_checkpoint(
        app.execution(first, "a").checkpoint_id, {"approve": "start"}, actor=ADMIN
    )
    await app.roll_back(first, -1)
    (read,) = app.execution(second, "a").stale_inputs
    assert (read.checkpoint_name, read.replaced_by) == ("A", None)
    for run in (first, second):
        await app.cairn.runs.cancel(run, actor=ADMIN)
