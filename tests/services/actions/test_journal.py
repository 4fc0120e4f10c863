"""Merge the journal into a restored database: every state of a row, missing rows, refusals, limits and generations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.core.action import Action, LimitUse, Place, Refusal
from cairn.core.action_judgment import GateStatus
from cairn.core.states import EXECUTED, ActionEffect, ActionState
from cairn.documents import decode_json, encode_json
from cairn.services.actions import journal
from cairn.services.actions.journal import MergeReport, refusal_line, start_line
from cairn.store import Connection, Database, verify
from cairn.store import tables as t
from cairn.store.actions import gate_state, ledger, limits
from cairn.store.actions.limits import WindowTotals
from tests.core.action_builders import HERE, NOON, action, done, refusal, unknown, vote
from tests.store.action_samples import DETAILS, load, save, states
from tests.store.samples import create_run, make_document

S = ActionState
LATER = NOON + timedelta(days=1)
MERGED = {S.PROPOSED, S.WAITING, S.APPROVED, S.STARTED, S.HANDED_OVER, S.FAILED, S.UNKNOWN}
USE = LimitUse("global/small", "day 2026-03-02", Decimal("1.50"), "EUR")


def started(id: str = "new", number: int = 1, **fields: Any) -> Action:
    """An action as it was when it started."""
    given: dict[str, Any] = {"occurrence": 1, "approved_by": "people", "sends": 1, "start_seq": number}
    return action(id, S.STARTED, **(given | fields))


def line(of: Action, name: str = "journal-a", at: Any = NOON) -> dict[str, Any]:
    """The line that is written when the action starts, as it is read again."""
    written = start_line(of, "pipeline", name, at)
    read = decode_json(encode_json(written), max_bytes=64_000)
    assert isinstance(read, dict)
    return dict(read)


def no(id: str, of: Refusal) -> dict[str, Any]:
    return dict(refusal_line(id, of))


def merge(database: Database, *lines: dict[str, Any]) -> MergeReport:
    return database.transact_now(lambda c: journal.merge(c, lines, LATER))


def status(database: Database) -> GateStatus:
    return database.read(gate_state.read_status)


def events(database: Database) -> list[tuple[str, str | None]]:
    e = t.events.c
    query = sa.select(e.event_type, e.run_id).order_by(e.id)
    return [(row.event_type, row.run_id) for row in database.read(lambda c: c.execute(query).all())]


def generation(database: Database, place: Place = HERE) -> int:
    return database.read(lambda c: ledger.generation(c, place))


# ---- nothing is missing ----------------------------------------------------------------------------------
@pytest.mark.parametrize("ahead", [0, 3])
def test_a_database_that_knows_the_journal_is_not_held(database: Database, ahead: int) -> None:
    save(database, started(), done("another", occurrence=2))
    database.transact_now(lambda c: ledger.insert_refusal(c, refusal(), "no"))
    database.transact_now(lambda c: gate_state.save_last_start(c, "journal-a", 1 + ahead))
    assert merge(database, line(started()), no("no", refusal())) == MergeReport()
    assert merge(database) == MergeReport()
    assert (states(database), status(database)) == ({"new": "started", "another": "done"}, GateStatus())
    assert (generation(database), events(database)) == (0, [])


def test_lines_of_another_kind_are_ignored(database: Database) -> None:
    assert merge(database, {"kind": "another"}, {}) == MergeReport()
    assert status(database) == GateStatus()


# ---- rows in each state ----------------------------------------------------------------------------------
@pytest.mark.parametrize("state", list(ActionState))
def test_a_start_that_the_database_does_not_know_makes_the_outcome_unknown(
    database: Database, state: ActionState
) -> None:
    known = action(
        state=state,
        settled=state is S.UNKNOWN,
        resend_permitted=state is S.UNKNOWN,
        votes=(vote(action()),),
        result={"old": True},
    )
    save(database, known)
    assert merge(database, line(started(approved_by="rule:global/small", limit_use=USE))).actions == ("new",)
    found = load(database)
    if state in MERGED:
        assert found == known.replace(
            state=S.UNKNOWN,
            was_unknown=True,
            settled=False,
            resend_permitted=False,
            sends=1,
            occurrence=1,
            approved_by="rule:global/small",
            limit_use=USE,
            start_seq=1,
            reason=found.reason,
            votes=(),
        )
        assert found.is_unsettled
        assert database.read(lambda c: ledger.content_of(c, "new")) == DETAILS["content"]
    else:
        assert found == known  # done stays done, and the others were never started
    assert status(database).held
    assert generation(database) == 1


def test_merging_again_changes_nothing(database: Database) -> None:
    save(database, action(state=S.APPROVED))
    lines = [line(started(limit_use=USE)), no("no", refusal())]
    assert not merge(database, *lines).is_empty
    before = (load(database), generation(database), events(database))
    database.transact_now(lambda c: gate_state.save_status(c, GateStatus(), "admin", NOON))
    assert merge(database, *lines) == MergeReport()
    assert (load(database), generation(database), events(database)) == before
    assert status(database) == GateStatus()


def test_an_action_that_was_sent_twice_is_merged_once(database: Database) -> None:
    save(database, action(state=S.APPROVED))
    again = started(number=4, was_unknown=True, sends=2)
    assert merge(database, line(started()), line(again, "journal-b")).actions == ("new",)
    assert (load(database).state, load(database).start_seq) == (S.UNKNOWN, 4)
    assert database.read(lambda c: gate_state.last_start(c, "journal-b")) == 4


def test_a_modification_that_was_lost_is_not_sent_again(database: Database) -> None:
    """The database has another content than the one that was sent."""
    save(database, action(state=S.WAITING, identity="before", content_digest="before"))
    merge(database, line(started(identity="after", content_digest="after")))
    found = load(database)
    assert (found.identity, found.content_digest) == ("after", "after")
    assert database.read(lambda c: ledger.content_of(c, "new")) == {}


# ---- missing rows ----------------------------------------------------------------------------------------
def test_a_forgotten_action_is_known_again_without_its_content(database: Database) -> None:
    forgotten = started(
        "forgotten", place=Place("family", "x", "item"), generation=2, approved_by="rule:global/small", limit_use=USE
    )
    assert merge(database, line(forgotten)).actions == ("forgotten",)
    found = load(database, "forgotten")
    expected = forgotten.replace(
        state=S.UNKNOWN, was_unknown=True, call_digest="", reason=found.reason, proposed_at=NOON, owner=""
    )
    assert found == expected
    assert database.read(lambda c: ledger.content_of(c, "forgotten")) == {}
    row = database.read(lambda c: ledger.details_of(c, "forgotten"))
    assert (row.pipeline_id, row.journal_id, row.summary) == ("pipeline", "journal-a", "transfer")
    assert database.transact_now(lambda c: limits.lock_window(c, USE.rule, USE.window)).approvals == 1


def test_forgotten_actions_are_equal_to_later_ones(database: Database) -> None:
    merge(database, line(started("forgotten")))
    new = action(generation=generation(database))
    past = database.read(lambda c: ledger.load_history(c, new, 0))
    assert ([a.id for a in past.equal(new)], [a.id for a in past.earlier(new)]) == (["forgotten"], ["forgotten"])
    assert past.being_executed(new) is not None
    assert past.next_occurrence(new) == 2


# ---- occurrences -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("state", sorted(EXECUTED | {S.APPROVED}))
def test_an_equal_action_of_the_backup_gives_up_its_occurrence(database: Database, state: ActionState) -> None:
    """It was no longer approved or executed when the other one started, or they would have different occurrences."""
    earlier = action(
        "earlier", state, occurrence=1, approved_by="people", limit_use=USE, votes=(vote(action()),), execution="other"
    )
    save(database, earlier)
    merge(database, line(started("late")))
    late, found = load(database, "late"), load(database, "earlier")
    assert late.state is S.UNKNOWN
    match state:
        case S.DONE:  # which was certain
            assert (found, late.occurrence) == (earlier, None)
        case S.APPROVED:
            assert (found.state, found.occurrence, found.approved_by, found.limit_use) == (S.WAITING, None, "", None)
            assert (found.votes, late.occurrence) == ((), 1)
        case _:
            assert (found.state, found.occurrence, found.is_unsettled, found.was_unknown) == (
                S.UNKNOWN,
                None,
                True,
                True,
            )
            assert (found.limit_use, late.occurrence) == (USE, 1)


def test_two_forgotten_actions_with_the_same_occurrence_are_both_unknown(database: Database) -> None:
    """The first one failed before the second one started. Journals of several servers are not in order."""
    second, first = line(started("second"), "journal-a", LATER), line(started("first"), "journal-b", NOON)
    assert merge(database, second, first).actions == ("first", "second")
    found = {name: load(database, name) for name in ("first", "second")}
    assert {name: (a.state, a.occurrence) for name, a in found.items()} == {
        "first": (S.UNKNOWN, None),
        "second": (S.UNKNOWN, 1),
    }


def test_what_changes_nothing_keeps_its_occurrence(database: Database) -> None:
    sends: dict[str, Any] = {"effect": ActionEffect.SENDS}
    save(database, action("earlier", S.APPROVED, occurrence=1, **sends))
    merge(database, line(started("late", **sends)))
    assert states(database) == {"earlier": "approved", "late": "unknown"}


# ---- refusals --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["reject", "revise", "revoke", "modify"])
def test_a_refusal_that_the_database_does_not_know_is_added(database: Database, kind: str) -> None:
    said = refusal(kind, Place("family", "x", "item"))
    assert merge(database, no("no", said)) == MergeReport(refusals=1)
    new = action(place=said.place)
    assert database.read(lambda c: ledger.load_history(c, new, 0)).refusals == (said,)
    assert (status(database).held, generation(database, said.place)) == (True, 0)


@pytest.mark.parametrize("kind", ["reject", "revise", "revoke", "modify"])
def test_people_decide_again_on_an_approval_that_may_have_been_revoked(database: Database, kind: str) -> None:
    approved = {"approved_by": "people", "votes": (vote(action()),), "limit_use": USE}
    save(
        database,
        action("revoked", S.APPROVED, occurrence=1, **approved),
        action("another", S.APPROVED, occurrence=1, identity="another", **approved),
        action("elsewhere", S.APPROVED, occurrence=2, place=HERE._replace(item="a"), **approved),
        action("waiting", S.WAITING),
    )
    merge(database, no("no", refusal(kind)))
    expected = {"revoked": "approved", "another": "approved", "elsewhere": "approved", "waiting": "waiting"}
    assert states(database) == (expected if kind == "modify" else expected | {"revoked": "waiting"})
    if kind != "modify":
        found = load(database, "revoked")
        assert (found.votes, found.approved_by, found.occurrence, found.limit_use) == ((), "", None, None)


# ---- generations -----------------------------------------------------------------------------------------
def test_the_work_of_merged_places_is_in_a_new_generation(database: Database) -> None:
    elsewhere = Place("family", "x")
    database.transact_now(lambda c: [ledger.raise_generation(c, HERE) for _ in range(5)])
    merge(
        database,
        line(started("a", 1, identity="a", generation=2)),
        line(started("b", 2, identity="b", generation=7)),
        line(started("c", 3, identity="c", generation=1)),
        line(started("d", 4, identity="d", place=elsewhere, generation=0)),
    )
    assert (generation(database), generation(database, elsewhere)) == (8, 1)
    assert generation(database, HERE._replace(item="a")) == 0


def test_a_place_that_has_been_repeated_since_is_repeated_once_more(database: Database) -> None:
    database.transact_now(lambda c: ledger.raise_generation(c, HERE, at_least=9))
    merge(database, line(started("a", generation=2)))
    assert generation(database) == 10


# ---- limits ----------------------------------------------------------------------------------------------
def window(connection: Connection, key: str = USE.window) -> WindowTotals:
    return limits.lock_window(connection, USE.rule, key)


def test_the_limit_counts_what_the_journal_knows(database: Database) -> None:
    save(database, action("known", S.APPROVED, limit_use=replace(USE, window="day 2026-03-01")))
    merge(
        database,
        line(started("known", 1, limit_use=USE)),
        line(started("forgotten", 2, identity="b", limit_use=replace(USE, amount=None, currency=None))),
        line(started("people", 3, identity="c")),
    )
    assert database.transact_now(window) == WindowTotals(2, Decimal("1.50"), "EUR")
    assert database.transact_now(lambda c: window(c, "day 2026-03-01")).approvals == 0


# ---- the installation is held ------------------------------------------------------------------------------
@pytest.mark.parametrize("stop", ["", "approvals", "actions"])
def test_the_installation_is_held_and_a_stop_stays(database: Database, stop: str) -> None:
    database.transact_now(lambda c: gate_state.save_status(c, GateStatus(stop), "ann", NOON))
    merge(database, line(started("a")))
    found = status(database)
    assert (found.stop, found.held, bool(found.reason)) == (stop, True, True)
    assert events(database) == [("action_unknown", None), ("actions_held", None)]


def test_a_run_records_what_became_of_its_actions(database: Database) -> None:
    harness = create_run(database, make_document("a"))
    run = harness.loaded.facts.run_id
    save(database, action("known", S.APPROVED, run=run), action("equal", S.APPROVED, occurrence=1, run=run))
    before = len(events(database))
    merge(database, line(started("known", run=run)), line(started("forgotten", 2, identity="b", run=run)))
    assert events(database)[before:] == [
        ("action_waiting", run),
        ("action_unknown", run),
        ("action_unknown", run),
        ("actions_held", None),
    ]
    assert database.read(verify).valid


# ---- numbers of starts -------------------------------------------------------------------------------------
def test_only_the_numbers_that_the_database_has_not_given_are_missing(database: Database) -> None:
    database.transact_now(lambda c: gate_state.save_last_start(c, "journal-a", 2))
    lines: Iterable[dict[str, Any]] = (line(started(f"{n}", n, identity=f"{n}")) for n in range(1, 5))
    assert merge(database, *lines).actions == ("3", "4")
    assert database.transact_now(lambda c: gate_state.next_start(c, "journal-a")) == 5


def test_journals_are_counted_apart(database: Database) -> None:
    database.transact_now(lambda c: gate_state.save_last_start(c, "journal-a", 9))
    first, second = line(started("a", 3, identity="a")), line(started("b", 3, identity="b"), "journal-b")
    assert merge(database, first, second).actions == ("b",)
    assert database.read(lambda c: gate_state.last_start(c, "journal-a")) == 9


def test_a_settled_outcome_is_an_open_question_again(database: Database) -> None:
    """It was sent again after the backup."""
    save(database, unknown("new", settled=True, occurrence=1))
    merge(database, line(started(number=5, sends=2)))
    assert load(database).is_unsettled
