"""The event chain: events stay in order, and tampering is detected."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.core.commands import CancelRun, PauseRun, ResumeRun, RollBack, StartRun
from cairn.core.events import EventType
from cairn.core.states import ApprovalKind, WaitingOn
from cairn.documents import canonical
from cairn.store import Database, LostRace, VerificationResult, verify
from cairn.store.events import chain as events
from cairn.store.events.chain import EventRecord
from cairn.store.events.descriptions import CHOICES, SENTENCES, SUBJECTS, describe
from cairn.store.tables import events as table
from cairn.store.tables import pipeline_runs, pipelines
from tests.mentions import mentions
from tests.store.samples import NOON, RunHarness, create_run, make_document

PIPELINE_EVENTS = ("created", "updated", "deleted", "restored", "reverted")


@pytest.fixture
def harness(database: Database) -> RunHarness:
    """A run with six events, and two events of its pipeline."""
    harness = create_run(database, make_document("a", "b"))
    harness.send(StartRun())
    harness.send(PauseRun())
    harness.send(ResumeRun())
    harness.send(CancelRun())
    append(harness, "pipeline_created", {})
    append(harness, "pipeline_updated", {"number": 1})
    return harness


def append(harness: RunHarness, type: str, metadata: Mapping[str, Any]) -> str:
    pipeline_id = harness.loaded.facts.pipeline_id
    return harness.database.transact_now(
        lambda c: events.append_pipeline_event(c, pipeline_id, type, "ann", NOON, metadata)
    )


def rows(harness: RunHarness) -> list[sa.RowMapping]:
    query = sa.select(table).where(table.c.chain == harness.loaded.facts.run_id).order_by(table.c.seq)
    return harness.database.read(lambda c: list(c.execute(query).mappings()))


def tamper(harness: RunHarness, *statements: str, **values: Any) -> None:
    """Change rows directly in the database, without the triggers."""

    def change(connection: sa.Connection) -> None:
        if harness.database.kind == "sqlite":
            for trigger in ("events_not_updated", "events_not_deleted"):
                connection.execute(sa.text(f"DROP TRIGGER {trigger}"))
        else:
            connection.execute(sa.text("ALTER TABLE events DISABLE TRIGGER USER"))
        for statement in statements:
            connection.execute(sa.text(statement), {"run": harness.loaded.facts.run_id, **values})

    harness.database.transact_now(change)


def verification(harness: RunHarness, chain: str | None = None) -> VerificationResult:
    return harness.database.read(lambda c: verify(c, chain))


# ---- valid chains ---------------------------------------------------------------------------------
def test_each_event_has_the_hash_of_the_previous_one(harness: RunHarness) -> None:
    head = ""
    for seq, row in enumerate(rows(harness), 1):
        ids = [row[f"{of}_id"] for of in ("pipeline", "run", "execution", "checkpoint", "approval", "rollback")]
        moment = row["timestamp"].strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        fields = [head, row["chain"], seq, row["event_type"], moment, row["actor"], ids, row["description"]]
        assert row["previous_hash"] == head
        assert row["hash"] == hashlib.sha256(canonical([*fields, row["metadata"]])).hexdigest()
        assert row["event_id"].replace("-", "") == row["hash"][:32]
        head = row["hash"]
    found = harness.rows(pipeline_runs, "event_seq", "event_head")
    assert found == [(len(rows(harness)), head)]


def test_events_record_actor_time_and_subjects(harness: RunHarness) -> None:
    first, second = rows(harness)[0], rows(harness)[1]
    facts = harness.loaded.facts
    e = next(iter(harness.loaded.run.executions.values()))
    assert (first["event_type"], first["actor"], first["timestamp"]) == (
        "run_started",
        "ann",
        NOON + timedelta(seconds=1),
    )
    assert (first["pipeline_id"], first["run_id"], first["execution_id"]) == (facts.pipeline_id, facts.run_id, None)
    assert (second["event_type"], second["execution_id"]) == ("execution_created", e.id)
    assert second["checkpoint_id"] == harness.loaded.places["a"].checkpoint_id
    assert second["description"] == mentions("A")


def test_an_intact_trail_is_valid(harness: RunHarness) -> None:
    run, pipeline = harness.loaded.facts.run_id, harness.loaded.facts.pipeline_id
    count = len(rows(harness))
    assert verification(harness) == VerificationResult(2, count + 2, ())
    assert verification(harness, run) == VerificationResult(1, count, ())
    assert verification(harness, pipeline) == VerificationResult(1, 2, ())
    assert verification(harness, "unknown") == VerificationResult(0, 0, ())
    assert verification(harness).is_valid


def test_metadata_is_exact(harness: RunHarness) -> None:
    value = {"big": 2**70, "float": 0.1, "text": "ü\0", "deep": [[[{"a": None}]]]}
    append(harness, "pipeline_updated", value)
    query = sa.select(table.c["metadata"]).order_by(table.c.id.desc()).limit(1)
    assert harness.database.read(lambda c: c.execute(query).scalar_one()) == value
    assert verification(harness).is_valid


def test_an_appended_event_makes_loaded_runs_stale(harness: RunHarness) -> None:
    run_id = harness.loaded.facts.run_id
    record = EventRecord("files_repaired", {"written": 3})
    harness.database.transact_now(lambda c: events.append_run_event(c, run_id, record, "system", NOON))
    with pytest.raises(LostRace):
        harness.send(RollBack("r", -1))
    harness.loaded = harness.load()
    harness.send(RollBack("r", -1))
    assert verification(harness).is_valid
    assert rows(harness)[-1]["seq"] == harness.loaded.event_seq


# ---- tampering ---------------------------------------------------------------------------------------
COLUMNS = {
    "event_type": "'run_completed'",
    "actor": "'eve'",
    "timestamp": "'2020-01-01T00:00:00.000000Z'",
    "description": "'All is well.'",
    "metadata": "'[]'",
    "pipeline_id": "'other'",
    "run_id": "'other'",
    "execution_id": "'other'",
    "checkpoint_id": "'other'",
    "approval_id": "'other'",
    "rollback_id": "'other'",
}


@pytest.mark.parametrize("column", COLUMNS)
def test_a_changed_event_is_found(harness: RunHarness, column: str) -> None:
    tamper(harness, f"UPDATE events SET {column} = {COLUMNS[column]} WHERE chain = :run AND seq = 2")
    found = verification(harness)
    assert [(broken.seq, broken.reason) for broken in found.broken] == [(2, mentions())]
    assert verification(harness, harness.loaded.facts.pipeline_id).is_valid


def test_a_changed_id_is_found(harness: RunHarness) -> None:
    tamper(harness, "UPDATE events SET event_id = 'other' WHERE chain = :run AND seq = 2")
    assert [(broken.seq, broken.reason) for broken in verification(harness).broken] == [(2, mentions())]


def test_a_removed_event_is_found(harness: RunHarness) -> None:
    tamper(harness, "DELETE FROM events WHERE chain = :run AND seq IN (2, 3)")
    assert [(b.seq, b.reason) for b in verification(harness).broken] == [(4, mentions("2"))]


def test_a_removed_event_with_renumbered_successors_is_found(harness: RunHarness) -> None:
    last = len(rows(harness))
    moves = [f"UPDATE events SET seq = {seq - 1} WHERE chain = :run AND seq = {seq}" for seq in range(3, last + 1)]
    tamper(harness, "DELETE FROM events WHERE chain = :run AND seq = 2", *moves)
    found = verification(harness).broken
    assert found[0].seq == 2
    assert found[-1].reason == mentions("1")


def test_a_truncated_trail_is_found(harness: RunHarness) -> None:
    last = len(rows(harness))
    tamper(harness, "DELETE FROM events WHERE chain = :run AND seq > 1")
    assert [(b.seq, b.reason) for b in verification(harness).broken] == [(2, mentions(last - 1))]


def test_a_deleted_trail_is_found(harness: RunHarness) -> None:
    tamper(harness, "DELETE FROM events WHERE chain = :run")
    found = verification(harness)
    assert (found.chains, [b.seq for b in found.broken]) == (2, [1])


def test_a_forged_last_event_is_found(harness: RunHarness) -> None:
    chain = harness.loaded.chain
    _, forged = events.seal(chain, [EventRecord("run_completed", {})], "eve", NOON)
    harness.database.transact_now(lambda c: events.insert(c, forged))
    assert [(b.seq, b.reason) for b in verification(harness).broken] == [(chain.seq + 1, mentions())]


def test_a_rewritten_trail_is_found_by_its_head(harness: RunHarness) -> None:
    """All events are sealed again, but the run's row has the original head."""
    tamper(harness, "DELETE FROM events WHERE chain = :run")
    begin = events.Chain(
        harness.loaded.facts.run_id, harness.loaded.facts.pipeline_id, harness.loaded.facts.run_id, 0, ""
    )
    records = [EventRecord("run_started", {})] * harness.loaded.event_seq
    harness.database.transact_now(lambda c: events.insert(c, events.seal(begin, records, "eve", NOON)[1]))
    assert [b.seq for b in verification(harness).broken] == [harness.loaded.event_seq]


