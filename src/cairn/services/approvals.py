"""Approvals: the one door for every decision, whatever endpoint it came in by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from cairn.core.errors import Refused
from cairn.core.messages import Decide
from cairn.core.model import ApprovalStatus, ExecutionStatus, Kind
from cairn.services.actors import Actor
from cairn.services.engine import Engine, Step
from cairn.services.errors import NotFound, WrongInput
from cairn.services.form_answers import FormAnswers
from cairn.store import tables as t
from cairn.store.aggregate import Row

NEEDS_WORDS = {"reject": "reason", "revise": "feedback"}


@dataclass(frozen=True, slots=True)
class Asked:
    """An approval, as far as it is needed to answer it."""

    approval_id: str
    run_id: str
    execution_id: str
    kind: Kind
    status: ApprovalStatus


class Approvals:
    def __init__(self, engine: Engine, answers: FormAnswers) -> None:
        self._engine = engine
        self._answers = answers

    async def decide(
        self,
        approval_id: str,
        decision: str,
        *,
        digest: str | None = None,
        feedback: str = "",
        fields: Mapping[str, Any] | None = None,
        by: Actor,
        command_id: UUID | None = None,
    ) -> Step:
        asked = await self._engine.database.aread(lambda c: find(c, approval_id))
        return await self._decide(asked, decision, digest, feedback, fields, by, command_id)

    async def decide_pending(
        self,
        execution_id: str,
        decision: str,
        *,
        kinds: frozenset[Kind] | None = None,
        digest: str | None = None,
        feedback: str = "",
        fields: Mapping[str, Any] | None = None,
        by: Actor,
        command_id: UUID | None = None,
    ) -> Step:
        """Answer whatever is pending for an execution (D41)."""
        asked = await self._engine.database.aread(lambda c: pending(c, execution_id, kinds))
        return await self._decide(asked, decision, digest, feedback, fields, by, command_id)

    async def _decide(
        self,
        asked: Asked,
        decision: str,
        digest: str | None,
        feedback: str,
        fields: Mapping[str, Any] | None,
        by: Actor,
        command_id: UUID | None,
    ) -> Step:
        if asked.kind is Kind.START and decision in ("reject", "revise"):
            decision = "refuse"  # D22, D68
        if decision in NEEDS_WORDS and not feedback.strip():
            word = NEEDS_WORDS[decision]
            raise WrongInput([(f"/{word}", f"Say why: '{word}' is required to {decision}.")])
        answer = None
        if decision == "answer":
            answer = await self._answers.keep(asked.execution_id, fields or {})
        command = Decide(asked.approval_id, decision, digest, feedback, answer)
        return await self._engine.send(asked.run_id, command, self._engine.given(by.name, command_id))


def find(connection: sa.Connection, approval_id: str) -> Asked:
    row = connection.execute(_asked().where(t.approvals.c.approval_id == approval_id)).one_or_none()
    if row is None:
        raise NotFound("approval", approval_id)
    return _read(row)


def pending(connection: sa.Connection, execution_id: str, kinds: frozenset[Kind] | None) -> Asked:
    """The pending approval of an execution; where there is none, the answer says what state it is in."""
    rows = connection.execute(
        _asked().where(t.approvals.c.execution_id == execution_id, t.approvals.c.status == ApprovalStatus.PENDING.value)
    )
    wanted = [asked for asked in map(_read, rows) if kinds is None or asked.kind in kinds]
    if wanted:
        return wanted[0]
    executions = t.checkpoint_executions.c
    row = connection.execute(
        sa.select(executions.status, executions.waiting_on).where(executions.execution_id == execution_id)
    ).one_or_none()
    if row is None:
        raise NotFound("execution", execution_id)
    what = f"{row.status}, waiting on {row.waiting_on}" if row.waiting_on else row.status
    raise Refused(f"The execution is {what}: nothing of that kind is asked now.", _possible(row.status, row.waiting_on))


def _possible(status: str, waiting_on: str | None) -> tuple[str, ...]:
    match status, waiting_on:
        case ExecutionStatus.WAITING_APPROVAL_TO_START, _:
            return ("approve-start", "reject")
        case ExecutionStatus.WAITING_APPROVAL_TO_COMPLETE, _:
            return ("approve-complete", "revise")
        case ExecutionStatus.PENDING, _:
            return ("start",)
        case _, "human_form":
            return ("submit",)
        case ExecutionStatus.FAILED, _:
            return ("retry", "cancel")
        case _:
            return ()


def _asked() -> Any:
    a = t.approvals.c
    return sa.select(a.approval_id, a.run_id, a.execution_id, a.kind, a.status)


def _read(row: Row) -> Asked:
    return Asked(row.approval_id, row.run_id, row.execution_id, Kind(row.kind), ApprovalStatus(row.status))
