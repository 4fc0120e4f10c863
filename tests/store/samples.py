"""Sample pipelines and runs. They need no definition checks and no files, because the document contains the plan."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4, uuid5

import sqlalchemy as sa

from cairn.core.commands import Command, CommandContext
from cairn.core.decide import Decision, decide
from cairn.core.plan import Checkpoint, CheckpointPolicy, Plan
from cairn.core.states import ExecutionMode
from cairn.store import Database, LoadedRun, NewArtifact, PlanCache, RunFacts, insert_run, load_run, pipelines, save_run

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FUNCTION = CheckpointPolicy(mode=ExecutionMode.FUNCTION)


class Folders:
    def run_folder(self, run_version: int | None, run_id: str) -> str:
        return f"runs/v{run_version}" if run_version else f"runs/test_{run_id[:8]}"

    def checkpoint_folder(self, position: int, name: str) -> str:
        return f"checkpoint_{position}_{name.lower()}"

    def workspace_folder(self, execution_id: str) -> str:
        return f".temp/exec_{execution_id}"


def make_document(*keys: str, pipeline_id: str | None = None, version: int = 1, **plan: Any) -> dict[str, Any]:
    """A pipeline of these checkpoints, each in its own stage."""
    pipeline_id = pipeline_id or str(uuid4())
    return {
        "pipeline_id": pipeline_id,
        "pipeline_name": "Sample",
        "pipeline_definition_version": version,
        "config": {"auto_advance": plan.get("auto_advance", True)},
        "checkpoints": [
            {
                "checkpoint_id": str(uuid5(UUID(pipeline_id), key)),
                "key": key,
                "checkpoint_name": key.title(),
                "execution": {"mode": "function"},
            }
            for key in keys
        ],
    }


class SamplePlans(PlanCache):
    """Compiles checkpoints to functions without approvals, unless `policies` are set."""

    def __init__(self, policies: Mapping[str, CheckpointPolicy] | None = None, **fields: Any) -> None:
        self.policies: dict[int, Mapping[str, CheckpointPolicy]] = {1: policies or {}}  # by revision
        self.compiled = 0
        self._fields = fields
        super().__init__(self._compile, Folders())

    def _compile(self, graph: Mapping[str, Any], newest: Mapping[str, Any], revision: int) -> Plan:
        self.compiled += 1
        keys = [each["key"] for each in graph["checkpoints"]]
        policies = self.policies.get(revision, {})
        self.policies[revision] = {key: policies.get(key, FUNCTION) for key in keys}
        return Plan(
            checkpoints=tuple(Checkpoint(key, position, key) for position, key in enumerate(keys)),
            policies=self.policies[revision],
            revision=revision,
            auto_advance=newest["config"]["auto_advance"],
            **self._fields,
        )


@dataclass
class RunHarness:
    """A stored run. Each command that is sent to it is one transaction."""

    database: Database
    plans: PlanCache
    loaded: LoadedRun
    sent: int = 0
    decisions: list[Decision] = field(default_factory=list[Decision])

    def context(self, by: str = "ann") -> CommandContext:
        self.sent += 1
        at = NOON + timedelta(seconds=self.sent)
        return CommandContext(at, by, uuid5(UUID(self.loaded.facts.run_id), str(self.sent)))

    def send(self, command: Command, by: str = "ann", **options: Any) -> LoadedRun:
        context = self.context(by)
        decision = decide(self.loaded.run, command, context)
        before = self.loaded
        self.loaded = self.database.transact_now(lambda c: save_run(c, before, decision, context, **options))
        self.decisions.append(decision)
        return self.loaded

    def load(self) -> LoadedRun:
        found = self.database.read(lambda c: load_run(c, self.loaded.facts.run_id, self.plans))
        assert found is not None
        return found

    def rows(self, table: sa.Table, *columns: str, where: sa.ColumnElement[bool] | None = None) -> list[Any]:
        """The rows of this run, as tuples of these columns."""
        query = sa.select(*(table.c[name] for name in columns)).where(table.c.run_id == self.loaded.facts.run_id)
        if where is not None:
            query = query.where(where)
        return self.database.read(lambda c: [tuple(row) for row in c.execute(query)])


def facts_of(document: Mapping[str, Any], **changes: Any) -> RunFacts:
    values: dict[str, Any] = {
        "run_id": str(uuid4()),
        "pipeline_id": document["pipeline_id"],
        "pipeline_name": document["pipeline_name"],
        "definition_version": document["pipeline_definition_version"],
        "definition_revision": 1,
        "run_version": 1,
        "is_test": False,
        "previous_run_id": None,
        "created_by": "ann",
        "created_at": NOON,
        "original_prompt": "",
        "input_checksum": None,
    }
    return RunFacts(**(values | changes))


def create_run(
    database: Database, document: Mapping[str, Any], plans: PlanCache | None = None, **facts: Any
) -> RunHarness:
    plans = plans or SamplePlans()

    def make(connection: sa.Connection) -> LoadedRun:
        pipelines.insert_pipeline(connection, document, "ann", NOON)
        return insert_run(connection, facts_of(document, **facts), plans)

    return RunHarness(database, plans, database.transact_now(make))


def make_artifact(execution_id: str, content: bytes, **changes: Any) -> NewArtifact:
    values: dict[str, Any] = {
        "record_id": str(uuid4()),
        "execution_id": execution_id,
        "artifact_id": str(uuid4()),
        "name": "result",
        "format": "json",
        "artifact_type": "file",
        "checksum": hashlib.sha256(content).hexdigest(),
        "size": len(content),
        "file_path": "runs/v1/checkpoint_0_a/result.json",
        "promoted": True,
        "content": content,
    }
    return NewArtifact(**(values | changes))
