"""Failed attempts, automatic retries, and `on_failure` after the last one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cairn.core.errors import AlreadyApplied, CommandRefused, StaleCommand
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from tests.mentions import mentions
from tests.services.app import App, form, retries, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


class Flaky:
    """A function that fails this many times and records each attempt."""

    def __init__(self, app: App, name: str, failures: int) -> None:
        self.failures = failures
        self.seen: list[tuple[int, str, list[str]]] = []
        app.function(name)(self.attempt)

    async def attempt(self, ctx: Ctx) -> dict[str, int]:
        files = sorted(path.name for path in ctx.workspace.iterdir())
        self.seen.append((ctx.attempt, ctx.workspace.parent.name, files))
        (ctx.workspace / f"left_by_{ctx.attempt}").write_text("half done")
        ctx.log(f"attempt {ctx.attempt}")
        if len(self.seen) <= self.failures:
            ctx.stage("goals", {"half": True})
            raise ValueError(f"failure {len(self.seen)}")
        return {"attempt": ctx.attempt}


async def test_attempts_keep_the_id_and_workspace_and_are_counted(app: App) -> None:
    flaky = Flaky(app, "flaky", 2)
    pipeline = await app.pipeline(step("goals", "flaky", execution=retries(2)))
    run = await app.run_to_completion(pipeline)
    execution = app.execution(run, "goals")
    folder = f"exec_{execution.execution_id}"
    assert flaky.seen == [
        (1, folder, []),
        (2, folder, ["left_by_1"]),
        (3, folder, ["left_by_1", "left_by_2"]),
    ]
    assert (execution.attempt_number, execution.max_attempts, execution.dispatch_number) == (3, 3, 3)
    assert execution.error_details.error_count == 2
    assert [(e.attempt_number, e.error_message, e.error_type) for e in execution.error_details.attempts] == [
        (1, "failure 1", "ValueError"),
        (2, "failure 2", "ValueError"),
    ]
    assert all("in attempt" in e.stack_trace for e in execution.error_details.attempts)
    assert app.output(run, "goals") == {"attempt": 3}
    assert [e for e in app.event_types(run) if e.startswith("execution")] == [
        "execution_created",
        "execution_dispatched",
        "execution_retried",
        "execution_waiting",
        "execution_dispatched",
        "execution_retried",
        "execution_waiting",
        "execution_dispatched",
        "execution_completed",
    ]


async def test_a_retry_waits_for_its_delay(app: App) -> None:
    Flaky(app, "flaky", 1)
    pipeline = await app.pipeline(step("goals", "flaky", execution=retries(1, delay=1)))
    run = await app.start(pipeline)
    waiting = await app.wait_until(lambda: app.execution(run, "goals").retry_due_at and app.execution(run, "goals"))
    assert (waiting.status, waiting.waiting_on, waiting.attempt_number) == ("in_progress", "retry_delay", 2)
    assert app.run(run).available_commands == ["pause", "cancel", "roll back", "restart"]
    await app.wait_for_run(run, "completed")
    waited, began = [
        event.timestamp
        for event in app.events(run)
        if event.event_type in ("execution_waiting", "execution_dispatched")
    ][1:]
    assert 1.0 <= (began - waited).total_seconds() < 5.0


async def test_the_workspace_and_error_are_kept_after_the_last_attempt(app: App) -> None:
    """`.errored/` with `error_info.json`, `error_logs.txt` and `failed_artifacts/`."""
    Flaky(app, "flaky", 9)
    pipeline = await app.pipeline(step("goals", "flaky", execution=retries(1)))
    run = await app.start(pipeline)
    await app.wait_for_run(run, "paused")
    await app.wait_until_idle()
    assert app.names(pipeline, ".errored") == [
        ".errored/exec_UUID_TIME/error_info.json",
        ".errored/exec_UUID_TIME/error_logs.txt",
        ".errored/exec_UUID_TIME/failed_artifacts/",
        ".errored/exec_UUID_TIME/workspace/left_by_1",
        ".errored/exec_UUID_TIME/workspace/left_by_2",
    ]
    assert app.workspaces(pipeline) == set()
    folder = next((app.root(pipeline) / ".errored").iterdir())
    info = json.loads((folder / "error_info.json").read_text())
    assert {name: info[name] for name in info if name not in ("stack_trace", "execution_id")} == {
        "run_id": run,
        "run_version": 1,
        "checkpoint": "goals",
        "checkpoint_position": 0,
        "status": "failed",
        "attempt_number": 2,
        "revision_iteration": 0,
        "error_count": 2,
        "error_type": "ValueError",
        "error_message": "failure 2",
    }
    assert "raise ValueError" in info["stack_trace"]
    logs = (folder / "error_logs.txt").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in logs] == ["info attempt 1", "info attempt 2"]


async def test_an_undeclared_result_is_kept_as_a_failed_artifact(app: App) -> None:
    """An invalid result has its own retry limit, then `on_failure` applies."""

    @app.function("undeclared")
    async def undeclared(ctx: Ctx) -> None:
        ctx.stage("goals", {"fine": True})
        ctx.stage("surprise.txt", "not declared")

    pipeline = await app.pipeline(step("goals", "undeclared", execution=retries(4)))
    run = await app.start(pipeline)
    await app.wait_for_run(run, "paused")
    failed = app.execution(run, "goals").error_details.last_error
    assert failed is not None
    assert failed.error_type == "invalid_output"
    assert failed.error_message == mentions("- surprise.txt: ", "goals.json")
    assert app.execution(run, "goals").attempt_number == 3  # max_validation_retries is 2
    kept = [".errored/exec_UUID_TIME/failed_artifacts/", ".errored/exec_UUID_TIME/workspace/"]
    await app.wait_until(lambda: app.names(pipeline, ".errored/")[2:] == kept)  # the files follow the commit


@pytest.mark.parametrize(
    ("on_failure", "status", "statuses"),
    [
        ("pause_pipeline", "paused", {"first": "completed", "bad": "failed", "after": "upcoming"}),
        ("fail_run", "failed", {"first": "completed", "bad": "failed", "after": "upcoming"}),
        ("rollback_checkpoint", "in_progress", {"first": "completed", "bad": "pending", "after": "upcoming"}),
    ],
)
async def test_each_on_failure_policy(app: App, on_failure: str, status: str, statuses: dict[str, str]) -> None:
    Flaky(app, "flaky", 1)
    pipeline = await app.pipeline(
        step("first"), step("bad", "flaky", outputs=["goals.json"], execution=retries(0, 0, on_failure)), step("after")
    )
    run = await app.start(pipeline)
    await app.wait_until(lambda: app.statuses(run) == statuses)
    await app.wait_until_idle()
    assert app.run(run).status == status
    assert len(list((app.root(pipeline) / ".errored").iterdir())) == 1
    if on_failure == "rollback_checkpoint":
        rollbacks = app.run(run).rollback_history
        rollback = app.rollback(rollbacks[0])
        assert (rollback.triggered_by, rollback.target_checkpoint_position, rollback.rollback_type) == (
            "checkpoint_failure",
            0,
            "checkpoint_level",
        )
        assert app.names(pipeline, ".archived") == [".archived/rollback_UUID_TIME/rollback_metadata.json"]
        await app.cairn.executions.start(app.execution(run, "bad").execution_id, actor=ADMIN)  # the new execution waits
    else:
        with pytest.raises(CommandRefused, match=r"bad|failed"):
            await app.cairn.runs.resume(run, actor=ADMIN)
        await app.cairn.executions.retry(app.execution(run, "bad").execution_id, actor=ADMIN)
    await app.wait_for_run(run, "completed")


async def test_a_manual_retry_has_new_retries_and_an_empty_workspace(app: App) -> None:
    """It uses the newest definition, and `.errored/` is kept."""
    flaky = Flaky(app, "flaky", 3)
    pipeline = await app.pipeline(step("goals", "flaky", execution=retries(1)))
    run = await app.start(pipeline)
    await app.wait_for_run(run, "paused")
    failed = app.execution(run, "goals")
    assert (failed.attempt_number, failed.available_commands) == (2, ["retry", "cancel"])
    with pytest.raises(StaleCommand, match=r"\b2\b.*\b3\b"):
        await app.cairn.executions.retry(failed.execution_id, attempt=3, actor=ADMIN)
    await app.cairn.executions.retry(failed.execution_id, attempt=2, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    assert [(attempt, files) for attempt, _, files in flaky.seen] == [
        (1, []),
        (2, ["left_by_1"]),
        (3, []),
        (4, ["left_by_3"]),
    ]
    with pytest.raises(AlreadyApplied, match=r"\b2\b"):
        await app.cairn.executions.retry(failed.execution_id, attempt=2, actor=ADMIN)
    assert len(list((app.root(pipeline) / ".errored").iterdir())) == 1
    assert app.event_types(run).count("run_reopened") == 1


async def test_two_failures_in_one_second_are_both_kept(app: App) -> None:
    Flaky(app, "flaky", 2)
    pipeline = await app.pipeline(step("goals", "flaky"))
    run = await app.start(pipeline)
    for _ in range(2):
        await app.wait_for_run(run, "paused")
        await app.wait_until_idle()
        await app.cairn.executions.retry(app.execution(run, "goals").execution_id, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    folders = sorted((app.root(pipeline) / ".errored").iterdir())
    assert [json.loads((folder / "error_info.json").read_text())["attempt_number"] for folder in folders] == [1, 2]


async def test_a_failed_execution_can_be_dismissed(app: App) -> None:
    """Its checkpoint waits for a manual start."""
    Flaky(app, "flaky", 1)
    pipeline = await app.pipeline(step("goals", "flaky"))
    run = await app.start(pipeline)
    await app.wait_for_run(run, "paused")
    await app.cairn.executions.cancel(app.execution(run, "goals").execution_id, actor=ADMIN)
    assert (app.run(run).status, app.statuses(run)) == ("paused", {"goals": "pending"})
    await app.cairn.runs.resume(run, actor=ADMIN)
    await app.cairn.executions.start(app.execution(run, "goals").execution_id, actor=ADMIN)
    await app.wait_for_run(run, "completed")


async def test_a_declined_form_follows_on_failure(app: App) -> None:
    pipeline = await app.pipeline(form("goals", execution=retries(2, on_failure="fail_run")))
    run = await app.start(pipeline)
    await app.decide(run, "goals", "decline", "no idea")
    await app.wait_for_run(run, "failed")
    failed = app.execution(run, "goals").error_details.last_error
    assert failed is not None
    assert (failed.error_type, failed.error_message) == ("declined", "Declined by admin. no idea")


async def test_a_function_can_raise_any_exception(app: App) -> None:
    """The execution fails, the worker continues, and the message is stored."""

    def raising(error: BaseException) -> Any:
        async def raise_it(ctx: Ctx) -> None:
            raise error

        return raise_it

    class Odd(BaseException):
        def __str__(self) -> str:
            raise RuntimeError("cannot even say what it is")

    for error in (SystemExit(3), Odd(), ValueError("nul \0 and half \ud800"), KeyError(), OSError(28, "No space left")):
        app.function("odd")(raising(error))
        run = await app.start(await app.pipeline(step("goals", "odd")))
        await app.wait_for_run(run, "paused")
        failed = app.execution(run, "goals").error_details.last_error
        assert failed is not None
        assert failed.error_type == type(error).__qualname__
