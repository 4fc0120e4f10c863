"""Settings of the installation that are stored in the database."""

from __future__ import annotations

import sqlalchemy as sa

from cairn.store.tables.metadata import json, metadata, text

settings = sa.Table("settings", metadata, text("key", primary_key=True), json("value", null=True))
