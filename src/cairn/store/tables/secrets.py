"""Encrypted secrets."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import json, metadata, text, timestamp

secrets = sa.Table(
    "secrets",
    metadata,
    text("name", primary_key=True),
    text("ciphertext"),  # the value and the name, encrypted
    json("hosts"),  # that may receive it
    json("pipelines"),  # ids of the pipelines that may use it
    json("action_types"),  # the action types and MCP servers that it may be used for
    timestamp("created_at"),
    text("created_by"),
    timestamp("updated_at"),
    text("updated_by"),
)
