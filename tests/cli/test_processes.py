"""Real processes: Ctrl-C at any moment and a closed pipe are quiet; interrupted work continues; the start is quick."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.shell import CAIRN, ENVIRONMENT, Shell, spawn
from tests.mentions import mentions

pytestmark = pytest.mark.e2e
WAITING = """\
pipeline_name: Waiting
checkpoints:
  - key: wait
    function: cli.wait
    execution: { function_config: { parameters: { gate: "GATE" } } }
    outputs: [open.json]
"""


def said(process: subprocess.Popen[str], seconds: float = 40) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


def interrupt(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGINT)


def test_ctrl_c_leaves_a_run_that_the_next_command_goes_on_with(alone: Shell, tmp_path: Path) -> None:
    """Without a server the command does the work itself; after an interruption the next command continues it."""
    gate, file = tmp_path / "gate", tmp_path / "waiting.yaml"
    file.write_text(WAITING.replace("GATE", str(gate)))
    process = spawn("run", str(file), data=alone.data)
    assert process.stdout is not None
    for line in process.stdout:
        if "waiting for the gate" in line:
            break
    interrupt(process)
    code, _, err = said(process)
    assert (code, "Traceback" in err) == (130, False)
    assert alone.json("show", "Waiting")["status"] == "in_progress"
    gate.touch()
    assert alone("watch", "Waiting").out.splitlines()[-1] == mentions("Waiting@v1 completed", "1")
    assert alone("doctor").code == 0


def test_ctrl_c_ends_following_and_leaves_the_run(served: Shell, notes: Path, name: str) -> None:
    served("apply", str(notes))
    served("run", name, "--detach")
    process = spawn("watch", name, "--until-done", data=served.data)
    assert process.stdout is not None
    process.stdout.readline()
    interrupt(process)
    code, _, err = said(process)
    assert (code, err) == (130, "")
    assert served.json("show", name)["status"] == "in_progress"


@pytest.mark.parametrize("after", [0.0, 0.05, 0.1, 0.2, 0.4])
def test_ctrl_c_at_any_moment_is_quiet(served: Shell, after: float) -> None:
    """From when the first line of Cairn runs; before that it is Python's own, or this test's."""
    ready = """
import sys
from cairn.cli.main import main
try:
    print("ready", file=sys.stderr, flush=True)
    main()
except KeyboardInterrupt:
    sys.exit(130)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", ready, "runs", "--data-dir", str(served.data)],
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    time.sleep(after)  # the moment is what is tried
    interrupt(process)
    code, _, err = said(process)
    assert code in (0, 130)
    assert err == ""


def test_a_server_that_is_stopped_as_soon_as_it_has_opened_ends_well(tmp_path: Path) -> None:
    process = spawn("serve", "--port", "0", data=tmp_path)
    assert process.stdout is not None
    for line in process.stdout:
        if "#token=" in line:
            break
    interrupt(process)
    code, _, err = said(process)
    assert (code, err) == (0, "")


def test_a_closed_pipe_is_quiet(served: Shell, notes: Path, name: str) -> None:
    """`cairn … | head -1`"""
    served("apply", str(notes))
    served("run", name, "--detach")
    for words in (("events", "--limit", "500"), ("schema",), ("watch", name, "--until-done")):
        data = () if words == ("schema",) else ("--data-dir", str(served.data))
        process = subprocess.Popen(
            [CAIRN, *words, *data],
            env={**os.environ, **ENVIRONMENT},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(timeout=40) == 141, words
        assert process.stderr is not None
        assert process.stderr.read() == "", words
        process.stderr.close()


def test_the_way_in_imports_little() -> None:
    """What a command does not need is not imported."""
    heavy = {"httpx", "rich", "pydantic", "sqlalchemy", "fastapi", "dbos", "uvicorn", "ruamel"}
    script = f"import cairn.cli.app, sys; print(sorted({heavy!r} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "[]\n"


@pytest.mark.parametrize(("words", "seconds"), [(("--help",), 1.5), (("runs",), 2.5)])
def test_it_starts_quickly(served: Shell, words: tuple[str, ...], seconds: float) -> None:
    """A third of this on a quiet machine, in time of the processor: others may be at work here. The best of three."""
    where = () if words == ("--help",) else ("--data-dir", str(served.data))
    took: list[float] = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [CAIRN, *words, *where], env={**os.environ, **ENVIRONMENT}, stdout=subprocess.DEVNULL, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    assert min(took) < seconds
