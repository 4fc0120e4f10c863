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
from tests.store.samples import NOON, Story, begin_story, make_document

OWN = ("created", "updated", "deleted", "restored", "reverted")


@pytest.fixture
def story(database: Database) -> Story:
    """Six events of a run, two of its pipeline."""
    told = begin_story(database, make_document("a", "b"))
    told.send(StartRun())
    told.send(PauseRun())
    told.send(ResumeRun())
    told.send(CancelRun())
    append(told, "pipeline_created", {})
    append(told, "pipeline_updated", {"number": 1})
    return told


def append(story: Story, type: str, metadata: Mapping[str, Any]) -> str:
    pipeline_id = story.loaded.facts.pipeline_id
    return story.database.transact_now(
        lambda c: events.append_pipeline_event(c, pipeline_id, type, "ann", NOON, metadata)
    )


def rows(story: Story) -> list[sa.RowMapping]:
    query = sa.select(table).where(table.c.chain == story.loaded.facts.run_id).order_by(table.c.seq)
    return story.database.read(lambda c: list(c.execute(query).mappings()))


def tamper(story: Story, *statements: str, **values: Any) -> None:
    """Change rows behind Cairn's back."""

    def change(connection: sa.Connection) -> None:
        if story.database.kind == "sqlite":
            for trigger in ("events_not_updated", "events_not_deleted"):
                connection.execute(sa.text(f"DROP TRIGGER {trigger}"))
        else:
            connection.execute(sa.text("ALTER TABLE events DISABLE TRIGGER USER"))
        for statement in statements:
            connection.execute(sa.text(statement), {"run": story.loaded.facts.run_id, **values})

    story.database.transact_now(change)


def verdict(story: Story, chain: str | None = None) -> VerificationResult:
    return story.database.read(lambda c: verify(c, chain))


# ---- valid chains ---------------------------------------------------------------------------------
def test_each_event_has_the_hash_of_the_previous_one(story: Story) -> None:
    head = ""
    for seq, row in enumerate(rows(story), 1):
        ids = [row[f"{of}_id"] for of in ("pipeline", "run", "execution", "checkpoint", "approval", "rollback")]
        moment = row["timestamp"].strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        said = [head, row["chain"], seq, row["event_type"], moment, row["actor"], ids, row["description"]]
        assert row["previous_hash"] == head
        assert row["hash"] == hashlib.sha256(canonical([*said, row["metadata"]])).hexdigest()
        assert row["event_id"].replace("-", "") == row["hash"][:32]
        head = row["hash"]
    found = story.rows(pipeline_runs, "event_seq", "event_head")
    assert found == [(len(rows(story)), head)]


def test_events_record_actor_time_and_subjects(story: Story) -> None:
    first, made = rows(story)[0], rows(story)[1]
    facts = story.loaded.facts
    e = next(iter(story.loaded.run.executions.values()))
    assert (first["event_type"], first["actor"], first["timestamp"]) == (
        "run_started",
        "ann",
        NOON + timedelta(seconds=1),
    )
    assert (first["pipeline_id"], first["run_id"], first["execution_id"]) == (facts.pipeline_id, facts.run_id, None)
    assert (made["event_type"], made["execution_id"]) == ("execution_created", e.id)
    assert made["checkpoint_id"] == story.loaded.places["a"].checkpoint_id
    assert made["description"] == mentions("A")


def test_an_intact_trail_is_valid(story: Story) -> None:
    run, pipeline = story.loaded.facts.run_id, story.loaded.facts.pipeline_id
    count = len(rows(story))
    assert verdict(story) == VerificationResult(2, count + 2, ())
    assert verdict(story, run) == VerificationResult(1, count, ())
    assert verdict(story, pipeline) == VerificationResult(1, 2, ())
    assert verdict(story, "unknown") == VerificationResult(0, 0, ())
    assert verdict(story).valid


def test_metadata_is_exact(story: Story) -> None:
    value = {"big": 2**70, "float": 0.1, "text": "ü\0", "deep": [[[{"a": None}]]]}
    append(story, "pipeline_updated", value)
    query = sa.select(table.c["metadata"]).order_by(table.c.id.desc()).limit(1)
    assert story.database.read(lambda c: c.execute(query).scalar_one()) == value
    assert verdict(story).valid


