"""What a process is at when it dies: how it comes to that, what it does, and what has to stand afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tests.services.app import App

COMMAND = UUID("c0ffee00-0000-4000-8000-000000000001")
ROLLBACK = "c0ffee00-0000-4000-8000-000000000002"
Ids = dict[str, Any]


NEVER = 3600.0  # seconds


@dataclass(frozen=True)
class Scene:
    prepare: Callable[[App], Awaitable[Ids]]
    act: Callable[[App, Ids], Awaitable[Any]]
    check: Callable[[App, Ids], Awaitable[None]]  # after the next start, acted again where it had not come to that
    opens_after: float = NEVER  # seconds until a run that is at work has its folder; earlier if it rests
