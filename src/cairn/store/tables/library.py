"""Agents of the library that people have saved: every revision of each."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import json, metadata, moment, text, whole

library_agents = sa.Table(
    "library_agents",
    metadata,
    text("name", primary_key=True),
    whole("revision", primary_key=True, autoincrement=False),  # counts on when one is removed and saved again
    json("document", null=True),  # null: it was removed
    moment("updated_at"),
    text("updated_by"),
)
