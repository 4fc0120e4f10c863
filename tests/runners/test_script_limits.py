"""Limits are enforced and nothing outlives a script. Real processes and the real clock."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace

import pytest

from cairn.ports import ProcessLimits, Produced
from tests.isolation import limit
from tests.mentions import mentions
from tests.runners.script_samples import LIMITS, Bench, alive, function

pytestmark = pytest.mark.asyncio
TREE = """
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.close(0), os.close(1), os.close(2)
        time.sleep(600)
    os._exit(0)
"""
READY = "(ctx.workspace / 'ready').write_text('yes')\n"


def of(name: str) -> list[str]:
    return alive(f":{name}\0")


async def until_ready(bench: Bench, name: str) -> None:
    ready = bench.folder / name / "workspace" / "ready"
    for _ in range(2000):
        if ready.exists():
            return
        await asyncio.sleep(0.005)
    raise AssertionError(bench.output)


async def test_a_cancelled_tree_leaves_no_process(bench: Bench) -> None:
    task = asyncio.ensure_future(bench.run(function(f"{TREE}{READY}time.sleep(600)"), name="hangs"))
    await until_ready(bench, "hangs")
    assert len(of("hangs")) >= 3
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert of("hangs") == []


async def test_a_timed_out_tree_that_ignores_signals_leaves_no_process(bench: Bench) -> None:
    body = f"import signal\nfor n in (1, 2, 13, 15): signal.signal(n, signal.SIG_IGN)\n{TREE}{READY}\nwhile True: pass"
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(bench.run(function(body), name="stubborn"), 1.0)
    assert of("stubborn") == []


async def test_background_processes_end_with_the_script(bench: Bench) -> None:
    began = time.monotonic()
    outcome = await bench.run(function(f"{TREE}return 1"), name="leaves")
    assert isinstance(outcome, Produced)
    assert of("leaves") == []
    assert time.monotonic() - began < limit(10.0)


async def test_cancellation_at_any_moment_of_the_start_leaves_no_process(bench: Bench) -> None:
    for step in range(12):
        name = f"early-{step}"
        task = asyncio.ensure_future(bench.run(function("time.sleep(600)"), name=name))
        await asyncio.sleep(step * 0.004)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert of(name) == []


async def test_a_fork_bomb_is_limited_and_leaves_no_process(bench: Bench) -> None:
    body = "while True:\n    if os.fork() == 0: time.sleep(600)"
    failure = await bench.failure(function(body), name="bomb")
    assert failure.type in {"BlockingIOError", "process_killed"}
    assert of("bomb") == []


async def test_exceeding_the_memory_limit_raises_memory_error(bench: Bench) -> None:
    failure = await bench.failure(function("return len(bytearray(700 * 1024 * 1024))"))
    assert failure.type == "MemoryError"


async def test_a_checkpoint_can_lower_its_limits(bench: Bench) -> None:
    config = {"limits": {"memory_mb": 256, "open_files": 32}}
    body = "import resource\nreturn [resource.getrlimit(n)[1] for n in (resource.RLIMIT_AS, resource.RLIMIT_NOFILE)]"
    assert await bench.value(body, config=config) == [256 * 2**20, 32]


async def test_files_and_open_files_have_limits(bench: Bench) -> None:
    failure = await bench.failure(function("(ctx.workspace / 'big').write_bytes(bytes(9 * 1024 * 1024))"))
    assert (failure.type, "File too large" in failure.message) == ("OSError", True)
    failure = await bench.failure(function("held = [open('/dev/null') for _ in range(100)]"))
    assert (failure.type, "Too many open files" in failure.message) == ("OSError", True)


async def test_a_gigabyte_of_output_is_truncated_with_a_warning(bench: Bench) -> None:
    bench.policy = replace(bench.policy, output_bytes=100_000)
    body = "line = 'x' * 99\nblock = (line + chr(10)) * 10_000\nfor _ in range(1000): sys.stdout.write(block)\nreturn 1"
    assert await bench.value(body) == 1
    lines = bench.messages()[1:]
    assert (len(lines), lines[0], lines[-1]) == (1011, "x" * 99, mentions("100,000", "10,000"))


async def test_many_short_lines_and_an_endless_line_are_limited(bench: Bench) -> None:
    bench.policy = replace(bench.policy, output_lines=1200)
    assert await bench.value("print('\\n' * 5000); return 1") == 1
    assert len(bench.messages()) == 1 + 1200 + 1
    bench.output.lines.clear()
    assert await bench.value("sys.stdout.write('y' * 50_000); return 1") == 1
    assert [len(line) for line in bench.messages()[1:]] == [8192] * 6 + [50_000 - 6 * 8192]


async def test_log_lines_count_as_output(bench: Bench) -> None:
    bench.policy = replace(bench.policy, output_lines=50)
    assert await bench.value("for n in range(1000): ctx.log(n)\nreturn 1") == 1
    assert len(bench.messages()) == 52


async def test_scripts_run_concurrently(bench: Bench) -> None:
    bench.policy = replace(bench.policy, limits=replace(LIMITS, processes=64))
    values = await asyncio.gather(*(bench.value(f"time.sleep(0.1); return {n}") for n in range(10)))
    assert values == list(range(10))


async def test_processes_of_a_running_server_are_not_killed_as_leftovers(bench: Bench) -> None:
    task = asyncio.ensure_future(bench.run(function(f"{READY}time.sleep(600)"), name="held"))
    await until_ready(bench, "held")
    assert bench.sandbox.kill_orphans() == 0
    assert of("held")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (of("held"), ProcessLimits().network) == ([], False)
