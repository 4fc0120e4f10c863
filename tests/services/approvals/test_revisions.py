"""Decisions on a result and their consequences."""

from __future__ import annotations

import pytest

from cairn.core.errors import CommandRefused, StaleCommand
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.errors import InvalidInput
from tests.mentions import mentions
from tests.services.app import App, form, retries, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_revision_keeps_id_and_workspace_and_brings_the_feedback(app: App) -> None:
    seen: list[tuple[int, tuple[str, ...], list[str]]] = []

    @app.does("write")
    async def write(ctx: Ctx) -> dict[str, int]:
        seen.append((ctx.revision, ctx.feedback, sorted(path.name for path in ctx.workspace.iterdir())))
        (ctx.workspace / f"draft_{ctx.revision}").touch()
        return {"draft": ctx.revision}

    pipeline = await app.pipeline(step("goals", "write", approve="complete"))
    run = await app.start(pipeline)
    first = await app.until_execution(run, "goals", "waiting_approval_to_complete")
    await app.decide(run, "goals", "revise", "shorter")
    await app.until(lambda: app.execution(run, "goals").revision_iteration == 1)
    await app.until_execution(run, "goals", "waiting_approval_to_complete")
    await app.decide(run, "goals", "revise", "much shorter")
    await app.until(lambda: len(seen) == 3)
    await app.until_execution(run, "goals", "waiting_approval_to_complete")
    second = app.execution(run, "goals")
    assert second.execution_id == first.execution_id
    assert (second.revision_iteration, second.attempt_number) == (2, 1)
    assert seen == [
        (0, (), []),
        (1, ("shorter",), ["draft_0"]),
        (2, ("shorter", "much shorter"), ["draft_0", "draft_1"]),
    ]
    await app.decide(run, "goals", "approve")
    await app.until_run(run, "completed")
    assert app.output(run, "goals") == {"draft": 2}
    await app.until_quiet()
    assert app.names(pipeline, "runs/v1/c") == ["runs/v1/checkpoint_0_goals/outputs/goals_ID_v1.json"]


async def test_past_the_limit_of_revisions_it_fails(app: App) -> None:
    """Straight to `on_failure`, without another attempt."""
    pipeline = await app.pipeline(
        step(
            "goals",
            human_interaction={"requires_approval_to_complete": True, "max_revision_iterations": 1},
            execution=retries(3, on_failure="fail_run"),
        )
    )
    run = await app.start(pipeline)
    await app.decide(run, "goals", "revise", "again")
    await app.until(lambda: app.execution(run, "goals").revision_iteration == 1)
    await app.decide(run, "goals", "revise", "and again")
    over = await app.until_run(run, "failed")
    failed = app.execution(run, "goals")
    assert failed.error_details.last_error is not None
    assert failed.error_details.last_error.error_message == mentions("1", "and again")
    assert (failed.attempt_number, over.completed_at is not None) == (1, True)
    assert app.workspaces(pipeline) == set()


async def test_a_rejection_fails_execution_and_run_with_its_reason(app: App) -> None:
    """Whatever `on_failure` says."""
    pipeline = await app.pipeline(
        step("goals", approve="complete", execution=retries(0, on_failure="pause_pipeline")), step("design")
    )
    run = await app.start(pipeline)
    await app.decide(run, "goals", "reject", "useless")
    await app.until_run(run, "failed")
    failed = app.execution(run, "goals").error_details.last_error
    assert failed is not None
    assert failed.error_message == "Rejected by admin. useless"
    assert app.names(pipeline, ".errored") == [
        ".errored/exec_UUID_TIME/error_info.json",
        ".errored/exec_UUID_TIME/error_logs.txt",
        ".errored/exec_UUID_TIME/failed_artifacts/goals_ID.json",
        ".errored/exec_UUID_TIME/workspace/",
    ]


async def test_words_are_wanted_where_they_matter(app: App) -> None:
    pipeline = await app.pipeline(step("goals", approve="complete"))
    run = await app.start(pipeline)
    await app.until_execution(run, "goals", "waiting_approval_to_complete")
    for decision, place in (("revise", "/feedback"), ("reject", "/reason")):
        with pytest.raises(InvalidInput) as wrong:
            await app.decide(run, "goals", decision, " ")
        assert [path for path, _ in wrong.value.errors] == [place]
    with pytest.raises(CommandRefused, match=r"accept.*completion") as refused:
        await app.decide(run, "goals", "accept")
    assert refused.value.suggestions == ("approve", "revise", "reject")


async def test_a_decision_on_what_has_changed_since_is_stale(app: App) -> None:
    """Without a digest the decision binds to the current content and records it."""

    @app.does("write")
    async def write(ctx: Ctx) -> dict[str, int]:
        return {"draft": ctx.revision}

    pipeline = await app.pipeline(step("goals", "write", approve="complete"))
    run = await app.start(pipeline)
    looked_at = (await app.until_execution(run, "goals", "waiting_approval_to_complete")).approval
    assert looked_at is not None
    await app.decide(run, "goals", "revise", "again")
    now = await app.until(lambda: app.execution(run, "goals").approval)
    assert now.digest != looked_at.digest
    with pytest.raises(StaleCommand):
        await app.cairn.approvals.decide(now.approval_id, "approve", digest=looked_at.digest, actor=ADMIN)
    with pytest.raises(CommandRefused, match=r"revision_requested.*admin"):
        await app.cairn.approvals.decide(looked_at.approval_id, "approve", digest=looked_at.digest, actor=ADMIN)
    await app.cairn.approvals.decide(now.approval_id, "approve", actor=ADMIN)
    decided = app.cairn.approval_queries.get_approval(now.approval_id)
    assert [(d.decision, d.digest) for d in decided.decisions] == [("approve", now.digest)]
    await app.until_run(run, "completed")


async def test_the_same_content_keeps_its_approval_after_a_retry(app: App) -> None:
    """Another spelling of the same JSON is equal; other content needs a new approval."""
    spellings = iter(['{"a": 1, "b": [2]}', '{"b":[2],"a":1}', '{"a": 1, "b": [3]}'])

    @app.does("spell")
    async def spell(ctx: Ctx) -> None:
        ctx.stage("goals", next(spellings))

    pipeline = await app.pipeline(
        step("first"), step("goals", "spell", approve="complete"), step("last", approve="complete")
    )
    run = await app.start(pipeline)
    await app.decide(run, "goals", "approve")
    await app.until_execution(run, "last", "waiting_approval_to_complete")
    await app.roll_back(run, -1)  # the first of what it takes away asks anew; this one does not
    await app.until_execution(run, "last", "waiting_approval_to_complete")
    kept = [event for event in app.events(run) if event.event_type == "approval_reused"]
    assert [event.execution_id for event in kept] == [app.execution(run, "goals").execution_id]
    await app.roll_back(run, -1)
    await app.until_execution(run, "goals", "waiting_approval_to_complete")
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_form_is_filled_in_again_for_a_revision_and_shows_what_was_entered(app: App) -> None:
    """No answer is lost."""
    pipeline = await app.pipeline(form("goals", approve="complete"))
    run = await app.start(pipeline)
    await app.fill(run, "goals", goals="grow")
    await app.decide(run, "goals", "revise", "how?")
    asked = app.execution(run, "goals").form
    assert asked is not None
    assert (asked.values, asked.feedback) == ({"goals": "grow"}, "how?")
    await app.fill(run, "goals", goals="grow slowly")
    await app.decide(run, "goals", "approve")
    await app.until_run(run, "completed")
    assert app.output(run, "goals") == {"goals": "grow slowly"}
