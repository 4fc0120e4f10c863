"""Channels, notices, their deliveries, and what people want to be told."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
KINDS = (
    "approval_requested",
    "approval_reminder_due",
    "approval_escalated",
    "approval_assigned",
    "approval_rejected",
    "approval_timeout",
    "approval_auto_approved",
    "execution_failed",
    "run_failed",
    "run_completed",
    "test",
)


def upgrade() -> None:
    _channels()
    _notices()
    _deliveries()
    _tries()
    _preferences()


def _channels() -> None:
    op.create_table(
        "channels",
        _text("channel_id"),
        _text("name"),
        _text("kind"),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("shows_details", sa.Boolean(), nullable=False),
        _text("kinds"),
        _text("pipelines"),
        _text("recipients"),
        _text("host"),
        _text("fallback", null=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        _text("created_by"),
        sa.Column("updated_at", INSTANT, nullable=False),
        _known("kind", "teams", "slack", "email", "webhook", "apprise"),
        sa.PrimaryKeyConstraint("channel_id", name="pk_channels"),
        sa.UniqueConstraint("name", name="uq_channels_name"),
    )


def _notices() -> None:
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
        sa.Column("noted_at", INSTANT, nullable=False),
        _text("content", null=True),
        _known("kind", *KINDS),
        sa.PrimaryKeyConstraint("notice_id", name="pk_notices"),
    )
    _index("ix_notices_noted", "notices", "noted_at")


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        _text("delivery_id"),
        _text("notice_id"),
        _text("channel_id", null=True),
        _text("channel"),
        _text("channel_kind"),
        _text("recipient"),
        _text("status"),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("may_be_repeated", sa.Boolean(), nullable=False),
        _text("told"),
        _text("fallback_of", null=True),
        sa.Column("made_at", INSTANT, nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.Column("ended_at", INSTANT, nullable=True),
        _known("status", "waiting", "sending", "sent", "unknown", "failed", "skipped"),
        sa.ForeignKeyConstraint(["fallback_of"], ["deliveries.delivery_id"], name="fk_deliveries_fallback_of"),
        sa.ForeignKeyConstraint(["notice_id"], ["notices.notice_id"], name="fk_deliveries_notice_id"),
        sa.PrimaryKeyConstraint("delivery_id", name="pk_deliveries"),
        sa.UniqueConstraint("notice_id", "channel", "recipient", name="uq_deliveries_notice_id"),
    )
    _index("ix_deliveries_made", "deliveries", "made_at", "delivery_id")
    _index("ix_deliveries_open", "deliveries", "notice_id", where="status IN ('waiting', 'sending')")


def _tries() -> None:
    op.create_table(
        "delivery_tries",
        _text("delivery_id"),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("began_at", INSTANT, nullable=False),
        sa.Column("ended_at", INSTANT, nullable=True),
        _text("outcome", null=True),
        _text("told"),
        _known("outcome", "sent", "not_sent", "unknown"),
        sa.ForeignKeyConstraint(["delivery_id"], ["deliveries.delivery_id"], name="fk_delivery_tries_delivery_id"),
        sa.PrimaryKeyConstraint("delivery_id", "number", name="pk_delivery_tries"),
    )


def _preferences() -> None:
    op.create_table(
        "notice_preferences",
        _text("user"),
        _text("channels", null=True),
        _text("kinds", null=True),
        _text("quiet", null=True),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("user", name="pk_notice_preferences"),
    )


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=null)


def _known(column: str, *words: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=f"{column}_known")


def _index(name: str, table: str, *columns: str, where: str | None = None) -> None:
    condition = sa.text(where) if where else None
    op.create_index(name, table, list(columns), unique=False, sqlite_where=condition, postgresql_where=condition)
