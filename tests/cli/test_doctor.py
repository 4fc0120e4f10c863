"""`cairn doctor` with a server and without one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from cairn.store import Database
from tests.cli.shell import Shell
from tests.mentions import mentions


def test_a_healthy_installation_has_no_errors(shell: Shell, notes: Path) -> None:
    shell("apply", str(notes))
    report = shell.json("doctor")
    assert report["healthy"] is True
    assert {check["name"] for check in report["checks"]} >= {"database", "events", "folders", "disk", "sandbox"}
    assert shell("doctor").out.splitlines()[0] == mentions("settings")


def test_drift_is_reported_and_repaired(shell: Shell, notes: Path, name: str) -> None:
    shell("apply", str(notes))
    (pipeline,) = [pipeline for pipeline in shell.json("pipelines")["items"] if pipeline["pipeline_name"] == name]
    folder = shell.data / "pipelines" / pipeline["pipeline_id"]
    (folder / "runs" / "mine.txt").write_text("Mine.")
    (line,) = [line for line in shell("doctor", code=1).out.splitlines() if pipeline["pipeline_id"] in line]
    assert line == mentions("runs/mine.txt", "cairn doctor --repair")
    assert shell("doctor", "--repair").code == 0
    assert [file.read_text() for file in (folder / ".archived").rglob("mine.txt")] == ["Mine."]
    assert shell("doctor").code == 0


@pytest.mark.parametrize("version", ["0024", "9999"])
def test_an_unsupported_schema_version_is_rejected(local_shell: Shell, notes: Path, version: str) -> None:
    """No command opens the folder or changes anything in it."""
    local_shell("apply", str(notes))
    with closing(Database(f"sqlite:///{local_shell.data / 'cairn.db'}")) as database:
        other = sa.text(f"UPDATE alembic_version SET version_num = '{version}'")
        database.transact_now(lambda c: c.execute(other))
    before = contents(local_shell.data)
    assert local_shell("doctor", code=1).out == mentions("schema", str(local_shell.data), version)
    assert local_shell("doctor", "--repair", code=1).out == mentions("schema", version)
    assert local_shell("runs", code=4).err == mentions("cairn: ", str(local_shell.data), version)
    assert local_shell("serve", "--port", "0", code=1).err == mentions("cairn: ", str(local_shell.data), version)
    assert contents(local_shell.data) == before


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.name != "cairn.lock"}


def test_repair_creates_a_missing_schema(shell: Shell, tmp_path: Path) -> None:
    """Without --repair, the doctor changes nothing."""
    (tmp_path / "cairn.db").touch()
    empty = Shell(tmp_path)
    for _ in range(2):
        (check,) = empty.json("doctor")["checks"]
        assert (check["name"], check["status"]) == ("schema", "warning")
    assert empty("doctor", "--repair").code == 0


def test_an_old_sqlite_is_rejected(local_shell: Shell, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No command opens the folder, and each names the version and a remedy."""
    local_shell("apply", str(notes))
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")
    problem = "SQLite 3.34.1 is too old: Cairn needs 3.35 or newer"
    hint = "se a Python with a newer SQLite, or PostgreSQL (CAIRN_DATABASE_URL)"
    assert local_shell("doctor", code=1).out == f"error    sqlite: {problem} — u{hint}\n"
    assert local_shell("runs", code=4).err == f"cairn: {problem}. U{hint}.\n"
    assert local_shell("serve", "--port", "0", code=1).err == f"cairn: {problem}. U{hint}.\n"
