"""What rules see of a run: its input, what its checkpoints have put out, and its own circumstances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from cairn.core.conditions import MISSING, follow
from cairn.core.execution import Execution
from cairn.core.rule_verdict import RuleQuestion
from cairn.core.states import ApprovalKind, ExecutionMode
from cairn.definitions.input_paths import INPUT, PathError, parse_path
from cairn.documents import Value, decode_json
from cairn.ports import ProducedFile, StoredFile
from cairn.runners import InvalidInputData
from cairn.runners.input_mapping import read_value
from cairn.services.approvals.form_answers import read_answer
from cairn.services.engine.plans import DefinitionCache
from cairn.store import Connection, LoadedRun, NewArtifact, blobs
from cairn.store import tables as t

A = t.artifacts.c


class RunFactsReader:
    """As one question finds it; read when a rule wants it, each part once."""

    def __init__(
        self,
        connection: Connection,
        plans: DefinitionCache,
        loaded: LoadedRun,
        question: RuleQuestion,
        *,
        brought: Iterable[NewArtifact] = (),
        as_of: datetime | None = None,
    ) -> None:
        self._connection = connection
        self._plans = plans
        self._loaded = loaded
        self._question = question
        self._brought = tuple(brought)  # artifacts that come with the report that leads to the question
        self._as_of = as_of  # what came later is not seen; None: now
        self._outputs: dict[str, Any] = {}

    def look(self, path: str) -> Any:
        """The value there, or MISSING.

        What begins with no root of the context is looked for in the result that is asked about, then in the input.
        """
        try:
            parsed = parse_path(path)
        except PathError:
            return MISSING
        if parsed.root == INPUT:
            return follow(parsed.steps, self._input)
        if parsed.root in self._loaded.run.plan.by_key:
            return follow(parsed.steps, self._output(parsed.root))
        if parsed.root in self._circumstances:
            return follow(parsed.steps, self._circumstances[parsed.root])
        steps, found = (parsed.root, *parsed.steps), MISSING
        if self._question.kind is ApprovalKind.COMPLETION:
            found = follow(steps, self._output(self._question.checkpoint))
        return follow(steps, self._input) if found is MISSING else found

    @cached_property
    def _input(self) -> Any:
        checksum = self._loaded.facts.input_checksum
        return MISSING if checksum is None else _decoded(blobs.read(self._connection, checksum))

    @cached_property
    def _circumstances(self) -> Mapping[str, Mapping[str, Value]]:
        facts, run, key = self._loaded.facts, self._loaded.run, self._question.checkpoint
        checkpoint = run.plan.by_key.get(key)
        return {
            "pipeline": {"id": facts.pipeline_id, "name": facts.pipeline_name},
            "checkpoint": {
                "key": key,
                "name": checkpoint.name if checkpoint else key,
                "stage": checkpoint.stage if checkpoint else key,
                "mode": run.plan.policy(key).mode.value,
            },
            "run": {
                "id": facts.run_id,
                "version": facts.run_version,
                "is_test": facts.is_test,
                "started_by": facts.created_by,
                "pass_number": run.pass_number,
            },
        }

    def _output(self, key: str) -> Any:
        if key not in self._outputs:
            own = self._loaded.run.executions.get(self._question.execution)
            is_own = key == self._question.checkpoint and self._question.kind is ApprovalKind.COMPLETION
            e = own if is_own else self._standing(key)
            self._outputs[key] = MISSING if e is None else self._read(e)
        return self._outputs[key]

    def _standing(self, key: str) -> Execution | None:
        """Whose output stands for a key: the newest that has put something out, completed or about to be."""
        if self._as_of is None:
            found = [e for e in self._loaded.run.current if e.key == key and (e.outputs or e.answered)]
        else:
            made = self._loaded.run.executions.values()
            found = [e for e in made if e.key == key and e.completed_at and e.completed_at <= self._as_of]
        return found[-1] if found else None

    def _read(self, e: Execution) -> Any:
        """What stands under its key."""
        definition = self._plans.definition(self._connection, self._loaded.facts.pipeline_id, e.definition)
        checkpoint = definition.by_key.get(e.key)
        if checkpoint is None:
            return MISSING
        answer = read_answer(self._connection, e.answer) if e.policy.mode is ExecutionMode.HUMAN_ONLY else None
        try:
            return read_value(checkpoint, self._artifacts(e), answer)
        except InvalidInputData:
            return MISSING  # what is no JSON has no fields

    def _artifacts(self, e: Execution) -> list[ProducedFile | StoredFile]:
        new = [one for one in self._brought if one.execution_id == e.id]
        if new:
            return [
                ProducedFile(one.name, one.format, one.content)
                if one.content is not None
                else self._stored(one.name, one.format, one.checksum, one.size)
                for one in new
            ]
        rows = self._connection.execute(
            sa.select(A.artifact_name, A.format, A.checksum, A.size_bytes).where(*self._those_of(e))
        )
        return [self._stored(row.artifact_name, row.format, row.checksum, row.size_bytes) for row in rows]

    def _those_of(self, e: Execution) -> tuple[sa.ColumnElement[bool], ...]:
        if self._as_of is None:
            return (A.artifact_record_id.in_(e.outputs),)
        stood = sa.or_(A.superseded_at.is_(None), A.superseded_at > self._as_of)
        return A.execution_id == e.id, A.created_at <= self._as_of, stood

    def _stored(self, name: str, format: str, checksum: str, size: int) -> StoredFile:
        return StoredFile(name, format, checksum, size, lambda: blobs.read(self._connection, checksum))


def _decoded(content: bytes) -> Any:
    return decode_json(content, max_bytes=max(len(content), 1))
