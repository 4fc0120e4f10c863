"""Response shapes of log lines."""

from __future__ import annotations

from typing import Any, Literal

from cairn.services.view import Id, Instant, Page, View


class LogLine(View):
    log_id: int
    execution_id: Id
    timestamp: Instant
    level: Literal["debug", "info", "warning", "error"]
    message: str
    details: Any = None


class LogPage(Page[LogLine]):
    """Log lines in the requested order."""
