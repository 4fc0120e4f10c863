"""R2, D31, D56, D59, D66: work that is sent back, by an execution or by a person."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from cairn.core.errors import Refused
from cairn.runners import Ctx
from cairn.services.actors import ADMIN, Actor
from cairn.services.errors import NotFound, WrongInput
from cairn.services.rework import Request
from tests.services.asking import asking
from tests.services.house import House, form, retries, step

pytestmark = pytest.mark.asyncio(loop_scope="package")
ANN = Actor("ann", frozenset({"editor"}))


def code(**more: Any) -> dict[str, Any]:
    return step("code", "write_code", **more)


def writing(house: House) -> list[Any]:
    """`write_code` counts its versions; the answer is what it saw of why it was called."""
    seen: list[Any] = []

    @house.does("write_code")
    async def write_code(ctx: Ctx) -> dict[str, int]:
        why = ctx.rework
        seen.append(why and (why.prompt, why.reason, why.requested_by, dict(why.artifacts)))
        return {"version": len(seen)}

    return seen


async def test_an_execution_sends_work_back_and_goes_on_with_the_new_artifacts(house: House) -> None:
    """R2, D31: seed 2's loop from test to code, with what the tester has found so far."""
    seen = writing(house)
    pipeline = await house.pipeline(code(), step("test", "give_back"), step("verify", "give_back"))
    with asking(house) as runner:
        runner.ask("test", "code", "Add the tests.", "Coverage is low.", test={"missing": ["reset"]})
        run = await house.done(pipeline, original_prompt="Sign in")
    assert seen == [None, ("Add the tests.", "Coverage is low.", "test", {"test": {"missing": ["reset"]}})]
    first, asker, rework, verify = house.executions(run)
    assert (rework.checkpoint_key, rework.status, rework.checkpoint_position) == ("code", "completed", 0)
    assert (rework.parent_execution_id, rework.regression_context) == (
        asker.execution_id,
        {
            "reason": "Coverage is low.",
            "prompt": "Add the tests.",
            "requested_by": "test",
            "requested_by_execution_id": asker.execution_id,
        },
    )
    assert (first.superseded_by, rework.superseded_by) == (rework.execution_id, None)
    assert (asker.dispatch_number, asker.attempt_number) == (2, 1)
    assert house.output(run, "test") == {"input": None, "code": {"version": 2}}
    assert house.output(run, "verify")["code"] == {"version": 2}
    assert house.run(run).original_prompt == "Sign in"
    assert not any(e.stale_inputs for e in (asker, rework, verify))


async def test_the_asker_is_told_all_of_it(house: House) -> None:
    """The event carries how it ended and what came of it, whichever way."""
    writing(house)
    pipeline = await house.pipeline(code(), step("test"))
    with asking(house) as runner:
        runner.ask("test", "code", "Again.", "Why not.")
        runner.ask("test", "nowhere", "Again.")
        run = await house.done(pipeline)
    rework = house.execution(run, "code")
    (made,) = rework.artifacts_generated
    told = [event for event in house.events(run) if event.event_type == "rework_told"]
    assert [event.metadata for event in told] == [
        {
            "checkpoint": "code",
            "ended": "completed",
            "reason": "",
            "requested_by": "test",
            "execution_id": rework.execution_id,
            "artifacts": [
                {
                    "artifact_record_id": made.artifact_record_id,
                    "name": "code",
                    "format": "json",
                    "checksum": made.checksum,
                    "size_bytes": made.size_bytes,
                }
            ],
        },
        {
            "checkpoint": "nowhere",
            "ended": "refused",
            "reason": "This run has no checkpoint 'nowhere'.",
            "requested_by": "test",
            "execution_id": None,
            "artifacts": [],
        },
    ]
    assert {event.execution_id for event in told} == {house.execution(run, "test").execution_id}
    assert told[0].description == "Test goes on: the work that was sent back is done."


