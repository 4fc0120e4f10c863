"""Whether actions are stopped or held, and the numbers of starts in the journals."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from cairn.core.action_judgment import GateStatus
from cairn.store import tables as t

_ROW = 1


def read_status(connection: sa.Connection, *, lock: bool = False) -> GateStatus:
    """`lock`: on PostgreSQL, let no other transaction change it until this one ends."""
    g = t.gate_state.c
    query = sa.select(g.stop, g.held, g.reason).where(g.id == _ROW)
    row = connection.execute(query.with_for_update(read=True) if lock else query).one_or_none()
    return GateStatus() if row is None else GateStatus(row.stop, row.held, row.reason)


class LastChange(NamedTuple):
    """Who changed the status last."""

    at: datetime | None = None
    by: str = ""


def last_change(connection: sa.Connection) -> LastChange:
    g = t.gate_state.c
    row = connection.execute(sa.select(g.changed_at, g.changed_by).where(g.id == _ROW)).one_or_none()
    return LastChange() if row is None else LastChange(row.changed_at, row.changed_by)


def save_status(connection: sa.Connection, status: GateStatus, by: str, at: datetime) -> None:
    g = t.gate_state
    values = {"stop": status.stop, "held": status.held, "reason": status.reason, "changed_at": at, "changed_by": by}
    if connection.execute(sa.update(g).where(g.c.id == _ROW).values(values)).rowcount == 0:
        connection.execute(sa.insert(g).values(id=_ROW, **values))


def hold(connection: sa.Connection, reason: str, by: str, at: datetime) -> None:
    """Hold actions until an admin has reviewed them. A stop stays."""
    status = read_status(connection, lock=True)
    save_status(connection, GateStatus(status.stop, held=True, reason=reason), by, at)


def save_stop(connection: sa.Connection, stop: str, by: str, at: datetime) -> None:
    """Change the stop only."""
    g = t.gate_state
    changed = sa.update(g).where(g.c.id == _ROW).values(stop=stop, changed_at=at, changed_by=by)
    if connection.execute(changed).rowcount == 0:
        save_status(connection, GateStatus(stop), by, at)


def last_start(connection: sa.Connection, journal_id: str) -> int:
    """The number of the last start of this journal that the database knows."""
    j = t.journals.c
    return connection.execute(sa.select(j.last_seq).where(j.journal_id == journal_id)).scalar() or 0


def next_start(connection: sa.Connection, journal_id: str) -> int:
    """The number of the next start. Other starts of the journal wait until the transaction ends.

    So the database has given every number that is in the journal, unless an older database was restored.
    """
    j = t.journals
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    first = insert(j).values(journal_id=journal_id, last_seq=1)
    following = first.on_conflict_do_update(index_elements=[j.c.journal_id], set_={"last_seq": j.c.last_seq + 1})
    return connection.execute(following.returning(j.c.last_seq)).scalar_one()


def save_last_start(connection: sa.Connection, journal_id: str, number: int) -> None:
    j = t.journals
    if connection.execute(sa.update(j).where(j.c.journal_id == journal_id).values(last_seq=number)).rowcount == 0:
        connection.execute(sa.insert(j).values(journal_id=journal_id, last_seq=number))
