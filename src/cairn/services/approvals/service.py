"""Decide and assign approvals. Every endpoint that decides calls this service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack
from uuid import UUID

from cairn.core.commands import AssignApproval, CommandContext, Decide
from cairn.core.errors import CommandRefused
from cairn.core.states import ApprovalKind, ApprovalStatus
from cairn.core.transitions import DECISIONS
from cairn.services.actions.decisions import SETTLEMENTS, ActionDecision
from cairn.services.actions.modifications import ActionModifications
from cairn.services.actions.service import ActionService
from cairn.services.actors import Actor
from cairn.services.approvals.form_answers import FormAnswers
from cairn.services.approvals.queries.pending import PendingApproval, find_approval, find_pending
from cairn.services.engine.commit import Commit
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
    on_repeat: str | None
    override: bool
    learn: bool


@dataclass(frozen=True, slots=True)
class DecisionInput:
    decision: str
    digest: str | None = None  # of the content that the user has seen
    feedback: str = ""
    fields: Mapping[str, Any] | None = None  # of a form
    modified_params: Mapping[str, Any] | None = None  # of an action, instead of the proposed ones
    on_repeat: str | None = None  # what to do about earlier actions that this one repeats
    override: bool = False  # decide as an admin, instead of the people who are asked
    learn: bool = False  # show the modification to agents as an example


class ApprovalService:
    def __init__(
        self,
        engine: Engine,
        form_answers: FormAnswers,
        modifications: ActionModifications,
        actions: ActionService,
    ) -> None:
        self._engine = engine
        self._form_answers = form_answers
        self._modifications = modifications
        self._actions = actions

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
        if approval.action_id is not None:
            return await self._decide_action(approval, approval.action_id, request, actor, command_id)
        if request.on_repeat is not None or request.override:
            raise InvalidInput([("/on_repeat", "You can send on_repeat and override only when you decide an action.")])
        command = Decide(approval.approval_id, decision, request.digest, request.feedback)
        if decision == "answer":
            checksum = await self._form_answers.save(approval.execution_id, request.fields or {})
            command = replace(command, answer=checksum)
        return await self._engine.send(approval.run_id, command, self._context(actor, command_id))

    async def _decide_action(
        self,
        approval: PendingApproval,
        action_id: str,
        request: DecisionInput,
        actor: Actor,
        command_id: UUID | None,
    ) -> Commit:
        if approval.status is not ApprovalStatus.PENDING:
            raise CommandRefused(f"The approval is no longer pending. It is {approval.status.value}.")
        possible = tuple(DECISIONS[approval.kind])
        if request.decision not in possible:
            text = f"'{request.decision}' is not a decision for an approval of kind {approval.kind.value}."
            raise CommandRefused(text, possible)
        decision = ActionDecision(
            request.decision, request.digest, request.on_repeat, request.feedback, None, request.override
        )
        if request.modified_params is not None and decision.choice not in SETTLEMENTS:
            decision = await self._modifications.modify(
                action_id, decision, request.modified_params, learn=request.learn
            )
        commit = await self._actions.decide(action_id, decision, actor=actor, command_id=command_id)
        assert commit is not None  # the approval is pending, so its run is concerned
        return commit

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