async def test_a_rework_that_is_approved_later_is_told_with_its_artifacts(house: House) -> None:
    """R2: it is approved like any other, also when it puts out the same bytes (D60)."""
    pipeline = await house.pipeline(step("code", approve="complete"), step("test"))
    with asking(house) as runner:
        runner.ask("test", "code")
        run = await house.start(pipeline)
        await house.decide(run, "code", "approve")
        await house.until(lambda: len(house.executions(run)) == 3)
        assert house.execution(run, "test").waiting_on == "rework"
        await house.decide(run, "code", "approve")
        await house.until_run(run, "completed")
    (told,) = [event for event in house.events(run) if event.event_type == "rework_told"]
    assert [made["name"] for made in told.metadata["artifacts"]] == ["code"]


async def test_replaced_files_lie_in_superseded_and_the_new_ones_have_the_names(house: House) -> None:
    """D31: as often as it is sent back; their contents stay reachable."""
    writing(house)
    pipeline = await house.pipeline(code(), step("test"))
    with asking(house) as runner:
        runner.ask("test", "code")
        runner.ask("test", "code")
        run = await house.done(pipeline)
    await house.until_quiet()
    outputs = {path: content for path, content in house.disk(pipeline).items() if "checkpoint_0" in path}
    versions = [e for e in house.executions(run) if e.checkpoint_key == "code"]
    (stands,) = [path for path in outputs if "/outputs/" in path]
    name, folder = stands.rpartition("/")[2], "runs/v1/checkpoint_0_code"
    assert outputs == {
        f"{folder}/outputs/{name}": b'{"version":3}',
        f"{folder}/superseded/{versions[0].execution_id}/{name}": b'{"version":1}',
        f"{folder}/superseded/{versions[1].execution_id}/{name}": b'{"version":2}',
    }
    for version in versions:
        (artifact,) = version.artifacts_generated
        assert house.content(artifact) == outputs[artifact.file_path]
    since = [version.artifacts_generated[0].superseded_at for version in versions]
    assert since == [versions[1].completed_at, versions[2].completed_at, None]
    assert [a.artifact_name for a in house.artifacts(run)] == ["code", "test"]


async def test_superseded_files_are_looked_after_like_any_others(house: House) -> None:
    """X8, D31: what is missing, changed or added there is drift."""
    writing(house)
    pipeline = await house.pipeline(code(), step("test"))
    with asking(house) as runner:
        runner.ask("test", "code")
        runner.ask("test", "code")
        run = await house.done(pipeline)
    await house.until_quiet()
    before = {path: content for path, content in house.disk(pipeline).items() if path.startswith("runs/v1/c")}
    first, second, _ = [e.artifacts_generated[0] for e in house.executions(run) if e.checkpoint_key == "code"]
    (house.root(pipeline) / first.file_path).unlink()
    (house.root(pipeline) / second.file_path).write_bytes(b"changed")
    (house.root(pipeline) / second.file_path).with_name("extra.txt").write_bytes(b"mine")
    assert not house.cairn.keeper.look(pipeline).is_clean
    await house.cairn.keeper.mend_all()
    after = {path: content for path, content in house.disk(pipeline).items() if path.startswith("runs/v1/c")}
    assert after == before
    kept = {content for path, content in house.disk(pipeline).items() if path.startswith(".archived/drift_")}
    assert kept == {b"changed", b"mine"}


async def test_an_earlier_pass_takes_its_superseded_files_along(house: House) -> None:
    """D32, D31."""
    writing(house)
    pipeline = await house.pipeline(code(), step("test"), form("end"))
    with asking(house) as runner:
        runner.ask("test", "code")
        run = await house.start(pipeline)
        await house.until_execution(run, "end", "in_progress")
    await house.cairn.runs.restart(run, by=ADMIN)
    await house.until(lambda: house.run(run).pass_number == 2 and house.statuses(run)["end"] == "in_progress")
    await house.until_quiet()
    assert house.names(pipeline, "runs/v1/") == [
        "runs/v1/checkpoint_0_code/outputs/code_ID_v1.json",
        "runs/v1/checkpoint_1_test/outputs/test_ID_v1.json",
        "runs/v1/passes/1/checkpoint_0_code/outputs/code_ID_v1.json",
        "runs/v1/passes/1/checkpoint_0_code/superseded/UUID/code_ID_v1.json",
        "runs/v1/passes/1/checkpoint_1_test/outputs/test_ID_v1.json",
        "runs/v1/run_info.json",
    ]
    await house.cairn.runs.cancel(run, by=ADMIN)


