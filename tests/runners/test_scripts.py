"""Inputs, results and errors of scripts."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from cairn.core.execution import Failure
from cairn.core.states import WaitingOn
from cairn.ports import (
    Errored,
    InvalidResult,
    NeedsInput,
    Produced,
    ProducedFile,
    ReworkBrief,
    SandboxLevel,
)
from cairn.runners.scripts.policy import ScriptPolicy
from tests.mentions import listing, mentions
from tests.runners.script_samples import LIMITS, Bench, function
from tests.runners.work_orders import stored

pytestmark = pytest.mark.asyncio


async def test_a_script_gets_its_parameters_and_returns_the_json_artifact(bench: Bench) -> None:
    returned = await bench.value("return parameters", config={"parameters": {"n": 2**200, "x": 1.0, "t": "é🚀\x00"}})
    assert returned == {"n": 2**200, "x": 1.0, "t": "é🚀\x00"}
    assert isinstance(returned["x"], float)


async def test_ten_megabytes_of_input_come_back_intact(bench: Bench) -> None:
    run_input = {"rows": [{"id": 2**70 + i, "text": "x" * 80, "none": None} for i in range(79_000)]}
    assert (await bench.value("return ctx.inputs", input=run_input) == run_input) is True


async def test_a_script_reads_earlier_artifacts_on_demand(bench: Bench) -> None:
    files = (stored("plan", "md", "# Plan"), stored("data", "json", '{"a": 1}'), stored("logo", "png", b"\x89\xff"))
    body = """
one = ctx.references["plan"]
return {"names": list(ctx.previous), "text": ctx.previous["plan"], "json": ctx.previous.get("data"),
        "bytes": list(ctx.previous["logo"]), "size": ctx.previous.file("logo").size, "other": one["plan"]}
"""
    assert await bench.value(body, previous=files, references={"plan": files[:1]}) == {
        "names": ["plan", "data", "logo"],
        "text": "# Plan",
        "json": {"a": 1},
        "bytes": [0x89, 0xFF],
        "size": 2,
        "other": "# Plan",
    }


async def test_a_rework_shows_its_reason(bench: Bench) -> None:
    rework = ReworkBrief("mend it", "it fails", "test", artifacts=(stored("notes", "md", "case 3"),))
    body = """
told = ctx.rework
return [told.prompt, told.reason, told.requested_by, told.artifacts["notes"]] if told else None
"""
    work = replace(bench.work(function(body)), rework=rework)
    outcome = await bench.runner.run(work)
    assert outcome == Produced((ProducedFile("out", "json", b'["mend it","it fails","test","case 3"]'),))


async def test_any_type_of_file_can_be_staged_by_content_or_by_path(bench: Bench) -> None:
    body = """
