"""A scenario for a crash: its preparation, the action that crashes, and the checks after the restart."""

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
class Scenario:
    prepare: Callable[[App], Awaitable[Ids]]
    act: Callable[[App, Ids], Awaitable[Any]]
    check: Callable[[App, Ids], Awaitable[None]]  # after the restart, when the action was repeated
    open_after: float = NEVER  # seconds until an active run gets its folder
