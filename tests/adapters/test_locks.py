"""One process for a data folder, one server for a database; who comes second is told why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cairn.adapters.clock import SystemClock
from cairn.adapters.database_lock import DatabaseInUse, DatabaseLock
from cairn.adapters.folder_lock import FolderInUse, FolderLock
from cairn.store import Database
from tests.mentions import mentions


def test_a_folder_is_held_by_one_and_the_other_is_told_which(tmp_path: Path) -> None:
    first, second = FolderLock(tmp_path / "data"), FolderLock(tmp_path / "data")
    first.acquire()
    with pytest.raises(FolderInUse) as held:
        second.acquire()
    assert str(held.value) == mentions(tmp_path / "data", os.getpid(), "--data-dir")
    first.release()
    second.acquire()
    assert json.loads((tmp_path / "data/cairn.lock").read_text())["pid"] == os.getpid()
    assert (tmp_path / "data/cairn.lock").stat().st_mode & 0o777 == 0o600
    second.release()
    second.release()


def test_a_process_that_dies_lets_go_of_it(tmp_path: Path) -> None:
    code = (
        "import os, pathlib; from cairn.adapters.folder_lock import FolderLock; "
        f"FolderLock(pathlib.Path({str(tmp_path)!r})).acquire(); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    lock = FolderLock(tmp_path)
    lock.acquire()
    lock.release()


def test_a_holder_that_cannot_be_read_is_told_without_its_name(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    lock.acquire()
    (tmp_path / "cairn.lock").write_text("not JSON")
    with pytest.raises(FolderInUse) as held:
        FolderLock(tmp_path).acquire()
    assert str(held.value) == mentions(tmp_path, "--data-dir")
    assert str(os.getpid()) not in str(held.value)
    lock.release()


@pytest.mark.parametrize("database_kind", [pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True)
def test_a_shared_database_is_served_by_one(database: Database) -> None:
    first, second = DatabaseLock(database.system_engine), DatabaseLock(database.system_engine)
    first.acquire()
    with pytest.raises(DatabaseInUse):
        second.acquire()
    first.release()
    second.acquire()
    second.release()
    second.release()


def test_the_clock_knows_its_zone() -> None:
    assert SystemClock().now().utcoffset() is not None
