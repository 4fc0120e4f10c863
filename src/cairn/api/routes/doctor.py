"""Health of the server, its data and its machine."""

from __future__ import annotations

import cairn
from cairn.api.dependencies import Services
from cairn.api.examples import doctor as examples
from cairn.api.operations import ADMIN, OPEN, operation, operation_router
from cairn.services.doctor.views import HealthReport
from cairn.services.identity.views import DriftStatus, Health

router = operation_router("/api", "Health")


@router.get("/health")
@operation(OPEN, response_example=examples.health)
def get_health(services: Services) -> Health:
    """Get the status of the server, whether actions can start, and the result of the last check of the folder tree."""
    drift, gate = services.folder_repair.last_report, services.actions.gate.status()
    return Health(
        version=cairn.__version__,
        database=services.database.kind,
        actions="held" if gate.held else "stopped" if gate.stops_actions else "running",
        drift=drift
        and DriftStatus(checked_at=drift.checked_at, rewritten=drift.rewritten, moved_aside=drift.moved_aside),
    )


@router.get("/doctor")
@operation(ADMIN, response_example=examples.report)
async def get_health_report(services: Services) -> HealthReport:
    """Check the database, events, folders, jobs, disk, sandbox, clock and settings. Nothing is changed."""
    return await services.doctor.examine()


@router.post("/doctor/repair")
@operation(ADMIN, response_example=examples.report)
async def repair(services: Services) -> HealthReport:
    """Repair what can be repaired without loss. Files of users are never deleted."""
    return await services.doctor.repair()
