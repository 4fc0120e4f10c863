"""Approvals: the queue, and the decisions."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from starlette.concurrency import run_in_threadpool

from cairn.api.admission import require
from cairn.api.answering import carried_out
from cairn.api.bodies import Decide, Decision
from cairn.api.guarding import Guarded
from cairn.api.parameters import ApprovalId, ById, Paging
from cairn.api.permissions import DECISIONS
from cairn.api.wiring import By, CommandId, Services
from cairn.core.model import ApprovalStatus, Kind
from cairn.services.reading.filters import ApprovalFilter
from cairn.services.views.approvals import ApprovalDetail, ApprovalPage

router = APIRouter(prefix="/api/approvals", route_class=Guarded, tags=["Approvals"])


@router.get("")
def list_approvals(
    services: Services,
    paging: Paging,
    status: Annotated[list[ApprovalStatus] | None, Query(description="One of these; pending unless said.")] = None,
    kind: Annotated[list[Kind] | None, Query(description="One of these.")] = None,
    pipeline_id: ById = None,
    run_id: ById = None,
    sort: Annotated[Literal["age", "deadline"], Query(description="Oldest, or most urgent, first.")] = "age",
) -> ApprovalPage:
    """The queue: what waits for people."""
    statuses = tuple(status or (ApprovalStatus.PENDING,))
    wanted = ApprovalFilter(statuses, tuple(kind or ()), pipeline_id, run_id, sort)
    return services.reading.approvals(wanted, paging.limit, paging.cursor)


@router.get("/{approval_id}")
def get_approval(approval_id: ApprovalId, services: Services) -> ApprovalDetail:
    """An approval with what it is about."""
    return services.reading.approval(approval_id)


@router.put("/{approval_id}/{decision}")
async def decide_approval(
    approval_id: ApprovalId,
    decision: Annotated[Decision, Path(description="Which are possible depends on the kind (D22).")],
    services: Services,
    by: By,
    command_id: CommandId,
    body: Decide | None = None,
) -> ApprovalDetail:
    """Decide. `digest` names what was looked at: if that has changed since, nothing is decided."""
    require(by, DECISIONS[decision])
    body = body or Decide()
    await carried_out(
        services.approvals.decide(
            approval_id,
            decision,
            digest=body.digest,
            feedback=body.words,
            fields=body.fields,
            by=by,
            command_id=command_id,
        )
    )
    return await run_in_threadpool(services.reading.approval, approval_id)
