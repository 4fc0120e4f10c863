"""How the server, its data and its machine do."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.services.view import Instant, View

Verdict = Literal["ok", "repaired", "warning", "fault"]


class HealthCheck(View):
    """One thing that was looked at."""

    what: str
    verdict: Verdict
    detail: str
    remedy: Annotated[str, Field(description="What to do about it; empty if all is well.")]


class HealthReport(View):
    """Everything that was looked at."""

    checked_at: Instant
    well: Annotated[bool, Field(description="Whether nothing is a fault; warnings do not count.")]
    findings: list[HealthCheck]
