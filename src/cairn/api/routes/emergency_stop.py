"""The emergency stop of automatic approvals and of actions."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool

from cairn.api.dependencies import CurrentActor, Services
from cairn.api.examples import rules as examples
from cairn.api.operations import READ, operation, operation_router
from cairn.api.parameters import Paging
from cairn.api.requests.rules import SetEmergencyStopRequest
from cairn.services.rules.service import STOP
from cairn.services.rules.views import EmergencyStop, EmergencyStopPage

router = operation_router("/api", "Rules")


@router.get("/rules/emergency-stop")
@operation(READ, response_example=examples.emergency_stop)
def get_emergency_stop(services: Services) -> EmergencyStop:
    """Get the emergency stop: whether automatic approvals or all actions are stopped, by whom and why."""
    return services.rule_queries.get_emergency_stop()


@router.put("/rules/emergency-stop")
@operation(STOP, request_example=examples.emergency_stop_request, response_example=examples.emergency_stop)
async def set_emergency_stop(body: SetEmergencyStopRequest, services: Services, actor: CurrentActor) -> EmergencyStop:
    """Stop all automatic approvals, or lift the stop. During a stop, people decide all of them.

    With the level `actions`, no action starts either, not even one that people have approved. Approvals stay valid
    for when the stop is lifted. Only admins can lift a stop or lower its level. Stopping again replaces the reason.
    """
    await services.rules.stop(body.stopped, body.reason, actor, body.level)
    return await run_in_threadpool(services.rule_queries.get_emergency_stop)


@router.get("/rules/emergency-stop/history")
@operation(READ, response_example=examples.emergency_stops)
def list_emergency_stops(services: Services, paging: Paging) -> EmergencyStopPage:
    """List starts and ends of emergency stops, newest first."""
    return services.rule_queries.list_emergency_stops(paging.limit, paging.cursor)
