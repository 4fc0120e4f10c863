"""Approvals that are kept: the same content, approved before in the same run, pass and checkpoint."""

from __future__ import annotations

from collections import Counter
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
    """Repeat an earlier approval of this content by the same rule, if there is one."""
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
    alike = [a for a in decided(run, e) if a.kind is kind and a.digest == digest]
    # What counts is what was said last, on the terms that it would be asked on now.
    if not alike or alike[-1].status not in APPROVED_STATUSES or _terms(alike[-1]) != _terms(verdict):
        return None
    if kind is ApprovalKind.ACTION:
        # Proposed once more in one attempt it is a second action: each attempt may do it as often as an earlier one.
        times = Counter((a.execution, a.attempt) for a in alike)
        if times.pop((e.id, e.attempt), 0) >= max(times.values(), default=0):
            return None
    return alike[-1]


def _terms(of: Approval | RuleVerdict) -> tuple[object, ...]:
    """Who asks, and whom."""
    return of.rule, of.scope, of.terms.required_approvals, of.terms.approvers, of.terms.not_by_starter


def decided(run: Run, e: Execution) -> Iterator[Approval]:
    """Approvals of the same checkpoint and pass that have been answered, in the order they were asked."""
    for a in run.approvals.values():
        of = run.executions[a.execution]
        if of.key == e.key and of.pass_number == e.pass_number and a.status in DECIDED:
            yield a
