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
from tests.store.samples import NOON, RunHarness, SamplePlans, create_run, make_artifact, make_document

REPEAT = CheckpointPolicy(max_auto_retries=2)


@pytest.fixture
def harness(database: Database) -> RunHarness:
    return create_run(database, make_document("a", "b", "c"))


def working(loaded: LoadedRun) -> Execution:
    return next(e for e in loaded.run.open if e.state is ExecutionState.WORKING)


def finish(harness: RunHarness, content: bytes = b"{}", **options: Any) -> LoadedRun:
    """Finish the current work, so that the next checkpoint starts."""
    e = working(harness.loaded)
    artifact = make_artifact(e.id, content)
    output = ArtifactOutput(artifact.record_id, artifact.name, artifact.checksum, artifact.size)
    return harness.send(
        ExecutionFinished(e.id, e.dispatch, artifact.checksum, (output,)), artifacts=[artifact], **options
    )


def snapshot(harness: RunHarness) -> Any:
    """All rows that a save can change."""
    tables = (pipeline_runs, checkpoint_executions, artifacts, events)
    return [harness.rows(table, *(column.name for column in table.c)) for table in tables]


# ---- the hot path --------------------------------------------------------------------------------
def test_completing_a_checkpoint_and_starting_the_next_takes_seven_statements(
    harness: RunHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.send(StartRun())
    statements: list[str] = []
    for name in ("run", "run_many"):
        monkeypatch.setattr(Prepared, name, _counting(getattr(Prepared, name), statements))

    def count(*_: object) -> None:
        statements.append("other")

    event.listen(harness.database.engine, "before_cursor_execute", count)
    finish(harness)
    begins = statements.count("other") if harness.database.kind == "sqlite" else 0  # on SQLite, BEGIN is a statement
    assert len(statements) - begins <= 7
    assert begins <= 1
    assert len(harness.decisions[-1].events) == 5


def _counting(run: Callable[..., Any], statements: list[str]) -> Callable[..., Any]:
    def counted(prepared: Prepared, *args: Any) -> Any:
        statements.append("prepared")
        return run(prepared, *args)

    return counted


# ---- races and fences ------------------------------------------------------------------------------
def test_the_loser_of_a_race_writes_nothing(harness: RunHarness) -> None:
    harness.send(StartRun())
    stale = replace(harness.loaded)
    finish(harness)
    before = snapshot(harness)
    second = replace(harness, loaded=stale)
    with pytest.raises(LostRace):
        finish(second)
    assert snapshot(harness) == before


def test_only_one_of_twenty_concurrent_decisions_is_saved(harness: RunHarness) -> None:
    harness.send(StartRun())
    e, context = working(harness.loaded), harness.context()
    ready = threading.Barrier(20)
    counted: list[bool] = []

    def report(number: int) -> None:
        def change(connection: sa.Connection) -> None:
            loaded = load_run(connection, harness.loaded.facts.run_id, harness.plans, lock=number % 2 == 0)
            assert loaded is not None
            decision = decide(loaded.run, ExecutionFinished(e.id, e.dispatch, "d"), context)
            save_run(connection, loaded, decision, context)

        ready.wait(20)
        try:
            harness.database.transact_now(change)
        except (LostRace, StaleCommand):
            counted.append(False)
        else:
            counted.append(True)

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(report, range(20)))
    assert sorted(counted) == [False] * 19 + [True]
    assert harness.load().event_seq == harness.loaded.event_seq + 3


@pytest.mark.parametrize("change", [{"dispatch_number": 7}, {"state": "waiting"}])
def test_a_dispatch_that_has_ended_writes_nothing(harness: RunHarness, change: dict[str, Any]) -> None:
    """The execution's row is fenced even if the run's revision is unchanged."""
    harness.send(StartRun())
    e = working(harness.loaded)
    update = sa.update(checkpoint_executions).where(checkpoint_executions.c.execution_id == e.id).values(change)
    harness.database.transact_now(lambda c: c.execute(update))
    before = snapshot(harness)
    with pytest.raises(StaleDispatch):
        finish(harness)
    assert snapshot(harness) == before


