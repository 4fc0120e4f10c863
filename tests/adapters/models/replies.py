"""Replies of the fake provider, independent of the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    id: str | None = None  # default: from its position
    raw_arguments: str | None = None  # sent instead of `arguments`, can be invalid JSON


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful response. Streamed in chunks of `chunk_size` characters if the request asks for a stream."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    input_tokens: int = 25
    output_tokens: int = 15
    cache_read: int = 0
    cache_write: int = 0
    finish_reason: str | None = None  # end, length or refusal; default: from the content
    chunk_size: int = 8
    # ---- delays and failures
    initial_delay: float = 0.0  # seconds
    chunk_delay: float = 0.0  # seconds
    disconnect_after: int | None = None  # events
    invalid_json_after: int | None = None  # events
    end_after: int | None = None  # events; the stream ends without an error
    overload_after: int | None = None  # events; then an overload error in the stream


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """An HTTP error."""

    status: int
    error_type: str = ""  # default: from the status
    message: str = "an error for the test"
    code: str | None = None  # OpenAI only
    retry_after: str | None = None  # the header
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    raw: bytes | None = None  # a body that is not JSON


@dataclass(frozen=True, slots=True)
class NoReply:
    """The provider never sends a byte."""


@dataclass(frozen=True, slots=True)
class ClosedConnection:
    """The provider closes the connection without a response."""


Reply = Answer | ErrorReply | NoReply | ClosedConnection
OVERLOADED = ErrorReply(529, "overloaded_error", "Overloaded")


def too_many(retry_after: str | None = "0") -> ErrorReply:
    return ErrorReply(429, "rate_limit_error", "This request would exceed your rate limit.", retry_after=retry_after)
