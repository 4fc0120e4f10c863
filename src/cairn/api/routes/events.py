"""The audit log and its verification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Query

from cairn.api.dependencies import Services
from cairn.api.examples import events as examples
from cairn.api.operations import READ, operation, operation_router
from cairn.api.parameters import IdQuery, Paging, Text, Time, grouped
from cairn.services.events.queries import EventFilter
from cairn.services.events.views import ChainVerification, EventPage

router = operation_router("/api/events", "Events")


@dataclass(frozen=True, slots=True)
class EventPeriod:
    since: Annotated[Time | None, Query(description="Only events at or after this time.")] = None
    until: Annotated[Time | None, Query(description="Only events before this time.")] = None


@router.get("")
@operation(READ, response_example=examples.events)
def list_events(
    services: Services,
    paging: Paging,
    period: Annotated[EventPeriod, grouped(EventPeriod)],
    pipeline_id: IdQuery = None,
    run_id: IdQuery = None,
    execution_id: IdQuery = None,
    scope: Annotated[Literal["global"] | None, Query(description="Only events that belong to no pipeline.")] = None,
    event_type: Annotated[list[Text] | None, Query(description="One of these.")] = None,
) -> EventPage:
    """List events, newest first."""
    event_filter = EventFilter(
        pipeline_id, run_id, execution_id, tuple(event_type or ()), period.since, period.until, scope is not None
    )
    return services.event_queries.list_events(event_filter, paging.limit, paging.cursor)


@router.get("/verify")
@operation(READ, errors=(404,), response_example=examples.verification)
def verify_events(services: Services, run_id: IdQuery = None, pipeline_id: IdQuery = None) -> ChainVerification:
    """Verify the hash chain of a run, of a pipeline with all its runs, or of everything."""
    return services.event_queries.verify_chains(pipeline_id, run_id)
