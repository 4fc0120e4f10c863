"""A decision is saved completely or not at all, once, and only against the newest state."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError

from cairn.core.commands import (
    ArtifactOutput,
    ExecutionFailed,
    ExecutionFinished,
    PauseRun,
    RetryDue,
    ReworkRequested,
    StartRun,
)
from cairn.core.decide import Decision, decide
from cairn.core.errors import StaleCommand
from cairn.core.execution import Execution, Failure
from cairn.core.plan import CheckpointPolicy
from cairn.core.states import ExecutionState
from cairn.store import DamagedBlob, Database, LoadedRun, LostRace, StaleDispatch, blobs, load_run, pipelines, save_run
from cairn.store.prepared_statements import Prepared
from cairn.store.tables import artifacts, checkpoint_executions, events, pipeline_runs
from tests.store.samples import NOON, SamplePlans, Story, begin_story, make_artifact, make_document

REPEAT = CheckpointPolicy(max_auto_retries=2)


@pytest.fixture
def story(database: Database) -> Story:
    return begin_story(database, make_document("a", "b", "c"))


def working(loaded: LoadedRun) -> Execution:
    return next(e for e in loaded.run.open if e.state is ExecutionState.WORKING)


def finish(story: Story, content: bytes = b"{}", **options: Any) -> LoadedRun:
    """Finish the current work, so that the next checkpoint starts."""
    e = working(story.loaded)
    made = make_artifact(e.id, content)
    output = ArtifactOutput(made.record_id, made.name, made.checksum, made.size)
    return story.send(ExecutionFinished(e.id, e.dispatch, made.checksum, (output,)), artifacts=[made], **options)


def snapshot(story: Story) -> Any:
    """All rows that a save can change."""
    tables = (pipeline_runs, checkpoint_executions, artifacts, events)
    return [story.rows(table, *(column.name for column in table.c)) for table in tables]


# ---- the hot path --------------------------------------------------------------------------------
def test_completing_one_and_starting_the_next_takes_seven_statements(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.send(StartRun())
    statements: list[str] = []
    for name in ("run", "run_many"):
        monkeypatch.setattr(Prepared, name, _counting(getattr(Prepared, name), statements))

    def count(*_: object) -> None:
        statements.append("other")

    event.listen(story.database.engine, "before_cursor_execute", count)
    finish(story)
    begins = statements.count("other") if story.database.kind == "sqlite" else 0  # BEGIN is one there
    assert len(statements) - begins <= 7
    assert begins <= 1
    assert len(story.decisions[-1].events) == 5


def _counting(run: Callable[..., Any], statements: list[str]) -> Callable[..., Any]:
    def counted(prepared: Prepared, *args: Any) -> Any:
        statements.append("prepared")
        return run(prepared, *args)

    return counted


# ---- races and fences ------------------------------------------------------------------------------
def test_the_loser_of_a_race_writes_nothing(story: Story) -> None:
    story.send(StartRun())
    stale = replace(story.loaded)
    finish(story)
    before = snapshot(story)
    second = replace(story, loaded=stale)
    with pytest.raises(LostRace):
        finish(second)
    assert snapshot(story) == before


def test_one_of_twenty_concurrent_decisions_counts(story: Story) -> None:
    story.send(StartRun())
    e, given = working(story.loaded), story.given()
    ready = threading.Barrier(20)
    counted: list[bool] = []

    def report(number: int) -> None:
        def change(connection: sa.Connection) -> None:
            loaded = load_run(connection, story.loaded.facts.run_id, story.plans, lock=number % 2 == 0)
            assert loaded is not None
            decision = decide(loaded.run, ExecutionFinished(e.id, e.dispatch, "d"), given)
            save_run(connection, loaded, decision, given)

        ready.wait(20)
        try:
            story.database.transact_now(change)
        except (LostRace, StaleCommand):
            counted.append(False)
        else:
            counted.append(True)

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(report, range(20)))
    assert sorted(counted) == [False] * 19 + [True]
    assert story.load().event_seq == story.loaded.event_seq + 3


@pytest.mark.parametrize("change", [{"dispatch_number": 7}, {"state": "waiting"}])
def test_a_dispatch_that_has_ended_writes_nothing(story: Story, change: dict[str, Any]) -> None:
    """The execution's row is fenced even if the run's revision is unchanged."""
    story.send(StartRun())
    e = working(story.loaded)
    update = sa.update(checkpoint_executions).where(checkpoint_executions.c.execution_id == e.id).values(change)
    story.database.transact_now(lambda c: c.execute(update))
    before = snapshot(story)
    with pytest.raises(StaleDispatch):
        finish(story)
    assert snapshot(story) == before


@pytest.mark.parametrize("point", ["before_commit", "after_commit"])
def test_a_save_is_complete_or_absent(story: Story, point: str) -> None:
    story.send(StartRun())
    before = snapshot(story)

    def crash(reached: str) -> None:
        if reached == point:
            raise OSError("crash")

    story.database.fault = crash
    with pytest.raises(OSError, match="crash"):
        finish(story)
    story.database.fault = lambda _: None
    if point == "before_commit":
        assert snapshot(story) == before
        finish(story)
    else:
        assert [e.key for e in story.load().run.open] == ["b"]
        with pytest.raises(LostRace):
            finish(story)


# ---- saved rows ----------------------------------------------------------------------------------
def test_an_execution_gets_its_folder_and_name_when_it_is_created(story: Story) -> None:
    story.send(StartRun(), drivers={})
    e = working(story.loaded)
    columns = ("checkpoint_name", "folder", "temp_workspace_path", "permanent_output_path", "driver")
    assert story.rows(checkpoint_executions, *columns) == [
        ("A", "checkpoint_0_a", f".temp/exec_{e.id}", "runs/v1/checkpoint_0_a", None)
    ]


def test_a_rename_changes_the_folders_of_later_executions_only(story: Story) -> None:
    story.send(StartRun())
    document = make_document("a", "b", "c", pipeline_id=story.loaded.facts.pipeline_id)
    for checkpoint in document["checkpoints"]:
        checkpoint["checkpoint_name"] = "New"
    story.database.transact_now(lambda c: pipelines.save_revision(c, document, "bob", NOON, expected=1))
    story.loaded = story.load()
    finish(story)
    assert sorted(story.load().folders.values()) == ["checkpoint_0_a", "checkpoint_1_new"]
    assert story.load() == story.loaded


def test_drivers_are_stored(story: Story) -> None:
    e = working(story.send(StartRun()))
    story.send(PauseRun(), drivers={e.id: "exec:a:1"})
    assert story.load().drivers == {e.id: "exec:a:1"}
    query = sa.select(checkpoint_executions.c.driver).where(checkpoint_executions.c.state == "working")
    assert story.database.read(lambda c: c.execute(query).scalar_one()) == "exec:a:1"


def test_the_synced_revision_is_stored(story: Story) -> None:
    story.send(StartRun())
    assert story.load().synced_revision == 0
    finish(story, synced_revision=1)
    assert story.load().synced_revision == 1
    finish(story)
    assert story.load().synced_revision == 1


def test_an_artifact_is_stored_with_its_path_and_attempt(database: Database) -> None:
    story = begin_story(database, make_document("a"), SamplePlans({"a": REPEAT}))
    story.send(StartRun())
    e = working(story.loaded)
    story.send(ExecutionFailed(e.id, e.dispatch, Failure("t", "broken")))
    story.send(RetryDue(e.id, e.dispatch))
    made = make_artifact(e.id, b"x" * 3000, promoted=False)
    output = ArtifactOutput(made.record_id, made.name, made.checksum, made.size)
    e = working(story.loaded)
    given_at = NOON + timedelta(seconds=story.sent + 1)
    story.send(ExecutionFinished(e.id, e.dispatch, "d", (output,)), artifacts=[made])
    columns = ("artifact_record_id", "size_bytes", "created_at", "promoted_to_permanent_at", "attempt_number")
    assert story.rows(artifacts, *columns) == [(made.record_id, 3000, given_at, None, 2)]
    assert database.read(lambda c: blobs.read(c, made.checksum)) == b"x" * 3000


def test_promoting_twice_keeps_the_first_time(story: Story) -> None:
    story.send(StartRun())
    e = working(story.loaded)
    made = make_artifact(e.id, b"x", promoted=False)
    output = ArtifactOutput(made.record_id, made.name, made.checksum, made.size)
    story.send(
        ExecutionFinished(e.id, e.dispatch, "d", (output,)), artifacts=[made], promoted={made.record_id: "first"}
    )
    at = NOON + timedelta(seconds=story.sent)
    assert story.rows(artifacts, "file_path", "promoted_to_permanent_at") == [("first", at)]
    finish(story, promoted={made.record_id: "second"})
    assert ("second", at) in story.rows(artifacts, "file_path", "promoted_to_permanent_at")


def test_missing_content_is_refused(story: Story) -> None:
    story.send(StartRun())
    e = working(story.loaded)
    command = ExecutionFinished(e.id, e.dispatch, "d")
    with pytest.raises(IntegrityError):
        story.send(command, artifacts=[replace(make_artifact(e.id, b"x"), content=None)])
    with pytest.raises(DamagedBlob):
        story.send(command, artifacts=[replace(make_artifact(e.id, b"x"), content=b"y")])
    story.database.transact_now(lambda c: blobs.put(c, b"x"))
    story.send(command, artifacts=[replace(make_artifact(e.id, b"x"), content=None)])


def test_a_rework_stores_its_reason(story: Story) -> None:
    story.send(StartRun())
    finish(story)
    e = working(story.loaded)
    story.send(ReworkRequested(e.id, e.dispatch, "a", "the names are wrong", "Ask for the names again"))
    found = story.rows(checkpoint_executions, "key", "parent_execution_id", "regression_context")
    assert found[-1] == (
        "a",
        e.id,
        {
            "reason": "the names are wrong",
            "prompt": "Ask for the names again",
            "requested_by": "b",
            "requested_by_execution_id": e.id,
        },
    )


def test_unchanged_rows_are_not_written(story: Story) -> None:
    story.send(StartRun())
    run = story.loaded.run
    same = run.replace(executions={e.id: replace(e) for e in run.executions.values()})
    before = snapshot(story)[1:]
    story.database.transact_now(lambda c: save_run(c, story.loaded, Decision(same, (), ()), story.given()))
    assert snapshot(story)[1:] == before
    assert story.load().revision == story.loaded.revision + 1


# ---- definitions -----------------------------------------------------------------------------------
def test_an_execution_keeps_the_policy_it_was_created_with(database: Database) -> None:
    plans = SamplePlans()
    document = make_document("a", "b")
    story = begin_story(database, document, plans)
    story.send(StartRun())
    plans.policies[2] = {"a": REPEAT, "b": REPEAT}
    database.transact_now(lambda c: pipelines.save_revision(c, document, "bob", NOON, expected=1))
    story.loaded = story.load()
    finish(story)
    made = [(e.key, e.definition, e.policy) for e in story.load().run.executions.values()]
    assert made == [("a", 1, plans.policies[1]["a"]), ("b", 2, REPEAT)]


def test_a_run_of_an_earlier_definition_uses_the_newest_revision_of_that_definition(database: Database) -> None:
    document = make_document("a", "b")
    story = begin_story(database, document)
    story.send(StartRun())
    for revision, (version, keys) in enumerate([(1, "ab"), (2, "abc"), (2, "abc")], 1):
        newer = make_document(*keys, pipeline_id=document["pipeline_id"], version=version)
        database.transact_now(lambda c, d=newer, r=revision: pipelines.save_revision(c, d, "bob", NOON, expected=r))
    run = story.load().run
    assert ([c.key for c in run.plan.checkpoints], run.plan.revision) == (["a", "b"], 2)


def test_an_unknown_run_is_none(database: Database) -> None:
    assert database.read(lambda c: load_run(c, "nobody", SamplePlans())) is None
    assert database.transact_now(lambda c: load_run(c, "nobody", SamplePlans(), lock=True)) is None
