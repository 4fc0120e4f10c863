"""The output of `make run` while it installs and builds, and the files that the linter checks."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STEP = str(ROOT / "scripts" / "step")
RUFF = str(Path(sys.executable).parent / "ruff")


def step(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name != "VERBOSE"}
    return subprocess.run(
        [STEP, "Building", *command],
        env={**inherited, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def test_a_step_that_succeeds_prints_one_line() -> None:
    done = step("sh", "-c", "echo output; echo more >&2")
    assert done.returncode == 0
    assert re.fullmatch(r"Building \.\.\. done \(\d+ s\)\n", done.stdout)


def test_a_step_that_fails_prints_all_of_its_output() -> None:
    failed = step("sh", "-c", "for n in $(seq 300); do echo line $n; done; echo 'no such package' >&2; exit 3")
    lines = failed.stdout.splitlines()
    assert (failed.returncode, lines[0]) == (3, "Building ... failed")
    assert lines[1].startswith("+ sh -c for n in")
    assert lines[2:] == [*(f"line {n}" for n in range(1, 301)), "no such package"]


def test_a_verbose_step_prints_its_command_and_output() -> None:
    done = step("sh", "-c", "echo output; exit 3", VERBOSE="1")
    assert (done.returncode, done.stdout) == (3, "Building ...\n+ sh -c echo output; exit 3\noutput\n")


def test_a_command_that_does_not_exist_fails() -> None:
    failed = step("no-such-command")
    assert failed.returncode == 127
    assert "no-such-command" in failed.stdout


def test_a_stopped_step_leaves_no_file(tmp_path: Path) -> None:
    command = [STEP, "Building", "sh", "-c", "touch started; sleep 60"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path), "VERBOSE": ""},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (tmp_path / "started").exists():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGTERM)
    output, _ = process.communicate(timeout=30)
    assert (process.returncode, output) == (143, "Building ... stopped\n")
    assert [file.name for file in tmp_path.iterdir()] == ["started"]


@pytest.mark.parametrize("target", ["run", "dev"])
def test_every_slow_command_is_a_step(target: str) -> None:
    """Steps print one line each. The other commands of the setup print nothing."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "VERBOSE", "PYTHON"))
    }
    recipes = subprocess.run(
        ["make", "--dry-run", "--always-make", "--no-print-directory", target],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    steps = [line for line in recipes if "scripts/step " in line]
    quiet = ("touch ", "ln -sf ", "node=$(", "python3 -c ", "exec .venv/bin/cairn serve ")
    others = [line for line in recipes if line not in steps and not line.startswith(quiet)]
    assert (len(steps), others) == (6 if target == "run" else 8, [])


def test_the_linter_ignores_project_folders(tmp_path: Path) -> None:
    """The README tells users to create a project folder in their clone."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    unused = "import os\n"
    for folder in ("my-report/scripts", "src/cairn", "tests"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "module.py").write_text(unused)
    command = [RUFF, "check", "--show-files", "--no-cache"]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert {str(Path(name).relative_to(tmp_path)) for name in listed} == {
        "pyproject.toml",
        "src/cairn/module.py",
        "tests/module.py",
    }


def test_the_linter_checks_every_python_file_of_the_repository() -> None:
    command = [RUFF, "check", "--show-files"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    folders = ("bench", "examples", "scripts", "src", "tests")
    own = {file for folder in folders for file in (ROOT / folder).rglob("*.py")}
    assert {Path(name) for name in listed} == own - {ROOT / "tests/acceptance/journey.py"} | {ROOT / "pyproject.toml"}
