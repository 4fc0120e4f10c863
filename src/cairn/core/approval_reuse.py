"""Reuse an approval of the same content in the same run, pass and checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

from cairn.core.approval import Approval
from cairn.core.draft import Draft
from cairn.core.events import EventType
from cairn.core.execution import Execution
from cairn.core.rule_verdict import RuleVerdict
from cairn.core.run import Run
from cairn.core.states import APPROVED_STATUSES, ApprovalKind, ApprovalStatus

DECIDED = APPROVED_STATUSES | {ApprovalStatus.REJECTED, ApprovalStatus.REVISION_REQUESTED}


def reuse(d: Draft, e: Execution, kind: ApprovalKind, digest: str, verdict: RuleVerdict) -> bool:
    """Reuse an earlier approval of this content on the same terms. Return False if there is none."""
    earlier = approved_before(d.run, e, kind, digest, verdict)
    if earlier is None:
        return False
    at = d.context.at
    a = earlier.replace(
        id=d.new_id(),
        execution=e.id,
        requested_at=at,
        closed_at=at,
        expires_at=None,
        attempt=e.attempt,
        reused_from=earlier.id,
    )
    d.record(EventType.APPROVAL_REUSED, d.update_approval(a), kind=kind.value, digest=digest, reused_from=earlier.id)
    return True


def approved_before(run: Run, e: Execution, kind: ApprovalKind, digest: str, verdict: RuleVerdict) -> Approval | None:
    if e.requires_new_approval:
        return None
    same = [a for a in decided(run, e) if a.kind is kind and a.digest == digest]
    # Only the last decision counts, and only if approval would be requested on the same terms now.
    if not same or same[-1].status not in APPROVED_STATUSES or _terms(same[-1]) != _terms(verdict):
        return None
    return same[-1]


def _terms(source: Approval | RuleVerdict) -> tuple[object, ...]:
    """The rule that requires approval, and the people it requires."""
    terms = source.terms
    return source.rule, source.scope, terms.required_approvals, terms.approvers, terms.not_by_starter


def decided(run: Run, e: Execution) -> Iterator[Approval]:
    """Decided approvals of the same checkpoint and pass, in the order of request."""
    for a in run.approvals.values():
        other = run.executions[a.execution]
        if other.key == e.key and other.pass_number == e.pass_number and a.status in DECIDED:
            yield a
