"""What a fake provider is to answer, whatever protocol it is asked in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Use:
    """A tool that the model wants used."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    id: str | None = None  # made from its place if left out
    raw: str | None = None  # arguments as they are sent, also such that are no JSON


@dataclass(frozen=True, slots=True)
class Says:
    """An answer. Streamed if it was asked for so, in pieces of `piece` characters."""

    text: str = ""
    uses: tuple[Use, ...] = ()
    input_tokens: int = 25
    output_tokens: int = 15
    cache_read: int = 0
    cache_write: int = 0
    stop: str | None = None  # end, length, refusal; tool use and end are told by the content
    piece: int = 8
    # ---- what goes wrong with it
    first_byte_after: float = 0.0  # seconds
    between: float = 0.0  # seconds between pieces
    cut_after: int | None = None  # events, then the connection is gone
    garbled_after: int | None = None  # events, then one that is no JSON
    ends_after: int | None = None  # events, then the stream ends as if all had been said
    error_after: int | None = None  # events, then the provider says inside the stream that it is overloaded


@dataclass(frozen=True, slots=True)
class Fails:
    """An answer that is none."""

    status: int
    kind: str = ""  # the provider's word; by the status unless said
    message: str = "as the test wants it"
    code: str | None = None  # OpenAI's
    retry_after: str | None = None  # the header
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    raw: bytes | None = None  # a body that is no JSON


@dataclass(frozen=True, slots=True)
class Hangs:
    """Not a byte, ever."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The connection is closed before a word."""


Reply = Says | Fails | Hangs | Gone
OVERLOADED = Fails(529, "overloaded_error", "Overloaded")


def too_many(retry_after: str | None = "0") -> Fails:
    return Fails(429, "rate_limit_error", "This request would exceed your rate limit.", retry_after=retry_after)
