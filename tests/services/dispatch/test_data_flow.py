"""Input and context pass through checkpoints unchanged."""

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


def with_types(value: Any) -> Any:
    """Add types to values, so that 1, 1.0 and True differ."""
    if isinstance(value, dict):
        return {key: with_types(inner) for key, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [with_types(inner) for inner in cast("list[Any]", value)]
    return type(value).__name__, value


async def test_types_are_preserved_through_all_checkpoints(app: App) -> None:
    pipeline = await app.pipeline(
        step("one", "give_back", input_mapping={"all": "input"}),
        step("two", "give_back", input_mapping={"all": "one.all"}),
        step("three", "give_back"),
    )
    run = await app.run_to_completion(pipeline, input=HARD)
    assert with_types(app.output(run, "two")) == with_types({"all": HARD})
    context = app.output(run, "three")
    assert with_types(context) == with_types({"input": HARD, "one": {"all": HARD}, "two": {"all": HARD}})
    assert app.cairn.run_queries.get_input(run) == encode_json(HARD)


def many_rows(count: int, **more: Any) -> dict[str, Any]:
    """Return incompressible rows with values of every type."""
    chance = random.Random(7)
    rows = [
        {"id": 2**63 + n, "ratio": chance.random(), "text": f"{chance.getrandbits(480):x}", "deep": deep(3), **more}
        for n in range(count)
    ]
    return {"rows": rows}


async def pass_through(app: App, payload: Any) -> tuple[str, Any]:
    """Pass a payload through five checkpoints. Returns the run and the last output."""

    @app.function("pass_on")
    async def pass_on(ctx: Ctx) -> Any:
        return ctx.inputs["payload"]

    keys = [f"step_{n}" for n in range(5)]
    sources = ["input", *keys]
    pipeline = await app.pipeline(
        *(step(key, "pass_on", input_mapping={"payload": source}) for key, source in zip(keys, sources, strict=False))
    )
    run = await app.start(pipeline, input=payload)
    await app.wait_for_run(run, "completed", seconds=50)
    assert len({a.checksum for a in app.artifacts(run)}) == 1  # stored once
    return run, app.output(run, keys[-1])


async def test_ten_megabytes_pass_through_five_checkpoints_and_back(app: App) -> None:
    """Payloads up to 10 MB are accepted, over 5 MB with a warning."""
    payload = many_rows(40_000)
    assert 9.0 < len(encode_json(payload)) / 2**20 < 10.0
    run, last = await pass_through(app, payload)
    assert digest(last) == digest(payload)
    assert with_types(last["rows"][-1]) == with_types(payload["rows"][-1])
    log = app.cairn.log_queries.list_logs(app.execution(run, "step_0").execution_id, LogFilter(), 50, None).items
    assert [(line.level, line.message) for line in log] == [("warning", mentions("JSON"))]


async def test_integers_of_any_size_among_many_values(app: App) -> None:
    """Integers beyond 64 bits need another encoder."""
    payload = many_rows(2_000, beyond=2**64 + 1, **{"": None})
    _, last = await pass_through(app, payload)
    assert with_types(last) == with_types(payload)


async def test_a_payload_over_the_limit_is_rejected_and_creates_no_run(app: App) -> None:
    pipeline = await app.pipeline(step("one"))
    with pytest.raises(TooLarge):
        await app.start(pipeline, input={"text": "x" * (10 * 2**20)})
    assert app.run(await app.run_to_completion(pipeline)).run_version == 1


async def test_an_input_that_does_not_match_its_schema_is_rejected(app: App) -> None:
    schema = {"type": "object", "required": ["count"], "properties": {"count": {"type": "integer"}}}
    pipeline = await app.pipeline(step("one"), input_schema=schema)
    for payload in ({"count": "many"}, {}, None):
        with pytest.raises(InvalidInput):
            await app.start(pipeline, input=payload)
    await app.run_to_completion(pipeline, input={"count": 2**70})


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
    await app.wait_for_run(run, "paused")
    assert called == [{"there": [1]}]
    failed = app.execution(run, "two").error_details.last_error
    assert failed is not None
    assert "input.missing" in failed.error_message


async def test_a_mapped_input_that_fails_the_schema_is_located(app: App) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    pipeline = await app.pipeline(step("one", input_mapping={"n": "input.n"}, input_schema=schema))
    run = await app.start(pipeline, input={"n": "seven"})
    await app.wait_for_run(run, "paused")
    failed = app.execution(run, "one").error_details.last_error
    assert failed is not None
    assert "/n" in failed.error_message
    assert "seven" in failed.error_message
