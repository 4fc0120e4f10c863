"""How the server, its data and its machine do."""

from __future__ import annotations

from cairn.api.guarding import operations
from cairn.api.wiring import Services
from cairn.services.doctor.views import HealthReport

router = operations("/api/doctor", "Health")


@router.get("")
async def get_diagnosis(services: Services) -> HealthReport:
    """Look at everything: database, trail, folders, jobs, disk, sandbox, clock and settings. Nothing is changed."""
    return await services.doctor.examine()


@router.post("/repair")
async def repair(services: Services) -> HealthReport:
    """Put right what can be put right without a loss; nothing of a user's is deleted."""
    return await services.doctor.repair()
