"""Rules for approvals: every version of their texts, which is in force, stops, and what people say of samples."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import flag, index, metadata, moment, refers, text, whole

# A scope is `global`, or a pipeline's id.
rule_versions = sa.Table(
    "rule_versions",
    metadata,
    text("scope", primary_key=True),
    whole("revision", primary_key=True, autoincrement=False),
    text("text"),  # as it was written
    text("digest"),  # of the text
    text("author"),
    text("comment"),
    moment("created_at"),
)

active_rules = sa.Table(
    "active_rules",
    metadata,
    text("scope", primary_key=True),
    whole("revision"),  # that is in force; 0: none was saved yet
    flag("stopped"),  # on the global one: nothing is approved without people
)

emergency_stops = sa.Table(
    "emergency_stops",
    metadata,
    whole("number", primary_key=True, autoincrement=False),
    flag("stopped"),
    text("reason"),
    text("by"),
    moment("at"),
)

audit_reviews = sa.Table(
    "audit_reviews",
    metadata,
    text("approval_id", refers("approvals.approval_id"), primary_key=True),
    flag("agrees"),
    text("comment"),
    text("by"),
    moment("at"),
    index("ix_audit_reviews_at", "at", "approval_id"),
)
