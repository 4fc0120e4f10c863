#!/usr/bin/env python3
"""Run `make run` with several Python versions, and open each data folder with the next version and back.

    scripts/try_pythons.py ~/.pyenv/versions/3.11.7/bin/python python3.13

Each Python installs Cairn in a copy of this repository (tracked files only). With each data folder, the script signs in
with the printed link, completes the sample of `cairn init`, and waits for a timer: a function that fails once and is
retried. It schedules a second timer just before the server stops, which must fire under the Python that opens the
folder next. `--tests` also runs the fast tests with each Python.

Requires git, make, bubblewrap and network access.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

ROOT = Path(__file__).parent.parent
START_SECONDS = 1200  # includes installing packages and building the web app
WORK_SECONDS = 120
SHORT, LONG = 1, 20  # seconds until a retry: within a session, and across a restart
FAST_TESTS = ("tests/core", "tests/definitions", "tests/store", "tests/worker", "tests/adapters/test_jobs_sqlite.py")

FUNCTIONS = '''\
"""A function that fails once per mark."""

from pathlib import Path

import cairn


@cairn.function("pythons.fail_once")
def fail_once(ctx, folder):
    file = Path(folder, ctx.inputs["mark"])
    if not file.exists():
        file.touch()
        raise RuntimeError("once")
    return {"mark": file.name}
'''
PIPELINE = """\
pipeline_name: {name}
config: {{ auto_advance: true }}
input_schema: {{ type: object, properties: {{ mark: {{ type: string }} }}, required: [mark] }}
checkpoints:
  - key: once
    checkpoint_name: Fail once
    execution:
      mode: function
      function_config: {{ function: pythons.fail_once, parameters: {{ folder: "{folder}" }} }}
      retry_config: {{ max_auto_retries: 1, retry_delay_seconds: {seconds} }}
    input_mapping: {{ mark: input.mark }}
