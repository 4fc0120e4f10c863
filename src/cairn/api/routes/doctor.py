"""How the server, its data and its machine do."""

from __future__ import annotations

from cairn.api.dependencies import Services
from cairn.api.examples import doctor as examples
from cairn.api.operations import ADMIN, operation, operation_router
from cairn.services.views.health import Diagnosis

router = operation_router("/api/doctor", "Health")


@router.get("")
@operation(ADMIN, response_example=examples.report)
async def get_diagnosis(services: Services) -> Diagnosis:
    """Look at everything: database, trail, folders, jobs, disk, sandbox, clock and settings. Nothing is changed."""
    return await services.doctor.examine()


@router.post("/repair")
@operation(ADMIN, response_example=examples.report)
async def repair(services: Services) -> Diagnosis:
    """Put right what can be put right without a loss; nothing of a user's is deleted."""
    return await services.doctor.repair()
