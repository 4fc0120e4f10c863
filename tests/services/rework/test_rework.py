"""An execution requests a rework, waits and continues."""

from __future__ import annotations

import pytest

from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from tests.mentions import mentions
from tests.services.app import App, retries, step
from tests.services.rework_functions import code, requested_reworks, versioned_code

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_requester_continues_with_the_new_artifacts(app: App) -> None:
    """The test requests rework of the code, with its findings."""
    seen = versioned_code(app)
    pipeline = await app.pipeline(code(), step("test", "give_back"), step("verify", "give_back"))
    with requested_reworks(app) as runner:
        runner.request("test", "code", "Add the tests.", "Coverage is low.", test={"missing": ["reset"]})
        run = await app.run_to_completion(pipeline, original_prompt="Sign in")
    assert seen == [None, ("Add the tests.", "Coverage is low.", "test", {"test": {"missing": ["reset"]}})]
    first, requester, rework, verify = app.executions(run)
    assert (rework.checkpoint_key, rework.status, rework.checkpoint_position) == ("code", "completed", 0)
    assert (rework.parent_execution_id, rework.regression_context) == (
        requester.execution_id,
        {
            "reason": "Coverage is low.",
            "prompt": "Add the tests.",
            "requested_by": "test",
            "requested_by_execution_id": requester.execution_id,
        },
    )
    assert (first.superseded_by, rework.superseded_by) == (rework.execution_id, None)
    assert (requester.dispatch_number, requester.attempt_number) == (2, 1)
    assert app.output(run, "test") == {"input": None, "code": {"version": 2}}
    assert app.output(run, "verify")["code"] == {"version": 2}
    assert app.run(run).original_prompt == "Sign in"
    assert not any(e.stale_inputs for e in (requester, rework, verify))


async def test_the_requester_is_notified_of_the_status_and_artifacts(app: App) -> None:
    """For completed and refused reworks."""
    versioned_code(app)
    pipeline = await app.pipeline(code(), step("test"))
    with requested_reworks(app) as runner:
        runner.request("test", "code", "Again.", "Why not.")
        runner.request("test", "nowhere", "Again.")
        run = await app.run_to_completion(pipeline)
    rework = app.execution(run, "code")
    (artifact,) = rework.artifacts_generated
    ended = [event for event in app.events(run) if event.event_type == "rework_ended"]
    assert [event.metadata for event in ended] == [
        {
            "checkpoint": "code",
            "status": "completed",
            "reason": "",
            "requested_by": "test",
            "execution_id": rework.execution_id,
            "artifacts": [
                {
                    "artifact_record_id": artifact.artifact_record_id,
                    "name": "code",
                    "format": "json",
                    "checksum": artifact.checksum,
                    "size_bytes": artifact.size_bytes,
                }
            ],
        },
        {
            "checkpoint": "nowhere",
            "status": "refused",
            "reason": mentions("'nowhere'"),
            "requested_by": "test",
            "execution_id": None,
            "artifacts": [],
        },
    ]
    assert {event.execution_id for event in ended} == {app.execution(run, "test").execution_id}
    assert ended[0].description == mentions("Test")


async def test_a_rework_that_is_approved_later_is_reported_with_its_artifacts(app: App) -> None:
    """It needs an approval even when its output is the same."""
    pipeline = await app.pipeline(step("code", approve="complete"), step("test"))
    with requested_reworks(app) as runner:
        runner.request("test", "code")
        run = await app.start(pipeline)
        await app.decide(run, "code", "approve")
        await app.wait_until(lambda: len(app.executions(run)) == 3)
        assert app.execution(run, "test").waiting_on == "rework"
        await app.decide(run, "code", "approve")
        await app.wait_for_run(run, "completed")
    (ended,) = [event for event in app.events(run) if event.event_type == "rework_ended"]
    assert [artifact["name"] for artifact in ended.metadata["artifacts"]] == ["code"]