def test_an_appended_event_makes_loaded_runs_stale(story: Story) -> None:
    run_id = story.loaded.facts.run_id
    told = EventRecord("files_repaired", {"written": 3})
    story.database.transact_now(lambda c: events.append_run_event(c, run_id, told, "system", NOON))
    with pytest.raises(LostRace):
        story.send(RollBack("r", -1))
    story.loaded = story.load()
    story.send(RollBack("r", -1))
    assert verdict(story).valid
    assert rows(story)[-1]["seq"] == story.loaded.event_seq


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
def test_a_changed_event_is_found(story: Story, column: str) -> None:
    tamper(story, f"UPDATE events SET {column} = {COLUMNS[column]} WHERE chain = :run AND seq = 2")
    found = verdict(story)
    assert [(broken.seq, broken.reason) for broken in found.broken] == [(2, mentions())]
    assert verdict(story, story.loaded.facts.pipeline_id).valid


def test_a_changed_id_is_found(story: Story) -> None:
    tamper(story, "UPDATE events SET event_id = 'other' WHERE chain = :run AND seq = 2")
    assert [(broken.seq, broken.reason) for broken in verdict(story).broken] == [(2, mentions())]


def test_a_removed_event_is_found(story: Story) -> None:
    tamper(story, "DELETE FROM events WHERE chain = :run AND seq IN (2, 3)")
    assert [(b.seq, b.reason) for b in verdict(story).broken] == [(4, mentions("2"))]


def test_a_removed_event_with_renumbered_successors_is_found(story: Story) -> None:
    last = len(rows(story))
    moves = [f"UPDATE events SET seq = {seq - 1} WHERE chain = :run AND seq = {seq}" for seq in range(3, last + 1)]
    tamper(story, "DELETE FROM events WHERE chain = :run AND seq = 2", *moves)
    found = verdict(story).broken
    assert found[0].seq == 2
    assert found[-1].reason == mentions("1")


def test_a_truncated_trail_is_found(story: Story) -> None:
    last = len(rows(story))
    tamper(story, "DELETE FROM events WHERE chain = :run AND seq > 1")
    assert [(b.seq, b.reason) for b in verdict(story).broken] == [(2, mentions(last - 1))]


def test_a_deleted_trail_is_found(story: Story) -> None:
    tamper(story, "DELETE FROM events WHERE chain = :run")
    found = verdict(story)
    assert (found.chains, [b.seq for b in found.broken]) == (2, [1])


def test_a_forged_last_event_is_found(story: Story) -> None:
    chain = story.loaded.chain
    _, forged = events.seal(chain, [EventRecord("run_completed", {})], "eve", NOON)
    story.database.transact_now(lambda c: events.insert(c, forged))
    assert [(b.seq, b.reason) for b in verdict(story).broken] == [(chain.seq + 1, mentions())]


def test_a_rewritten_trail_is_found_by_its_head(story: Story) -> None:
    """All events are sealed again, but the run's row has the original head."""
    tamper(story, "DELETE FROM events WHERE chain = :run")
    begin = events.Chain(story.loaded.facts.run_id, story.loaded.facts.pipeline_id, story.loaded.facts.run_id, 0, "")
    told = [EventRecord("run_started", {})] * story.loaded.event_seq
    story.database.transact_now(lambda c: events.insert(c, events.seal(begin, told, "eve", NOON)[1]))
    assert [b.seq for b in verdict(story).broken] == [story.loaded.event_seq]


# ---- pipeline events ---------------------------------------------------------------------------------
def test_a_pipeline_has_its_own_chain(story: Story) -> None:
    told = append(story, "checkpoint_added", {"checkpoint": "c"})
    query = sa.select(table.c.seq, table.c.run_id, table.c.description).where(table.c.event_id == told)
    row = story.database.read(lambda c: c.execute(query).one())
    assert tuple(row) == (3, None, mentions("c"))
    query = sa.select(pipelines.c.event_seq)
    assert story.database.read(lambda c: c.execute(query).scalar_one()) == 3


# ---- descriptions ------------------------------------------------------------------------------------
def test_every_event_has_a_sentence() -> None:
    assert {str(each) for each in EventType} <= set(SENTENCES)
    assert {f"pipeline_{what}" for what in OWN} <= set(SENTENCES)


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
    told = database.read(lambda c: [tuple(row) for row in c.execute(query.where(table.c.chain == "global"))])
    assert told == [(name, seq, "", None) for seq, name in enumerate(ids, 1)]
    assert database.read(lambda c: verify(c, "global")) == VerificationResult(1, 3, ())
    assert database.read(verify) == VerificationResult(1, 3, ())


def test_a_removed_global_event_is_found(story: Story) -> None:
    for number in range(2):
        append_global(story.database, "something_happened", number=number)
    tamper(story, "DELETE FROM events WHERE chain = 'global' AND seq = 2")
    [broken] = verdict(story, "global").broken
    assert (broken.chain, broken.seq, broken.reason) == ("global", 2, mentions("1"))
