"""Save reviews. The store saves rules and emergency stops."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from cairn.store import Connection
from cairn.store import tables as t


def save_review(
    connection: Connection, approval_id: str, agrees: bool, comment: str, reviewer: str, at: datetime
) -> None:
    """Save a review, which replaces the previous one."""
    reviews = t.audit_reviews
    values = {"agrees": agrees, "comment": comment, "by": reviewer, "at": at}
    update = sa.update(reviews).where(reviews.c.approval_id == approval_id).values(values)
    if connection.execute(update).rowcount == 0:
        connection.execute(sa.insert(reviews).values(approval_id=approval_id, **values))
