"""Actions: what agents and scripts have proposed, and what has become of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CommandId, CurrentActor, Services
from cairn.api.examples import actions as examples
from cairn.api.operations import ADMIN, READ, operation, operation_router
from cairn.api.parameters import ActionId, IdQuery, Paging, RequiredId, Text
from cairn.api.requests.actions import RevokeActionRequest, SettleActionRequest
from cairn.core.states import ActionState
from cairn.services.actions.action_views import ActionFilter
from cairn.services.actions.decisions import REVOKE, ActionDecision
from cairn.services.actions.views import ActionDetail, ActionGate, ActionPage
from cairn.services.approvals.eligibility import DECIDE

router = operation_router("/api/actions", "Actions")


@router.get("")
@operation(READ, response_example=examples.actions)
def list_actions(
    services: Services,
    paging: Paging,
    state: Annotated[list[ActionState] | None, Query(description="One of these.")] = None,
    operation_type: Annotated[Text | None, Query(max_length=300, description="Operation type of the action.")] = None,
    run_id: IdQuery = None,
    pipeline_id: IdQuery = None,
    unsettled: Annotated[bool, Query(description="Only actions with an unknown outcome to settle.")] = False,
) -> ActionPage:
    """List actions, newest first."""
    wanted = ActionFilter(
        tuple(state or ()), operation_type, run_id=run_id, pipeline_id=pipeline_id, unsettled=unsettled
    )
    return services.actions.queries.list_actions(wanted, paging.limit, paging.cursor)


@router.get("/executed")
@operation(READ, response_example=examples.actions)
def list_executed_actions(services: Services, paging: Paging, run_id: RequiredId) -> ActionPage:
    """List what a run and the runs that it retries have executed, or may have executed, newest first.

    A rollback, a retry or a restart doesn't undo these actions.
    """
    return services.actions.queries.executed(run_id, paging.limit, paging.cursor)


@router.get("/gate")
@operation(READ, response_example=examples.gate)
def get_action_gate(services: Services) -> ActionGate:
    """Get whether actions can start. After a restore, they are held until an admin has reviewed what was lost."""
    return services.actions.queries.get_gate()


@router.post("/gate/release")
@operation(ADMIN, response_example=examples.gate)
async def release_actions(services: Services, actor: CurrentActor) -> ActionGate:
    """Let actions start again after a restore. The unknown outcomes stay open until they are settled."""
    await services.actions.gate.end_hold(actor)
    return await run_in_threadpool(services.actions.queries.get_gate)


@router.get("/{action_id}")
@operation(READ, response_example=examples.action)
def get_action(action_id: ActionId, services: Services) -> ActionDetail:
    """Get an action with its exact request, its votes and its outcome."""
    return services.actions.queries.get_action(action_id)


@router.post("/{action_id}/settle")
@operation(DECIDE, request_example=examples.settle_request, response_example=examples.action)
async def settle_action(
    action_id: ActionId, body: SettleActionRequest, services: Services, actor: CurrentActor, command_id: CommandId
) -> ActionDetail:
    """Settle an action whose outcome is unknown.

    The people who can approve the action decide: it happened, it did not happen, or it is sent again. Any approver
    can give up on it.
    """
    decision = ActionDecision(body.answer, feedback=body.feedback)
    await services.actions.service.decide(action_id, decision, actor=actor, command_id=command_id)
    return await run_in_threadpool(services.actions.queries.get_action, action_id)


@router.post("/{action_id}/revoke")
@operation(DECIDE, request_example=examples.revoke_request, response_example=examples.action)
async def revoke_action(
    action_id: ActionId, body: RevokeActionRequest, services: Services, actor: CurrentActor, command_id: CommandId
) -> ActionDetail:
    """Refuse an action that has not started, even if it is approved. Possible while actions are stopped or held."""
    decision = ActionDecision(REVOKE, feedback=body.reason)
    await services.actions.service.decide(action_id, decision, actor=actor, command_id=command_id)
    return await run_in_threadpool(services.actions.queries.get_action, action_id)