@pytest.mark.parametrize("point", ["before_commit", "after_commit"])
def test_a_save_is_complete_or_absent(harness: RunHarness, point: str) -> None:
    harness.send(StartRun())
    before = snapshot(harness)

    def crash(reached: str) -> None:
        if reached == point:
            raise OSError("crash")

    harness.database.fault = crash
    with pytest.raises(OSError, match="crash"):
        finish(harness)
    harness.database.fault = lambda _: None
    if point == "before_commit":
        assert snapshot(harness) == before
        finish(harness)
    else:
        assert [e.key for e in harness.load().run.open] == ["b"]
        with pytest.raises(LostRace):
            finish(harness)


# ---- saved rows ----------------------------------------------------------------------------------
def test_an_execution_gets_its_folder_and_name_when_it_is_created(harness: RunHarness) -> None:
    harness.send(StartRun(), drivers={})
    e = working(harness.loaded)
    columns = ("checkpoint_name", "folder", "temp_workspace_path", "permanent_output_path", "driver")
    assert harness.rows(checkpoint_executions, *columns) == [
        ("A", "checkpoint_0_a", f".temp/exec_{e.id}", "runs/v1/checkpoint_0_a", None)
    ]


def test_a_rename_changes_the_folders_of_later_executions_only(harness: RunHarness) -> None:
    harness.send(StartRun())
    document = make_document("a", "b", "c", pipeline_id=harness.loaded.facts.pipeline_id)
    for checkpoint in document["checkpoints"]:
        checkpoint["checkpoint_name"] = "New"
    harness.database.transact_now(lambda c: pipelines.save_revision(c, document, "bob", NOON, expected=1))
    harness.loaded = harness.load()
    finish(harness)
    assert sorted(harness.load().folders.values()) == ["checkpoint_0_a", "checkpoint_1_new"]
    assert harness.load() == harness.loaded


def test_drivers_are_stored(harness: RunHarness) -> None:
    e = working(harness.send(StartRun()))
    harness.send(PauseRun(), drivers={e.id: "exec:a:1"})
    assert harness.load().drivers == {e.id: "exec:a:1"}
    query = sa.select(checkpoint_executions.c.driver).where(checkpoint_executions.c.state == "working")
    assert harness.database.read(lambda c: c.execute(query).scalar_one()) == "exec:a:1"


def test_the_synced_revision_is_stored(harness: RunHarness) -> None:
    harness.send(StartRun())
    assert harness.load().synced_revision == 0
    finish(harness, synced_revision=1)
    assert harness.load().synced_revision == 1
    finish(harness)
    assert harness.load().synced_revision == 1


def test_an_artifact_is_stored_with_its_path_and_attempt(database: Database) -> None:
    harness = create_run(database, make_document("a"), SamplePlans({"a": REPEAT}))
    harness.send(StartRun())
    e = working(harness.loaded)
    harness.send(ExecutionFailed(e.id, e.dispatch, Failure("t", "broken")))
    harness.send(RetryDue(e.id, e.dispatch))
    artifact = make_artifact(e.id, b"x" * 3000, promoted=False)
    output = ArtifactOutput(artifact.record_id, artifact.name, artifact.checksum, artifact.size)
    e = working(harness.loaded)
    given_at = NOON + timedelta(seconds=harness.sent + 1)
    harness.send(ExecutionFinished(e.id, e.dispatch, "d", (output,)), artifacts=[artifact])
    columns = ("artifact_record_id", "size_bytes", "created_at", "promoted_to_permanent_at", "attempt_number")
    assert harness.rows(artifacts, *columns) == [(artifact.record_id, 3000, given_at, None, 2)]
    assert database.read(lambda c: blobs.read(c, artifact.checksum)) == b"x" * 3000


