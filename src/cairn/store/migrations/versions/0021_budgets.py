"""Runs have budgets of their own; people are told of what is spent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_KINDS = (
    "approval_requested",
    "approval_reminder_due",
    "approval_escalated",
    "approval_assigned",
    "approval_rejected",
    "approval_timeout",
    "approval_auto_approved",
    "execution_failed",
    "run_failed",
    "budget_warning",
    "budget_exhausted",
    "run_completed",
    "test",
)
_KNOWN = "kind IN (" + ", ".join(f"'{kind}'" for kind in _KINDS) + ")"


def upgrade() -> None:
    for column in (
        sa.Column("budget", sa.Text(), nullable=True),
        sa.Column("over_budget", sa.Text(), server_default="", nullable=False),
        sa.Column("budget_warned", sa.Boolean(), server_default=sa.false(), nullable=False),
    ):
        op.add_column("pipeline_runs", column)
    if op.get_context().dialect.name == "sqlite":
        _rebuild_notices()
    else:
        op.drop_constraint(op.f("ck_notices_kind_known"), "notices", type_="check")
        op.create_check_constraint("kind_known", "notices", _KNOWN)


def _rebuild_notices() -> None:
    """SQLite changes no constraint of a table that is there."""
    op.execute("CREATE TABLE earlier AS SELECT * FROM notices")
    op.drop_table("notices")
    op.create_table(
        "notices",
        _text("notice_id"),
        _text("kind"),
        _text("pipeline_id", null=True),
        _text("run_id", null=True),
        _text("execution_id", null=True),
        _text("approval_id", null=True),
        _text("actor"),
        _text("detail"),
        sa.Column("noted_at", sa.Text(), nullable=False),
        _text("content", null=True),
        sa.CheckConstraint(_KNOWN, name="kind_known"),
        sa.PrimaryKeyConstraint("notice_id", name="pk_notices"),
    )
    op.create_index("ix_notices_noted", "notices", ["noted_at"], unique=False)
    op.execute("INSERT INTO notices SELECT * FROM earlier")
    op.drop_table("earlier")


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null)
