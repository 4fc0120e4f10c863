"""Autonomy of rules: explanations, backtests and audits."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CurrentActor, Services
from cairn.api.examples import rules as examples
from cairn.api.operations import ADMIN, READ, operation, operation_router
from cairn.api.parameters import ApprovalId, IdQuery, Paging, Time
from cairn.api.requests.rules import ReviewAuditRequest
from cairn.api.routes.rules import RULES_MEDIA, read_rulebook
from cairn.services.approvals.eligibility import DECIDE
from cairn.services.rules.backtests import MAX_DECISIONS
from cairn.services.rules.views import (
    ApprovalExplanation,
    Audit,
    AuditPage,
    Autonomy,
    Backtest,
)

router = operation_router("/api", "Rules")


@router.get("/approvals/{approval_id}/explain")
@operation(READ, response_example=examples.explanation)
def explain_approval(approval_id: ApprovalId, services: Services) -> ApprovalExplanation:
    """Explain an approval: which rule matched, and every condition of the other rules."""
    return services.rule_queries.explain(approval_id)


@router.post("/rules/backtest")
@operation(ADMIN, idempotent=False, request_media=RULES_MEDIA, errors=(404, 409), response_example=examples.backtest)
async def backtest_rules(
    request: Request,
    services: Services,
    pipeline_id: IdQuery = None,
    since: Annotated[Time | None, Query(description="Only approvals requested since this time.")] = None,
    limit: Annotated[
        int, Query(ge=1, le=MAX_DECISIONS, description="Maximum number of decisions, newest first.")
    ] = MAX_DECISIONS,
) -> Backtest:
    """Apply rules to past decisions: what they would have approved, and where users disagreed."""
    rulebook = await read_rulebook(request, services)
    outcome = await services.backtests.replay(rulebook, pipeline_id, since, limit)
    return await run_in_threadpool(services.rule_queries.backtest_result, outcome)


@router.get("/rules/autonomy")
@operation(READ, response_example=examples.autonomy)
def get_autonomy(
    services: Services, days: Annotated[int, Query(ge=1, le=3650, description="Number of days to look back.")] = 90
) -> Autonomy:
    """Get the record of each rule: its decisions, reviews of its samples, and its results in shadow mode."""
    return services.rule_queries.get_autonomy(days)


@router.get("/rules/audits")
@operation(READ, response_example=examples.audits)
def list_audits(
    services: Services,
    paging: Paging,
    reviewed: Annotated[bool | None, Query(description="True: only reviewed ones. False: only open ones.")] = None,
    pipeline_id: IdQuery = None,
) -> AuditPage:
    """List automatic approvals sampled for review, newest first."""
    return services.rule_queries.list_audits(reviewed, pipeline_id, paging.limit, paging.cursor)


@router.put("/rules/audits/{approval_id}")
@operation(DECIDE, request_example=examples.review_request, response_example=examples.audit)
async def review_audit(
    approval_id: ApprovalId, body: ReviewAuditRequest, services: Services, actor: CurrentActor
) -> Audit:
    """Review an automatic approval. The run is not affected, but the review counts toward the rule's score."""
    await services.rules.review(approval_id, body.agrees, body.comment, actor)
    return await run_in_threadpool(services.rule_queries.get_audit, approval_id)
