"""Approvals: the one door for every decision, whatever endpoint it came in by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack
from uuid import UUID

import sqlalchemy as sa

from cairn.core.commands import AssignApproval, CommandContext, Decide
from cairn.core.errors import CommandRefused
from cairn.core.states import ApprovalKind, ApprovalStatus, ExecutionStatus
from cairn.services.actions.modifications import ActionModifications
from cairn.services.actors import Actor
from cairn.services.approvals.form_answers import FormAnswers
from cairn.services.engine.commit import NO_ATTACHMENTS, Commit
from cairn.services.engine.engine import Engine
from cairn.services.errors import InvalidInput
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.runs.run_rows import Row

NEEDS_WORDS = {"reject": "reason", "revise": "feedback"}


class DecisionFields(TypedDict, total=False):
    """What may go with a decision: see `Said`."""

    digest: str | None
    feedback: str
    fields: Mapping[str, Any] | None
    modified_params: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class DecisionInput:
    """What somebody answers."""

    decision: str
    digest: str | None = None  # of what was looked at
    feedback: str = ""
    fields: Mapping[str, Any] | None = None  # of a form
    modified_params: Mapping[str, Any] | None = None  # of an action, in place of those that were proposed


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """An approval, as far as it is needed to answer it."""

    approval_id: str
    run_id: str
    execution_id: str
    kind: ApprovalKind
    status: ApprovalStatus


class ApprovalService:
    def __init__(self, engine: Engine, answers: FormAnswers, modifying: ActionModifications) -> None:
        self._engine = engine
        self._answers = answers
        self._modifying = modifying

    async def decide(
        self,
        approval_id: str,
        decision: str,
        *,
        actor: Actor,
        command_id: UUID | None = None,
        **said: Unpack[DecisionFields],
    ) -> Commit:
        asked = await self._engine.database.aread(lambda c: find(c, approval_id))
        return await self._decide(asked, DecisionInput(decision, **said), actor, command_id)

    async def decide_pending(
        self,
        execution_id: str,
        decision: str,
        *,
        kinds: frozenset[ApprovalKind] | None = None,
        actor: Actor,
        command_id: UUID | None = None,
        **said: Unpack[DecisionFields],
    ) -> Commit:
        """Answer whatever is pending for an execution."""
        asked = await self._engine.database.aread(lambda c: pending(c, execution_id, kinds))
        return await self._decide(asked, DecisionInput(decision, **said), actor, command_id)

    async def _decide(
        self, asked: PendingApproval, said: DecisionInput, actor: Actor, command_id: UUID | None
    ) -> Commit:
        decision = said.decision
        if asked.kind is ApprovalKind.START and decision in ("reject", "revise"):
            decision = "refuse"  # the work has not started: nothing can be revised
        if decision in NEEDS_WORDS and not said.feedback.strip():
            word = NEEDS_WORDS[decision]
            raise InvalidInput([(f"/{word}", f"Say why: '{word}' is required to {decision}.")])
        command = Decide(asked.approval_id, decision, said.digest, said.feedback)
        attachments = NO_ATTACHMENTS
        if decision == "answer":
            command = replace(command, answer=await self._answers.keep(asked.execution_id, said.fields or {}))
        elif said.modified_params is not None:
            if (asked.kind, decision) != (ApprovalKind.ACTION, "approve"):
                raise InvalidInput([("/modified_params", "Only the approval of an action can have other parameters.")])
            command, attachments = await self._modifying.modify(asked.approval_id, command, said.modified_params)
        return await self._engine.send(asked.run_id, command, self.given(actor, command_id), attachments=attachments)

    async def hand_over(
        self, approval_id: str, to: Sequence[str], reason: str, *, actor: Actor, command_id: UUID | None = None
    ) -> Commit:
        """Let others decide."""
        asked = await self._engine.database.aread(lambda c: find(c, approval_id))
        command = AssignApproval(approval_id, tuple(dict.fromkeys(name.strip() for name in to)), reason)
        return await self._engine.send(asked.run_id, command, self.given(actor, command_id))

    def given(self, actor: Actor, command_id: UUID | None = None) -> CommandContext:
        """With all that this person may be named as among those who are asked; admins count as everybody."""
        counts_as = None if actor.is_admin else actor.all_names
        return replace(self._engine.context(actor.name, command_id), counts_as=counts_as)


def find(connection: Connection, approval_id: str) -> PendingApproval:
    row = connection.execute(_asked().where(t.approvals.c.approval_id == approval_id)).one_or_none()
    if row is None:
        raise NotFound("approval", approval_id)
    return _read(row)


def pending(connection: Connection, execution_id: str, kinds: frozenset[ApprovalKind] | None) -> PendingApproval:
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
    raise CommandRefused(
        f"The execution is {what}: nothing of that kind is asked now.", _possible(row.status, row.waiting_on)
    )


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


def _read(row: Row) -> PendingApproval:
    return PendingApproval(
        row.approval_id, row.run_id, row.execution_id, ApprovalKind(row.kind), ApprovalStatus(row.status)
    )
