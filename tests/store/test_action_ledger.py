"""The ledger of actions: every field is stored, equal actions are executed once, and lost races are noticed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from cairn.core.action import Action, ActionRequirement, ActionVote, LimitUse, Place
from cairn.core.action_judgment import GateStatus
from cairn.core.rule_verdict import RiskLevel
from cairn.core.seats import Capacity, Requirement, SeatGroup
from cairn.core.states import EXECUTED, ActionEffect, ActionState
from cairn.store import Connection, Database, LostRace
from cairn.store import tables as t
from cairn.store.actions import gate_state, ledger
from cairn.store.errors import NotFound
from tests.core.action_builders import HERE, NOON, action, done, refusal, unknown
from tests.store.action_samples import DETAILS, change, load, save, states

POSTGRESQL = [pytest.param("postgresql", marks=pytest.mark.postgres)]
S = ActionState

GROUPS = ((SeatGroup(("leads",), 2, ("ann",)),), (SeatGroup(), SeatGroup(("legal", "finance"))))
BASE = Requirement("careful", "global", GROUPS, not_by_starter=True)
FULL = Action(
    id="new",
    place=Place("family", "checkpoint", "item"),
    run="run",
    execution="execution",
    operation="transfer",
    effect=ActionEffect.SENDS,
    risk=RiskLevel.CRITICAL,
    identity="identity",
    content_digest="content",
    call_digest="call",
    proposed_at=NOON,
    generation=1,
    state=S.WAITING,
    reason="why",
    version=2,
    occurrence=3,
    approved_by="rule:global/small",
    approved_until=NOON + timedelta(hours=24, microseconds=1),
    limit_use=LimitUse("global/small", "day 2026-03-02", Decimal("0.10"), "EUR"),
    modified=True,
    untrusted=True,
    is_handed_over=True,
    is_idempotent=True,
    by_script=True,
    was_unknown=True,
    settled=True,
    resend_permitted=True,
    sends=4,
    start_seq=5,
    owner="server",
    answered=True,
    result={"ok": [1.5, None]},
    reused_of="earlier",
    reported_by="sender",
    requirements=(
        ActionRequirement("global/careful", BASE, replace(BASE, steps=GROUPS[:1])),
        ActionRequirement("global/any", Requirement(), Requirement()),
    ),
    votes=(
        ActionVote("bob", (Capacity("bob"), Capacity("ann", "d1")), 2, "approve", "execute_again", "shown", NOON),
        ActionVote("ann", (Capacity("ann"),), 1, "happened", None, "other", NOON + timedelta(seconds=1)),
    ),
)


def unset(value: Any) -> list[str]:
    """Fields with their default value, whose loss would go unnoticed."""
    return [each.name for each in fields(value) if getattr(value, each.name) == each.default]


# ---- rows ------------------------------------------------------------------------------------------------
def test_every_field_of_an_action_is_stored(database: Database) -> None:
    assert unset(FULL) == []
    save(database, FULL)
    loaded = load(database)
    assert (loaded, loaded.result) == (FULL, FULL.result)  # equality ignores results


def test_every_change_of_an_action_is_stored(database: Database) -> None:
    before = action(place=FULL.place)
    save(database, before)
    change(database, before, FULL, ended_at=NOON)
    assert (load(database), load(database).result) == (FULL, FULL.result)
    less = FULL.replace(votes=FULL.votes[:1], requirements=FULL.requirements[1:], limit_use=None, result=None)
    change(database, FULL, less)
    assert (load(database), load(database).result) == (less, None)


def test_the_history_is_everything_else_of_the_operation_in_the_family(database: Database) -> None:
    new, kept = action(), done("same", result={"ok": True})
    save(
        database,
        new,
        kept,
        done("elsewhere", place=Place("family", "another", "item"), occurrence=2),
        done("another family", place=Place("other", "checkpoint")),
        done("another operation", operation="payout"),
    )

    def fill(connection: Connection) -> None:
        ledger.insert_refusal(connection, refusal())
        ledger.insert_refusal(connection, refusal("revise", operation="payout"))
        ledger.insert_refusal(connection, refusal("revise", Place("other", "checkpoint")))

    database.transact_now(fill)
    found = database.read(lambda c: ledger.load_history(c, new, 0))
    assert [(a.id, a.result) for a in found.others] == [("elsewhere", None), ("same", {"ok": True})]
    assert (found.refusals, found.replayed) == ((refusal(),), frozenset())


def test_actions_are_ordered_by_their_proposal(database: Database) -> None:
    save(
        database,
        action("b", proposed_at=NOON + timedelta(seconds=1)),
        action("c", proposed_at=NOON),
        action("a", proposed_at=NOON + timedelta(seconds=1)),
    )
    assert [a.id for a in database.read(lambda c: ledger.actions_of_execution(c, "execution"))] == ["c", "a", "b"]


def test_an_action_that_does_not_exist(database: Database) -> None:
    assert database.read(lambda c: ledger.find_action(c, "none")) is None
    with pytest.raises(NotFound):
        load(database, "none")


# ---- lost races ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("first", [{"state": S.REFUSED}, {"version": 2}])
def test_a_change_of_an_outdated_action_is_a_lost_race(database: Database, first: dict[str, Any]) -> None:
    before = action(state=S.WAITING)
    save(database, before)
    change(database, before, before.replace(**first))
    with pytest.raises(LostRace):
        change(database, before, before.replace(state=S.APPROVED, votes=FULL.votes, limit_use=FULL.limit_use))
    assert load(database) == before.replace(**first)  # no vote and no limit use is left of it


def test_nothing_changes_without_a_difference(database: Database) -> None:
    before = action(state=S.WAITING)
    save(database, before)
    change(database, before.replace(state=S.REFUSED), before.replace(state=S.REFUSED))
    assert load(database) == before


# ---- executed once ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("state", list(ActionState))
def test_an_occurrence_exists_once_while_it_is_approved_or_executed(database: Database, state: ActionState) -> None:
    save(database, done("first"))
    other = action("second", state, occurrence=1)
    if state in EXECUTED | {S.APPROVED}:
        with pytest.raises(IntegrityError):
            save(database, other)
    else:
        save(database, other)
    for apart in (
        {"occurrence": 2},
        {"occurrence": None},
        {"identity": "another"},
        {"operation": "payout"},
        {"place": Place("other", "checkpoint")},
        {"effect": ActionEffect.SENDS},
    ):
        save(database, other.replace(id=f"{apart}", **apart))


@pytest.mark.parametrize("database_kind", POSTGRESQL)
def test_two_transactions_cannot_execute_the_same_occurrence(database: Database) -> None:
    waiting = [action(name, S.WAITING, execution=name) for name in ("first", "second")]
    save(database, *waiting)
    together = Barrier(2)

    def approve(each: Action) -> str:
        def body(connection: Connection) -> None:
            ledger.load_action(connection, each.id)
            together.wait(30)
            ledger.save_action(connection, each, each.replace(state=S.APPROVED, occurrence=1))

        try:
            database.transact_now(body)
        except IntegrityError:
            return "refused"
        return "approved"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(approve, waiting)) == ["approved", "refused"]
    assert sorted(states(database).values()) == ["approved", "waiting"]


@pytest.mark.parametrize("count", [8])
def test_whoever_holds_the_lock_of_the_family_sees_what_was_approved_before(database: Database, count: int) -> None:
    waiting = [action(f"{n}", S.WAITING, execution=f"{n}") for n in range(count)]
    save(database, *waiting)
    together = Barrier(min(count, 4))  # as many as have connections

    def approve(each: Action) -> None:
        together.wait(30)

        def body(connection: Connection) -> None:
            ledger.lock_family(connection, each.place.family)
            current = ledger.load_action(connection, each.id)
            occurrence = ledger.load_history(connection, current, 0).next_occurrence(current)
            ledger.save_action(connection, current, current.replace(state=S.APPROVED, occurrence=occurrence))

        database.transact_now(body)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(approve, waiting))
    found = database.read(lambda c: ledger.load_actions(c, t.actions.c.state == "approved"))
    assert sorted(a.occurrence or 0 for a in found) == list(range(1, count + 1))


@pytest.mark.parametrize("database_kind", POSTGRESQL)
def test_families_do_not_wait_for_each_other(database: Database) -> None:
    with database.engine.begin() as connection:
        ledger.lock_family(connection, "one")
        database.transact_now(lambda c: ledger.lock_family(c, "other"))


# ---- generations and refusals ----------------------------------------------------------------------------
def test_the_generation_of_a_place_only_rises(database: Database) -> None:
    def at(work: Callable[[Connection], int]) -> int:
        return database.transact_now(work)

    assert at(lambda c: ledger.generation(c, HERE)) == 0
    assert [at(lambda c: ledger.raise_generation(c, HERE)) for _ in range(2)] == [1, 2]
    assert at(lambda c: ledger.raise_generation(c, HERE, at_least=7)) == 7
    assert at(lambda c: ledger.raise_generation(c, HERE, at_least=3)) == 8
    assert at(lambda c: ledger.generation(c, HERE._replace(item="a"))) == 0


def test_places_are_those_where_something_was_proposed(database: Database) -> None:
    save(database, action("a"), action("b"), action("c", place=Place("family", "x", "i")))
    save(database, action("d", place=Place("other", "checkpoint")))
    assert database.read(lambda c: ledger.places_of(c, "family")) == [HERE, Place("family", "x", "i")]
    assert database.read(lambda c: ledger.places_of(c, "family", ["x", "y"])) == [Place("family", "x", "i")]
    assert database.read(lambda c: ledger.places_of(c, "none")) == []


def test_refusals_count_until_a_person_retries_the_work(database: Database) -> None:
    def count(place: Place = HERE, operation: str = "transfer") -> int:
        return database.read(lambda c: ledger.refusals_here(c, place, operation))

    def refuse(kind: str, **changes: Any) -> None:
        database.transact_now(lambda c: ledger.insert_refusal(c, refusal(kind)._replace(**changes)))

    for kind in ("reject", "revise", "revoke", "modify"):
        refuse(kind)
    refuse("reject", operation="payout")
    refuse("reject", place=HERE._replace(item="a"))
    assert (count(), count(operation="payout"), count(HERE._replace(item="a"))) == (3, 1, 1)
    database.transact_now(lambda c: ledger.clear_refusals(c, HERE, NOON + timedelta(seconds=1)))
    assert (count(), database.read(lambda c: ledger.generation(c, HERE))) == (0, 1)
    refuse("reject", at=NOON + timedelta(seconds=2))
    assert (count(), count(HERE._replace(item="a"))) == (1, 1)


def test_waiting_actions_are_counted_at_their_place_and_in_their_run(database: Database) -> None:
    here, elsewhere = action("a", S.WAITING), action("b", S.WAITING, place=Place("family", "x"))
    save(database, here, elsewhere, action("c", S.APPROVED), action("d", S.WAITING, run="another"))
    assert database.read(lambda c: ledger.waiting_counts(c, here)) == (1, 2)


def test_what_is_held_and_what_is_unfinished(database: Database) -> None:
    save(database, *(action(state.value, state, identity=state.value) for state in ActionState))
    save(database, unknown("settled", identity="settled", settled=True))
    assert {a.id for a in database.read(ledger.held_actions)} == {"proposed", "approved", "unknown", "waiting"}
    assert {a.id for a in database.read(ledger.unfinished_actions)} == {"started"}
    ended = load(database, "approved")
    assert {a.id for a in database.read(lambda c: ledger.held_in_family(c, ended))} == {"proposed"}


def test_contents_are_empty_after_retention(database: Database) -> None:
    save(database, action())
    assert database.read(lambda c: ledger.content_of(c, "new")) == DETAILS["content"]
    database.transact_now(lambda c: c.execute(sa.update(t.actions).values(content=None)))
    assert database.read(lambda c: ledger.content_of(c, "new")) == {}


# ---- the gate --------------------------------------------------------------------------------------------
def test_the_state_of_the_gate(database: Database) -> None:
    assert database.read(gate_state.read_status) == GateStatus()
    for status in (GateStatus("approvals"), GateStatus("actions", held=True, reason="restored"), GateStatus()):
        database.transact_now(lambda c, status=status: gate_state.save_status(c, status, "ann", NOON))
        assert database.transact_now(lambda c: gate_state.read_status(c, lock=True)) == status
    assert database.read(lambda c: c.execute(sa.select(sa.func.count()).select_from(t.gate_state)).scalar()) == 1


def test_starts_are_numbered_in_each_journal(database: Database) -> None:
    def following(journal: str) -> int:
        return database.transact_now(lambda c: gate_state.next_start(c, journal))

    assert [following("a"), following("a"), following("b"), following("a")] == [1, 2, 1, 3]
    database.transact_now(lambda c: gate_state.save_last_start(c, "b", 9))
    assert (following("b"), database.read(lambda c: gate_state.last_start(c, "none"))) == (10, 0)


def test_a_number_of_a_journal_is_given_once(database: Database) -> None:
    def insert(connection: Connection, name: str) -> None:
        ledger.insert_action(connection, action(name, start_seq=1), DETAILS | {"journal_id": "a"})

    database.transact_now(lambda c: insert(c, "first"))
    with pytest.raises(IntegrityError):
        database.transact_now(lambda c: insert(c, "second"))


@pytest.mark.parametrize("database_kind", POSTGRESQL)
def test_parallel_starts_get_different_numbers(database: Database) -> None:
    def following(_: int) -> int:
        return database.transact_now(lambda c: gate_state.next_start(c, "journal"))

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(following, range(40))) == list(range(1, 41))
