"""Models that agents think with."""

from __future__ import annotations

from cairn.api.bodies import TestModel
from cairn.api.guarding import operations
from cairn.api.wiring import Services
from cairn.services.model_views import ModelList, ModelTestResult

router = operations("/api/models", "Models")


@router.get("")
def list_models(services: Services) -> ModelList:
    """Providers, whether each can be asked, and the model of agents that name none. No key is shown."""
    return services.known_models.list()


@router.post("/test")
async def test_model(body: TestModel, services: Services) -> ModelTestResult:
    """Ask a model one small thing now: the answer says how long it took, what it used, or what is wrong."""
    return await services.known_models.test(body.model)
