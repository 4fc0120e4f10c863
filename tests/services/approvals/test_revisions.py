"""Revisions, rejections and repeated approvals of a result."""

from __future__ import annotations

import pytest

from cairn.core.errors import CommandRefused, StaleCommand
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.errors import InvalidInput
from tests.mentions import mentions
from tests.services.app import App, form, retries, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_revision_keeps_the_execution_and_workspace_and_passes_the_feedback(app: App) -> None:
    seen: list[tuple[int, tuple[str, ...], list[str]]] = []

    @app.function("write")
    async def write(ctx: Ctx) -> dict[str, int]:
        seen.append((ctx.revision, ctx.feedback, sorted(path.name for path in ctx.workspace.iterdir())))
        (ctx.workspace / f"draft_{ctx.revision}").touch()
        return {"draft": ctx.revision}

    pipeline = await app.pipeline(step("goals", "write", approve="complete"))
    run = await app.start(pipeline)
    first = await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")
    await app.decide(run, "goals", "revise", "shorter")
    await app.wait_until(lambda: app.execution(run, "goals").revision_iteration == 1)
    await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")
    await app.decide(run, "goals", "revise", "much shorter")
    await app.wait_until(lambda: len(seen) == 3)
    await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")
    second = app.execution(run, "goals")
    assert second.execution_id == first.execution_id
    assert (second.revision_iteration, second.attempt_number) == (2, 1)
    assert seen == [
        (0, (), []),
        (1, ("shorter",), ["draft_0"]),
        (2, ("shorter", "much shorter"), ["draft_0", "draft_1"]),
    ]
    await app.decide(run, "goals", "approve")
    await app.wait_for_run(run, "completed")
    assert app.output(run, "goals") == {"draft": 2}
    await app.wait_until_idle()
    assert app.names(pipeline, "runs/v1/c") == ["runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json"]


async def test_an_execution_fails_after_its_last_revision(app: App) -> None:
    """`on_failure` applies, without another attempt."""
    pipeline = await app.pipeline(
        step(
            "goals",
            human_interaction={"requires_approval_to_complete": True, "max_revision_iterations": 1},
            execution=retries(3, on_failure="fail_run"),
        )
    )
    run = await app.start(pipeline)
    await app.decide(run, "goals", "revise", "again")
    await app.wait_until(lambda: app.execution(run, "goals").revision_iteration == 1)
    await app.decide(run, "goals", "revise", "and again")
    over = await app.wait_for_run(run, "failed")
    failed = app.execution(run, "goals")
    assert failed.error_details.last_error is not None
    assert failed.error_details.last_error.error_message == mentions("1", "and again")
    assert (failed.attempt_number, over.completed_at is not None) == (1, True)
    assert app.workspaces(pipeline) == set()


async def test_a_rejection_fails_the_execution_and_the_run(app: App) -> None:
    """`on_failure` does not apply."""
    pipeline = await app.pipeline(
        step("goals", approve="complete", execution=retries(0, on_failure="pause_pipeline")), step("design")
    )
    run = await app.start(pipeline)
    await app.decide(run, "goals", "reject", "useless")
    await app.wait_for_run(run, "failed")
    failed = app.execution(run, "goals").error_details.last_error
    assert failed is not None
    assert failed.error_message == "Rejected by admin. useless"
    assert app.names(pipeline, ".errored") == [
        ".errored/exec_UUID_TIME/error_info.json",
        ".errored/exec_UUID_TIME/error_logs.txt",
        ".errored/exec_UUID_TIME/failed_artifacts/goals_ID.json",
        ".errored/exec_UUID_TIME/workspace/",
    ]


async def test_a_revision_requires_feedback_and_a_rejection_a_reason(app: App) -> None:
    pipeline = await app.pipeline(step("goals", approve="complete"))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")
    for decision, field in (("revise", "/feedback"), ("reject", "/reason")):
        with pytest.raises(InvalidInput) as error:
            await app.decide(run, "goals", decision, " ")
        assert [path for path, _ in error.value.errors] == [field]
    with pytest.raises(CommandRefused, match=r"accept.*completion") as error:
        await app.decide(run, "goals", "accept")
    assert error.value.suggestions == ("approve", "revise", "reject")


async def test_a_decision_on_outdated_content_is_stale(app: App) -> None:
    """Without a digest, the decision applies to the current content, whose digest is stored."""

    @app.function("write")
    async def write(ctx: Ctx) -> dict[str, int]:
        return {"draft": ctx.revision}

    pipeline = await app.pipeline(step("goals", "write", approve="complete"))
    run = await app.start(pipeline)
    outdated = (await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")).approval
    assert outdated is not None
    await app.decide(run, "goals", "revise", "again")
    current = await app.wait_until(lambda: app.execution(run, "goals").approval)
    assert current.digest != outdated.digest
    with pytest.raises(StaleCommand):
        await app.cairn.approvals.decide(current.approval_id, "approve", digest=outdated.digest, actor=ADMIN)
    with pytest.raises(CommandRefused, match=r"revision_requested.*admin"):
        await app.cairn.approvals.decide(outdated.approval_id, "approve", digest=outdated.digest, actor=ADMIN)
    await app.cairn.approvals.decide(current.approval_id, "approve", actor=ADMIN)
    decided = app.cairn.approval_queries.get_approval(current.approval_id)
    assert [(d.decision, d.digest) for d in decided.decisions] == [("approve", current.digest)]
    await app.wait_for_run(run, "completed")


async def test_an_approval_is_reused_for_equal_content(app: App) -> None:
    """The same JSON in another format is equal. Other content needs a new approval."""
    spellings = iter(['{"a": 1, "b": [2]}', '{"b":[2],"a":1}', '{"a": 1, "b": [3]}'])

    @app.function("spell")
    async def spell(ctx: Ctx) -> None:
        ctx.stage("goals", next(spellings))

    pipeline = await app.pipeline(
        step("first"), step("goals", "spell", approve="complete"), step("last", approve="complete")
    )
    run = await app.start(pipeline)
    await app.decide(run, "goals", "approve")
    await app.wait_for_execution(run, "last", "waiting_approval_to_complete")
    await app.roll_back(run, -1)  # the first execution that it archives needs a new approval; this one does not
    await app.wait_for_execution(run, "last", "waiting_approval_to_complete")
    reused = [event for event in app.events(run) if event.event_type == "approval_reused"]
    assert [event.execution_id for event in reused] == [app.execution(run, "goals").execution_id]
    await app.roll_back(run, -1)
    await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_revised_form_shows_the_previous_answers(app: App) -> None:
    pipeline = await app.pipeline(form("goals", approve="complete"))
    run = await app.start(pipeline)
    await app.submit_form(run, "goals", goals="grow")
    await app.decide(run, "goals", "revise", "how?")
    shown = app.execution(run, "goals").form
    assert shown is not None
    assert (shown.values, shown.feedback) == ({"goals": "grow"}, "how?")
    await app.submit_form(run, "goals", goals="grow slowly")
    await app.decide(run, "goals", "approve")
    await app.wait_for_run(run, "completed")
    assert app.output(run, "goals") == {"goals": "grow slowly"}