# ---- pipeline events ---------------------------------------------------------------------------------
def test_a_pipeline_has_its_own_chain(harness: RunHarness) -> None:
    event_id = append(harness, "checkpoint_added", {"checkpoint": "c"})
    query = sa.select(table.c.seq, table.c.run_id, table.c.description).where(table.c.event_id == event_id)
    row = harness.database.read(lambda c: c.execute(query).one())
    assert tuple(row) == (3, None, mentions("c"))
    query = sa.select(pipelines.c.event_seq)
    assert harness.database.read(lambda c: c.execute(query).scalar_one()) == 3


# ---- descriptions ------------------------------------------------------------------------------------
def test_every_event_has_a_sentence() -> None:
    assert {str(each) for each in EventType} <= set(SENTENCES)
    assert {f"pipeline_{change}" for change in PIPELINE_EVENTS} <= set(SENTENCES)


def test_every_approval_kind_and_wait_has_its_own_sentence() -> None:
    kinds, waits = {kind.value for kind in ApprovalKind}, {wait.value for wait in WaitingOn}
    assert (set(SUBJECTS), set(CHOICES["approval_requested"][1])) == (kinds, kinds)
    assert set(CHOICES["execution_waiting"][1]) == waits
    for event, (key, sentences) in CHOICES.items():
        described = {describe(event, "Design", {"user": "mira", key: value}) for value in sentences}
        assert [sentence for sentence in described if "{" in sentence or "none" in sentence] == []


