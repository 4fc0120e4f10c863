"""Models and their providers."""

from __future__ import annotations

from cairn.api.dependencies import Services
from cairn.api.examples import models as examples
from cairn.api.operations import DEFINE, READ, operation, operation_router
from cairn.api.requests.models import TestModelRequest
from cairn.services.models import ModelList, ModelTestResult

router = operation_router("/api/models", "Models")


@router.get("")
@operation(READ, response_example=examples.models)
def list_models(services: Services) -> ModelList:
    """List providers, whether they are ready, and the default model. Keys are never returned."""
    return services.model_service.list()


@router.post("/test")
@operation(DEFINE, request_example=examples.test_request, response_example=examples.test_result)
async def test_model(body: TestModelRequest, services: Services) -> ModelTestResult:
    """Send a small request to a model. Returns its duration and usage, or the error."""
    return await services.model_service.test(body.model)
