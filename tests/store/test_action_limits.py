"""Limits of rules: what counts, what is released, and parallel approvals."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier

import sqlalchemy as sa

from cairn.core.action import Action, LimitUse
from cairn.core.states import ActionState
from cairn.store import Connection, Database
from cairn.store import tables as t
from cairn.store.actions import ledger, limits
from cairn.store.actions.limits import WindowTotals
from tests.core.action_builders import action
from tests.store.action_samples import change, save

RULE, DAY = "global/small", "day 2026-03-02"


def use(amount: str | None = "1.10", currency: str | None = "EUR", window: str = DAY, rule: str = RULE) -> LimitUse:
    return LimitUse(rule, window, None if amount is None else Decimal(amount), currency)


def totals(database: Database, window: str = DAY, rule: str = RULE) -> WindowTotals:
    return database.transact_now(lambda c: limits.lock_window(c, rule, window))


def replace(database: Database, before: Action, limit_use: LimitUse | None) -> Action:
    after = before.replace(limit_use=limit_use)
    change(database, before, after)
    return after


def test_an_unused_window_is_empty(database: Database) -> None:
    assert totals(database) == WindowTotals(0, Decimal(0), None)


def test_uses_add_up_exactly_and_are_released(database: Database) -> None:
    first, second = action("a"), action("b")
    save(database, first, second)
    first, second = replace(database, first, use("0.1")), replace(database, second, use("0.2"))
    assert totals(database) == WindowTotals(2, Decimal("0.3"), "EUR")
    first = replace(database, first, None)
    assert totals(database) == WindowTotals(1, Decimal("0.2"), "EUR")
    second = replace(database, second, use("5", window="day 2026-03-03"))
    assert (totals(database), totals(database, "day 2026-03-03")) == (
        WindowTotals(0, Decimal("0.0"), "EUR"),
        WindowTotals(1, Decimal(5), "EUR"),
    )
    assert database.read(lambda c: c.execute(sa.select(sa.func.count()).select_from(t.limit_uses)).scalar()) == 1


def test_windows_of_rules_are_apart(database: Database) -> None:
    save(database, action("a", limit_use=use()), action("b", limit_use=use(rule="global/other")))
    assert (totals(database).approvals, totals(database, rule="global/other").approvals) == (1, 1)


def test_a_use_without_an_amount_counts(database: Database) -> None:
    save(database, action("a", limit_use=use(None, None)))
    assert totals(database) == WindowTotals(1, Decimal(0), None)
    save(database, action("b", limit_use=use("2")))
    assert totals(database) == WindowTotals(2, Decimal(2), "EUR")


def test_an_empty_window_takes_any_currency(database: Database) -> None:
    """Otherwise the next amount would be added to one in another currency."""
    first = action("a", limit_use=use("1"))
    save(database, first)
    replace(database, first, None)
    save(database, action("b", limit_use=use("3", "USD")))
    assert totals(database) == WindowTotals(1, Decimal(3), "USD")


def in_parallel(database: Database, count: int, amount: str, limit: int, total: str) -> list[bool]:
    """So many actions use a limit of so many approvals, or of this total, at the same time."""
    waiting = [action(f"{n}", identity=f"{n}", execution=f"{n}") for n in range(count)]
    save(database, *waiting)
    together = Barrier(4)

    def approve(each: Action) -> bool:
        together.wait(30)

        def body(connection: Connection) -> bool:
            used = limits.lock_window(connection, RULE, DAY)
            if used.approvals + 1 > limit or used.total + Decimal(amount) > Decimal(total):
                return False
            after = each.replace(state=ActionState.APPROVED, occurrence=1, limit_use=use(amount))
            ledger.save_action(connection, each, after)
            return True

        return database.transact_now(body)

    with ThreadPoolExecutor(4) as pool:  # as many as have connections
        return list(pool.map(approve, waiting))


def test_twenty_parallel_uses_stay_within_a_limit_of_approvals(database: Database) -> None:
    approved = in_parallel(database, 20, "1", 7, "1000")
    assert (sum(approved), totals(database)) == (7, WindowTotals(7, Decimal(7), "EUR"))


def test_twenty_parallel_uses_stay_within_a_limit_of_their_sum(database: Database) -> None:
    approved = in_parallel(database, 20, "10.5", 100, "52.5")
    assert (sum(approved), totals(database)) == (5, WindowTotals(5, Decimal("52.5"), "EUR"))


def test_parallel_releases_are_all_counted(database: Database) -> None:
    used = [action(f"{n}", identity=f"{n}", limit_use=use("1")) for n in range(20)]
    save(database, *used)

    def release(each: Action) -> None:
        replace(database, each, None)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(release, used))
    assert totals(database) == WindowTotals(0, Decimal(0), "EUR")