@pytest.mark.parametrize("type", SENTENCES)
def test_a_sentence_is_built_from_any_metadata(type: str) -> None:
    for metadata in ({}, {"error": "x" * 1000 + "\0\ud800"}, {"artifacts": [{"name": "n"}], "waiting_on": "a_b"}):
        sentence = describe(type, None, metadata)
        assert "{" not in sentence
        assert len(sentence) < 300
        assert "\0" not in sentence
        sentence.encode()


def test_sentences_mention_their_values() -> None:
    assert describe("execution_failed", "Design", {"error": "out of paper"}) == mentions("Design", "out of paper")
    created = {"artifacts": [{"name": "a"}, {"name": "b"}]}
    assert describe("artifacts_created", "Design", created) == mentions("Design", "a, b")
    assert describe("execution_waiting", None, {"checkpoint": "d", "waiting_on": "human_form"}) == mentions("d")
    for event in ("approval_requested", "approval_withdrawn"):
        start, completion = (describe(event, "Design", {"kind": kind}) for kind in ("start", "completion"))
        assert (start, completion) == (mentions("Design"), mentions("Design"))
        assert start != completion
    escalated = {"kind": "escalation", "decision": "retry"}
    assert describe("approval_approved", "Design", escalated) == mentions("Design", "retry")
    assert "None" not in describe("run_created", None, {"run_version": None})
    assert describe("run_created", None, {"run_version": 3}) == mentions("v3")
    assert re.search(r"\d", describe("rollback_initiated", None, {"target": -1})) is None
    assert describe("rollback_initiated", None, {"target": 1}) == mentions("2")
    counts = {"counts": {"rewritten": 2, "moved_aside": 1}}
    assert describe("drift_repaired", None, counts) == mentions("2", "1")
    assert describe("something_new", None, {}) == "Something new."


# ---- global events --------------------------------------------------------------------------------
def append_global(database: Database, type: str, **metadata: Any) -> str:
    return database.transact_now(lambda c: events.append_global_event(c, type, "ann", NOON, metadata))


def test_events_without_a_pipeline_have_their_own_chain(database: Database) -> None:
    ids = [append_global(database, "something_happened", number=number) for number in range(3)]
    query = sa.select(table.c.event_id, table.c.seq, table.c.pipeline_id, table.c.run_id).order_by(table.c.seq)
    found = database.read(lambda c: [tuple(row) for row in c.execute(query.where(table.c.chain == "global"))])
    assert found == [(name, seq, "", None) for seq, name in enumerate(ids, 1)]
    assert database.read(lambda c: verify(c, "global")) == VerificationResult(1, 3, ())
    assert database.read(verify) == VerificationResult(1, 3, ())


def test_a_removed_global_event_is_found(harness: RunHarness) -> None:
    for number in range(2):
        append_global(harness.database, "something_happened", number=number)
    tamper(harness, "DELETE FROM events WHERE chain = 'global' AND seq = 2")
    [broken] = verification(harness, "global").broken
    assert (broken.chain, broken.seq, broken.reason) == ("global", 2, mentions("1"))
