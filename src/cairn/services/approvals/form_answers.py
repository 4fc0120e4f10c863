"""Answers that users submit in forms: check and store them, and read them for the runner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cairn.definitions import CheckpointDefinition, form_validation
from cairn.definitions.script_forms import check_answers
from cairn.documents import decode_json, encode_json
from cairn.services.approvals.queries.forms import execution_definition, uploads_of
from cairn.services.approvals.queries.questions import AgentQuestion, open_question
from cairn.services.engine.plans import DefinitionCache
from cairn.services.errors import InvalidInput
from cairn.store import Connection, Database, blobs

NOT_SUBMITTED = "The form has errors and was not submitted."


class FormAnswers:
    def __init__(self, database: Database, plans: DefinitionCache) -> None:
        self._database = database
        self._plans = plans

    async def save(self, execution_id: str, fields: Mapping[str, Any]) -> str:
        """Check and store the answers. Returns their checksum, which the decision refers to."""
        answers = await self._database.aread(lambda c: self._check(c, execution_id, fields))
        content = encode_json(answers)
        return await self._database.transact(lambda c: blobs.put(c, content))

    def _check(self, connection: Connection, execution_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        checkpoint = self._checkpoint(connection, execution_id)
        config = checkpoint.execution.human_only_config
        if config is None:
            question = open_question(connection, execution_id)
            return _answer(question, fields) if question is not None else _parameters(checkpoint, fields)
        answers, findings = form_validation.check(config.input_fields, fields)
        errors = _errors(findings)
        uploads = uploads_of(connection, execution_id)
        for field in config.input_fields:
            value = answers.get(field.name)
            if field.type == "file" and value is not None and value not in uploads:
                errors.append((f"/fields/{field.name}", f"The file {value!r} has not been uploaded. Upload it first."))
        if errors:
            raise InvalidInput(errors, NOT_SUBMITTED)
        return answers

    def _checkpoint(self, connection: Connection, execution_id: str) -> CheckpointDefinition:
        row = execution_definition(connection, execution_id)
        return self._plans.definition(connection, row.pipeline_id, row.definition_revision).checkpoint(row.key)


def _answer(question: AgentQuestion, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to an agent's question."""
    answers, findings = form_validation.check(question.fields, fields)
    if findings:
        raise InvalidInput(_errors(findings), NOT_SUBMITTED)
    return dict(answers)


def _parameters(checkpoint: CheckpointDefinition, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a script."""
    script = checkpoint.execution.script_config
    if script is None or not script.requires_user_input:
        raise InvalidInput([("/fields", f"'{checkpoint.checkpoint_name}' has no form.")])
    answers, findings = check_answers(script, fields)
    if findings:
        raise InvalidInput(_errors(findings), NOT_SUBMITTED)
    return dict(answers)


def _errors(findings: Sequence[Any]) -> list[tuple[str, str]]:
    return [(f"/fields{finding.path}", finding.message) for finding in findings]


def read_answer(connection: Connection, checksum: str | None) -> Any:
    return decode_json(blobs.read(connection, checksum)) if checksum is not None else None
