"""Functions that are registered in Python and called in process."""

from __future__ import annotations

import functools
import json
import threading
import time
from typing import Any

import pytest

from cairn.core.execution import Failure
from cairn.ports import InvalidResult, Produced, ProducedFile
from cairn.runners import Ctx
from tests.mentions import listing, mentions
from tests.runners.work_orders import WorkOutput, function_checkpoint, runner_of, work


def returns(value: Any) -> Any:
    async def f(ctx: Ctx) -> Any:
        return value

    return f


def produced(value: bytes, name: str = "output", format: str = "json") -> Produced:
    return Produced((ProducedFile(name, format, value),))


# ---- return values ---------------------------------------------------------------------------------


async def test_the_return_value_becomes_the_single_declared_json_artifact() -> None:
    outcome = await runner_of(returns({"n": 1})).run(work(function_checkpoint("report.json")))
    assert outcome == produced(b'{"n":1}', "report")


async def test_without_a_declared_artifact_a_return_value_is_stored_as_output() -> None:
    outcome = await runner_of(returns([1, "ä", None])).run(work(function_checkpoint()))
    assert outcome == produced('[1,"ä",null]'.encode())


async def test_returning_nothing_is_valid_without_declared_artifacts() -> None:
    assert await runner_of(returns(None)).run(work(function_checkpoint())) == Produced(())


@pytest.mark.parametrize("value", [0, False, "", [], {}, 2**80, 1.5, "text"])
async def test_values_survive_exactly(value: Any) -> None:
    outcome = await runner_of(returns(value)).run(work(function_checkpoint()))
    assert outcome == produced(json.dumps(value, separators=(",", ":")).encode())


@pytest.mark.parametrize(("name", "stored_as"), [("report", "output"), ("output", "output_json")])
async def test_a_return_value_is_stored_alongside_files_of_other_formats(name: str, stored_as: str) -> None:
    async def f(ctx: Ctx) -> Any:
        ctx.stage(f"{name}.md", "# R")
        return {"words": (1, 2)}

    outcome = await runner_of(f).run(work(function_checkpoint(f"{name}.md")))
    assert outcome == Produced((ProducedFile(name, "md", b"# R"), ProducedFile(stored_as, "json", b'{"words":[1,2]}')))


async def test_staged_artifacts_count_and_an_unused_return_value_is_logged() -> None:
    async def f(ctx: Ctx) -> Any:
        ctx.stage("report", {"staged": True})
        return {"returned": True}

    output = WorkOutput()
    outcome = await runner_of(f).run(work(function_checkpoint("report.json"), output=output))
    assert outcome == produced(b'{"staged":true}', "report")
    assert output.lines == [("warning", mentions("report.json"), None)]


async def test_with_several_json_artifacts_a_return_value_is_ignored() -> None:
    output = WorkOutput()
    outcome = await runner_of(returns({})).run(work(function_checkpoint("a.json", "b.json"), output=output))
    missing = listing(mentions("- a.json: "), mentions("- b.json: "))
    assert outcome == InvalidResult((), Failure("invalid_output", missing))
    assert output.lines == [("warning", mentions("a.json, b.json"), None)]


@pytest.mark.parametrize(
    ("value", "finding"),
    [
        ({"a": [1, float("nan")]}, mentions("- output.json#/a/1: ", "JSON")),
        ({"when": {"at": object()}}, mentions("- output.json#/when/at: ", "JSON")),
        ({1: "x"}, mentions("- output.json: ", "1")),
        (object(), mentions("- output.json: ", "JSON")),
        ("\ud800", mentions("- output.json: ")),
    ],
)
async def test_a_value_that_is_not_json_is_reported_with_its_path(value: Any, finding: str) -> None:
    outcome = await runner_of(returns(value)).run(work(function_checkpoint()))
    assert outcome == InvalidResult((), Failure("invalid_output", listing(finding)))


async def test_a_return_value_must_be_json() -> None:
    async def f(ctx: Ctx) -> Any:
        ctx.stage("report", "# R")
        return {"a": {1, 2}}

    outcome = await runner_of(f).run(work(function_checkpoint("report.md")))
    message = listing(mentions("- output.json#/a: ", "set"))
    assert outcome == InvalidResult((ProducedFile("report", "md", b"# R"),), Failure("invalid_output", message))


# ---- calls ------------------------------------------------------------------------------------------


async def test_parameters_are_passed_by_name_and_the_definition_stays_unchanged() -> None:
    async def f(ctx: Ctx, *, names: list[str], limit: int = 3) -> Any:
        names.append("more")
        return {"names": names, "limit": limit}

    definition = function_checkpoint(parameters={"names": ["a"], "limit": 5})
    for _ in range(2):
        assert await runner_of(f).run(work(definition)) == produced(b'{"names":["a","more"],"limit":5}')


async def test_a_plain_function_runs_in_a_thread_and_its_log_lines_stay_in_order() -> None:
    def f(ctx: Ctx) -> Any:
        ctx.log("first", "warning", size=3)
        ctx.progress(0.5, "half")
        ctx.log("second")
        return threading.current_thread() is threading.main_thread()

    output = WorkOutput()
    assert await runner_of(f).run(work(function_checkpoint(), output=output)) == produced(b"false")
    assert output.lines == [("warning", "first", {"size": 3}), ("info", "second", None)]
    assert output.progress == [(0.5, "half")]


async def test_a_coroutine_function_runs_on_the_event_loop() -> None:
    async def f(ctx: Ctx) -> Any:
        return threading.current_thread() is threading.main_thread()

    assert await runner_of(f).run(work(function_checkpoint())) == produced(b"true")


async def test_every_kind_of_coroutine_function_is_awaited() -> None:
    async def f(ctx: Ctx, n: int = 0) -> Any:
        ctx.log("here")
        return n

    class Callable:
        async def __call__(self, ctx: Ctx) -> Any:
            return await f(ctx, 2)

    def around(ctx: Ctx) -> Any:
        return f(ctx, 3)

    output = WorkOutput()
    for called, value in ((functools.partial(f, n=1), b"1"), (Callable(), b"2"), (around, b"3")):
        assert await runner_of(called).run(work(function_checkpoint(), output=output)) == produced(value)
    assert output.lines == [("info", "here", None)] * 3


# ---- overhead -------------------------------------------------------------------------------------------


async def test_running_a_coroutine_that_does_nothing_takes_at_most_60_microseconds() -> None:
    runner, order = runner_of(returns({"n": 1})), work(function_checkpoint("out.json"))
    rounds = list[float]()
    for _ in range(30):
        before = time.thread_time()
        for _ in range(100):
            await runner.run(order)
        rounds.append((time.thread_time() - before) / 100)
    assert min(rounds) < 60e-6