async def test_a_rework_over_the_limit_needs_an_escalation(app: App) -> None:
    """The limit is ten reworks per run."""
    versioned_code(app)
    pipeline = await app.pipeline(code(), step("test"))
    with requested_reworks(app) as runner:
        for _ in range(11):
            runner.request("test", "code", "More.", "Never enough.")
        run = await app.start(pipeline)
        escalation = await app.wait_until(
            lambda: next((a for a in app.run(run).pending_approvals if a.kind == "escalation"), None)
        )
        assert escalation.reason == mentions("10")
        await app.decide(run, "test", "retry")
        await app.wait_for_run(run, "completed")
    rework = app.execution(run, "code")
    assert app.output(run, "code") == {"version": 12}
    assert rework.regression_context is not None
    assert (rework.regression_context["prompt"], rework.regression_context["reason"]) == ("More.", "Never enough.")


async def test_a_failed_rework_follows_its_policy_and_can_be_dismissed(app: App) -> None:
    """The requester waits, then continues and receives the reason."""
    tries: list[int] = []

    @app.function("fragile")
    async def fragile(ctx: Ctx) -> dict[str, int]:
        tries.append(1)
        if ctx.rework is not None:
            raise ValueError("no idea")
        return {"n": len(tries)}

    pipeline = await app.pipeline(step("code", "fragile", execution=retries(0)), step("test", "give_back"))
    with requested_reworks(app) as runner:
        runner.request("test", "code", "Better.")
        run = await app.start(pipeline)
        await app.wait_for_run(run, "paused")
        rework = app.execution(run, "code")
        assert (rework.status, app.execution(run, "test").waiting_on) == ("failed", "rework")
        await app.cairn.executions.cancel(rework.execution_id, actor=ADMIN)
        await app.cairn.runs.resume(run, actor=ADMIN)
        await app.wait_for_run(run, "completed")
    (ended,) = [event.metadata for event in app.events(run) if event.event_type == "rework_ended"]
    assert (ended["status"], ended["reason"], ended["artifacts"]) == ("failed", "no idea", [])
    assert app.output(run, "test")["code"] == {"n": 1}
    await app.wait_until_idle()
    assert "superseded" not in str(app.names(pipeline))


async def test_the_context_of_a_rework_includes_its_reason(app: App) -> None:
    """Shown before the start and stored with the execution."""
    pipeline = await app.pipeline(step("code", approve="start"), step("test"))
    with requested_reworks(app) as runner:
        runner.request("test", "code", "Add the tests.", "Coverage is low.", test={"missing": 1})
        run = await app.start(pipeline)
        await app.decide(run, "code", "approve")
        await app.wait_until(lambda: len(app.executions(run)) == 3)
        waiting = await app.wait_for_execution(run, "code", "waiting_approval_to_start")
        before = app.cairn.context_queries.get_context(waiting.execution_id)
        assert [(block.kind, block.heading, block.content) for block in before.blocks] == [
            ("rework", mentions("REWORK", "test", "reason"), "Coverage is low."),
            ("rework", mentions("REWORK", "test", "prompt"), "Add the tests."),
            ("rework", mentions("REWORK", "test"), '{"missing":1}'),
        ]
        await app.decide(run, "code", "approve")
        await app.wait_for_run(run, "completed")
    after = app.cairn.context_queries.get_context(waiting.execution_id)
    assert after.model_copy(update={"stored": False}) == before


async def test_a_requester_continues_without_a_rework_that_was_rejected_at_its_start(app: App) -> None:
    pipeline = await app.pipeline(step("code", approve="start"), step("test"))
    with requested_reworks(app) as runner:
        runner.request("test", "code")
        run = await app.start(pipeline)
        await app.decide(run, "code", "approve")
        await app.wait_until(lambda: len(app.executions(run)) == 3 and app.run(run).pending_approvals)
        await app.decide(run, "code", "refuse", "not now")
        await app.wait_for_run(run, "completed")
    (ended,) = [event.metadata for event in app.events(run) if event.event_type == "rework_ended"]
    assert (ended["status"], ended["reason"]) == ("refused", "not now")
    assert [e.status for e in app.executions(run)] == ["completed", "completed", "cancelled"]
