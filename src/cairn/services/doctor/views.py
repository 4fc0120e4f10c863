"""The health of the server, its data and its machine."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cairn.services.view import Instant, View

HealthStatus = Literal["ok", "repaired", "warning", "error"]


class HealthCheck(View):
    """The result of one check."""

    name: str
    status: HealthStatus
    detail: str
    hint: Annotated[str, Field(description="What to do. Empty if there is no problem.")]


class HealthReport(View):
    """The results of all checks."""

    checked_at: Instant
    healthy: Annotated[bool, Field(description="Whether there are no errors. Warnings don't count.")]
    checks: list[HealthCheck]
