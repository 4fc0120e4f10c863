#!/usr/bin/env python3
"""Starts Cairn with `make run` on every Python that is given, and opens each data folder with the next and back.

    scripts/try_pythons.py ~/.pyenv/versions/3.11.7/bin/python python3.13

Each Python installs Cairn in a copy of this repository (only files that git knows). On each data folder it signs in
with the printed link, runs the sample of `cairn init` to its end, and waits for a timer: a function that fails once and
is retried. A second timer is set just before the server stops and has to go off under the Python that opens the folder
next. `--tests` runs the fast part of the test suite on each Python as well.

It needs git, make, bubblewrap and the network.
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
START_SECONDS = 1200  # an installation and a build of the web app
WORK_SECONDS = 120
SHORT, LONG = 1, 20  # seconds until a retry: while it is watched, and across a restart
FAST_TESTS = ("tests/core", "tests/definitions", "tests/store", "tests/worker", "tests/adapters/test_jobs_sqlite.py")

FUNCTIONS = '''\
"""A function that fails once for each mark."""

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
    """Something did not work on one of the Pythons."""


@dataclass(frozen=True)
class Installation:
    """A copy of the repository with an environment of one Python."""

    python: str
    folder: Path
    scratch: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CAIRN_", "MAKE", "PYTHON", "VIRTUAL_ENV"))
        }
        functions = {"CAIRN_FUNCTIONS": '["functions_of_pythons"]', "PYTHONPATH": str(self.scratch)}
        return {**kept, **functions}

    def run(self, *command: str, codes: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode not in codes:
            raise Failed(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def cairn(self, *words: str) -> str:
        return self.run(".venv/bin/cairn", *words)

    @contextmanager
    def server(self, data: Path) -> Generator[str]:
        """`make run` on a data folder; the value is the printed link."""
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
                raise Failed(f"make run ended with {process.poll()}:\n{log.read_text()}")
            yield link[1]
            os.kill(json.loads((data / "server.json").read_text())["pid"], signal.SIGTERM)
            if (code := process.wait(60)) != 0:
                raise Failed(f"make run ended with {code}:\n{log.read_text()}")
            if "Traceback" in log.read_text():
                raise Failed(log.read_text())
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pythons", nargs="+", metavar="PYTHON", help="an interpreter, by path or name")
    parser.add_argument("--tests", action="store_true", help="run the fast part of the test suite on each as well")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the installations there, and use them again")
    chosen = parser.parse_args()
    scratch = (chosen.keep or Path(tempfile.mkdtemp(prefix="cairn-pythons-"))).resolve()
    scratch.mkdir(exist_ok=True)
    for old in (*scratch.glob("data-*"), *scratch.glob("sample-*")):
        shutil.rmtree(old)
    (scratch / "functions_of_pythons.py").write_text(FUNCTIONS)
    try:
        installations = [_copy(python, scratch / f"cairn-{place}") for place, python in enumerate(chosen.pythons)]
        for place, installation in enumerate(installations):
            _try(installation, scratch / f"data-{place}")
        for place, installation in enumerate(installations):
            other = installations[(place + 1) % len(installations)]
            _reopen(installation, other, scratch / f"data-{place}")
        for installation in installations if chosen.tests else ():
            _test(installation)
    except Failed as failed:
        print(f"FAILED: {failed}\nEverything is still in {scratch}.")
        return 1
    if not chosen.keep:
        shutil.rmtree(scratch)
    print(f"All {len(chosen.pythons)} work.")
    return 0


def _copy(python: str, folder: Path) -> Installation:
    found = shutil.which(python)
    if found is None:
        raise Failed(f"there is no {python}")
    used = folder / ".venv" / "pyvenv.cfg"
    if used.exists() and f"executable = {Path(found).resolve()}\n" not in used.read_text():
        shutil.rmtree(folder / ".venv")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    return Installation(found, folder, folder.parent)


def _try(installation: Installation, data: Path) -> None:
    """A first start on an empty folder."""
    print(f"{installation.python}:")
    with installation.server(data) as link:
        print(f"  {installation.cairn('--version').strip()}")
        _sign_in(link)
        at = ("--data-dir", str(data))
        sample = data.parent / f"sample-{data.name}"
        installation.cairn("init", str(sample))
        installation.cairn("apply", str(sample), *at)
        (pipeline,) = _items(installation, data, "pipelines")
        installation.cairn("run", pipeline["pipeline_name"], *at)
        print("  first start, sign-in link, sample run")
        for kind, seconds in (("Short", SHORT), ("Long", LONG)):
            marks = data.parent / "marks"
            marks.mkdir(exist_ok=True)
            file = data.parent / f"{kind}.yaml"
            file.write_text(PIPELINE.format(name=kind, folder=marks, seconds=seconds))
            installation.cairn("apply", str(file), *at)
        _time(installation, data)
        print("  timer, doctor")


def _reopen(first: Installation, second: Installation, data: Path) -> None:
    """With another Python and back; each time a timer goes off that was set under the one before."""
    for before, after in ((first, second), (second, first)):
        mark = f"{time.time_ns()}"
        with before.server(data) as link:
            _sign_in(link)
            began = time.monotonic()
            before.cairn("run", "Long", "--detach", "--input", json.dumps({"mark": mark}), "--data-dir", str(data))
            _wait((data.parent / "marks" / mark).exists, WORK_SECONDS, "the first try")
        if time.monotonic() - began >= LONG:
            raise Failed(f"the machine is too busy: it took more than {LONG} seconds to stop the server")
        with after.server(data) as link:
            _sign_in(link)
            _wait(lambda: not _unfinished(after, data), WORK_SECONDS, "the timer that was set before")  # noqa: B023
            _time(after, data)
        print(f"{before.python} -> {after.python}: timer across the restart, timer, doctor")


def _time(installation: Installation, data: Path) -> None:
    """A retry that a timer starts; nothing is wrong afterwards."""
    at = ("--data-dir", str(data))
    installation.cairn("run", "Short", "--input", json.dumps({"mark": f"{time.time_ns()}"}), *at)
    if (left := _unfinished(installation, data)) != []:
        raise Failed(f"not completed: {left}")
    installation.cairn("doctor", *at)


def _test(installation: Installation) -> None:
    installation.run("make", ".venv/.stamp-dev", f"PYTHON={installation.python}")
    environment = ("env", "-u", "CAIRN_FUNCTIONS", "-u", "PYTHONPATH")
    words = (*environment, "scripts/in-memory", ".venv/bin/pytest", "-q", "-n", "2", "-m", "not postgres")
    said = installation.run(*words, "--timeout", "300", *FAST_TESTS)
    print(f"{installation.python}: {said.strip().splitlines()[-1]}")


def _sign_in(link: str) -> None:
    """As the browser does: the page, then the session of the token in the link."""
    address, _, token = link.partition("/#token=")
    if b'id="root"' not in _get(f"{address}/"):
        raise Failed("the web app is not served")
    if "admin" not in json.loads(_get(f"{address}/api/session", Authorization=f"Bearer {token}"))["roles"]:
        raise Failed("the printed link does not sign an administrator in")


def _get(url: str, **headers: str) -> bytes:
    with urlopen(Request(url, headers=headers), timeout=30) as answer:  # noqa: S310 - of the server just started
        return answer.read()


def _items(installation: Installation, data: Path, *words: str) -> list[dict[str, Any]]:
    return json.loads(installation.cairn(*words, "--json", "--data-dir", str(data)))["items"]


def _unfinished(installation: Installation, data: Path) -> list[tuple[str, str]]:
    runs = _items(installation, data, "runs")
    return [(one["run_id"], one["status"]) for one in runs if one["status"] != "completed"]


def _wait(is_done: Callable[[], bool], seconds: float, what: str) -> None:
    until = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > until:
            raise Failed(f"waited {seconds} seconds for {what}")
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    sys.exit(main())
