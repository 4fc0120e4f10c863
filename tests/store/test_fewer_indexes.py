"""Dependencies survive the removal of an index and a foreign key."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.core.commands import ExecutionFinished, StartRun
from cairn.core.states import ExecutionState
from cairn.store import Database, save_lineage
from cairn.store.database import schema_version
from cairn.store.tables import job_dependencies
from tests.store.samples import NOON, begin_story, make_document

INDEX = "CREATE INDEX ix_job_dependencies_depends_on ON job_dependencies (depends_on_execution_id)"
BEFORE = {
    "sqlite": (
        "ALTER TABLE job_dependencies RENAME TO now",
        """CREATE TABLE job_dependencies (
            execution_id TEXT NOT NULL, depends_on_execution_id TEXT NOT NULL, dependency_type TEXT NOT NULL,
            CONSTRAINT pk_job_dependencies PRIMARY KEY (execution_id, depends_on_execution_id),
            FOREIGN KEY(execution_id) REFERENCES checkpoint_executions (execution_id),
            FOREIGN KEY(depends_on_execution_id) REFERENCES checkpoint_executions (execution_id)
        ) WITHOUT ROWID""",
        "INSERT INTO job_dependencies SELECT * FROM now",
        "DROP TABLE now",
        INDEX,
    ),
    "postgresql": (
        """ALTER TABLE job_dependencies ADD CONSTRAINT fk_job_dependencies_depends_on_execution_id
            FOREIGN KEY (depends_on_execution_id) REFERENCES checkpoint_executions (execution_id)""",
        INDEX,
    ),
}


def test_dependencies_are_kept(database: Database) -> None:
    story = begin_story(database, make_document("a", "b"))
    story.send(StartRun())
    (first,) = story.loaded.run.open
    story.send(ExecutionFinished(first.id, first.dispatch, "d"))
    (second,) = story.loaded.run.open
    assert second.state is ExecutionState.WORKING
    database.transact_now(lambda c: save_lineage(c, second.id, second.dispatch, (), [first.id], NOON))
    with database.migration_engine.begin() as connection:
        for statement in (
            *BEFORE[database.kind],
            "DROP INDEX ix_pipeline_runs_working",
            "CREATE INDEX ix_checkpoint_executions_working ON checkpoint_executions (driver) WHERE state = 'working'",
            "UPDATE alembic_version SET version_num = '0023'",
        ):
            connection.execute(sa.text(statement))
    database.migrate()
    assert schema_version.found(database.read_engine) == schema_version.newest()
    rows = database.read(lambda c: c.execute(sa.select(job_dependencies)).all())
    assert [tuple(row) for row in rows] == [(second.id, first.id, "success")]
    keys = sa.inspect(database.read_engine).get_foreign_keys("job_dependencies")
    assert [key["constrained_columns"] for key in keys] == [["execution_id"]]