"""


class Failed(Exception):
    """Something failed with one of the Python versions."""


@dataclass(frozen=True)
class Installation:
    """A copy of the repository, installed with one Python version."""

    python: str
    folder: Path
    scratch: Path

    @property
    def environment(self) -> dict[str, str]:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CAIRN_", "MAKE", "PYTHON", "VIRTUAL_ENV"))
        }
        functions = {"CAIRN_FUNCTIONS": '["try_pythons_functions"]', "PYTHONPATH": str(self.scratch)}
        return {**inherited, **functions}

    def run(self, *command: str, codes: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode not in codes:
            raise Failed(f"{' '.join(command)} exited with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def cairn(self, *arguments: str) -> str:
        return self.run(".venv/bin/cairn", *arguments)

    @contextmanager
    def server(self, data: Path) -> Generator[str]:
        """Run `make run` with a data folder and return the printed link."""
        log = self.folder / "server.log"
        with log.open("w") as output:
            command = ["make", "run", f"PYTHON={self.python}", f"PORT={_free_port()}", f"DATA_DIR={data}"]
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            _wait(lambda: process.poll() is not None or "\nOpen http" in log.read_text(), START_SECONDS, "a start")
            link = re.search(r"^Open (http\S+)$", log.read_text(), re.MULTILINE)
            if link is None:
                raise Failed(f"make run exited with {process.poll()}:\n{log.read_text()}")
            yield link[1]
            os.kill(json.loads((data / "server.json").read_text())["pid"], signal.SIGTERM)
            if (code := process.wait(60)) != 0:
                raise Failed(f"make run exited with {code}:\n{log.read_text()}")
            if "Traceback" in log.read_text():
                raise Failed(log.read_text())
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pythons", nargs="+", metavar="PYTHON", help="path or name of an interpreter")
    parser.add_argument("--tests", action="store_true", help="also run the fast tests with each interpreter")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep and reuse the installations in this folder")
    options = parser.parse_args()
    scratch = (options.keep or Path(tempfile.mkdtemp(prefix="cairn-pythons-"))).resolve()
    scratch.mkdir(exist_ok=True)
    for old in (*scratch.glob("data-*"), *scratch.glob("sample-*")):
        shutil.rmtree(old)
    (scratch / "try_pythons_functions.py").write_text(FUNCTIONS)
    try:
        installations = [_copy(python, scratch / f"cairn-{number}") for number, python in enumerate(options.pythons)]
        for number, installation in enumerate(installations):
            _try(installation, scratch / f"data-{number}")
        for number, installation in enumerate(installations):
            other = installations[(number + 1) % len(installations)]
            _reopen(installation, other, scratch / f"data-{number}")
        for installation in installations if options.tests else ():
            _test(installation)
    except Failed as failed:
        print(f"FAILED: {failed}\nThe files are in {scratch}.")
        return 1
    if not options.keep:
        shutil.rmtree(scratch)
    print(f"All {len(options.pythons)} interpreters passed.")
    return 0


def _copy(python: str, folder: Path) -> Installation:
    path = shutil.which(python)
    if path is None:
        raise Failed(f"Python interpreter {python!r} not found")
    config = folder / ".venv" / "pyvenv.cfg"
    if config.exists() and f"executable = {Path(path).resolve()}\n" not in config.read_text():
        shutil.rmtree(folder / ".venv")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    return Installation(path, folder, folder.parent)


def _try(installation: Installation, data: Path) -> None:
    """Start for the first time, with an empty folder."""
    print(f"{installation.python}:")
    with installation.server(data) as link:
        print(f"  {installation.cairn('--version').strip()}")
        _sign_in(link)
        data_dir = ("--data-dir", str(data))
        sample = data.parent / f"sample-{data.name}"
        installation.cairn("init", str(sample))
        installation.cairn("apply", str(sample), *data_dir)
        (pipeline,) = _items(installation, data, "pipelines")
        installation.cairn("run", pipeline["pipeline_name"], *data_dir)
        print("  first start, sign-in link, sample run")
        for kind, seconds in (("Short", SHORT), ("Long", LONG)):
            marks = data.parent / "marks"
            marks.mkdir(exist_ok=True)
            file = data.parent / f"{kind}.yaml"
            file.write_text(PIPELINE.format(name=kind, folder=marks, seconds=seconds))
            installation.cairn("apply", str(file), *data_dir)
        _run_timer(installation, data)
        print("  timer, doctor")


def _reopen(first: Installation, second: Installation, data: Path) -> None:
    """Open the folder with another Python and back. A timer scheduled under one version fires under the other."""
    for before, after in ((first, second), (second, first)):
        mark = f"{time.time_ns()}"
        with before.server(data) as link:
            _sign_in(link)
            started = time.monotonic()
            before.cairn("run", "Long", "--detach", "--input", json.dumps({"mark": mark}), "--data-dir", str(data))
            _wait((data.parent / "marks" / mark).exists, WORK_SECONDS, "the first attempt")
        if time.monotonic() - started >= LONG:
            raise Failed(f"the machine is too busy: stopping the server took more than {LONG} seconds")
        with after.server(data) as link:
            _sign_in(link)
            _wait(lambda: not _unfinished(after, data), WORK_SECONDS, "the timer scheduled before the restart")  # noqa: B023
            _run_timer(after, data)
        print(f"{before.python} -> {after.python}: timer across the restart, timer, doctor")


def _run_timer(installation: Installation, data: Path) -> None:
    """Wait for a retry that a timer starts, then check the installation."""
    data_dir = ("--data-dir", str(data))
    installation.cairn("run", "Short", "--input", json.dumps({"mark": f"{time.time_ns()}"}), *data_dir)
    if unfinished := _unfinished(installation, data):
        raise Failed(f"not completed: {unfinished}")
    installation.cairn("doctor", *data_dir)


def _test(installation: Installation) -> None:
    installation.run("make", ".venv/.stamp-dev", f"PYTHON={installation.python}")
    environment = ("env", "-u", "CAIRN_FUNCTIONS", "-u", "PYTHONPATH")
    command = (*environment, "scripts/in-memory", ".venv/bin/pytest", "-q", "-n", "2", "-m", "not postgres")
    output = installation.run(*command, "--timeout", "300", *FAST_TESTS)
    print(f"{installation.python}: {output.strip().splitlines()[-1]}")


def _sign_in(link: str) -> None:
    """Sign in as the browser does: load the page, then get the session for the token in the link."""
    address, _, token = link.partition("/#token=")
    if b'id="root"' not in _get(f"{address}/"):
        raise Failed("the server does not serve the web app")
    if "admin" not in json.loads(_get(f"{address}/api/session", Authorization=f"Bearer {token}"))["roles"]:
        raise Failed("the printed link does not sign in an admin")


def _get(url: str, **headers: str) -> bytes:
    with urlopen(Request(url, headers=headers), timeout=30) as response:  # noqa: S310 - the server that was just started
        return response.read()


def _items(installation: Installation, data: Path, *arguments: str) -> list[dict[str, Any]]:
    return json.loads(installation.cairn(*arguments, "--json", "--data-dir", str(data)))["items"]


def _unfinished(installation: Installation, data: Path) -> list[tuple[str, str]]:
    runs = _items(installation, data, "runs")
    return [(run["run_id"], run["status"]) for run in runs if run["status"] != "completed"]


def _wait(is_done: Callable[[], bool], seconds: float, condition: str) -> None:
    deadline = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > deadline:
            raise Failed(f"waited {seconds} seconds for {condition}")
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    sys.exit(main())
