"""Response shapes of events."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from cairn.services.view import Checksum, Document, Id, Instant, Page, View


class Event(View):
    event_id: Id
    event_type: str
    pipeline_id: Id | None
    run_id: Id | None
    execution_id: Id | None
    checkpoint_id: Id | None
    approval_id: Id | None
    rollback_id: Id | None
    timestamp: Instant
    actor: str
    description: str
    metadata: Document
    seq: int
    hash: Checksum


class EventPage(Page[Event]):
    """Events, newest first."""


class BrokenLink(View):
    chain: Annotated[str, Field(description="Id of the run or the pipeline, or `global`.")]
    seq: int
    reason: str


class ChainVerification(View):
    """Whether the event chains are unchanged."""

    is_valid: bool
    chains: int
    events: int
    broken: list[BrokenLink]
