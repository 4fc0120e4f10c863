"""Approval rules: every version, the active ones, emergency stops and audit reviews."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import flag, index, integer, metadata, references, text, timestamp

# A scope is `global`, or a pipeline's id.
rule_versions = sa.Table(
    "rule_versions",
    metadata,
    text("scope", primary_key=True),
    integer("revision", primary_key=True, autoincrement=False),
    text("text"),  # as its author wrote it
    text("digest"),  # of the text
    text("created_by"),
    text("comment"),
    timestamp("created_at"),
)

active_rules = sa.Table(
    "active_rules",
    metadata,
    text("scope", primary_key=True),
    integer("revision"),  # the active one; 0: none saved yet
    flag("stopped"),  # only used on the global scope: automatic approvals are off
)

emergency_stops = sa.Table(
    "emergency_stops",
    metadata,
    integer("number", primary_key=True, autoincrement=False),
    flag("stopped"),
    text("reason"),
    text("by"),
    timestamp("at"),
)

audit_reviews = sa.Table(
    "audit_reviews",
    metadata,
    text("approval_id", references("approvals.approval_id"), primary_key=True),
    flag("agrees"),
    text("comment"),
    text("by"),
    timestamp("at"),
    index("ix_audit_reviews_at", "at", "approval_id"),
)
