"""The form of an execution, with the previous answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import sqlalchemy as sa

from cairn.core.states import WaitingOn
from cairn.definitions import CheckpointDefinition, InputField, script_forms
from cairn.documents import decode_json
from cairn.services.approvals.queries.questions import open_question
from cairn.services.approvals.views import Form, FormField
from cairn.services.paging import Row
from cairn.store import Connection, blobs
from cairn.store import tables as t
from cairn.store.errors import NotFound

_WAITING_FOR_ANSWER = frozenset({WaitingOn.QUESTION.value, WaitingOn.SCRIPT_INPUT.value})


def form_of(connection: Connection, checkpoint: CheckpointDefinition, row: Row) -> Form | None:
    execution_id, answer_checksum = row.execution_id, row.answer_checksum
    question = open_question(connection, execution_id) if row.waiting_on in _WAITING_FOR_ANSWER else None
    content = (question.text, question.fields) if question is not None else _form_content(checkpoint)
    if content is None:
        return None
    instructions, input_fields = content
    fields = [
        FormField(
            field_id=field.field_id or field.name,
            name=field.name,
            type=field.type.value,
            label=field.label or field.name,
            required=field.required,
            default=field.default,
            validation=field.validation,
        )
        for field in input_fields
    ]
    return Form(
        instructions=instructions,
        fields=fields,
        values=_answers(connection, answer_checksum) if question is None else None,
        feedback=_feedback(connection, execution_id) if answer_checksum is not None else None,
    )


def _form_content(checkpoint: CheckpointDefinition) -> tuple[str, Sequence[InputField]] | None:
    """The instructions and fields of a human-only checkpoint, or of a script that requires user input."""
    form, script = checkpoint.execution.human_only_config, checkpoint.execution.script_config
    if form is not None:
        return form.instructions, form.input_fields
    if script is not None and script.requires_user_input:
        return script.user_input_prompt or "", script_forms.form_fields(script)
    return None


def _answers(connection: Connection, checksum: str | None) -> dict[str, Any] | None:
    if checksum is None:
        return None
    answer: Any = decode_json(blobs.read(connection, checksum))
    return cast("dict[str, Any]", answer) if isinstance(answer, dict) else None


def _feedback(connection: Connection, execution_id: str) -> str | None:
    """The feedback of the last decision, if it requested a revision."""
    a, d = t.approvals.c, t.approval_decisions.c
    query = (
        sa.select(d.decision, d.feedback)
        .join_from(t.approval_decisions, t.approvals, a.approval_id == d.approval_id)
        .where(a.execution_id == execution_id, a.kind.in_(("completion", "validation")))
        .order_by(d.at.desc(), d.position.desc())
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    return row.feedback if row is not None and row.decision in ("revise", "feedback") else None


def execution_definition(connection: Connection, execution_id: str) -> Row:
    """The pipeline, definition revision and checkpoint key of an execution."""
    e, r = t.checkpoint_executions.c, t.pipeline_runs.c
    row = connection.execute(
        sa.select(e.key, e.definition_revision, r.pipeline_id)
        .select_from(t.checkpoint_executions.join(t.pipeline_runs))
        .where(e.execution_id == execution_id)
    ).one_or_none()
    if row is None:
        raise NotFound("execution", execution_id)
    return row


def uploads_of(connection: Connection, execution_id: str) -> dict[str, Row]:
    """Files that were uploaded for an execution, by upload id."""
    rows = connection.execute(sa.select(t.uploads).where(t.uploads.c.execution_id == execution_id))
    return {row.upload_id: row for row in rows}
