"""Users request rework after reviewing a result."""

from __future__ import annotations

from uuid import uuid4

import pytest

from cairn.core.errors import CommandRefused
from cairn.services.actors import ADMIN, Actor
from cairn.services.errors import InvalidInput
from cairn.services.rework.service import ReworkSpec
from cairn.store.errors import NotFound
from tests.mentions import mentions
from tests.services.app import App, form, step
from tests.services.rework_functions import code, versioned_code

ANN = Actor("ann", frozenset({"editor"}))

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_a_user_requests_rework_of_an_input_while_approving(app: App) -> None:
    """The execution waits for the rework and runs again with the new artifacts."""
    seen = versioned_code(app)
    pipeline = await app.pipeline(code(), step("test", "give_back", approve="complete"))
    run = await app.start(pipeline)
    requester = await app.wait_for_execution(run, "test", "waiting_approval_to_complete")
    assert "rework" in requester.available_commands
    spec = ReworkSpec(requester.execution_id, "code", "Make it short.", "It is too long.")
    command = uuid4()
    created = await app.cairn.rework.create(spec, actor=ANN, command_id=command)
    again = await app.cairn.rework.create(spec, actor=ANN, command_id=command)
    assert again == created
    await app.wait_until(lambda: app.execution(run, "test").dispatch_number == 2)
    await app.wait_for_execution(run, "test", "waiting_approval_to_complete")
    assert app.output(run, "test") == {"input": None, "code": {"version": 2}}
    assert seen == [
        None,
        ("Make it short.", "It is too long.", "ann", {"test": {"input": None, "code": {"version": 1}}}),
    ]
    rework = app.cairn.execution_queries.get_execution(created.execution_id)
    assert (rework.parent_execution_id, rework.checkpoint_key) == (requester.execution_id, "code")
    await app.decide(run, "test", "approve")
    await app.wait_for_run(run, "completed")
    assert len(app.executions(run)) == 3


async def test_a_completed_run_is_reopened_until_the_rework_ends(app: App) -> None:
    """The requester stays completed and becomes stale."""
    versioned_code(app)
    pipeline = await app.pipeline(code(), step("test", "give_back"), form("end", needs=["code"]))
    run = await app.start(pipeline)
    await app.submit_form(run, "end", end="done")
    await app.wait_for_run(run, "completed")
    requester = app.execution(run, "test")
    created = await app.cairn.rework.create(ReworkSpec(requester.execution_id, "code"), actor=ADMIN)
    await app.wait_for_run(run, "completed")
    first, rework = [e for e in app.executions(run) if e.checkpoint_key == "code"]
    after = app.execution(run, "test")
    assert (after.execution_id, after.dispatch_number, rework.execution_id) == (
        requester.execution_id,
        1,
        created.execution_id,
    )
    (read,) = first.artifacts_generated
    assert [dict(stale_input) for stale_input in after.stale_inputs] == [
        {
            "artifact_record_id": read.artifact_record_id,
            "artifact_name": "code",
            "execution_id": first.execution_id,
            "checkpoint_id": first.checkpoint_id,
            "checkpoint_name": "Code",
            "replaced_by": rework.execution_id,
        }
    ]
    assert {item.key: item.is_stale for item in app.run(run).checkpoints} == {"code": False, "test": True, "end": False}
    assert [a.is_stale for a in after.artifacts_generated] == [True]
    assert "run_reopened" in app.event_types(run)


async def test_a_rework_can_be_previewed(app: App) -> None:
    """Like the preview of a rollback, this changes nothing."""
    versioned_code(app)
    pipeline = await app.pipeline(
        code(),
        step("left", "give_back", needs=["code"]),
        step("right", "number", needs=["code"]),
        step("test", "give_back", approve="complete", input_mapping={"c": "code"}),
    )
    run = await app.start(pipeline)
    requester = await app.wait_for_execution(run, "test", "waiting_approval_to_complete")
    before = app.executions(run)
    current, left = before[0], app.execution(run, "left")
    (artifact,) = current.artifacts_generated
    spec = ReworkSpec(requester.execution_id, current.checkpoint_id, "Again.")
    preview = app.cairn.rework_queries.preview(spec, ADMIN)
    assert requester.approval is not None
    assert preview.model_dump() == {
        "run_id": run,
        "checkpoint_id": current.checkpoint_id,
        "checkpoint_key": "code",
        "checkpoint_name": "Code",
        "checkpoint_position": 0,
        "execution_id": current.execution_id,
        "replaced": [
            {
                "artifact_record_id": artifact.artifact_record_id,
                "artifact_name": "code",
                "file_path": artifact.file_path,
                "size_bytes": artifact.size_bytes,
            }
        ],
        "requester_execution_id": requester.execution_id,
        "requester_checkpoint_name": "Test",
        "requester_waits": True,
        "withdrawn_approvals": [
            {"approval_id": requester.approval.approval_id, "kind": "completion", "checkpoint_name": "Test"}
        ],
        "stale_executions": [
            {
                "execution_id": left.execution_id,
                "run_id": run,
                "run_version": 1,
                "checkpoint_name": "Left",
                "artifacts": ["code"],
            }
        ],
        "reopens_run": False,
        "reworks": 0,
        "start_mode": "immediately",
        "prompt": "Again.",
        "reason": "",
    }
    assert app.executions(run) == before
    await app.decide(run, "test", "approve")
    await app.wait_for_run(run, "completed")
    after = app.cairn.rework_queries.preview(spec, ADMIN)
    assert (after.reopens_run, after.requester_waits, after.withdrawn_approvals) == (True, False, [])
    assert [execution.checkpoint_name for execution in after.stale_executions] == ["Left", "Test"]


async def test_an_impossible_rework_is_refused_with_a_reason(app: App) -> None:
    pipeline = await app.pipeline(form("root"), step("test"), form("end"))
    run = await app.start(pipeline)
    await app.submit_form(run, "root", root="x")
    await app.wait_for_execution(run, "end", "in_progress")
    root, test, end = (app.execution(run, key) for key in ("root", "test", "end"))
    assert [("rework" in e.available_commands) for e in (root, test, end)] == [False, True, False]

    async def refused(execution_id: str, checkpoint: str, *error: type[Exception]) -> str:
        with pytest.raises(error) as raised:
            await app.cairn.rework.create(ReworkSpec(execution_id, checkpoint), actor=ADMIN)
        return str(raised.value)

    assert await refused(str(uuid4()), "root", NotFound) != ""
    with pytest.raises(InvalidInput) as wrong:
        await app.cairn.rework.create(ReworkSpec(test.execution_id, "nowhere"), actor=ADMIN)
    assert wrong.value.errors == (("/checkpoint", mentions("'nowhere'", "root, test, end")),)
    assert await refused(test.execution_id, "test", CommandRefused)
    assert await refused(end.execution_id, "root", CommandRefused)
    await app.cairn.rework.create(ReworkSpec(test.execution_id, "root"), actor=ADMIN)
    assert await refused(test.execution_id, "root", CommandRefused) == mentions("'root'")
    assert "rework" not in app.execution(run, "test").available_commands
    await app.cairn.runs.cancel(run, actor=ADMIN)
