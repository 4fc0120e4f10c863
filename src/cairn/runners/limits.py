"""Limits on the inputs and outputs of a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class RunnerLimits:
    """Defaults that catch mistakes. The settings can change them."""

    max_payload_bytes: int = 10 * MEGABYTE  # JSON added to the run's context; above half of it, a warning is logged
    max_file_bytes: int = 100 * MEGABYTE
    max_context_length: int = 200_000  # characters


def megabytes(size: int) -> str:
    """A size in MB, with the exact number of bytes."""
    return f"{size / MEGABYTE:.1f} MB ({size:,} bytes)"
