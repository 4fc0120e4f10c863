"""Save comments and uploads. The engine saves approvals and decisions with their run."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from cairn.store import Connection
from cairn.store import tables as t


def insert_comment(
    connection: Connection, comment_id: str, approval_id: str, author: str, text: str, at: datetime
) -> bool:
    """Insert a comment. Return False if it exists already because its command was sent again."""
    c = t.approval_comments.c
    if connection.execute(sa.select(c.comment_id).where(c.comment_id == comment_id)).one_or_none():
        return False
    connection.execute(
        sa.insert(t.approval_comments).values(
            comment_id=comment_id, approval_id=approval_id, by=author, at=at, text=text
        )
    )
    return True


def insert_upload(connection: Connection, **values: Any) -> None:
    connection.execute(sa.insert(t.uploads).values(**values))
