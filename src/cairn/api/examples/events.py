"""Events of a run, and the live streams."""

from __future__ import annotations

from cairn.api.examples import story
from cairn.services.events.views import ChainVerification, Event, EventPage


def _event() -> Event:
    return Event(
        event_id=story.id_of("event"),
        event_type="run_started",
        pipeline_id=story.PIPELINE_ID,
        run_id=story.RUN_ID,
        execution_id=None,
        checkpoint_id=None,
        approval_id=None,
        rollback_id=None,
        timestamp=story.at(0),
        actor="admin",
        description="The run was started.",
        metadata={},
        seq=1,
        hash=story.DIGEST,
    )


def run_stream() -> str:
    return f"id: e1.l0.m0\nevent: event\ndata: {_event().model_dump_json()}\n\nevent: ping\ndata: {{}}\n\n"


def change_stream() -> str:
    data = f'{{"pipeline_id":"{story.PIPELINE_ID}","run_id":"{story.RUN_ID}","event_type":"run_started"}}'
    return f"event: change\ndata: {data}\n\n"


def events() -> EventPage:
    return story.page(EventPage, _event())


def verification() -> ChainVerification:
    return ChainVerification(is_valid=True, chains=3, events=57, broken=[])