def test_promoting_twice_keeps_the_first_time(harness: RunHarness) -> None:
    harness.send(StartRun())
    e = working(harness.loaded)
    artifact = make_artifact(e.id, b"x", promoted=False)
    output = ArtifactOutput(artifact.record_id, artifact.name, artifact.checksum, artifact.size)
    harness.send(
        ExecutionFinished(e.id, e.dispatch, "d", (output,)),
        artifacts=[artifact],
        promoted={artifact.record_id: "first"},
    )
    at = NOON + timedelta(seconds=harness.sent)
    assert harness.rows(artifacts, "file_path", "promoted_to_permanent_at") == [("first", at)]
    finish(harness, promoted={artifact.record_id: "second"})
    assert ("second", at) in harness.rows(artifacts, "file_path", "promoted_to_permanent_at")


def test_missing_content_is_rejected(harness: RunHarness) -> None:
    harness.send(StartRun())
    e = working(harness.loaded)
    command = ExecutionFinished(e.id, e.dispatch, "d")
    with pytest.raises(IntegrityError):
        harness.send(command, artifacts=[replace(make_artifact(e.id, b"x"), content=None)])
    with pytest.raises(DamagedBlob):
        harness.send(command, artifacts=[replace(make_artifact(e.id, b"x"), content=b"y")])
    harness.database.transact_now(lambda c: blobs.put(c, b"x"))
    harness.send(command, artifacts=[replace(make_artifact(e.id, b"x"), content=None)])


def test_a_rework_stores_its_reason(harness: RunHarness) -> None:
    harness.send(StartRun())
    finish(harness)
    e = working(harness.loaded)
    harness.send(ReworkRequested(e.id, e.dispatch, "a", "the names are wrong", "Ask for the names again"))
    found = harness.rows(checkpoint_executions, "key", "parent_execution_id", "regression_context")
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


def test_unchanged_rows_are_not_written(harness: RunHarness) -> None:
    harness.send(StartRun())
    run = harness.loaded.run
    same = run.replace(executions={e.id: replace(e) for e in run.executions.values()})
    before = snapshot(harness)[1:]
    harness.database.transact_now(lambda c: save_run(c, harness.loaded, Decision(same, (), ()), harness.context()))
    assert snapshot(harness)[1:] == before
    assert harness.load().revision == harness.loaded.revision + 1


# ---- definitions -----------------------------------------------------------------------------------
def test_an_execution_keeps_the_policy_it_was_created_with(database: Database) -> None:
    plans = SamplePlans()
    document = make_document("a", "b")
    harness = create_run(database, document, plans)
    harness.send(StartRun())
    plans.policies[2] = {"a": REPEAT, "b": REPEAT}
    database.transact_now(lambda c: pipelines.save_revision(c, document, "bob", NOON, expected=1))
    harness.loaded = harness.load()
    finish(harness)
    found = [(e.key, e.definition, e.policy) for e in harness.load().run.executions.values()]
    assert found == [("a", 1, plans.policies[1]["a"]), ("b", 2, REPEAT)]


def test_a_run_of_an_earlier_definition_uses_the_newest_revision_of_that_definition(database: Database) -> None:
    document = make_document("a", "b")
    harness = create_run(database, document)
    harness.send(StartRun())
    for revision, (version, keys) in enumerate([(1, "ab"), (2, "abc"), (2, "abc")], 1):
        newer = make_document(*keys, pipeline_id=document["pipeline_id"], version=version)
        database.transact_now(lambda c, d=newer, r=revision: pipelines.save_revision(c, d, "bob", NOON, expected=r))
    run = harness.load().run
    assert ([c.key for c in run.plan.checkpoints], run.plan.revision) == (["a", "b"], 2)


def test_an_unknown_run_is_none(database: Database) -> None:
    assert database.read(lambda c: load_run(c, "nobody", SamplePlans())) is None
    assert database.transact_now(lambda c: load_run(c, "nobody", SamplePlans(), lock=True)) is None
