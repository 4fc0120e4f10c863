"""Questions put to people."""

from __future__ import annotations

from cairn.core.model import ApprovalStatus, Kind
from cairn.services.views.artifacts import Artifact
from cairn.services.views.base import Id, Instant, Page, View
from cairn.services.views.forms import Form


class Vote(View):
    """One answer to an approval."""

    by: str
    at: Instant
    decision: str
    feedback: str
    digest: str  # of what was looked at


class Approval(View):
    approval_id: Id
    kind: Kind
    status: ApprovalStatus
    digest: str
    run_id: Id
    run_version: int | None
    pipeline_id: Id
    pipeline_name: str
    execution_id: Id
    checkpoint_id: Id
    checkpoint_name: str
    checkpoint_position: int
    asked_at: Instant
    expires_at: Instant | None
    closed_at: Instant | None
    needed: int
    given: int
    reason: str
    decisions: list[Vote]
    possible: list[str]


class ApprovalPage(Page[Approval]):
    """The queue."""


class ApprovalDetail(Approval):
    """An approval with what it is about."""

    artifacts: list[Artifact]
    form: Form | None
    context_available: bool
