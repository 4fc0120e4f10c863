"""Approvals: the queue, and the decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Path, Query
from starlette.concurrency import run_in_threadpool

from cairn.api.authentication import require_permission
from cairn.api.dependencies import By, CommandId, Services
from cairn.api.examples import approvals as examples
from cairn.api.operations import READ, operation, operation_router
from cairn.api.parameters import ApprovalId, ById, Paging, Text, filled
from cairn.api.requests.approvals import (
    AddCommentRequest,
    AssignRequest,
    DecideBatchRequest,
    DecideRequest,
    Decision,
    ModifyRequest,
)
from cairn.api.responses import command_warnings
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ApprovalKind, ApprovalStatus
from cairn.services.actions.views import ModificationPreview
from cairn.services.actors import Actor, Permission
from cairn.services.approvals.eligibility import DECIDE, SUBMIT
from cairn.services.approvals.queries.lists import ApprovalFilter
from cairn.services.approvals.views import ApprovalDetail, ApprovalPage, BatchDecisionResults

router = operation_router("/api/approvals", "Approvals")

DECISION_PERMISSIONS: dict[str, Permission] = {
    **dict.fromkeys(
        ("approve", "revise", "reject", "refuse", "accept", "feedback", "retry", "restart", "fail"), DECIDE
    ),
    **dict.fromkeys(("answer", "decline"), SUBMIT),
}
Sort = Literal["age", "deadline", "risk", "priority"]


@dataclass(frozen=True, slots=True)
class ApprovalListParameters:
    """Which approvals, in which order."""

    status: Annotated[list[ApprovalStatus] | None, Query(description="One of these; pending unless said.")] = None
    kind: Annotated[list[ApprovalKind] | None, Query(description="One of these.")] = None
    pipeline_id: ById = None
    run_id: ById = None
    risk_level: Annotated[list[RiskLevel] | None, Query(description="Of a proposed action: one of these.")] = None
    operation_type: Annotated[Text | None, Query(max_length=100, description="Of a proposed action.")] = None
    rule: Annotated[Text | None, Query(max_length=200, description="That asks, or has approved.")] = None
    mine: Annotated[bool, Query(description="Only what you may decide.")] = False
    sort: Annotated[Sort, Query(description="The oldest, most urgent, riskiest or foremost first.")] = "age"

    def filter(self, actor: Actor) -> ApprovalFilter:
        return ApprovalFilter(
            tuple(self.status or (ApprovalStatus.PENDING,)),
            tuple(self.kind or ()),
            self.pipeline_id,
            self.run_id,
            self.sort,
            tuple(self.risk_level or ()),
            self.operation_type,
            self.rule,
            actor.all_names if self.mine and not actor.is_admin else None,
            actor.name if self.mine else None,
        )


@router.get("")
@operation(READ, response_example=examples.approvals)
def list_approvals(
    services: Services,
    paging: Paging,
    by: By,
    parameters: Annotated[ApprovalListParameters, filled(ApprovalListParameters)],
) -> ApprovalPage:
    """The queue: what waits for people."""
    return services.approval_queries.list_approvals(parameters.filter(by), paging.limit, paging.cursor, by)


@router.get("/{approval_id}")
@operation(READ, response_example=examples.approval)
def get_approval(approval_id: ApprovalId, services: Services, by: By) -> ApprovalDetail:
    """An approval with what it is about."""
    return services.approval_queries.get_approval(approval_id, by)


@router.post("/batch")
@operation(DECIDE, request_example=examples.decide_batch_request, response_example=examples.batch_results)
async def decide_batch(
    body: DecideBatchRequest, services: Services, by: By, command_id: CommandId
) -> BatchDecisionResults:
    """The same decision on several. Each is decided by itself: what cannot be is told, and the others go on."""
    require_permission(by, DECISION_PERMISSIONS[body.decision])
    items = [(item.approval_id, item.digest) for item in body.items]
    return await services.batches.decide(items, body.decision, body.feedback, actor=by, command_id=command_id)


@router.put("/{approval_id}/modify")
@operation(READ, request_example=examples.modify_request, response_example=examples.modification_preview)
def preview_modification(approval_id: ApprovalId, body: ModifyRequest, services: Services) -> ModificationPreview:
    """What other parameters would make of an action: the difference, and whether they fit. Nothing is decided."""
    return services.action_modifications.preview(approval_id, body.modified_params)


@router.put("/{approval_id}/assign")
@operation(DECIDE, request_example=examples.assign_request, response_example=examples.approval)
async def assign_approval(
    approval_id: ApprovalId, body: AssignRequest, services: Services, by: By, command_id: CommandId
) -> ApprovalDetail:
    """Hand it over: others decide instead."""
    handed_over = services.approvals.assign(approval_id, body.assigned_to, body.reason, actor=by, command_id=command_id)
    await command_warnings(handed_over)
    return await run_in_threadpool(services.approval_queries.get_approval, approval_id, by)


@router.post("/{approval_id}/comments", status_code=201)
@operation(SUBMIT, request_example=examples.comment_request, response_example=examples.approval)
async def add_comment(
    approval_id: ApprovalId, body: AddCommentRequest, services: Services, by: By, command_id: CommandId
) -> ApprovalDetail:
    """Say something about it without deciding."""
    await services.comments.add(approval_id, body.text, actor=by, command_id=command_id)
    return await run_in_threadpool(services.approval_queries.get_approval, approval_id, by)


@router.put("/{approval_id}/{decision}")
@operation(SUBMIT, request_example=examples.decide_request, response_example=examples.approval)
async def decide_approval(
    approval_id: ApprovalId,
    decision: Annotated[Decision, Path(description="Which are possible depends on the kind.")],
    services: Services,
    by: By,
    command_id: CommandId,
    body: DecideRequest | None = None,
) -> ApprovalDetail:
    """Decide. `digest` names what was looked at: if that has changed since, nothing is decided."""
    require_permission(by, DECISION_PERMISSIONS[decision])
    body = body or DecideRequest()
    await command_warnings(
        services.approvals.decide(
            approval_id,
            decision,
            digest=body.digest,
            feedback=body.explanation,
            fields=body.fields,
            modified_params=body.modified_params,
            actor=by,
            command_id=command_id,
        )
    )
    return await run_in_threadpool(services.approval_queries.get_approval, approval_id, by)
