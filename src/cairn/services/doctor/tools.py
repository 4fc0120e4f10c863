"""Report tools in use whose calls need approval because no admin has listed this version of them."""

from __future__ import annotations

from collections.abc import Sequence

from cairn.services.doctor.views import HealthCheck
from cairn.services.tools.queries import ToolQueries

MAX_NAMED = 5


def check_tools(tools: ToolQueries) -> list[HealthCheck]:
    new, changed = tools.unlisted()
    checks: list[HealthCheck] = []
    if changed:
        checks.append(
            _warning(f"changed since they were listed: {_named(changed)}", "cairn tools list --state changed")
        )
    if new:
        checks.append(_warning(f"calls need approval: {_named(new)}", "list tools that only read: cairn tools set"))
    return checks or [HealthCheck(name="tools", status="ok", detail="all tools in use are listed", hint="")]


def _warning(detail: str, hint: str) -> HealthCheck:
    return HealthCheck(name="tools", status="warning", detail=detail, hint=hint)


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_NAMED]) + (f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else "")
