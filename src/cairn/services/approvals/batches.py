"""Apply one decision to several approvals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from cairn.core.errors import AlreadyApplied, CommandRefused
from cairn.core.states import ApprovalStatus
from cairn.services.actors import Actor
from cairn.services.approvals.queries.pending import find_review
from cairn.services.approvals.service import ApprovalService
from cairn.services.approvals.views import BatchDecisionResult, BatchDecisionResults
from cairn.services.errors import InvalidInput, ServiceError
from cairn.store import Database
from cairn.store.errors import NotFound


@dataclass(frozen=True, slots=True)
class BatchDecision:
    decision: str
    feedback: str = ""
    on_repeat: str | None = None  # use_earlier: of actions that repeat earlier ones


class ApprovalBatches:
    def __init__(self, approvals: ApprovalService, database: Database) -> None:
        self._approvals = approvals
        self._database = database

    async def decide(
        self,
        items: Sequence[tuple[str, str | None]],
        decision: BatchDecision,
        *,
        actor: Actor,
        command_id: UUID | None = None,
    ) -> BatchDecisionResults:
        """Decide the approvals in order. `items` are their ids with the digests that the user has seen."""
        results = [
            await self._decide(approval_id, digest, decision, actor, command_id)
            for approval_id, digest in dict(items).items()
        ]
        failed = sum(result.error_message is not None for result in results)
        return BatchDecisionResults(decided=len(results) - failed, failed=failed, items=results)

    async def _decide(
        self, approval_id: str, digest: str | None, decision: BatchDecision, actor: Actor, command_id: UUID | None
    ) -> BatchDecisionResult:
        item_command = uuid5(command_id, approval_id) if command_id is not None else None
        status: ApprovalStatus | None = None
        error: str | None = None
        try:
            if decision.decision == "approve":
                await self._check_action(approval_id)
            commit = await self._approvals.decide(
                approval_id,
                decision.decision,
                digest=digest,
                feedback=decision.feedback,
                on_repeat=decision.on_repeat,
                actor=actor,
                command_id=item_command,
            )
            status = ApprovalStatus(commit.after.run.approvals[approval_id].status)
        except AlreadyApplied:
            pass
        except InvalidInput as invalid:
            error = " ".join(message for _, message in invalid.errors)
        except (CommandRefused, NotFound, ServiceError) as failure:
            error = failure.message
        return BatchDecisionResult(approval_id=approval_id, status=status, error_message=error)

    async def _check_action(self, approval_id: str) -> None:
        """People look at some actions one by one."""
        review = await self._database.aread(lambda c: find_review(c, approval_id))
        if review.is_untrusted:
            raise CommandRefused("This proposal read content from outside. Review it, then approve it on its own.")
        if review.is_simulated:
            raise CommandRefused("A simulated model proposed this action. Review it, then approve it on its own.")
