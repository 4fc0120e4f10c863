"""Pipelines and definitions: every revision is stored, and run versions are never reused."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from cairn.core.commands import StartRun
from cairn.documents import digest
from cairn.store import BoundedCache, Database, LostRace, document, insert_run, load_run
from cairn.store import pipelines as pipeline_rows
from cairn.store.pipelines import PreviousRun
from cairn.store.tables import checkpoint_definitions, definition_revisions, pipeline_runs, pipelines
from tests.store.samples import NOON, SamplePlans, create_run, facts_of, make_document

LATER = NOON + timedelta(hours=1)


def all_rows(database: Database, table: sa.Table, *names: str, order: str) -> list[tuple[Any, ...]]:
    query = sa.select(*(table.c[name] for name in names)).order_by(table.c[order])
    return database.read(lambda c: [tuple(row) for row in c.execute(query)])


def test_a_definition_is_stored_unchanged(database: Database) -> None:
    first = make_document("a", "b")
    second = {**make_document("b", "a", pipeline_id=first["pipeline_id"], version=2), "pipeline_name": "Other"}
    database.transact_now(lambda c: pipeline_rows.insert_pipeline(c, first, "ann", NOON, "first"))
    assert database.transact_now(lambda c: pipeline_rows.save_revision(c, second, "bob", LATER, expected=1)) == 2
    names = ("revision", "pipeline_definition_version", "created_by", "comment", "created_at", "digest", "document")
    assert all_rows(database, definition_revisions, *names, order="revision") == [
        (1, 1, "ann", "first", NOON, digest(first), first),
        (2, 2, "bob", "", LATER, digest(second), second),
    ]
    assert database.read(lambda c: document(c, first["pipeline_id"], 1)) == first


def test_checkpoint_rows_match_the_newest_revision(database: Database) -> None:
    first = make_document("a", "b")
    second: dict[str, Any] = {
        **make_document("c", "a", pipeline_id=first["pipeline_id"], version=2),
        "pipeline_name": "Other",
    }
    ids = {each["key"]: each["checkpoint_id"] for each in (*first["checkpoints"], *second["checkpoints"])}
    database.transact_now(lambda c: pipeline_rows.insert_pipeline(c, first, "ann", NOON))
    database.transact_now(lambda c: pipeline_rows.save_revision(c, second, "bob", LATER, expected=1))
    names = ("key", "position", "execution", "inputs", "created_at", "updated_at", "removed_at")
    mode = {"mode": "function"}
    assert all_rows(database, checkpoint_definitions, *names, order="key") == [
        ("a", 1, mode, None, NOON, LATER, None),
        ("b", 1, mode, None, NOON, NOON, LATER),
        ("c", 0, mode, None, LATER, LATER, None),
    ]
    names = ("pipeline_name", "pipeline_definition_version", "revision", "checkpoint_order", "auto_advance")
    assert all_rows(database, pipelines, *names, order="pipeline_id") == [("Other", 2, 2, [ids["c"], ids["a"]], True)]


def test_a_restored_checkpoint_is_current_again(database: Database) -> None:
    first = make_document("a", "b")
    without = make_document("a", pipeline_id=first["pipeline_id"], version=2)
    again = make_document("a", "b", pipeline_id=first["pipeline_id"], version=3)
    database.transact_now(lambda c: pipeline_rows.insert_pipeline(c, first, "ann", NOON))
    database.transact_now(lambda c: pipeline_rows.save_revision(c, without, "ann", NOON, expected=1))
    database.transact_now(lambda c: pipeline_rows.save_revision(c, again, "ann", NOON, expected=2))
    found = all_rows(database, checkpoint_definitions, "key", "removed_at", order="key")
    assert found == [("a", None), ("b", None)]


def test_editing_an_older_revision_loses_the_race(database: Database) -> None:
    first = make_document("a")
    database.transact_now(lambda c: pipeline_rows.insert_pipeline(c, first, "ann", NOON))

    def edit(_: int) -> bool:
        try:
            database.transact_now(lambda c: pipeline_rows.save_revision(c, first, "bob", NOON, expected=1))
        except LostRace:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(edit, range(8))) == [False] * 7 + [True]
    assert len(all_rows(database, definition_revisions, "revision", order="revision")) == 2


def test_deleting_is_soft(database: Database) -> None:
    of = make_document("a")["pipeline_id"]
    database.transact_now(lambda c: pipeline_rows.insert_pipeline(c, make_document("a", pipeline_id=of), "ann", NOON))
    steps: list[Callable[[sa.Connection], bool]] = [
        lambda c: pipeline_rows.mark_restored(c, of),
        lambda c: pipeline_rows.mark_deleted(c, of, LATER, ".archived/x"),
        lambda c: pipeline_rows.mark_deleted(c, of, LATER, ".archived/y"),
    ]
    assert [database.transact_now(step) for step in steps] == [False, True, False]
    found = all_rows(database, pipelines, "deleted_at", "archive_location", order="pipeline_id")
    assert found == [(LATER, ".archived/x")]
    assert database.transact_now(lambda c: pipeline_rows.mark_restored(c, of))
    assert all_rows(database, pipelines, "deleted_at", "archive_location", order="pipeline_id") == [(None, None)]


# ---- run versions ------------------------------------------------------------------------------------
def test_a_version_is_assigned_once(database: Database) -> None:
    first = make_document("a")
    of = first["pipeline_id"]
    database.transact_now(lambda c: pipeline_rows.insert_pipeline(c, first, "ann", NOON))

    def allocate(_: int) -> int:
        return database.transact_now(lambda c: pipeline_rows.allocate_run_version(c, of))

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(allocate, range(20))) == list(range(1, 21))
    database.transact_now(lambda c: pipeline_rows.save_revision(c, first, "ann", NOON, expected=1))
    assert allocate(0) == 21
    changed = make_document("a", "b", pipeline_id=of, version=2)
    database.transact_now(lambda c: pipeline_rows.save_revision(c, changed, "ann", NOON, expected=2))
    assert allocate(0) == 1


def test_versions_of_runs_are_unique_and_test_runs_have_none(database: Database) -> None:
    first = make_document("a")
    plans = SamplePlans()
    create_run(database, first, plans)
    with pytest.raises(IntegrityError):
        database.transact_now(lambda c: insert_run(c, facts_of(first), plans))
    for _ in range(2):
        test = facts_of(first, run_version=None, is_test=True)
        database.transact_now(lambda c, f=test: insert_run(c, f, plans))
    assert len(all_rows(database, pipeline_runs, "run_id", order="run_id")) == 3


def test_the_previous_run_is_the_highest_that_was_not_archived(database: Database) -> None:
    first = make_document("a")
    plans = SamplePlans()
    harness = create_run(database, first, plans)
    of = first["pipeline_id"]
    runs = [facts_of(first, run_version=version) for version in (3, 2)]
    runs.append(facts_of(first, run_version=None, is_test=True))
    for facts in runs:
        database.transact_now(lambda c, f=facts: insert_run(c, f, plans))

    def previous(version: int = 1) -> PreviousRun | None:
        return database.read(lambda c: pipeline_rows.previous_run(c, of, version))

    assert previous() == PreviousRun(runs[0].run_id, 3)
    archive = sa.update(pipeline_runs).where(pipeline_runs.c.run_version == 3).values(archived_by="r")
    database.transact_now(lambda c: c.execute(archive))
    assert previous() == PreviousRun(runs[1].run_id, 2)
    assert previous(2) is None
    assert harness.loaded.facts.run_version == 1


def test_an_unchanged_checkpoint_keeps_its_times(database: Database) -> None:
    first = make_document("a")
    first["checkpoints"][0] |= {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T00:00:00Z"}
    database.transact_now(lambda c: pipeline_rows.insert_pipeline(c, first, "ann", NOON))
    database.transact_now(lambda c: pipeline_rows.save_revision(c, first, "ann", LATER, expected=1))
    found = all_rows(database, checkpoint_definitions, "created_at", "updated_at", order="key")
    assert found == [(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC))]


# ---- plans -------------------------------------------------------------------------------------------
def test_a_plan_is_compiled_once_for_each_revision(database: Database) -> None:
    first = make_document("a")
    plans = SamplePlans()
    harness = create_run(database, first, plans)
    for _ in range(3):
        harness.load()
    assert plans.compiled == 1
    database.transact_now(lambda c: pipeline_rows.save_revision(c, first, "ann", NOON, expected=1))
    for _ in range(3):
        harness.load()
    assert plans.compiled == 2


def test_a_revision_that_was_rolled_back_is_forgotten(database: Database) -> None:
    """The next definition reuses its number."""
    first = make_document("a")
    harness = create_run(database, first)
    slow, fast = ({**first, "config": {"auto_advance": quick}} for quick in (False, True))

    def save(definition: dict[str, Any], *, fails: bool) -> None:
        def change(connection: sa.Connection) -> None:
            pipeline_rows.save_revision(connection, definition, "ann", NOON, expected=1)
            loaded = load_run(connection, harness.loaded.facts.run_id, harness.plans)
            assert loaded is not None
            assert loaded.run.plan.auto_advance is definition["config"]["auto_advance"]
            if fails:
                raise ValueError("changed my mind")

        database.transact_now(change)

    with pytest.raises(ValueError, match="my mind"):
        save(slow, fails=True)
    save(fast, fails=False)
    assert (harness.load().run.plan.revision, harness.load().run.plan.auto_advance) == (2, True)


def test_a_renamed_key_keeps_the_checkpoint(database: Database) -> None:
    """A run keeps the keys it started with; current names are looked up by id."""
    first = make_document("a")
    harness = create_run(database, first)
    renamed = make_document("z", pipeline_id=first["pipeline_id"])
    renamed["checkpoints"][0]["checkpoint_id"] = first["checkpoints"][0]["checkpoint_id"]
    database.transact_now(lambda c: pipeline_rows.save_revision(c, renamed, "ann", NOON, expected=1))
    harness.loaded = harness.load()
    harness.send(StartRun())
    place = harness.load().places["a"]
    assert (place.checkpoint_id, place.name) == (first["checkpoints"][0]["checkpoint_id"], "Z")


def test_the_cache_drops_the_oldest_entries_first() -> None:
    kept = BoundedCache[int, int]()
    for number in range(600):
        assert kept.get(number, lambda n=number: n * 2) == number * 2
    assert (kept.find(599), kept.find(0)) == (1198, None)
