"""The file of rules: whether what lies there is what holds."""

from __future__ import annotations

from cairn.services.rules_file import RulesFile
from cairn.services.views.health import HealthCheck


def file(watched: RulesFile) -> list[HealthCheck]:
    if not watched.faults:
        return [HealthCheck(what="rules", verdict="ok", detail="the file is what is in force", remedy="")]
    return [
        HealthCheck(
            what="rules",
            verdict="warning",
            detail=f"{watched.path.name} is not in force, what was before still is: {fault}",
            remedy=f"correct {watched.path}, or save the rules anew",
        )
        for fault in watched.faults[:1]
    ]
