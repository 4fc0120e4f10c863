"""Changes in the folders while the server is stopped are repaired at the next start, and nothing is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.server import Server

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(120)]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.kill()


def completed_run(server: Server) -> Path:
    """Complete a run with three checkpoints. Returns the pipeline's folder."""
    steps = [
        {
            "key": f"step_{number}",
            "execution": {
                "mode": "function",
                "function_config": {"function": "chaos.step", "parameters": {"number": number, "seconds": 0.01}},
            },
        }
        for number in range(3)
    ]
    document = {"pipeline_name": "Drifts", "config": {"auto_advance": True}, "checkpoints": steps}
    pipeline_id = server.call("POST", "/api/pipelines", document, expect=201)["pipeline_id"]
    run_id = server.call("POST", "/api/runs", {"pipeline_id": pipeline_id}, expect=201)["run_id"]
    server.wait_for_run(run_id, "completed")
    return server.data / "pipelines" / pipeline_id


def drift_report(server: Server) -> dict[str, Any]:
    """The result of the first scan after the start."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if report := server.call("GET", "/api/health", expect=200)["drift"]:
            return report
        time.sleep(0.05)
    raise AssertionError("no scan within 30 seconds")


def contents(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() for path in sorted((root / "runs").rglob("*")) if path.is_file()
    }


def test_files_changed_deleted_and_added_while_stopped_are_repaired(server: Server) -> None:
    server.start()
    root = completed_run(server)
    assert server.stop() == 0
    before = contents(root)
    first, second, third = sorted((root / "runs/v1").glob("*/outputs/*.json"))
    first.write_text("changed by a user")
    second.unlink()
    added = third.parent / "my notes.txt"
    added.write_text("keep me")
    (root / "runs/latest").unlink()
    assert server.doctor().returncode == 1

    server.start()
    report = drift_report(server)
    assert (report["rewritten"] >= 2, report["moved_aside"]) == (True, 2)
    assert contents(root) == before
    assert (root / "runs/latest").resolve() == (root / "runs/v1").resolve()
    moved_aside = {path.name: path.read_text() for path in (root / ".archived").glob("drift_*/**/*") if path.is_file()}
    assert moved_aside == {first.name: "changed by a user", added.name: "keep me"}
    assert server.stop() == 0
    assert server.doctor().returncode == 0


def test_a_missing_folder_is_written_again(server: Server) -> None:
    server.start()
    root = completed_run(server)
    assert server.stop() == 0
    before = contents(root)
    for path in sorted((root / "runs").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    server.start()
    assert drift_report(server)["rewritten"] >= len(before)
    assert contents(root) == before
