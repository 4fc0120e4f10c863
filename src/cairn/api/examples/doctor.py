"""Health of the installation."""

from __future__ import annotations

from cairn.api.examples import story
from cairn.services.doctor.views import HealthCheck, HealthReport
from cairn.services.identity.views import DriftStatus, Health


def health() -> Health:
    return Health(
        version="0.1.0", database="sqlite", drift=DriftStatus(checked_at=story.at(-90), repaired=0, moved_aside=0)
    )


def report() -> HealthReport:
    return HealthReport(
        checked_at=story.at(30),
        well=True,
        findings=[
            HealthCheck(what="database", verdict="ok", detail="sqlite, sound", remedy=""),
            HealthCheck(what="disk", verdict="warning", detail="0.8 GB free", remedy="make room"),
        ],
    )
