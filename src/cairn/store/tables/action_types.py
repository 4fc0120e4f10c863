"""Action types that admins declare."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import json, metadata, text, timestamp

action_types = sa.Table(
    "action_types",
    metadata,
    text("name", primary_key=True),
    json("declaration"),
    timestamp("updated_at"),
    text("updated_by"),
)
