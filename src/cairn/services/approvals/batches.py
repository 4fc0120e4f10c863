"""The same decision on several approvals."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid5

from cairn.core.errors import AlreadyApplied, CommandRefused
from cairn.core.states import ApprovalStatus
from cairn.services.actors import Actor
from cairn.services.approvals.service import ApprovalService
from cairn.services.approvals.views import BatchDecisionResult, BatchDecisionResults
from cairn.services.errors import InvalidInput, ServiceError
from cairn.store.errors import NotFound


class ApprovalBatches:
    def __init__(self, approvals: ApprovalService) -> None:
        self._approvals = approvals

    async def decide(
        self,
        items: Sequence[tuple[str, str | None]],
        decision: str,
        feedback: str,
        *,
        actor: Actor,
        command_id: UUID | None = None,
    ) -> BatchDecisionResults:
        """One after the other; `items` are approvals with the digests that were looked at."""
        answers = [
            await self._one(each, digest, decision, feedback, actor, command_id) for each, digest in dict(items).items()
        ]
        refused = sum(answer.error is not None for answer in answers)
        return BatchDecisionResults(decided=len(answers) - refused, refused=refused, items=answers)

    async def _one(
        self, id: str, digest: str | None, decision: str, feedback: str, actor: Actor, command_id: UUID | None
    ) -> BatchDecisionResult:
        own = uuid5(command_id, id) if command_id is not None else None
        try:
            commit = await self._approvals.decide(
                id, decision, digest=digest, feedback=feedback, actor=actor, command_id=own
            )
        except AlreadyApplied:
            return BatchDecisionResult(approval_id=id, status=None, error=None)
        except CommandRefused as refused:
            return BatchDecisionResult(approval_id=id, status=None, error=refused.message)
        except InvalidInput as wrong:
            return BatchDecisionResult(
                approval_id=id, status=None, error=" ".join(message for _, message in wrong.errors)
            )
        except (NotFound, ServiceError) as error:
            return BatchDecisionResult(approval_id=id, status=None, error=error.message)
        return BatchDecisionResult(
            approval_id=id, status=ApprovalStatus(commit.after.run.approvals[id].status), error=None
        )
