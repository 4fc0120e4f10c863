"""The commands of the README, the first steps and the guide, run in a shell against a real server."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cairn.documents import decode_json
from tests.docs.pages import ROOT, blocks_of
from tests.forked import shell_command

# A test must not update the environment, as `make run` would. So it asks make for the command that starts the server,
# and runs that in the background, like a second terminal. Other targets only have to exist.
PRELUDE = r"""
set -euo pipefail
make() {
  set +x
  if [ "$1" = run ]; then
    local last
    last=$(command make --dry-run --directory "$CLONE" --no-print-directory "$@" "PORT=$PORT" | tail -1)
    $(echo "$last" | sed 's/^exec //') > server.log 2>&1 &
    server_pid=$!
    until grep -q "#token=" server.log; do kill -0 $server_pid; sleep 0.1; done
  else
    grep -q "^$1:" "$CLONE/Makefile"
  fi
  set -x
}
stop() {
  set +x
  if [ -n "${server_pid:-}" ]; then kill -TERM $server_pid; wait $server_pid || true; fi
}
trap stop EXIT
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder that looks like a clone in which `make run` was used before."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parent.parent)
    return tmp_path


@pytest.mark.e2e
@pytest.mark.timeout(600)
@pytest.mark.parametrize("document", ["README.md", "docs/start.md"])
def test_the_commands_of_the_first_pages_work(document: str, clone: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run_commands(document, clone, {"PATH": path})


@pytest.mark.e2e
@pytest.mark.timeout(600)
@pytest.mark.parametrize("document", ["docs/guide/api.md", "docs/guide/cli.md", "docs/guide/rules.md"])
def test_the_commands_of_a_page_work(document: str, clone: Path) -> None:
    with shell_command() as variables:
        run_commands(document, clone, variables)


def run_commands(document: str, clone: Path, variables: dict[str, str]) -> None:
    assert shutil.which("curl"), "curl is not installed. The first steps use it."
    blocks = blocks_of(ROOT / document)
    commands = [
        f"{{\n{block.text}}} > output-{index}.txt" for index, block in enumerate(blocks) if block.language == "sh"
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CAIRN_", "MAKE", "ARGS"))}
    process = subprocess.Popen(
        ["bash", "-c", "\n".join([PRELUDE, "set -x", *commands])],
        cwd=clone,
        env={**environment, **variables, "CLONE": str(ROOT), "PORT": str(free_port())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=480)  # a few seconds on an idle machine
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    log = clone / "server.log"
    assert process.returncode == 0, f"{output[-3000:]}\n{log.read_text()[-2000:] if log.exists() else ''}"
    for index, block in enumerate(blocks):
        if block.language == "json" and blocks[index - 1].language == "sh":
            assert decode_json(block.text) == decode_json((clone / f"output-{index - 1}.txt").read_text()), str(block)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
