"""The ctx object of a function."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cairn.core.execution import Failure
from cairn.documents import DocumentError
from cairn.ports import Errored, InvalidResult, Produced, ProducedFile, ReworkBrief, StoredFile
from cairn.runners import Ctx
from tests.mentions import listing, mentions
from tests.runners.work_orders import WorkOutput, function_checkpoint, runner_of, stored, unreadable, work


async def read_from_ctx(read: Callable[[Ctx], Any], **fields: Any) -> Any:
    """Run a function that reads from its ctx, and return the value."""
    found = list[Any]()

    async def f(ctx: Ctx) -> None:
        found.append(read(ctx))

    assert await runner_of(f).run(work(function_checkpoint(), **fields)) == Produced(())
    return found[0]


async def staged(*outputs: str, **contents: Any) -> Any:
    async def f(ctx: Ctx) -> None:
        for name, content in contents.items():
            ctx.stage(name.replace("__", "."), content)

    return await runner_of(f).run(work(function_checkpoint(*outputs)))


def invalid(*findings: str) -> Failure:
    return Failure("invalid_output", listing(*findings))


# ---- inputs ----------------------------------------------------------------------------------------


async def test_ctx_shows_the_execution_it_is_called_for() -> None:
    value = await read_from_ctx(
        lambda ctx: (ctx.inputs, ctx.workspace, ctx.feedback, ctx.attempt, ctx.revision),
        input={"text": "hello"},
        workspace=Path("there"),
        feedback=("shorter", "shorter still"),
    )
    assert value == ({"text": "hello"}, Path("there"), ("shorter", "shorter still"), 2, 2)


async def test_a_rework_shows_its_reason_and_the_results_of_its_requester() -> None:
    plan = stored("test_plan", "json", '{"missing": ["reset"]}')
    brief = ReworkBrief("Add the tests.", "Coverage is low.", "test", "execution", (plan,))
    rework = await read_from_ctx(lambda ctx: ctx.rework, rework=brief)
    assert (rework.prompt, rework.reason, rework.requested_by) == ("Add the tests.", "Coverage is low.", "test")
    assert dict(rework.artifacts) == {"test_plan": {"missing": ["reset"]}}
    assert await read_from_ctx(lambda ctx: ctx.rework) is None


async def test_artifacts_are_read_by_name_in_their_format() -> None:
    previous = (
        stored("data", "json", f'{{"big": {2**70}}}'),
        stored("notes", "md", "# Größe"),
        stored("picture", "png", b"\x89PNG\xff"),
    )
    value = await read_from_ctx(lambda ctx: dict(ctx.previous), previous=previous)
    assert value == {"data": {"big": 2**70}, "notes": "# Größe", "picture": b"\x89PNG\xff"}


async def test_references_are_artifacts_by_checkpoint_key() -> None:
    references = {"goals": (stored("goals", "json", "[1]"),), "empty": ()}
    value = await read_from_ctx(
        lambda ctx: {key: dict(reference) for key, reference in ctx.references.items()}, references=references
    )
    assert value == {"goals": {"goals": [1]}, "empty": {}}


async def test_a_file_is_read_on_first_access() -> None:
    large = StoredFile("large", "bin", "sum", 10**9, unreadable, "runs/v1/large.bin")
    value = await read_from_ctx(
        lambda ctx: (list(ctx.previous), "large" in ctx.previous, len(ctx.previous), ctx.previous.file("large")),
        previous=(large,),
    )
    assert value == (["large"], True, 1, large)


async def test_reading_a_missing_or_invalid_file_raises_its_own_error() -> None:
    def read_invalid(ctx: Ctx) -> str:
        with pytest.raises(KeyError):
            ctx.previous["other"]
        with pytest.raises(DocumentError) as raised:
            ctx.previous["data"]
        return str(raised.value)

    value = await read_from_ctx(read_invalid, previous=(stored("data", "json", "{"),))
    assert value == mentions("line 1, column 1: ")


# ---- staging -----------------------------------------------------------------------------------------


async def test_an_artifact_is_staged_by_name_with_or_without_its_format() -> None:
    outcome = await staged(
        "a.md", "b.txt", "c.json", "d.csv", a="# A", b__txt=b"B", c={"n": 1}, d__csv=bytearray(b"1,2")
    )
    assert outcome == Produced(
        (
            ProducedFile("a", "md", b"# A"),
            ProducedFile("b", "txt", b"B"),
            ProducedFile("c", "json", b'{"n":1}'),
            ProducedFile("d", "csv", b"1,2"),
        )
    )


async def test_an_artifact_name_can_contain_a_dot() -> None:
    assert await staged("v1.2.md", v1__2="x") == Produced((ProducedFile("v1.2", "md", b"x"),))


async def test_text_and_bytes_are_the_file_content() -> None:
    assert await staged("a.json", a='{ "n": 1 }') == Produced((ProducedFile("a", "json", b'{ "n": 1 }'),))


async def test_staging_again_replaces_the_artifact() -> None:
    async def f(ctx: Ctx) -> None:
        ctx.stage("a", {"first": object()})
        ctx.stage("a.json", "{")
        ctx.stage("a", [1])

    assert await runner_of(f).run(work(function_checkpoint("a.json"))) == Produced((ProducedFile("a", "json", b"[1]"),))


async def test_a_staged_value_is_copied() -> None:
    async def f(ctx: Ctx) -> None:
        value = [1]
        ctx.stage("a", value)
        value.append(2)

    assert await runner_of(f).run(work(function_checkpoint("a.json"))) == Produced((ProducedFile("a", "json", b"[1]"),))


async def test_all_mismatches_are_reported_at_once() -> None:
    outcome = await staged("a.json", "b.md", "c.md", a={"x": float("inf")}, b=[1], b__json=[1], other="x", c="\ud800")
    assert outcome == InvalidResult(
        (),
        invalid(
            mentions("- a.json#/x: ", "JSON"),
            mentions("- b.md: "),
            mentions("- b.json: ", "a.json", "b.md", "c.md"),
            mentions("- other: ", "a.json", "b.md", "c.md"),
            mentions("- c.md: "),
        ),
    )


async def test_without_declared_artifacts_nothing_can_be_staged() -> None:
    assert await staged(a="x") == InvalidResult((), invalid(mentions("- a: ")))


async def test_a_path_as_artifact_name_is_only_a_name() -> None:
    outcome = await staged("a.md", a="x", **{"../../a.md": "y"})
    finding = mentions("- ../../a.md: ", "a.md")
    assert outcome == InvalidResult((ProducedFile("a", "md", b"x"),), invalid(finding))


# ---- log and progress ---------------------------------------------------------------------------------


async def test_log_lines_carry_level_and_details() -> None:
    async def f(ctx: Ctx) -> None:
        ctx.log("plain")
        ctx.log("careful", "warning", place="x", count=3)
        ctx.log("odd", level="error", thing={1})

    output = WorkOutput()
    await runner_of(f).run(work(function_checkpoint(), output=output))
    assert output.lines == [
        ("info", "plain", None),
        ("warning", "careful", {"place": "x", "count": 3}),
        ("error", "odd", {"thing": "{1}"}),
    ]


async def test_an_unknown_log_level_is_rejected() -> None:
    async def f(ctx: Ctx) -> None:
        ctx.log("x", "loud")  # pyright: ignore[reportArgumentType]

    outcome = await runner_of(f).run(work(function_checkpoint()))
    assert isinstance(outcome, Errored)
    assert outcome.error.message == mentions("info, warning, error", "'loud'")


async def test_progress_stays_between_0_and_1() -> None:
    async def f(ctx: Ctx) -> None:
        for fraction in (0, 0.25, 1.0000001, -3, float("nan"), None):
            ctx.progress(fraction)
        ctx.progress(1, "done")

    output = WorkOutput()
    await runner_of(f).run(work(function_checkpoint(), output=output))
    assert output.progress == [
        (0.0, None),
        (0.25, None),
        (1.0, None),
        (0.0, None),
        (None, None),
        (None, None),
        (1.0, "done"),
    ]
