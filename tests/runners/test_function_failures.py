"""Functions that fail, and functions that are stopped."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from typing import Any

import pytest

from cairn.core.execution import Failure
from cairn.ports import Errored
from cairn.runners import Ctx, FunctionRegistry, FunctionRunner
from tests.isolation import limit
from tests.mentions import mentions
from tests.runners.work_orders import WorkOutput, function_checkpoint, runner_of, work


async def nothing(ctx: Ctx) -> None: ...


def parse(text: str) -> Any:
    return json.loads(text)


# ---- failures ---------------------------------------------------------------------------------------


async def test_an_exception_is_reported_with_a_traceback_of_the_users_own_code() -> None:
    async def f(ctx: Ctx) -> Any:
        return parse("{")

    outcome = await runner_of(f).run(work(function_checkpoint()))
    assert isinstance(outcome, Errored)
    assert (outcome.error.type, outcome.error.message) == (
        "JSONDecodeError",
        "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    )
    lines = [line.strip() for line in outcome.error.trace.splitlines()]
    assert [line for line in lines if not line.startswith(("File", "^", "~"))] == [
        "Traceback (most recent call last):",
        'return parse("{")',
        "return json.loads(text)",
        "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    ]
    assert [line.rpartition(", in ")[2] for line in lines if line.startswith("File")] == ["f", "parse"]


async def test_tracebacks_include_threads_and_causes() -> None:
    def f(ctx: Ctx) -> Any:
        try:
            parse("{")
        except ValueError as error:
            raise RuntimeError("cannot go on") from error

    outcome = await runner_of(f).run(work(function_checkpoint()))
    assert isinstance(outcome, Errored)
    assert (outcome.error.type, outcome.error.message) == ("RuntimeError", "cannot go on")
    files = [line for line in outcome.error.trace.splitlines() if line.startswith("  File")]
    assert [line.rpartition(", in ")[2] for line in files] == ["f", "parse", "f"]
    assert all("test_function_failures.py" in line for line in files)


async def leave(ctx: Ctx) -> Any:
    sys.exit(3)


def leave_thread(ctx: Ctx) -> Any:
    raise KeyboardInterrupt


async def cancel_itself(ctx: Ctx) -> Any:
    raise asyncio.CancelledError


async def unspeakable(ctx: Ctx) -> Any:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    raise Mute


async def several(ctx: Ctx) -> Any:
    raise ExceptionGroup("two", [ValueError("a"), KeyError("b")])


@pytest.mark.parametrize(
    ("function", "type", "message"),
    [
        (leave, "SystemExit", "3"),
        (leave_thread, "KeyboardInterrupt", mentions()),
        (cancel_itself, "CancelledError", mentions()),
        (unspeakable, "unspeakable.<locals>.Mute", "<exception str() failed>"),
        (several, "ExceptionGroup", "two (2 sub-exceptions)"),
    ],
)
async def test_any_exception_fails_only_its_execution(function: Any, type: str, message: str) -> None:
    outcome = await runner_of(function).run(work(function_checkpoint()))
    assert isinstance(outcome, Errored)
    assert (outcome.error.type, outcome.error.message) == (type, message)


async def test_wrong_parameters_fail_the_execution_and_are_named() -> None:
    async def f(ctx: Ctx) -> Any: ...

    outcome = await runner_of(f).run(work(function_checkpoint(parameters={"limit": 1})))
    assert isinstance(outcome, Errored)
    assert outcome.error.type == "TypeError"
    assert outcome.error.message.endswith("f() got an unexpected keyword argument 'limit'")


async def test_an_unknown_function_is_reported_with_similar_names() -> None:
    registry = FunctionRegistry()
    definition = function_checkpoint()
    outcome = await FunctionRunner(registry).run(work(definition))
    assert outcome == Errored(Failure("unknown_function", mentions("'f'")))
    registry.register("ff", nothing)
    registry.register("reports.count", nothing)
    outcome = await FunctionRunner(registry).run(work(definition))
    assert outcome == Errored(Failure("unknown_function", mentions("'f'", "ff")))


# ---- cancellation -------------------------------------------------------------------------------------


async def test_a_cancelled_coroutine_ends_at_once() -> None:
    started, ended = asyncio.Event(), list[str]()

    async def f(ctx: Ctx) -> Any:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cleaned up")

    task = asyncio.create_task(runner_of(f).run(work(function_checkpoint())))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["cleaned up"]


async def test_a_cancelled_thread_is_abandoned_and_its_next_ctx_call_raises() -> None:
    started, go_on, ended, raised = threading.Event(), threading.Event(), threading.Event(), list[str]()

    def f(ctx: Ctx) -> Any:
        started.set()
        go_on.wait(10)
        for call in (lambda: ctx.stage("output", 1), lambda: ctx.log("late"), lambda: ctx.progress(1)):
            try:
                call()
            except RuntimeError as error:
                raised.append(str(error))
        ended.set()
        return "late"

    output = WorkOutput()
    task = asyncio.create_task(runner_of(f).run(work(function_checkpoint(), output=output)))
    await asyncio.to_thread(started.wait, 10)
    before = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - before < limit(1.0)
    go_on.set()
    await asyncio.to_thread(ended.wait, 10)
    assert raised == [mentions()] * 3
    assert (output.lines, output.progress) == ([], [])


def test_a_keyboard_interrupt_is_not_caught() -> None:
    async def f(ctx: Ctx) -> None:
        raise KeyboardInterrupt

    carried_out = runner_of(f).run(work(function_checkpoint()))
    with pytest.raises(KeyboardInterrupt):
        carried_out.send(None)
