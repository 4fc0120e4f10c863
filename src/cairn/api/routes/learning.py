"""What people correct in actions, and how often (H9)."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from cairn.api.guarding import operations
from cairn.api.parameters import ById, Paging, Text
from cairn.api.wiring import Services
from cairn.services.approvals.views import LearningCasePage, ModificationRates

router = operations("/api/learning", "Approvals")


@router.get("/cases")
def list_learning_cases(
    services: Services,
    paging: Paging,
    operation_type: Annotated[Text | None, Query(max_length=100, description="Of this operation.")] = None,
    pipeline_id: ById = None,
) -> LearningCasePage:
    """What people have corrected before they approved it, newest first (H9)."""
    return services.corrections.cases(operation_type, pipeline_id, paging.limit, paging.cursor)


@router.get("/rates")
def get_modification_rates(services: Services) -> ModificationRates:
    """How often people correct each operation, recently and before."""
    return services.corrections.rates()