(ctx.workspace / "chart.png").write_bytes(bytes(range(256)))
ctx.stage("chart.png", ctx.workspace / "chart.png")
ctx.stage("again", path="chart.png")
ctx.stage("notes", "words")
ctx.stage("numbers.json", {"n": [1, 2.5, None]})
"""
    outcome = await bench.run(function(body), outputs=["chart.png", "again.bin", "notes.txt", "numbers.json"])
    assert outcome == Produced(
        (
            ProducedFile("chart", "png", bytes(range(256))),
            ProducedFile("again", "bin", bytes(range(256))),
            ProducedFile("notes", "txt", b"words"),
            ProducedFile("numbers", "json", b'{"n":[1,2.5,null]}'),
        )
    )


async def test_scripts_can_import_each_other_and_be_coroutines(bench: Bench) -> None:
    scripts = {
        "steps/report.py": "import asyncio\nfrom shared import double\nfrom near import ONE\n\n\n"
        "async def work(ctx):\n    await asyncio.sleep(0)\n    return double(ONE)\n",
        "steps/near.py": "ONE = 1\n",
        "shared.py": "def double(n):\n    return 2 * n\n",
    }
    config = {"script_path": "./steps/report.py", "entry_function": "work"}
    outcome = await bench.run("", scripts=scripts, config=config)
    assert outcome == Produced((ProducedFile("out", "json", b"2"),))


async def test_output_progress_and_log_lines_arrive(bench: Bench) -> None:
    body = "print('out'); print('err', file=sys.stderr); ctx.log('said', n=2); ctx.progress(2, 'all'); return 1"
    await bench.value(body)
    lines = sorted(line for line in bench.output.lines if "sandbox" not in (line[2] or {}))
    printed, logged = ("info", "out", {"stream": "stdout"}), ("info", "said", {"n": 2})
    assert lines == [printed, logged, ("warning", "err", {"stream": "stderr"})]
    assert bench.output.progress == [(1.0, "all")]


async def test_retries_and_revisions_keep_their_workspace(bench: Bench) -> None:
    body = "p = ctx.workspace / 'kept'\nn = int(p.read_text()) if p.exists() else 0\np.write_text(str(n + 1))\nreturn n"
    assert [await bench.value(body, name="same") for _ in range(3)] == [0, 1, 2]


# ---- errors --------------------------------------------------------------------------------------------
async def test_a_missing_script_is_named(bench: Bench) -> None:
    failure = await bench.failure("", scripts={"a.py": ""}, config={"script_path": "b.py"})
    assert failure == Failure("script_not_found", mentions("'b.py'", "a.py"))


async def test_a_syntax_error_is_shown_with_its_line(bench: Bench) -> None:
    failure = await bench.failure("def main(ctx):\n    return (\n")
    assert (failure.type, failure.message) == ("SyntaxError", "'(' was never closed (script_source.py, line 2)")
    assert 'File "script_source.py", line 2\n    return (\n' in failure.trace


async def test_a_missing_function_is_reported_with_the_existing_ones(bench: Bench) -> None:
    failure = await bench.failure("def mian(ctx):\n    return 1\n")
    assert failure == Failure("no_entry_function", mentions("script_source.py", "'main'", "mian"))


async def test_an_exception_shows_only_the_users_own_lines(bench: Bench) -> None:
    source = "import json\n\n\ndef main(ctx):\n    try:\n        json.loads('{')\n    except ValueError as e:\n"
    failure = await bench.failure(source + "        raise RuntimeError('no data') from e\n")
    assert (failure.type, failure.message) == ("RuntimeError", "no data")
    assert 'File "script_source.py", line 6, in main' in failure.trace
    assert "json/decoder.py" not in failure.trace
    assert "calling.py" not in failure.trace


@pytest.mark.parametrize(
    ("ends", "type", "message"),
    [
        ("sys.exit('enough')", "SystemExit", "enough"),
        ("os._exit(3)", "process_exited", mentions("3")),
        (
            "os.kill(os.getpid(), 11)",
            "process_killed",
            mentions("SIGSEGV"),
        ),
        ("sys.stdin.read(); input()", "EOFError", "EOF when reading a line"),
        (
            "ctx.propose_action('send_email', [])",
            "TypeError",
            mentions("propose_action", "parameters", "list"),
        ),
        (
            "ctx.propose_action('send_email', {}, confidence=87)",
            "ValueError",
            mentions("propose_action", "confidence", "0", "1"),
        ),
        (
            "ctx.propose_action('send_email', {'when': {1}})",
            "TypeError",
            mentions("propose_action", "JSON", "set"),
        ),
        ("ctx.log('x', 'loud')", "ValueError", mentions("info, warning, error", "'loud'")),
    ],
)
async def test_other_exits_are_explained(bench: Bench, ends: str, type: str, message: str) -> None:
    failure = await bench.failure(function(ends))
    assert (failure.type, failure.message) == (type, message)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{'a': [1, {2}]}", mentions("- out.json#/a/1: ", "JSON")),
        ("float('nan')", mentions("- out.json: ", "JSON")),
        ("{1: 2}", mentions("- out.json: ", "1")),
        ("'\\ud800'", mentions("- out.json: ")),
        ("10 ** 5000", mentions("- out.json: ", "4300")),
        ("None", mentions("- out.json: ")),
        ("'text'", mentions("- out.json: ", '"text"')),
    ],
)
async def test_invalid_values_are_reported_with_their_path(bench: Bench, value: str, message: str) -> None:
    declared = [{"name": "out", "format": "json", "schema": {"type": "object"}}]
    outcome = await bench.run(function(f"return {value}"), outputs=declared)
    assert isinstance(outcome, InvalidResult)
    assert outcome.error.type == "invalid_output"
    assert outcome.error.message == listing(message)


async def test_undeclared_or_oversized_artifacts_are_rejected(bench: Bench) -> None:
    bench.limits = replace(bench.limits, max_file_bytes=1000)
    body = """
ctx.stage("other", "x")
ctx.stage("big.bin", b"x" * 1001)
(ctx.workspace / "large").write_bytes(b"x" * 1002)
ctx.stage("large.bin", path="large")
ctx.stage("text.md", {"no": "text"})
"""
    outcome = await bench.run(function(body), outputs=["big.bin", "large.bin", "text.md"])
    assert isinstance(outcome, InvalidResult)
    assert outcome.error.message == listing(
        mentions("- other: ", "big.bin, large.bin, text.md"),
        mentions("- big.bin: ", "1,001", "1,000"),
        mentions("- large.bin: ", "1,002", "1,000"),
        mentions("- text.md: ", "md", "dict"),
    )


# ---- policy --------------------------------------------------------------------------------------------
async def test_a_sandbox_that_is_too_weak_is_rejected(bench: Bench) -> None:
    bench.policy = ScriptPolicy(level=SandboxLevel.BUBBLEWRAP, limits=LIMITS)
    outcome = await bench.run(function("return 1"))
    if bench.sandbox.probe().level is SandboxLevel.BUBBLEWRAP:
        assert isinstance(outcome, Produced)
    else:
        assert isinstance(outcome, Errored)
        assert outcome.error.type == "sandbox_too_weak"
        assert outcome.error.message == mentions("script_sandbox")


async def test_scripts_that_the_settings_do_not_allow_are_rejected(bench: Bench) -> None:
    config = {"network": True, "python": "/usr/bin/other", "limits": {"memory_mb": 4096}}
    assert await bench.failure(function("return 1"), config=config) == Failure(
        "not_allowed",
        mentions("script_network", "/usr/bin/other", "script_interpreters", "memory_mb", "4096", "512"),
    )


async def test_an_allowed_interpreter_runs_the_script(bench: Bench) -> None:
    other = f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    bench.policy = replace(bench.policy, interpreters=(other,))
    assert await bench.value("return sys.prefix", config={"python": other}) == sys.base_prefix


async def test_users_enter_parameters_before_a_process_starts(bench: Bench) -> None:
    config = {"requires_user_input": True, "user_input_prompt": "How many?", "parameters": {"n": 1}}
    outcome = await bench.run(function("return parameters"), config=config)
    assert isinstance(outcome, NeedsInput)
    assert (outcome.waiting_on, outcome.question["prompt"]) == (WaitingOn.SCRIPT_INPUT, "How many?")
    assert await bench.value("return parameters", config=config, answer={"n": 5}) == {"n": 5}
    assert bench.messages() == [mentions(bench.sandbox.probe().level.value)]
