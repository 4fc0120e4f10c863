"""What people fill in: checked against the form, kept whole, read again by the runner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from cairn.definitions import CheckpointDefinition, form_validation
from cairn.definitions.script_forms import check_answers
from cairn.documents import decode_json, encode_json
from cairn.services.approvals.questions import AgentQuestion, open_question
from cairn.services.engine.plans import DefinitionCache
from cairn.services.errors import InvalidInput
from cairn.store import Connection, Database, blobs
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.runs.run_rows import Row

NOT_RIGHT = "The form is not filled in correctly; nothing has been submitted."


class FormAnswers:
    def __init__(self, database: Database, plans: DefinitionCache) -> None:
        self._database = database
        self._plans = plans

    async def keep(self, execution_id: str, fields: Mapping[str, Any]) -> str:
        """Check the fields and keep the answer; its checksum goes with the decision."""
        clean = await self._database.aread(lambda c: self._check(c, execution_id, fields))
        content = encode_json(clean)
        return await self._database.transact(lambda c: blobs.put(c, content))

    def _check(self, connection: Connection, execution_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        checkpoint = self.checkpoint_of(connection, execution_id)
        config = checkpoint.execution.human_only_config
        if config is None:
            question = open_question(connection, execution_id)
            return _answer(question, fields) if question is not None else _parameters(checkpoint, fields)
        clean, findings = form_validation.check(config.input_fields, fields)
        errors = [(f"/fields{finding.path}", finding.message) for finding in findings]
        uploads = uploaded(connection, execution_id)
        for field in config.input_fields:
            value = clean.get(field.name)
            if field.type == "file" and value is not None and value not in uploads:
                errors.append((f"/fields/{field.name}", f"There is no uploaded file {value!r}: upload it first."))
        if errors:
            raise InvalidInput(errors, NOT_RIGHT)
        return clean

    def checkpoint_of(self, connection: Connection, execution_id: str) -> CheckpointDefinition:
        """The definition that an execution is carried out by."""
        e, r = t.checkpoint_executions.c, t.pipeline_runs.c
        row = connection.execute(
            sa.select(e.key, e.definition_revision, r.pipeline_id)
            .select_from(t.checkpoint_executions.join(t.pipeline_runs))
            .where(e.execution_id == execution_id)
        ).one_or_none()
        if row is None:
            raise NotFound("execution", execution_id)
        return self._plans.definition(connection, row.pipeline_id, row.definition_revision).checkpoint(row.key)


def _answer(question: AgentQuestion, fields: Mapping[str, Any]) -> dict[str, Any]:
    clean, findings = form_validation.check(question.fields, fields)
    if findings:
        raise InvalidInput([(f"/fields{finding.path}", finding.message) for finding in findings], NOT_RIGHT)
    return dict(clean)


def _parameters(checkpoint: CheckpointDefinition, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Answers that become a script's parameters."""
    script = checkpoint.execution.script_config
    if script is None or not script.requires_user_input:
        raise InvalidInput([("/fields", f"'{checkpoint.checkpoint_name}' has no form to fill in.")])
    clean, findings = check_answers(script, fields)
    if findings:
        raise InvalidInput([(f"/fields{finding.path}", finding.message) for finding in findings], NOT_RIGHT)
    return dict(clean)


def read_answer(connection: Connection, checksum: str | None) -> Any:
    return decode_json(blobs.read(connection, checksum)) if checksum is not None else None


def uploaded(connection: Connection, execution_id: str) -> dict[str, Row]:
    """Files that were uploaded for an execution, by upload id."""
    rows = connection.execute(sa.select(t.uploads).where(t.uploads.c.execution_id == execution_id))
    return {row.upload_id: row for row in rows}
