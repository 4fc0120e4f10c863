"""The context of an execution can be previewed, and is stored at the start."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.core.errors import CommandRefused
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from tests.mentions import mentions
from tests.services.app import App, form, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


def reads(*keys: str, previous: bool = False, **more: Any) -> dict[str, Any]:
    references = [{"checkpoint_id": key} for key in keys]
    return {"inputs": {"include_previous_version": previous, "include_checkpoint_outputs": references}, **more}


async def test_the_stored_context_equals_its_preview(app: App) -> None:
    texts = {"system_prompt": "You are careful.", "task_prompt": "Design it."}
    pipeline = await app.pipeline(
        step("goals", parameters={"value": 7}),
        step(
            "design",
            "give_back",
            approve="start",
            instructions=texts,
            **reads("goals", input_mapping={"g": "goals"}),
        ),
    )
    run = await app.start(pipeline, input={"a": 1})
    waiting = await app.wait_for_execution(run, "design", "waiting_approval_to_start")
    before = app.cairn.context_queries.get_context(waiting.execution_id)
    assert (before.stored, before.input, before.system_prompt) == (False, {"g": {"value": 7}}, "You are careful.")
    assert [(block.kind, block.heading, block.content) for block in before.blocks] == [
        ("checkpoint_output", "REFERENCED OUTPUT: Checkpoint 1 from v1", '{"value":7}')
    ]
    assert "=== REFERENCED OUTPUT: Checkpoint 1 from v1 ===" in before.text
    assert before.text.endswith("Design it.")
    await app.decide(run, "design", "approve")
    await app.wait_for_run(run, "completed")
    after = app.cairn.context_queries.get_context(waiting.execution_id)
    assert after.model_copy(update={"stored": False}) == before
    await app.roll_back(run, -1)  # the stored context outlives its artifacts
    await app.wait_until(lambda: app.run(run).status != "completed")
    assert app.cairn.context_queries.get_context(waiting.execution_id) == after
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_the_previous_version_comes_from_the_latest_run_that_completed_it(app: App) -> None:
    """Test runs and archived runs are never previous versions."""
    seen: list[dict[str, Any]] = []

    @app.function("look_back")
    async def look_back(ctx: Ctx) -> dict[str, Any]:
        seen.append(dict(ctx.previous))
        return {"run": len(seen)}

    pipeline = await app.pipeline(step("goals", "look_back", **reads(previous=True)), form("more"))

    async def to_form() -> str:
        run = await app.start(pipeline)
        await app.wait_for_execution(run, "more", "in_progress")
        return run

    first = await to_form()
    await app.start(pipeline, start=False)  # v2 never completes the checkpoint
    third = await to_form()
    test = await app.start(pipeline, test=True)
    await app.wait_for_execution(test, "more", "in_progress")
    fourth = await to_form()
    assert seen == [{}, {"goals": {"run": 1}}, {"goals": {"run": 2}}, {"goals": {"run": 2}}]
    context = app.cairn.context_queries.get_context(app.execution(fourth, "goals").execution_id)
    assert (context.stored, [block.heading for block in context.blocks]) == (
        True,
        ["PREVIOUS VERSION: Checkpoint 1 from v3"],
    )
    assert app.run(third).run_version == 3
    for run in (first, third, test, fourth):
        await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_reference_to_an_uncompleted_checkpoint_fails_with_an_error(app: App) -> None:
    """A run keeps its graph, but later executions use the newest definition."""
    pipeline = await app.pipeline(form("root"), form("late"), step("early", needs=["root"]))
    run = await app.start(pipeline)
    early = app.cairn.pipeline_queries.get_pipeline(pipeline).checkpoints[2].checkpoint_id
    changes = {**reads("late"), "needs": ["root", "late"]}
    await app.cairn.pipelines.update_checkpoint(early, changes, actor=ADMIN)
    await app.submit_form(run, "root", root="yes")
    failed = await app.wait_for_execution(run, "early", "failed")
    assert failed.error_details.last_error is not None
    assert (failed.error_details.last_error.error_type, failed.error_details.last_error.error_message) == (
        "missing_reference",
        mentions("early", "late", "include_checkpoint_outputs"),
    )
    with pytest.raises(CommandRefused, match=r"early.*\blate\b"):
        app.cairn.context_queries.get_context(failed.execution_id)
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_references_only_resolve_within_the_current_run_and_pass(app: App) -> None:
    """The previous pass is a separate block."""
    values = iter(range(100))
    seen: list[tuple[Any, list[str]]] = []

    @app.function("count")
    async def count(ctx: Ctx) -> dict[str, int]:
        return {"n": next(values)}

    @app.function("look")
    async def look(ctx: Ctx) -> dict[str, Any]:
        seen.append((dict(ctx.references["goals"]), sorted(ctx.inputs)))
        return {}

    pipeline = await app.pipeline(
        step("goals", "count"), step("design", "look", **reads("goals")), form("end", instructions={"task_prompt": "x"})
    )
    first = await app.start(pipeline)
    await app.wait_for_execution(first, "end", "in_progress")
    second = await app.start(pipeline)
    await app.wait_for_execution(second, "end", "in_progress")
    await app.cairn.runs.restart(second, actor=ADMIN)
    await app.wait_for_execution(second, "end", "in_progress")
    assert [references for references, _ in seen] == [{"goals": {"n": 0}}, {"goals": {"n": 1}}, {"goals": {"n": 2}}]
    design = app.execution(second, "design").execution_id
    blocks = app.cairn.context_queries.get_context(design).blocks
    assert [block.heading for block in blocks] == [
        "PREVIOUS PASS: Checkpoint 2 from v2, pass 1",
        "REFERENCED OUTPUT: Checkpoint 1 from v2",
    ]
    for run in (first, second):
        await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_the_context_of_a_revision_includes_the_feedback(app: App) -> None:
    pipeline = await app.pipeline(step("goals", approve="complete", instructions={"task_prompt": "Write."}))
    run = await app.start(pipeline)
    await app.decide(run, "goals", "revise", "Shorter, please.")
    await app.wait_until(lambda: app.execution(run, "goals").revision_iteration == 1)
    await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")
    context = app.cairn.context_queries.get_context(app.execution(run, "goals").execution_id)
    assert [(block.kind, block.content) for block in context.blocks] == [("revision_feedback", "Shorter, please.")]
    await app.decide(run, "goals", "approve")
    await app.wait_for_run(run, "completed")
