"""What rules have approved within their limits, counted in windows of time, runs or values."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from cairn.core.action import LimitUse
from cairn.store import tables as t

W = t.limit_windows.c


class WindowTotals(NamedTuple):
    approvals: int = 0
    total: Decimal = Decimal(0)
    currency: str | None = None


def lock_window(connection: sa.Connection, rule_id: str, window: str) -> WindowTotals:
    """The totals of a window. On PostgreSQL, the row is locked until the transaction ends."""
    query = sa.select(W.approvals, W.total, W.currency).where(*_is(rule_id, window)).with_for_update()
    row = connection.execute(query).one_or_none()
    if row is None and connection.dialect.name == "postgresql":
        empty = {"rule_id": rule_id, "window_key": window, "approvals": 0, "total": "0", "currency": None}
        connection.execute(insert(t.limit_windows).values(empty).on_conflict_do_nothing())
        row = connection.execute(query).one()
    return WindowTotals() if row is None else WindowTotals(row.approvals, Decimal(row.total), row.currency)


def replace_use(connection: sa.Connection, action_id: str, before: LimitUse | None, after: LimitUse | None) -> None:
    """Release what an action uses of a limit, and reserve what it uses now."""
    u = t.limit_uses
    if before is not None:
        connection.execute(sa.delete(u).where(u.c.action_id == action_id))
        _add(connection, before, -1)
    if after is not None:
        amount = None if after.amount is None else str(after.amount)
        row: dict[str, Any] = {"rule_id": after.rule, "window_key": after.window, "amount": amount}
        connection.execute(sa.insert(u).values(action_id=action_id, currency=after.currency, **row))
        _add(connection, after, 1)


def _add(connection: sa.Connection, use: LimitUse, sign: int) -> None:
    totals = lock_window(connection, use.rule, use.window)
    total = totals.total + sign * (use.amount or Decimal(0))
    values: dict[str, Any] = {"approvals": totals.approvals + sign, "total": str(total)}
    if totals.currency is None or not totals.approvals:  # an empty window takes any currency
        values["currency"] = use.currency
    if connection.execute(sa.update(t.limit_windows).where(*_is(use.rule, use.window)).values(values)).rowcount == 0:
        row = {"rule_id": use.rule, "window_key": use.window, **values}
        connection.execute(sa.insert(t.limit_windows).values(row))


def _is(rule_id: str, window: str) -> tuple[sa.ColumnElement[bool], ...]:
    return W.rule_id == rule_id, W.window_key == window
