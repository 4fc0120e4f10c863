"""After a kill, all acknowledged writes exist and no transaction is incomplete."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from cairn.store import Database, blobs, load_run, verify
from cairn.store.tables import pipeline_runs
from tests.store.samples import SamplePlans

ROOT = Path(__file__).parents[2]
SAVES = 23  # in the middle of a run


@pytest.mark.chaos
@pytest.mark.parametrize("delay", [0.0, 0.004])
def test_acknowledged_writes_survive_a_kill(database_url: str, delay: float) -> None:
    acknowledged: list[tuple[str, int, str]] = []
    command = [sys.executable, "-m", "tests.store.busy_writer", database_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if not line.endswith("\n"):
                break  # killed while it wrote
            run_id, revision, checksum = line.split()
            acknowledged.append((run_id, int(revision), checksum))
            if len(acknowledged) == SAVES:
                threading.Timer(delay, process.kill).start()
    assert len(acknowledged) >= SAVES
    with closing(Database(database_url)) as database:
        database.migrate()
        for run_id, revision in {run_id: revision for run_id, revision, _ in acknowledged}.items():
            loaded = database.read(lambda c, of=run_id: load_run(c, of, SamplePlans()))
            assert loaded is not None
            assert loaded.revision >= revision
        for _, _, checksum in acknowledged:
            assert database.read(lambda c, of=checksum: blobs.read(c, of))
        assert database.read(verify).is_valid
        if database.kind == "sqlite":
            with database.engine.connect() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
                assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
        counts = sa.select(pipeline_runs.c.revision, pipeline_runs.c.completed_checkpoints)
        for revision, completed in database.read(lambda c: [tuple(row) for row in c.execute(counts)]):
            assert completed == max(0, revision - 2)  # created at 1, started at 2
