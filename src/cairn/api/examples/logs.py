"""The log of an execution."""

from __future__ import annotations

from cairn.api.examples import story
from cairn.services.logs.views import LogLine, LogPage


def _line() -> LogLine:
    return LogLine(
        log_id=40, execution_id=story.EXECUTION_ID, timestamp=story.at(12), level="info", message="Form submitted"
    )


def lines() -> LogPage:
    return story.page(LogPage, _line())


def text() -> str:
    return "2026-03-02T09:42:00.000000Z info Form submitted\n"
