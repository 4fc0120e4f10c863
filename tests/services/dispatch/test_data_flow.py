"""Input and context pass through checkpoints exactly."""

from __future__ import annotations

import random
from typing import Any, cast

import pytest

from cairn.documents import digest, encode_json
from cairn.runners import Ctx
from cairn.services.errors import InvalidInput, TooLarge
from cairn.services.logs.queries import LogFilter
from tests.mentions import mentions
from tests.services.app import App, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


def deep(levels: int) -> Any:
    return {"inner": deep(levels - 1)} if levels else [None, {}, [], "", 0, -0.5]


HARD: dict[str, Any] = {
    "beyond_53_bits": 2**53 + 1,
    "beyond_64_bits": 2**64 + 1,
    "beyond_128_bits": -(2**200) - 1,
    "float": 1.0,
    "tiny": 5e-324,
    "exact": 0.1,
    "most": 1.7976931348623157e308,
    "true": True,
    "false": False,
    "nothing": None,
    "empty": {"object": {}, "list": [], "text": ""},
    "unicode": "größer 漢字 🚀 \u2028 e\u0301",
    "": "an empty name",
    "a.b[0]": "a name that looks like a path",
    "deep": deep(12),
}


def exactly(value: Any) -> Any:
    """With types: 1 and 1.0 and True are three things."""
    if isinstance(value, dict):
        return {key: exactly(inner) for key, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [exactly(inner) for inner in cast("list[Any]", value)]
    return type(value).__name__, value


async def test_types_survive_the_whole_way(app: App) -> None:
    pipeline = await app.pipeline(
        step("one", "give_back", input_mapping={"all": "input"}),
        step("two", "give_back", input_mapping={"all": "one.all"}),
        step("three", "give_back"),
    )
    run = await app.done(pipeline, input=HARD)
    assert exactly(app.output(run, "two")) == exactly({"all": HARD})
    context = app.output(run, "three")
    assert exactly(context) == exactly({"input": HARD, "one": {"all": HARD}, "two": {"all": HARD}})
    assert app.cairn.run_queries.get_input(run) == encode_json(HARD)


def many_rows(count: int, **more: Any) -> dict[str, Any]:
    """Of every type, and not to be compressed away."""
    chance = random.Random(7)
    rows = [
        {"id": 2**63 + n, "ratio": chance.random(), "text": f"{chance.getrandbits(480):x}", "deep": deep(3), **more}
        for n in range(count)
    ]
    return {"rows": rows}


async def passed_on(app: App, given: Any) -> tuple[str, Any]:
    """A run that hands its input through five checkpoints, and what comes out."""

    @app.function("pass_on")
    async def pass_on(ctx: Ctx) -> Any:
        return ctx.inputs["given"]

    keys = [f"step_{n}" for n in range(5)]
    sources = ["input", *keys]
    pipeline = await app.pipeline(
        *(step(key, "pass_on", input_mapping={"given": source}) for key, source in zip(keys, sources, strict=False))
    )
    run = await app.start(pipeline, input=given)
    await app.until_run(run, "completed", seconds=50)
    assert len({a.checksum for a in app.artifacts(run)}) == 1  # stored once
    return run, app.output(run, keys[-1])


async def test_ten_megabytes_pass_through_five_checkpoints_and_back(app: App) -> None:
    """Payloads up to 10 MB are accepted, over 5 MB with a warning."""
    given = many_rows(40_000)
    assert 9.0 < len(encode_json(given)) / 2**20 < 10.0
    run, last = await passed_on(app, given)
    assert digest(last) == digest(given)
    assert exactly(last["rows"][-1]) == exactly(given["rows"][-1])
    log = app.cairn.log_queries.list_logs(app.execution(run, "step_0").execution_id, LogFilter(), 50, None).items
    assert [(line.level, line.message) for line in log] == [("warning", mentions("JSON"))]


async def test_integers_of_any_size_among_many_values(app: App) -> None:
    """Integers beyond 64 bits need another encoder."""
    given = many_rows(2_000, beyond=2**64 + 1, **{"": None})
    _, last = await passed_on(app, given)
    assert exactly(last) == exactly(given)


async def test_a_payload_over_the_limit_is_refused_and_leaves_nothing(app: App) -> None:
    pipeline = await app.pipeline(step("one"))
    with pytest.raises(TooLarge):
        await app.start(pipeline, input={"text": "x" * (10 * 2**20)})
    assert app.run(await app.done(pipeline)).run_version == 1


async def test_an_input_that_does_not_fit_its_schema_says_what_came(app: App) -> None:
    schema = {"type": "object", "required": ["count"], "properties": {"count": {"type": "integer"}}}
    pipeline = await app.pipeline(step("one"), input_schema=schema)
    for given in ({"count": "many"}, {}, None):
        with pytest.raises(InvalidInput):
            await app.start(pipeline, input=given)
    await app.done(pipeline, input={"count": 2**70})


async def test_a_missing_source_fails_before_the_function_is_called(app: App) -> None:
    """Unless the path ends in `?`."""
    called: list[Any] = []

    @app.function("note")
    async def note(ctx: Ctx) -> dict[str, Any]:
        called.append(ctx.inputs)
        return {}

    pipeline = await app.pipeline(
        step("one", "note", input_mapping={"there": "input.there", "perhaps": "input.missing?"}),
        step("two", "note", input_mapping={"gone": "input.missing"}),
    )
    run = await app.start(pipeline, input={"there": [1]})
    await app.until_run(run, "paused")
    assert called == [{"there": [1]}]
    failed = app.execution(run, "two").error_details.last_error
    assert failed is not None
    assert "input.missing" in failed.error_message


async def test_a_mapped_input_that_fails_the_checkpoints_schema_says_where(app: App) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    pipeline = await app.pipeline(step("one", input_mapping={"n": "input.n"}, input_schema=schema))
    run = await app.start(pipeline, input={"n": "seven"})
    await app.until_run(run, "paused")
    failed = app.execution(run, "one").error_details.last_error
    assert failed is not None
    assert "/n" in failed.error_message
    assert "seven" in failed.error_message
