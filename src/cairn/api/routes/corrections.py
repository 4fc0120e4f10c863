"""Corrections: action parameters that people changed before approving, and how often they do."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from cairn.api.dependencies import Services
from cairn.api.examples import approvals as examples
from cairn.api.operations import READ, operation, operation_router
from cairn.api.parameters import IdQuery, Paging, Text
from cairn.services.actions.views import LearningCasePage, ModificationRates

router = operation_router("/api/corrections", "Approvals")


@router.get("")
@operation(READ, response_example=examples.corrections)
def list_corrections(
    services: Services,
    paging: Paging,
    operation_type: Annotated[Text | None, Query(max_length=100, description="Only this operation.")] = None,
    pipeline_id: IdQuery = None,
) -> LearningCasePage:
    """List corrections, newest first."""
    return services.correction_queries.cases(operation_type, pipeline_id, paging.limit, paging.cursor)


@router.get("/rates")
@operation(READ, response_example=examples.correction_rates)
def get_modification_rates(services: Services) -> ModificationRates:
    """Get how often people correct each operation, recently and before."""
    return services.correction_queries.rates()
