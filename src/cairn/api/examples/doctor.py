"""Health of the installation."""

from __future__ import annotations

from cairn.api.examples import story
from cairn.services.doctor.views import HealthCheck, HealthReport
from cairn.services.identity.views import DriftStatus, Health


def health() -> Health:
    return Health(
        version="0.1.0",
        database="sqlite",
        actions="running",
        drift=DriftStatus(checked_at=story.at(-90), rewritten=0, moved_aside=0),
    )


def report() -> HealthReport:
    return HealthReport(
        checked_at=story.at(30),
        healthy=True,
        checks=[
            HealthCheck(name="database", status="ok", detail="sqlite, no errors", hint=""),
            HealthCheck(name="disk", status="warning", detail="0.8 GB free", hint="Free up disk space."),
        ],
    )
