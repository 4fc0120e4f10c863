"""One process can use a data folder, and one server a shared database. A second one fails with an explanation."""

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


def test_a_locked_folder_names_the_process_that_uses_it(tmp_path: Path) -> None:
    first, second = FolderLock(tmp_path / "data"), FolderLock(tmp_path / "data")
    first.acquire()
    with pytest.raises(FolderInUse) as error:
        second.acquire()
    assert str(error.value) == mentions(tmp_path / "data", os.getpid(), "--data-dir")
    first.release()
    second.acquire()
    assert json.loads((tmp_path / "data/cairn.lock").read_text())["pid"] == os.getpid()
    assert (tmp_path / "data/cairn.lock").stat().st_mode & 0o777 == 0o600
    second.release()
    second.release()


def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    code = (
        "import os, pathlib; from cairn.adapters.folder_lock import FolderLock; "
        f"FolderLock(pathlib.Path({str(tmp_path)!r})).acquire(); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    lock = FolderLock(tmp_path)
    lock.acquire()
    lock.release()


def test_an_unreadable_lock_file_is_reported_without_a_process_id(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    lock.acquire()
    (tmp_path / "cairn.lock").write_text("not JSON")
    with pytest.raises(FolderInUse) as error:
        FolderLock(tmp_path).acquire()
    assert str(error.value) == mentions(tmp_path, "--data-dir")
    assert str(os.getpid()) not in str(error.value)
    lock.release()


@pytest.mark.parametrize("database_kind", [pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True)
def test_a_shared_database_allows_one_server(database: Database) -> None:
    first, second = DatabaseLock(database.system_engine), DatabaseLock(database.system_engine)
    first.acquire()
    with pytest.raises(DatabaseInUse):
        second.acquire()
    first.release()
    second.acquire()
    second.release()
    second.release()


def test_the_clock_is_timezone_aware() -> None:
    assert SystemClock().now().utcoffset() is not None
