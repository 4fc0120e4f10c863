"""Decide and assign approvals. Every endpoint that decides calls this service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack
from uuid import UUID

from cairn.core.commands import AssignApproval, CommandContext, Decide
from cairn.core.states import ApprovalKind
from cairn.services.actions.modifications import ActionModifications
from cairn.services.actors import Actor
from cairn.services.approvals.form_answers import FormAnswers
from cairn.services.approvals.queries.pending import PendingApproval, find_approval, find_pending
from cairn.services.engine.commit import NO_ATTACHMENTS, Commit
from cairn.services.engine.engine import Engine
from cairn.services.errors import InvalidInput

REQUIRED_TEXT = {
    "reject": ("reason", "Enter a reason for the rejection."),
    "revise": ("feedback", "Enter feedback for the revision."),
}


class DecisionFields(TypedDict, total=False):
    """Optional fields of a `DecisionInput`."""

    digest: str | None
    feedback: str
    fields: Mapping[str, Any] | None
    modified_params: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class DecisionInput:
    decision: str
    digest: str | None = None  # of the content that the user has seen
    feedback: str = ""
    fields: Mapping[str, Any] | None = None  # of a form
    modified_params: Mapping[str, Any] | None = None  # of an action, instead of the proposed ones


class ApprovalService:
    def __init__(self, engine: Engine, form_answers: FormAnswers, modifications: ActionModifications) -> None:
        self._engine = engine
        self._form_answers = form_answers
        self._modifications = modifications

    async def decide(
        self,
        approval_id: str,
        decision: str,
        *,
        actor: Actor,
        command_id: UUID | None = None,
        **fields: Unpack[DecisionFields],
    ) -> Commit:
        approval = await self._engine.database.aread(lambda c: find_approval(c, approval_id))
        return await self._decide(approval, DecisionInput(decision, **fields), actor, command_id)

    async def decide_pending(
        self,
        execution_id: str,
        decision: str,
        *,
        kinds: frozenset[ApprovalKind] | None = None,
        actor: Actor,
        command_id: UUID | None = None,
        **fields: Unpack[DecisionFields],
    ) -> Commit:
        """Decide the pending approval of an execution."""
        approval = await self._engine.database.aread(lambda c: find_pending(c, execution_id, kinds))
        return await self._decide(approval, DecisionInput(decision, **fields), actor, command_id)

    async def _decide(
        self, approval: PendingApproval, request: DecisionInput, actor: Actor, command_id: UUID | None
    ) -> Commit:
        decision = request.decision
        if approval.kind is ApprovalKind.START and decision in ("reject", "revise"):
            decision = "refuse"  # there is no result to revise yet
        if decision in REQUIRED_TEXT and not request.feedback.strip():
            field, message = REQUIRED_TEXT[decision]
            raise InvalidInput([(f"/{field}", message)])
        if request.fields is not None and decision != "answer":
            raise InvalidInput([("/fields", "You can send fields only when you answer a form.")])
        if request.modified_params is not None and (approval.kind, decision) != (ApprovalKind.ACTION, "approve"):
            raise InvalidInput([("/modified_params", "You can change parameters only when you approve an action.")])
        command = Decide(approval.approval_id, decision, request.digest, request.feedback)
        attachments = NO_ATTACHMENTS
        if decision == "answer":
            checksum = await self._form_answers.save(approval.execution_id, request.fields or {})
            command = replace(command, answer=checksum)
        elif request.modified_params is not None:
            command, attachments = await self._modifications.modify(
                approval.approval_id, command, request.modified_params
            )
        context = self._context(actor, command_id)
        return await self._engine.send(approval.run_id, command, context, attachments=attachments)

    async def assign(
        self, approval_id: str, assignees: Sequence[str], reason: str, *, actor: Actor, command_id: UUID | None = None
    ) -> Commit:
        """Let other users, roles or groups decide."""
        approval = await self._engine.database.aread(lambda c: find_approval(c, approval_id))
        command = AssignApproval(approval_id, tuple(dict.fromkeys(name.strip() for name in assignees)), reason)
        return await self._engine.send(approval.run_id, command, self._context(actor, command_id))

    def _context(self, actor: Actor, command_id: UUID | None) -> CommandContext:
        """A context with the names under which the actor can be assigned. Admins can decide everything."""
        identities = None if actor.is_admin else actor.all_names
        return replace(self._engine.context(actor.name, command_id), identities=identities)
