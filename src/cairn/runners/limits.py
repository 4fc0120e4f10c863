"""How much one checkpoint may read and produce."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class RunnerLimits:
    """What stops mistakes; the settings may say otherwise."""

    max_payload_bytes: int = 10 * MEGABYTE  # of JSON that joins the run's context; half of it gives a warning
    max_file_bytes: int = 100 * MEGABYTE
    max_context_length: int = 200_000  # characters


def megabytes(size: int) -> str:
    """A size for people, exact to the byte."""
    return f"{size / MEGABYTE:.1f} MB ({size:,} bytes)"
