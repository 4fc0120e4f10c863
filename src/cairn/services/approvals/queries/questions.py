"""Questions of agents and the answers to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import sqlalchemy as sa

from cairn.core.states import APPROVED_STATUSES, ApprovalKind, ApprovalStatus
from cairn.definitions import InputField
from cairn.definitions.enums import FieldType
from cairn.documents import decode_json
from cairn.store import Connection, blobs
from cairn.store import tables as t

ANSWER = "answer"  # the only field of the form


@dataclass(frozen=True, slots=True)
class AgentQuestion:
    text: str
    options: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[InputField, ...]:
        if self.options:
            options: dict[str, Any] = {"enum": list(self.options)}
            return (InputField(name=ANSWER, type=FieldType.TEXT, label="Answer", validation=options),)
        return (InputField(name=ANSWER, type=FieldType.MULTILINE_TEXT, label="Answer"),)


def open_question(connection: Connection, execution_id: str) -> AgentQuestion | None:
    """The unanswered question of an execution."""
    c, a = t.execution_calls.c, t.approvals.c
    arguments: Any = connection.execute(
        sa.select(c.arguments)
        .join(t.approvals, sa.and_(a.execution_id == c.execution_id, a.requested_at == c.requested_at))
        .where(
            c.execution_id == execution_id,
            c.kind == "question",
            a.kind == ApprovalKind.INPUT.value,
            a.status == ApprovalStatus.PENDING.value,
        )
    ).scalar()
    if arguments is None:
        return None
    question = cast("Mapping[str, Any]", arguments.get("request", {}))
    if "question" not in question:
        return None  # a form for the parameters of a script
    return AgentQuestion(str(question["question"]), tuple(map(str, question.get("options") or ())))


def find_answer(connection: Connection, execution_id: str, requested_at: datetime) -> dict[str, Any] | None:
    """The answer to the question asked at this time. Declining counts as an answer."""
    a, d = t.approvals.c, t.approval_decisions.c
    row = connection.execute(
        sa.select(a.status, d.by, d.feedback, d.answer_checksum)
        .join(t.approval_decisions, d.approval_id == a.approval_id)
        .where(a.execution_id == execution_id, a.kind == ApprovalKind.INPUT.value, a.requested_at == requested_at)
        .order_by(d.position.desc())
        .limit(1)
    ).one_or_none()
    if row is None:
        return None
    if row.status == ApprovalStatus.REJECTED.value:
        return {"declined": True, "reason": row.feedback, "by": row.by}
    if row.status not in {status.value for status in APPROVED_STATUSES} or row.answer_checksum is None:
        return None
    fields = cast("dict[str, Any]", decode_json(blobs.read(connection, row.answer_checksum)))
    return {"answer": fields.get(ANSWER), "fields": fields, "by": row.by}
