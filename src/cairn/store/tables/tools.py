"""Tools of other programs, as they were last offered, and what admins allow them to do."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.core.states import ActionEffect
from cairn.store.column_types import one_of
from cairn.store.tables.metadata import flag, json, metadata, text, timestamp

offered_tools = sa.Table(
    "offered_tools",
    metadata,
    text("name", primary_key=True),  # mcp:SERVER/TOOL
    text("server"),  # its command with arguments, or its URL
    text("server_digest"),
    text("tool_digest"),
    json("definition"),  # description, schema and annotations
    timestamp("seen_at"),  # first in this version
)

tool_grants = sa.Table(
    "tool_grants",
    metadata,
    text("name", primary_key=True),
    text("effect"),
    json("hosts"),  # of a tool that sends
    text("url_argument", null=True),
    flag("may_skip_approval"),
    text("error_outcome"),
    json("pipelines"),  # only for the search of model providers
    text("server", null=True),  # the version that the admin saw; null for a tool of Cairn
    text("server_digest", null=True),
    text("tool_digest", null=True),
    json("definition"),
    timestamp("updated_at"),
    text("updated_by"),
    one_of("effect", ActionEffect),
    one_of("error_outcome", "failed", "unknown"),
)
