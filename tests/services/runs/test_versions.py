"""Run versions, and how checkpoints start."""

from __future__ import annotations

import asyncio
import json

import pytest

from cairn.core.errors import CommandRefused
from cairn.services.actors import ADMIN
from cairn.services.rollbacks.service import RollbackSpec
from cairn.services.runs.service import RunService
from cairn.store.errors import NotFound
from tests.mentions import mentions
from tests.services.app import App, form, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_run_versions_increase_and_are_never_reused(app: App) -> None:
    """After a rollback from v3 to v1 the next run is v4, based on v1."""
    pipeline = await app.pipeline(step("goals"), step("design"))
    runs = [await app.run_to_completion(pipeline) for _ in range(3)]
    assert [
        (app.run(run).run_version, app.run(run).previous_run_id, app.run(run).extends_from_run_version) for run in runs
    ] == [(1, None, None), (2, runs[0], 1), (3, runs[1], 2)]
    request = RollbackSpec("run_level", runs[2], target_run_id=runs[0], target_checkpoint_position=0)
    await app.cairn.rollbacks.roll_back(request, actor=ADMIN)
    await app.wait_for_run(runs[0], "completed")
    await app.wait_until_idle()
    assert app.folder_contents(pipeline)["runs/latest"] == "-> v1"
    fourth = app.run(await app.run_to_completion(pipeline))
    assert (fourth.run_version, fourth.previous_run_id, fourth.extends_from_run_version) == (4, runs[0], 1)
    await app.wait_until_idle()
    assert app.folder_contents(pipeline)["runs/latest"] == "-> v4"


async def test_runs_started_at_once_have_different_versions(app: App) -> None:
    pipeline = await app.pipeline(step("goals"))
    runs = await asyncio.gather(*(app.start(pipeline) for _ in range(20)))
    for run in runs:
        await app.wait_for_run(run, "completed")
    await app.wait_until_idle()
    assert sorted(app.run(run).run_version or 0 for run in runs) == list(range(1, 21))
    assert app.folder_contents(pipeline)["runs/latest"] == "-> v20"
    links = {app.run(run).run_version: app.run(run).extends_from_run_version for run in runs}
    assert links == {1: None, **{n: n - 1 for n in range(2, 21)}}


async def test_the_first_event_names_the_definition_of_the_run(app: App) -> None:
    pipeline = await app.pipeline(step("goals"))
    first = await app.run_to_completion(pipeline)
    run = await app.run_to_completion(pipeline, input={"a": 1})
    created = app.events(run)[0]
    assert (created.event_type, created.actor, created.seq, created.description) == (
        "run_created",
        "admin",
        1,
        mentions("v2"),
    )
    assert created.metadata == {
        "run_version": 2,
        "pipeline_definition_version": 1,
        "definition_revision": 1,
        "previous_run_id": first,
        "input_checksum": created.metadata["input_checksum"],
        "test": False,
    }
    assert app.cairn.artifact_queries.stream_content(created.metadata["input_checksum"])
    assert app.event_types(run)[1] == "run_started"


async def test_a_run_can_be_created_without_starting_it(app: App) -> None:
    pipeline = await app.pipeline(step("goals"))
    run = await app.start(pipeline, start=False)
    assert (app.run(run).status, app.event_types(run)) == ("not_started", ["run_created"])
    assert json.loads(app.folder_contents(pipeline)["runs/v1/run_info.json"])["status"] == "not_started"
    await app.cairn.runs.start(run, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    with pytest.raises(CommandRefused, match="completed"):
        await app.cairn.runs.start(run, actor=ADMIN)


async def test_a_run_keeps_its_prompt(app: App) -> None:
    """The prompt is set at the start or comes from the pipeline, and never changes."""
    pipeline = await app.pipeline(form("goals"), original_prompt="Think")
    default, custom = await app.start(pipeline), await app.start(pipeline, original_prompt="Think big")
    await app.cairn.pipelines.update(pipeline, {"original_prompt": "Think small"}, actor=ADMIN)
    assert (app.run(default).original_prompt, app.run(custom).original_prompt) == ("Think", "Think big")
    again = await app.cairn.runs.retry(custom, actor=ADMIN)
    assert app.run(again.run_id).original_prompt == "Think big"


async def test_a_retried_run_uses_the_same_input(app: App) -> None:
    pipeline = await app.pipeline(step("goals", "give_back"))
    run = await app.run_to_completion(pipeline, input={"n": 2**70})
    again = await app.cairn.runs.retry(run, actor=ADMIN)
    await app.wait_for_run(again.run_id, "completed")
    assert (app.run(again.run_id).run_version, app.output(again.run_id, "goals")) == (2, {"input": {"n": 2**70}})


async def test_without_auto_advance_the_next_checkpoint_waits_for_a_start(app: App) -> None:
    """Starting a run starts its first checkpoint."""
    pipeline = await app.pipeline(step("goals"), step("design"), advance=False)
    run = await app.start(pipeline)
    waiting = await app.wait_for_execution(run, "design", "pending")
    assert app.statuses(run) == {"goals": "completed", "design": "pending"}
    with pytest.raises(CommandRefused, match="pending"):
        await app.cairn.approvals.decide_pending(waiting.execution_id, "approve", actor=ADMIN)
    started, _ = await app.cairn.executions.start_checkpoint(run, "design", actor=ADMIN)
    assert started == waiting.execution_id
    await app.wait_for_run(run, "completed")
    with pytest.raises(CommandRefused, match="completed"):
        await app.cairn.executions.start(waiting.execution_id, actor=ADMIN)
    with pytest.raises(NotFound):
        await app.cairn.executions.start_checkpoint(run, "nothing", actor=ADMIN)


async def test_approving_a_start_starts_the_execution(app: App) -> None:
    """A rejected start returns to pending and needs approval at the next start."""
    pipeline = await app.pipeline(step("goals", approve="both"))
    run = await app.start(pipeline)
    assert app.statuses(run) == {"goals": "waiting_approval_to_start"}
    await app.decide(run, "goals", "refuse", "not now")
    assert app.statuses(run) == {"goals": "pending"}
    await app.cairn.executions.start(app.execution(run, "goals").execution_id, actor=ADMIN)
    assert app.statuses(run) == {"goals": "waiting_approval_to_start"}
    await app.decide(run, "goals", "approve")
    await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")
    await app.decide(run, "goals", "approve")
    await app.wait_for_run(run, "completed")
    event_types = [e for e in app.event_types(run) if e.startswith(("execution", "approval"))]
    assert event_types == [
        "execution_created",
        "execution_awaiting_start_approval",
        "approval_requested",
        "approval_rejected",
        "execution_start_rejected",
        "execution_awaiting_start_approval",
        "approval_requested",
        "approval_approved",
        "execution_dispatched",
        "execution_awaiting_completion_approval",
        "approval_requested",
        "approval_approved",
        "execution_completed",
    ]


async def test_a_pipeline_that_cannot_run_gives_a_reason(app: App) -> None:
    empty = await app.pipeline()
    with pytest.raises(CommandRefused):
        await app.start(empty)
    agent = {"key": "think", "checkpoint_name": "Think", "prompt": "think", "outputs": ["thought.md"]}
    modest = RunService(app.cairn.engine, app.cairn.folder_sync, modes=frozenset({"function"}), max_payload_bytes=1000)
    with pytest.raises(CommandRefused, match=r"agentic.*Think"):
        await modest.create(await app.pipeline(agent), actor=ADMIN)
    with pytest.raises(NotFound):
        await app.start("00000000-0000-0000-0000-000000000000")
