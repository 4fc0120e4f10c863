"""The append-only trail."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
COUNTER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
REFUSE = "BEGIN SELECT RAISE(ABORT, 'the trail is append-only'); END"
FUNCTION = "$$ BEGIN RAISE EXCEPTION 'the trail is append-only'; END $$"
EACH = "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"

APPEND_ONLY = {
    "sqlite": (
        f"CREATE TRIGGER events_not_updated BEFORE UPDATE ON events {REFUSE}",
        f"CREATE TRIGGER events_not_deleted BEFORE DELETE ON events {REFUSE}",
    ),
    "postgresql": (
        f"CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS {FUNCTION}",
        f"CREATE TRIGGER events_not_updated BEFORE UPDATE ON events {EACH}",
        f"CREATE TRIGGER events_not_deleted BEFORE DELETE ON events {EACH}",
        f"CREATE TRIGGER events_not_truncated BEFORE TRUNCATE ON events {EACH}",
    ),
}


def upgrade() -> None:
    _events()
    for statement in APPEND_ONLY[op.get_context().dialect.name]:
        op.execute(statement)


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("id", COUNTER, autoincrement=True, nullable=False),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("chain", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("event_type", sa.Text(), nullable=False),
        sa.Column("pipeline_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("execution_id", sa.Text(), nullable=True),
        sa.Column("checkpoint_id", sa.Text(), nullable=True),
        sa.Column("approval_id", sa.Text(), nullable=True),
        sa.Column("rollback_id", sa.Text(), nullable=True),
        sa.Column("timestamp", INSTANT, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("previous_hash", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sa.UniqueConstraint("chain", "seq", name="uq_events_chain"),
    )
    op.create_index(
        "ix_events_of_execution",
        "events",
        ["execution_id", "id"],
        unique=False,
        sqlite_where=sa.text("execution_id IS NOT NULL"),
        postgresql_where=sa.text("execution_id IS NOT NULL"),
    )
    op.create_index(
        "ix_events_of_pipeline", "events", ["pipeline_id", "id"], unique=False, sqlite_where=None, postgresql_where=None
    )