async def test_superseded_files_are_archived_and_come_back_with_a_rollback(house: House) -> None:
    """R1, D31: over reworked checkpoints too."""
    writing(house)
    pipeline = await house.pipeline(code(approve="start"), step("test"), form("end"))
    with asking(house) as runner:
        runner.ask("test", "code")
        run = await house.start(pipeline)
        for count in (1, 3):
            await house.until(lambda count=count: len(house.executions(run)) == count)
            await house.decide(run, "code", "approve")
        await house.until_execution(run, "end", "in_progress")
    await house.until_quiet()

    def lies(under: str) -> dict[str, bytes | str]:
        return {path: content for path, content in house.disk(pipeline).items() if path.startswith(under)}

    before = lies("runs/v1/checkpoint")
    assert len(before) == 3
    rollback = await house.roll_back(run, -1)
    await house.until_quiet()
    assert lies("runs/v1/checkpoint") == {}
    assert [name for name in house.names(pipeline, ".archived") if "superseded" in name] == [
        ".archived/rollback_UUID_TIME/archived_data/v1_checkpoint_0/superseded/UUID/code_ID_v1.json"
    ]
    await house.cairn.rollbacks.undo(rollback, by=ADMIN)
    await house.until_quiet()
    assert lies("runs/v1/checkpoint") == before
    await house.cairn.runs.cancel(run, by=ADMIN)


async def test_what_is_asked_beyond_the_limit_people_grant(house: House) -> None:
    """D31, D61: ten a run."""
    writing(house)
    pipeline = await house.pipeline(code(), step("test"))
    with asking(house) as runner:
        for _ in range(11):
            runner.ask("test", "code", "More.", "Never enough.")
        run = await house.start(pipeline)
        asked = await house.until(
            lambda: next((a for a in house.run(run).waiting_approvals if a.kind == "escalation"), None)
        )
        assert asked.reason == "This run has had 10 reworks, and no more are allowed."
        await house.decide(run, "test", "retry")
        await house.until_run(run, "completed")
    rework = house.execution(run, "code")
    assert house.output(run, "code") == {"version": 12}
    assert rework.regression_context is not None
    assert (rework.regression_context["prompt"], rework.regression_context["reason"]) == ("More.", "Never enough.")


# ---- a person asks -----------------------------------------------------------------------------------------
async def test_a_person_sends_back_what_a_result_was_made_from(house: House) -> None:
    """D66: for an execution that awaits approval; it waits, and is carried out again with the new artifacts."""
    seen = writing(house)
    pipeline = await house.pipeline(code(), step("test", "give_back", approve="complete"))
    run = await house.start(pipeline)
    asker = await house.until_execution(run, "test", "waiting_approval_to_complete")
    assert "rework" in asker.possible
    request = Request(asker.execution_id, "code", "Make it short.", "It is too long.")
    command = uuid4()
    asked = await house.cairn.reworks.ask(request, by=ANN, command_id=command)
    again = await house.cairn.reworks.ask(request, by=ANN, command_id=command)
    assert again == asked
    await house.until(lambda: house.execution(run, "test").dispatch_number == 2)
    await house.until_execution(run, "test", "waiting_approval_to_complete")
    assert house.output(run, "test") == {"input": None, "code": {"version": 2}}
    assert seen == [
        None,
        ("Make it short.", "It is too long.", "ann", {"test": {"input": None, "code": {"version": 1}}}),
    ]
    rework = house.cairn.reading.execution(asked.execution_id)
    assert (rework.parent_execution_id, rework.checkpoint_key) == (asker.execution_id, "code")
    await house.decide(run, "test", "approve")
    await house.until_run(run, "completed")
    assert len(house.executions(run)) == 3


