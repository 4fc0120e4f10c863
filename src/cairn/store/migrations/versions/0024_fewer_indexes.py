"""Every commit of a checkpoint writes one page for each index it touches: two that nobody needs there are gone.

What is at work is found by its run, whose row says so from the first dispatch to the last. What depends on an execution
belongs to the same run and goes with it, so that no deletion has to look for it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_checkpoint_executions_working", table_name="checkpoint_executions")
    op.create_index(
        "ix_pipeline_runs_working",
        "pipeline_runs",
        ["working_since"],
        unique=False,
        sqlite_where=sa.text("working_since IS NOT NULL"),
        postgresql_where=sa.text("working_since IS NOT NULL"),
    )
    op.drop_index("ix_job_dependencies_depends_on", table_name="job_dependencies")
    if op.get_context().dialect.name == "postgresql":
        op.drop_constraint("fk_job_dependencies_depends_on_execution_id", "job_dependencies", type_="foreignkey")
    else:
        _without_the_reference()


def _without_the_reference() -> None:
    """SQLite takes a constraint away only with its table."""
    op.rename_table("job_dependencies", "former_dependencies")
    op.create_table(
        "job_dependencies",
        sa.Column("execution_id", sa.Text(), nullable=False),
        sa.Column("depends_on_execution_id", sa.Text(), nullable=False),
        sa.Column("dependency_type", sa.Text(), nullable=False),
        sa.CheckConstraint("dependency_type IN ('success')", name="dependency_type_known"),
        sa.ForeignKeyConstraint(
            ["execution_id"], ["checkpoint_executions.execution_id"], name="fk_job_dependencies_execution_id"
        ),
        sa.PrimaryKeyConstraint("execution_id", "depends_on_execution_id", name="pk_job_dependencies"),
        sqlite_with_rowid=False,
    )
    op.execute("INSERT INTO job_dependencies SELECT * FROM former_dependencies")
    op.drop_table("former_dependencies")
