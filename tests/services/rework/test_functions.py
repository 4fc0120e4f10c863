"""A function that requests a rework is called again, and its calls return the recorded answers."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from tests.mentions import mentions
from tests.services.app import App, retries, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


def register_write(app: App) -> None:
    """Register `write`, which outputs the next version for each rework."""

    @app.function("write")
    def write(ctx: Ctx) -> dict[str, Any]:
        before = 0 if ctx.rework is None else ctx.rework.artifacts["test"]["seen"]
        return {"version": before + 1}


async def test_inputs_are_replayed_until_each_call_and_then_updated(app: App) -> None:
    """For a function in a thread. Each call must see the same inputs as before."""
    register_write(app)
    seen: list[list[int]] = []

    @app.function("examine")
    def examine(ctx: Ctx) -> dict[str, Any]:
        looked: list[int] = []
        seen.append(looked)
        answers: list[Any] = []
        while (version := ctx.inputs["code"]["version"]) < 3:
            looked.append(version)
            ctx.stage("test", {"seen": version})
            answer = ctx.request_rework("code", f"Make {version + 1} of it.", "It is too early.")
            answers.append((answer.status, [artifact["name"] for artifact in answer["artifacts"]]))
        looked.append(version)
        return {"version": version, "answers": answers}

    pipeline = await app.pipeline(step("code", "write"), step("test", "examine", outputs=["test.json"]))
    run = await app.run_to_completion(pipeline)
    assert seen == [[1], [1, 2], [1, 2, 3]]
    assert app.output(run, "test") == {"seen": 2}  # the last staged artifact replaces the returned value
    assert [e.checkpoint_key for e in app.executions(run)] == ["code", "test", "code", "code"]
    prompts = [(e.regression_context or {}).get("prompt") for e in app.executions(run)]
    assert prompts == [None, None, "Make 2 of it.", "Make 3 of it."]


async def test_a_retry_of_a_coroutine_function_replays_the_recorded_answers(app: App) -> None:
    register_write(app)
    tries: list[str] = []

    @app.function("examine_once")
    async def examine_once(ctx: Ctx) -> dict[str, Any]:
        ctx.stage("test", {"seen": ctx.inputs["code"]["version"]})
        answer = ctx.request_rework("code", "Again.")
        tries.append(answer.status)
        if len(tries) == 1:
            raise ValueError("not yet")
        ctx.stage("test", {"seen": 0, "version": ctx.inputs["code"]["version"]})
        return {}

    pipeline = await app.pipeline(
        step("code", "write"), step("test", "examine_once", execution=retries(1), outputs=["test.json"])
    )
    run = await app.run_to_completion(pipeline)
    assert tries == ["completed", "completed"]
    assert app.output(run, "test") == {"seen": 0, "version": 2}
    assert app.event_types(run).count("rework_requested") == 1


async def test_nondeterministic_calls_are_an_error(app: App) -> None:
    register_write(app)
    prompts = iter(["First.", "Second."])

    @app.function("fickle")
    async def fickle(ctx: Ctx) -> dict[str, Any]:
        ctx.stage("test", {"seen": 1})
        ctx.request_rework("code", next(prompts))
        return {}

    @app.function("forgetful")
    async def forgetful(ctx: Ctx) -> dict[str, Any]:
        if next(calls) == 0:
            ctx.stage("test", {"seen": 1})
            ctx.request_rework("code", "Once.")
        return {}

    calls = iter(range(9))
    expected_errors = {
        "fickle": mentions(
            "1",
            "request_rework(checkpoint='code', prompt='First.', reason='')",
            "request_rework(checkpoint='code', prompt='Second.', reason='')",
        ),
        "forgetful": mentions("1", "request_rework(checkpoint='code', prompt='Once.', reason='')"),
    }
    for name, message in expected_errors.items():
        pipeline = await app.pipeline(step("code", "write"), step("test", name, outputs=["test.json"]))
        run = await app.start(pipeline)
        await app.wait_for_run(run, "paused")
        error = app.execution(run, "test").error_details.last_error
        assert error is not None
        assert error.error_type == "nondeterministic_calls"
        assert error.error_message == message
        await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_refused_rework_is_returned_as_an_answer(app: App) -> None:
    @app.function("hopeful")
    async def hopeful(ctx: Ctx) -> dict[str, Any]:
        answer = ctx.request_rework("nowhere", "Please.")
        return {"status": answer.status, "reason": answer.reason}

    run = await app.run_to_completion(await app.pipeline(step("code"), step("test", "hopeful")))
    assert app.output(run, "test") == {"status": "refused", "reason": mentions("'nowhere'")}