async def test_a_completed_run_reopens_until_the_rework_ends(house: House) -> None:
    """D31, D66, R3: the asker stays completed, and is stale."""
    writing(house)
    pipeline = await house.pipeline(code(), step("test", "give_back"), form("end", needs=["code"]))
    run = await house.start(pipeline)
    await house.fill(run, "end", end="done")
    await house.until_run(run, "completed")
    asker = house.execution(run, "test")
    asked = await house.cairn.reworks.ask(Request(asker.execution_id, "code"), by=ADMIN)
    await house.until_run(run, "completed")
    first, rework = [e for e in house.executions(run) if e.checkpoint_key == "code"]
    after = house.execution(run, "test")
    assert (after.execution_id, after.dispatch_number, rework.execution_id) == (
        asker.execution_id,
        1,
        asked.execution_id,
    )
    (read,) = first.artifacts_generated
    assert [dict(one) for one in after.stale_inputs] == [
        {
            "artifact_record_id": read.artifact_record_id,
            "artifact_name": "code",
            "execution_id": first.execution_id,
            "checkpoint_id": first.checkpoint_id,
            "checkpoint_name": "Code",
            "replaced_by": rework.execution_id,
        }
    ]
    assert {item.key: item.is_stale for item in house.run(run).trail} == {"code": False, "test": True, "end": False}
    assert [a.stale for a in after.artifacts_generated] == [True]
    assert "run_reopened" in house.told(run)


async def test_the_impact_is_shown_before(house: House) -> None:
    """Like a rollback's preview: nothing is touched."""
    writing(house)
    pipeline = await house.pipeline(
        code(),
        step("left", "give_back", needs=["code"]),
        step("right", "number", needs=["code"]),
        step("test", "give_back", approve="complete", input_mapping={"c": "code"}),
    )
    run = await house.start(pipeline)
    asker = await house.until_execution(run, "test", "waiting_approval_to_complete")
    before = house.executions(run)
    stands, left = before[0], house.execution(run, "left")
    (made,) = stands.artifacts_generated
    request = Request(asker.execution_id, stands.checkpoint_id, "Again.")
    preview = house.cairn.reading.rework_preview(house.cairn.reworks, request, ADMIN)
    assert asker.approval is not None
    assert preview.model_dump() == {
        "run_id": run,
        "checkpoint_id": stands.checkpoint_id,
        "checkpoint_key": "code",
        "checkpoint_name": "Code",
        "checkpoint_position": 0,
        "execution_id": stands.execution_id,
        "replaced": [
            {
                "artifact_record_id": made.artifact_record_id,
                "artifact_name": "code",
                "file_path": made.file_path,
                "size_bytes": made.size_bytes,
            }
        ],
        "asker_execution_id": asker.execution_id,
        "asker_checkpoint_name": "Test",
        "asker_waits": True,
        "withdrawn_approvals": [
            {"approval_id": asker.approval.approval_id, "kind": "completion", "checkpoint_name": "Test"}
        ],
        "becomes_stale": [
            {
                "execution_id": left.execution_id,
                "run_id": run,
                "run_version": 1,
                "checkpoint_name": "Left",
                "artifacts": ["code"],
            }
        ],
        "reopens": False,
        "reworks": 0,
        "begins": "at once",
    }
    assert house.executions(run) == before
    await house.decide(run, "test", "approve")
    await house.until_run(run, "completed")
    after = house.cairn.reading.rework_preview(house.cairn.reworks, request, ADMIN)
    assert (after.reopens, after.asker_waits, after.withdrawn_approvals) == (True, False, [])
    assert [one.checkpoint_name for one in after.becomes_stale] == ["Left", "Test"]


