"""Save the validations of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from cairn.store import Connection
from cairn.store import tables as t


def insert_validations(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    connection.execute(sa.insert(t.validations), rows)
