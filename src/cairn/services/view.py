"""The base class of views, pages and field types."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, WithJsonSchema


def write_instant(at: datetime) -> str:
    """ISO 8601 in UTC, always with microseconds, so that strings sort like times."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


Instant = Annotated[
    datetime,
    PlainSerializer(write_instant, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-03-02T09:30:00.000000Z"]}),
]
Id = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
Checksum = Annotated[str, WithJsonSchema({"type": "string", "description": "SHA-256, hex"})]
Document = dict[str, Any]  # any JSON object, such as part of a definition or an answer


class View(BaseModel):
    """Part of a response. Every field is always present."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)


Item = TypeVar("Item")


class Page(View, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next_cursor: Annotated[
        str | None, Field(description="Pass this as `cursor` to get the next page. Null on the last page.")
    ]
