"""Approvals and decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Path, Query
from starlette.concurrency import run_in_threadpool

from cairn.api.authentication import require_permission
from cairn.api.dependencies import CommandId, CurrentActor, Services
from cairn.api.examples import approvals as examples
from cairn.api.operations import READ, operation, operation_router
from cairn.api.parameters import ApprovalId, IdQuery, Paging, Text, grouped
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
from cairn.services.actions.decisions import SETTLEMENTS
from cairn.services.actions.views import ModificationPreview
from cairn.services.actors import Actor, Permission
from cairn.services.approvals.batches import BatchDecision
from cairn.services.approvals.eligibility import DECIDE, SUBMIT
from cairn.services.approvals.queries.lists import ApprovalFilter
from cairn.services.approvals.views import ApprovalDetail, ApprovalPage, BatchDecisionResults

router = operation_router("/api/approvals", "Approvals")

DECISION_PERMISSIONS: dict[str, Permission] = {
    **dict.fromkeys(
        ("approve", "revise", "reject", "refuse", "accept", "feedback", "retry", "restart", "fail", *SETTLEMENTS),
        DECIDE,
    ),
    **dict.fromkeys(("answer", "decline"), SUBMIT),
}
Sort = Literal["age", "deadline", "risk", "priority"]


@dataclass(frozen=True, slots=True)
class ApprovalListParameters:
    """Filter and sort order of a list of approvals."""

    status: Annotated[list[ApprovalStatus] | None, Query(description="One of these. Default: pending.")] = None
    kind: Annotated[list[ApprovalKind] | None, Query(description="One of these.")] = None
    pipeline_id: IdQuery = None
    run_id: IdQuery = None
    risk_level: Annotated[
        list[RiskLevel] | None, Query(description="Risk level of the proposed action: one of these.")
    ] = None
    operation_type: Annotated[
        Text | None, Query(max_length=100, description="Operation type of the proposed action.")
    ] = None
    rule: Annotated[Text | None, Query(max_length=200, description="Rule that required approval or approved.")] = None
    mine: Annotated[bool, Query(description="Only approvals you can decide.")] = False
    sort: Annotated[Sort, Query(description="Oldest, most urgent, riskiest or highest priority first.")] = "age"

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
    actor: CurrentActor,
    parameters: Annotated[ApprovalListParameters, grouped(ApprovalListParameters)],
) -> ApprovalPage:
    """List approvals. By default, the pending ones."""
    return services.approval_queries.list_approvals(parameters.filter(actor), paging.limit, paging.cursor, actor)


@router.get("/{approval_id}")
@operation(READ, response_example=examples.approval)
def get_approval(approval_id: ApprovalId, services: Services, actor: CurrentActor) -> ApprovalDetail:
    """Get an approval with the content to decide on."""
    return services.approval_queries.get_approval(approval_id, actor)


@router.post("/batch")
@operation(DECIDE, request_example=examples.decide_batch_request, response_example=examples.batch_results)
async def decide_batch(
    body: DecideBatchRequest, services: Services, actor: CurrentActor, command_id: CommandId
) -> BatchDecisionResults:
    """Decide several approvals of the same kind. Each one succeeds or fails separately."""
    require_permission(actor, DECISION_PERMISSIONS[body.decision])
    items = [(item.approval_id, item.digest) for item in body.items]
    decision = BatchDecision(body.decision, body.feedback, body.on_repeat)
    return await services.batches.decide(items, decision, actor=actor, command_id=command_id)


@router.put("/{approval_id}/modify")
@operation(READ, request_example=examples.modify_request, response_example=examples.modification_preview)
def preview_modification(approval_id: ApprovalId, body: ModifyRequest, services: Services) -> ModificationPreview:
    """Preview an action with modified parameters: the difference, and whether they are valid. Decides nothing."""
    return services.action_modifications.preview(approval_id, body.modified_params)


@router.put("/{approval_id}/assign")
@operation(DECIDE, request_example=examples.assign_request, response_example=examples.approval)
async def assign_approval(
    approval_id: ApprovalId, body: AssignRequest, services: Services, actor: CurrentActor, command_id: CommandId
) -> ApprovalDetail:
    """Assign an approval to other users."""
    assignment = services.approvals.assign(
        approval_id, body.assigned_to, body.reason, actor=actor, command_id=command_id
    )
    await command_warnings(assignment)
    return await run_in_threadpool(services.approval_queries.get_approval, approval_id, actor)


@router.post("/{approval_id}/comments", status_code=201)
@operation(SUBMIT, request_example=examples.comment_request, response_example=examples.approval)
async def add_comment(
    approval_id: ApprovalId, body: AddCommentRequest, services: Services, actor: CurrentActor, command_id: CommandId
) -> ApprovalDetail:
    """Comment on an approval without deciding it."""
    await services.comments.add(approval_id, body.text, actor=actor, command_id=command_id)
    return await run_in_threadpool(services.approval_queries.get_approval, approval_id, actor)


@router.put("/{approval_id}/{decision}")
@operation(SUBMIT, request_example=examples.decide_request, response_example=examples.approval)
async def decide_approval(
    approval_id: ApprovalId,
    decision: Annotated[Decision, Path(description="The available decisions depend on the kind.")],
    services: Services,
    actor: CurrentActor,
    command_id: CommandId,
    body: DecideRequest | None = None,
) -> ApprovalDetail:
    """Decide an approval. If `digest` is not that of the current content, the request fails with 409.

    Approving an action that repeats earlier ones needs `on_repeat`. Without it, the 409 lists them as `repeats`, with
    the `choices` and the `digest` to send. The decisions `happened`, `did_not_happen`, `send_again` and `give_up`
    settle an unknown outcome.
    """
    require_permission(actor, DECISION_PERMISSIONS[decision])
    body = body or DecideRequest()
    await command_warnings(
        services.approvals.decide(
            approval_id,
            decision,
            digest=body.digest,
            feedback=body.explanation,
            fields=body.fields,
            modified_params=body.modified_params,
            on_repeat=body.on_repeat,
            override=body.override,
            learn=body.learn,
            actor=actor,
            command_id=command_id,
        )
    )
    return await run_in_threadpool(services.approval_queries.get_approval, approval_id, actor)
