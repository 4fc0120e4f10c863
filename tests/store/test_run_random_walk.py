"""Random walks: a loaded run always equals the saved one."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.core.commands import (
    ArtifactOutput,
    CancelRun,
    Command,
    Decide,
    ExecutionFinished,
    IterationLimitReached,
    ResultInvalid,
    ReworkRequested,
    StartRun,
)
from cairn.core.errors import CommandRefused
from cairn.core.plan import CheckpointPolicy, Plan
from cairn.core.states import LIVE
from cairn.store import Database, LostRace, NewArtifact, PlanCache, blobs, pipelines, verify
from cairn.store.tables import artifacts, checkpoint_executions, events, pipeline_runs
from tests.core import walk_choices
from tests.effort import chance, effort
from tests.store.samples import NOON, Folders, RunHarness, create_run, make_artifact, make_document

STEPS = 60


class WalkPlans(PlanCache):
    """A random plan whose policies change with each edit of the definition."""

    def __init__(self, chance: random.Random) -> None:
        self._plan = walk_choices.plan(chance.choice)
        self._chance = chance
        self._policies: dict[int, Mapping[str, CheckpointPolicy]] = {1: self._plan.policies}
        super().__init__(self._compile, Folders())

    @property
    def keys(self) -> list[str]:
        return [checkpoint.key for checkpoint in self._plan.checkpoints]

    def _compile(self, graph: Mapping[str, Any], newest: Mapping[str, Any], revision: int) -> Plan:
        if revision not in self._policies:
            self._policies[revision] = {key: walk_choices.policy(self._chance.choice) for key in self.keys}
        return replace(self._plan, policies=self._policies[revision], revision=revision)


class Walk:
    def __init__(self, database: Database, chance: random.Random) -> None:
        self.chance = chance
        plans = WalkPlans(self.chance)
        self.document = make_document(*plans.keys)
        self.harness: RunHarness = create_run(database, self.document, plans)
        self.revision = 1
        self.counted: Counter[str] = Counter()

    def commands(self) -> Sequence[Command]:
        run = self.harness.loaded.run
        kinds = (
            walk_choices.reports,
            walk_choices.decisions,
            walk_choices.requests,
            walk_choices.timers,
            walk_choices.interruptions,
        )
        weights = (8, 8, 6, 2, 1)
        return self.chance.choices([kind(run) for kind in kinds], weights)[0] or [StartRun()]

    def step(self) -> None:
        if self.chance.random() < 0.04:
            self.edit()
        command, new_artifacts = self.stored(self.chance.choice(self.commands()))
        try:
            self.harness.send(command, self.chance.choice(["ann", "bob", "rule:r"]), artifacts=new_artifacts)
        except CommandRefused:
            self.counted["refused"] += 1
            return
        self.counted[type(command).__name__] += 1
        self.check()

    def stored(self, command: Command) -> tuple[Command, list[NewArtifact]]:
        """Store the referenced content first, because references are enforced."""
        content = self.chance.choice([b"", b"x", b"y" * 2000, self.chance.randbytes(600)])
        if isinstance(command, Decide) and command.answer is not None:
            checksum = self.harness.database.transact_now(lambda c: blobs.put(c, content))
            return replace(command, answer=checksum), []
        if (
            isinstance(command, ExecutionFinished | ResultInvalid | IterationLimitReached | ReworkRequested)
            and command.outputs
        ):
            artifact = make_artifact(command.execution, content, promoted=self.chance.choice([True, False]))
            output = ArtifactOutput(artifact.record_id, artifact.name, artifact.checksum, artifact.size)
            return replace(command, outputs=(output,)), [artifact]
        return command, []

    def edit(self) -> None:
        """Edit the definition, which makes loaded runs stale."""
        before = self.harness.loaded
        self.harness.database.transact_now(
            lambda c: pipelines.save_revision(c, self.document, "bob", NOON, expected=self.revision)
        )
        self.revision += 1
        if before.run.status in ("not_started", "in_progress", "paused"):
            with pytest.raises(LostRace):
                self.harness.send(CancelRun())
        self.harness.loaded = self.harness.load()
        assert self.harness.loaded.run.plan.revision == self.revision

    # ---- invariants -----------------------------------------------------------------------------
    def check(self) -> None:
        saved, loaded = self.harness.loaded, self.harness.load()
        assert loaded == saved
        assert list(loaded.run.executions) == list(saved.run.executions)
        assert list(loaded.run.approvals) == list(saved.run.approvals)
        self.check_run_row()
        self.check_execution_rows()

    def check_run_row(self) -> None:
        run = self.harness.loaded.run
        live = [e.position for e in run.current if e.state in LIVE]
        columns = ("status", "total_checkpoints", "completed_checkpoints", "failed_checkpoints")
        found = self.harness.rows(pipeline_runs, *columns, "current_checkpoint_position", "archived_by")
        assert found == [
            (
                run.status.value,
                len(run.plan.checkpoints),
                len(run.complete),
                len(run.failed),
                min(live, default=None),
                run.archived_by,
            )
        ]

    def check_execution_rows(self) -> None:
        columns = ("execution_id", "status", "max_attempts", "max_revision_iterations", "error_count", "last_error_at")
        found = {row[0]: row[1:] for row in self.harness.rows(checkpoint_executions, *columns)}
        for e in self.harness.loaded.run.executions.values():
            status, attempts, revisions, errors, error_at = found[e.id]
            assert (status, attempts, revisions) == (
                e.status.value,
                e.policy.max_auto_retries + 1,
                e.policy.max_revisions,
            )
            assert (errors, error_at is not None) == (e.errors, e.last_error is not None)

    def check_trail(self) -> None:
        expected = [event for decision in self.harness.decisions for event in decision.events]
        query = sa.select(events.c.event_type, events.c["metadata"], events.c.execution_id).order_by(events.c.seq)
        found = self.harness.database.read(
            lambda c: [tuple(row) for row in c.execute(query.where(events.c.chain == self.harness.loaded.facts.run_id))]
        )
        assert found == [(event.type.value, dict(event.detail), event.execution) for event in expected]
        verdict = self.harness.database.read(lambda c: verify(c, self.harness.loaded.facts.run_id))
        assert (verdict.is_valid, verdict.events) == (True, len(expected))

    def check_artifacts(self) -> None:
        """Current outputs are exactly the artifacts that were not superseded."""
        current_outputs = {output for e in self.harness.loaded.run.executions.values() for output in e.outputs}
        found = self.harness.rows(artifacts, "artifact_record_id", "superseded_at")
        assert {record for record, superseded in found if superseded is None} == current_outputs


@pytest.mark.prove
@pytest.mark.parametrize("number", range(effort().saved_walks))
def test_a_loaded_run_equals_the_saved_one(database: Database, number: int) -> None:
    walk = Walk(database, chance(f"saved walk {number}"))
    walk.check()
    for _ in range(STEPS):
        walk.step()
    walk.check_trail()
    walk.check_artifacts()


def test_content_is_stored_once(database: Database) -> None:
    walk = Walk(database, random.Random(5))
    for _ in range(STEPS):
        walk.step()
    checksums = {row[0] for row in walk.harness.rows(artifacts, "checksum")}
    for checksum in checksums:
        content = database.read(lambda c, of=checksum: blobs.read(c, of))
        assert hashlib.sha256(content).hexdigest() == checksum
