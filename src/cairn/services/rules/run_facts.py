"""Values that conditions can read: the input, outputs and metadata of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any, assert_never

from cairn.core.comparisons import MISSING
from cairn.core.conditions import FieldLookup, Root, resolve_path
from cairn.core.execution import Execution
from cairn.core.rule_verdict import RuleQuestion
from cairn.core.states import ApprovalKind, ExecutionMode
from cairn.documents import Value, decode_json
from cairn.ports import ProducedFile, StoredFile
from cairn.runners import InvalidInputData
from cairn.runners.input_mapping import read_value
from cairn.services.approvals.form_answers import read_answer
from cairn.services.engine.plans import DefinitionCache
from cairn.store import Connection, LoadedRun, NewArtifact, blobs, find_artifacts
from cairn.store.runs.artifacts import find_artifacts_at


class RunFactsReader:
    """The values for one question. Each part is read once, when a rule needs it."""

    def __init__(
        self,
        connection: Connection,
        plans: DefinitionCache,
        loaded: LoadedRun,
        question: RuleQuestion,
        *,
        new_artifacts: Iterable[NewArtifact] = (),
        as_of: datetime | None = None,
    ) -> None:
        """`new_artifacts` belong to the report that raises the question. `as_of` hides newer data."""
        self._connection = connection
        self._plans = plans
        self._loaded = loaded
        self._question = question
        self._new_artifacts = tuple(new_artifacts)
        self._as_of = as_of
        self._outputs: dict[str, Any] = {}

    def value_at(self, field: FieldLookup) -> Any:
        """The value of a field, or MISSING. The parameters of an action belong to the question, not to the run."""
        match field.root:
            case Root.INPUT:
                return resolve_path(field.steps, self._input)
            case Root.RUN | Root.PIPELINE | Root.CHECKPOINT:
                return resolve_path(field.steps, self._metadata[field.root])
            case Root.OUTPUTS:
                key = str(field.steps[0])
                # A proposer can't be judged by its own output.
                return MISSING if key == self._question.checkpoint else resolve_path(field.steps[1:], self._output(key))
            case Root.RESULT:
                is_result = self._question.kind is ApprovalKind.COMPLETION
                return resolve_path(field.steps, self._result) if is_result else MISSING
            case Root.ACTION:
                return MISSING
            case _:
                assert_never(field.root)

    @cached_property
    def _input(self) -> Any:
        checksum = self._loaded.facts.input_checksum
        return MISSING if checksum is None else _decode(blobs.read(self._connection, checksum))

    @cached_property
    def _metadata(self) -> Mapping[str, Mapping[str, Value]]:
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
                "created_by": facts.created_by,
                "pass_number": run.pass_number,
            },
        }

    @cached_property
    def _result(self) -> Any:
        """The result that needs approval."""
        own = self._loaded.run.executions.get(self._question.execution)
        return MISSING if own is None else self._read(own)

    def _output(self, key: str) -> Any:
        if key not in self._outputs:
            e = self._completed(key)
            self._outputs[key] = MISSING if e is None else self._read(e)
        return self._outputs[key]

    def _completed(self, key: str) -> Execution | None:
        """The newest completed execution of a checkpoint."""
        if self._as_of is None:
            return self._question.completed.get(key)
        created = self._loaded.run.executions.values()
        executions = [e for e in created if e.key == key and e.completed_at and e.completed_at <= self._as_of]
        return executions[-1] if executions else None

    def _read(self, e: Execution) -> Any:
        """The output of an execution."""
        definition = self._plans.definition(self._connection, self._loaded.facts.pipeline_id, e.definition)
        checkpoint = definition.by_key.get(e.key)
        if checkpoint is None:
            return MISSING
        answer = read_answer(self._connection, e.answer) if e.policy.mode is ExecutionMode.HUMAN_ONLY else None
        try:
            return read_value(checkpoint, self._artifacts(e), answer)
        except InvalidInputData:
            return MISSING  # only JSON has fields

    def _artifacts(self, e: Execution) -> list[ProducedFile | StoredFile]:
        new = [artifact for artifact in self._new_artifacts if artifact.execution_id == e.id]
        if new:
            return [
                ProducedFile(artifact.name, artifact.format, artifact.content)
                if artifact.content is not None
                else self._stored(artifact.name, artifact.format, artifact.checksum, artifact.size)
                for artifact in new
            ]
        if self._as_of is None:
            stored = find_artifacts(self._connection, e.outputs)
        else:
            stored = find_artifacts_at(self._connection, e.id, self._as_of)
        return [self._stored(artifact.name, artifact.format, artifact.checksum, artifact.size) for artifact in stored]

    def _stored(self, name: str, format: str, checksum: str, size: int) -> StoredFile:
        return StoredFile(name, format, checksum, size, lambda: blobs.read(self._connection, checksum))


def _decode(content: bytes) -> Any:
    return decode_json(content, max_bytes=max(len(content), 1))