async def test_what_cannot_be_sent_back_is_told(house: House) -> None:
    """D59, D66."""
    pipeline = await house.pipeline(form("root"), step("test"), form("end"))
    run = await house.start(pipeline)
    await house.fill(run, "root", root="x")
    await house.until_execution(run, "end", "in_progress")
    root, test, end = (house.execution(run, key) for key in ("root", "test", "end"))
    assert [("rework" in e.possible) for e in (root, test, end)] == [False, True, False]

    async def refused(execution_id: str, checkpoint: str, *error: type[Exception]) -> str:
        with pytest.raises(error) as told:
            await house.cairn.reworks.ask(Request(execution_id, checkpoint), by=ADMIN)
        return str(told.value)

    assert await refused(str(uuid4()), "root", NotFound) != ""
    with pytest.raises(WrongInput) as wrong:
        await house.cairn.reworks.ask(Request(test.execution_id, "nowhere"), by=ADMIN)
    assert wrong.value.errors == (("/checkpoint", "This run has no checkpoint 'nowhere'. It has: root, test, end."),)
    assert await refused(test.execution_id, "test", Refused) == "Only an earlier checkpoint can be sent back."
    assert (await refused(end.execution_id, "root", Refused)).startswith("Only work that awaits approval")
    await house.cairn.reworks.ask(Request(test.execution_id, "root"), by=ADMIN)
    assert await refused(test.execution_id, "root", Refused) == "The checkpoint 'root' is being reworked already."
    assert "rework" not in house.execution(run, "test").possible
    await house.cairn.runs.cancel(run, by=ADMIN)


async def test_a_failed_rework_follows_its_policy_and_may_be_dismissed(house: House) -> None:
    """D31, D55: the asker waits, then goes on and is told why."""
    tries: list[int] = []

    @house.does("fragile")
    async def fragile(ctx: Ctx) -> dict[str, int]:
        tries.append(1)
        if ctx.rework is not None:
            raise ValueError("no idea")
        return {"n": len(tries)}

    pipeline = await house.pipeline(step("code", "fragile", execution=retries(0)), step("test", "give_back"))
    with asking(house) as runner:
        runner.ask("test", "code", "Better.")
        run = await house.start(pipeline)
        await house.until_run(run, "paused")
        rework = house.execution(run, "code")
        assert (rework.status, house.execution(run, "test").waiting_on) == ("failed", "rework")
        await house.cairn.executions.cancel(rework.execution_id, by=ADMIN)
        await house.cairn.runs.resume(run, by=ADMIN)
        await house.until_run(run, "completed")
    (told,) = [event.metadata for event in house.events(run) if event.event_type == "rework_told"]
    assert (told["ended"], told["reason"], told["artifacts"]) == ("failed", "no idea", [])
    assert house.output(run, "test")["code"] == {"n": 1}
    await house.until_quiet()
    assert "superseded" not in str(house.names(pipeline))


async def test_the_context_of_a_rework_says_why(house: House) -> None:
    """R2, X9: shown before the start and stored with the execution."""
    pipeline = await house.pipeline(step("code", approve="start"), step("test"))
    with asking(house) as runner:
        runner.ask("test", "code", "Add the tests.", "Coverage is low.", test={"missing": 1})
        run = await house.start(pipeline)
        await house.decide(run, "code", "approve")
        await house.until(lambda: len(house.executions(run)) == 3)
        waiting = await house.until_execution(run, "code", "waiting_approval_to_start")
        before = house.cairn.reading.context(waiting.execution_id)
        assert [(block.kind, block.heading, block.content) for block in before.blocks] == [
            ("rework", "REWORK: sent back by test, reason", "Coverage is low."),
            ("rework", "REWORK: sent back by test, prompt", "Add the tests."),
            ("rework", "REWORK: sent back by test", '{"missing":1}'),
        ]
        await house.decide(run, "code", "approve")
        await house.until_run(run, "completed")
    after = house.cairn.reading.context(waiting.execution_id)
    assert after.model_copy(update={"stored": False}) == before


async def test_refused_at_its_start_the_asker_goes_on_with_what_there_is(house: House) -> None:
    """D66."""
    pipeline = await house.pipeline(step("code", approve="start"), step("test"))
    with asking(house) as runner:
        runner.ask("test", "code")
        run = await house.start(pipeline)
        await house.decide(run, "code", "approve")
        await house.until(lambda: len(house.executions(run)) == 3 and house.run(run).waiting_approvals)
        await house.decide(run, "code", "refuse", "not now")
        await house.until_run(run, "completed")
    (told,) = [event.metadata for event in house.events(run) if event.event_type == "rework_told"]
    assert (told["ended"], told["reason"]) == ("refused", "not now")
    assert [e.status for e in house.executions(run)] == ["completed", "completed", "cancelled"]
