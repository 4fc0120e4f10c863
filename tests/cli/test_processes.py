"""Commands in their own processes: Ctrl-C, closed pipes and start times."""

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


def wait_for_exit(process: subprocess.Popen[str], seconds: float = 40) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


def interrupt(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGINT)


def test_the_next_command_continues_a_run_after_ctrl_c(local_shell: Shell, tmp_path: Path) -> None:
    """Without a server, the command does the work itself."""
    gate, file = tmp_path / "gate", tmp_path / "waiting.yaml"
    file.write_text(WAITING.replace("GATE", str(gate)))
    process = spawn("run", str(file), data=local_shell.data)
    assert process.stdout is not None
    for line in process.stdout:
        if "waiting for the gate" in line:
            break
    interrupt(process)
    code, _, err = wait_for_exit(process)
    assert (code, "Traceback" in err) == (130, False)
    assert local_shell.json("show", "Waiting")["status"] == "in_progress"
    gate.touch()
    assert local_shell("watch", "Waiting").out.splitlines()[-1] == mentions("Waiting@v1 completed", "1")
    assert local_shell("doctor").code == 0


def test_ctrl_c_stops_following_and_the_run_continues(server_shell: Shell, notes: Path, name: str) -> None:
    server_shell("apply", str(notes))
    server_shell("run", name, "--detach")
    process = spawn("watch", name, "--until-done", data=server_shell.data)
    assert process.stdout is not None
    process.stdout.readline()
    interrupt(process)
    code, _, err = wait_for_exit(process)
    assert (code, err) == (130, "")
    assert server_shell.json("show", name)["status"] == "in_progress"


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.1, 0.2, 0.4])
def test_ctrl_c_prints_no_traceback_at_any_moment(server_shell: Shell, delay: float) -> None:
    """From the first line of Cairn. Before that, Python itself prints a traceback."""
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
        [sys.executable, "-c", ready, "runs", "--data-dir", str(server_shell.data)],
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    time.sleep(delay)  # the test is about this moment
    interrupt(process)
    code, _, err = wait_for_exit(process)
    assert code in (0, 130)
    assert err == ""


def test_a_server_can_be_stopped_right_after_it_started(tmp_path: Path) -> None:
    process = spawn("serve", "--port", "0", data=tmp_path)
    assert process.stdout is not None
    for line in process.stdout:
        if "#token=" in line:
            break
    interrupt(process)
    code, _, err = wait_for_exit(process)
    assert (code, err) == (0, "")


def test_a_closed_pipe_prints_no_error(server_shell: Shell, notes: Path, name: str) -> None:
    """`cairn … | head -1`"""
    server_shell("apply", str(notes))
    server_shell("run", name, "--detach")
    for arguments in (("events", "--limit", "500"), ("schema",), ("watch", name, "--until-done")):
        data = () if arguments == ("schema",) else ("--data-dir", str(server_shell.data))
        process = subprocess.Popen(
            [CAIRN, *arguments, *data],
            env={**os.environ, **ENVIRONMENT},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(timeout=40) == 141, arguments
        assert process.stderr is not None
        assert process.stderr.read() == "", arguments
        process.stderr.close()


def test_the_entry_point_imports_no_large_libraries() -> None:
    """Commands import what they need when they need it."""
    heavy = {"httpx", "rich", "pydantic", "sqlalchemy", "fastapi", "dbos", "uvicorn", "ruamel"}
    script = f"import cairn.cli.app, sys; print(sorted({heavy!r} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "[]\n"


@pytest.mark.parametrize(("arguments", "seconds"), [(("--help",), 1.5), (("runs",), 2.5)])
def test_commands_start_quickly(server_shell: Shell, arguments: tuple[str, ...], seconds: float) -> None:
    """The best of three, in CPU seconds. An idle machine needs a third of the limit."""
    options = () if arguments == ("--help",) else ("--data-dir", str(server_shell.data))
    durations: list[float] = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [CAIRN, *arguments, *options], env={**os.environ, **ENVIRONMENT}, stdout=subprocess.DEVNULL, check=True
        )
        delay = resource.getrusage(resource.RUSAGE_CHILDREN)
        durations.append(delay.ru_utime - before.ru_utime + delay.ru_stime - before.ru_stime)
    assert min(durations) < seconds
