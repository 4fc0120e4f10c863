"""The trail: everything that happened, and the proof that nothing of it was changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Query
from pydantic import AwareDatetime

from cairn.api.guarding import operations
from cairn.api.parameters import ById, Paging, Text, filled
from cairn.api.wiring import Services
from cairn.services.events.views import ChainVerification, EventPage
from cairn.services.filters import EventFilter

router = operations("/api/events", "Trail")


@dataclass(frozen=True, slots=True)
class Period:
    since: Annotated[AwareDatetime | None, Query(description="Not before this moment.")] = None
    until: Annotated[AwareDatetime | None, Query(description="Before this moment.")] = None


@router.get("")
def list_events(
    services: Services,
    paging: Paging,
    period: Annotated[Period, filled(Period)],
    pipeline_id: ById = None,
    run_id: ById = None,
    execution_id: ById = None,
    scope: Annotated[Literal["global"] | None, Query(description="Only what belongs to no pipeline.")] = None,
    event_type: Annotated[list[Text] | None, Query(description="One of these.")] = None,
) -> EventPage:
    """Events, newest first."""
    wanted = EventFilter(
        pipeline_id, run_id, execution_id, tuple(event_type or ()), period.since, period.until, scope is not None
    )
    return services.reading.events(wanted, paging.limit, paging.cursor)


@router.get("/verify")
def verify_events(services: Services, run_id: ById = None, pipeline_id: ById = None) -> ChainVerification:
    """Check the hash chain of a run, of a pipeline with all its runs, or of everything (S4)."""
    return services.reading.verify(pipeline_id, run_id)
