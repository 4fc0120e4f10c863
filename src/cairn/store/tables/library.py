"""Every revision of the library agents that users have saved."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import integer, json, metadata, text, timestamp

library_agents = sa.Table(
    "library_agents",
    metadata,
    text("name", primary_key=True),
    integer("revision", primary_key=True, autoincrement=False),  # continues when an agent is removed and saved again
    json("document", null=True),  # null: removed in this revision
    timestamp("updated_at"),
    text("updated_by"),
)
