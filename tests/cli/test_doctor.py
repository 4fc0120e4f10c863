"""`cairn doctor` beside a server and without one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from cairn.store import Database
from tests.cli.shell import Shell
from tests.mentions import mentions


def test_all_is_well(shell: Shell, notes: Path) -> None:
    shell("apply", str(notes))
    diagnosis = shell.json("doctor")
    assert diagnosis["well"] is True
    assert {found["what"] for found in diagnosis["findings"]} >= {"database", "trail", "folders", "disk", "sandbox"}
    assert shell("doctor").out.splitlines()[0] == mentions("settings")


def test_drift_is_told_and_repaired(shell: Shell, notes: Path, name: str) -> None:
    shell("apply", str(notes))
    (pipeline,) = [one for one in shell.json("pipelines")["items"] if one["pipeline_name"] == name]
    folder = shell.data / "pipelines" / pipeline["pipeline_id"]
    (folder / "runs" / "mine.txt").write_text("Mine.")
    (told,) = [line for line in shell("doctor", code=1).out.splitlines() if pipeline["pipeline_id"] in line]
    assert told == mentions("runs/mine.txt", "cairn doctor --repair")
    assert shell("doctor", "--repair").code == 0
    assert [file.read_text() for file in (folder / ".archived").rglob("mine.txt")] == ["Mine."]
    assert shell("doctor").code == 0


@pytest.mark.parametrize("version", ["0024", "9999"])
def test_a_schema_of_another_version_is_refused(alone: Shell, notes: Path, version: str) -> None:
    """No command opens the folder or changes anything in it."""
    alone("apply", str(notes))
    with closing(Database(f"sqlite:///{alone.data / 'cairn.db'}")) as database:
        other = sa.text(f"UPDATE alembic_version SET version_num = '{version}'")
        database.transact_now(lambda c: c.execute(other))
    before = contents(alone.data)
    assert alone("doctor", code=1).out == mentions("schema", str(alone.data), version)
    assert alone("doctor", "--repair", code=1).out == mentions("schema", version)
    assert alone("runs", code=4).err == mentions("cairn: ", str(alone.data), version)
    assert alone("serve", "--port", "0", code=1).err == mentions("cairn: ", str(alone.data), version)
    assert contents(alone.data) == before


def contents(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.name != "cairn.lock"}


def test_a_database_without_a_schema_gets_one(shell: Shell, tmp_path: Path) -> None:
    """The doctor only looks, unless it is asked to repair."""
    (tmp_path / "cairn.db").touch()
    empty = Shell(tmp_path)
    for _ in range(2):
        (check,) = empty.json("doctor")["findings"]
        assert (check["what"], check["verdict"]) == ("schema", "warning")
    assert empty("doctor", "--repair").code == 0


def test_a_sqlite_that_is_too_old(alone: Shell, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No command opens the folder, and each names the version and a remedy."""
    alone("apply", str(notes))
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")
    problem = "SQLite 3.34.1 is too old: Cairn needs 3.35 or newer"
    remedy = "se a Python with a newer SQLite, or PostgreSQL (CAIRN_DATABASE_URL)"
    assert alone("doctor", code=1).out == f"fault    sqlite: {problem} — u{remedy}\n"
    assert alone("runs", code=4).err == f"cairn: {problem}. U{remedy}.\n"
    assert alone("serve", "--port", "0", code=1).err == f"cairn: {problem}. U{remedy}.\n"
