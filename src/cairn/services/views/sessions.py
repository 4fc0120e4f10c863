"""Who is signed in, and how the server does."""

from __future__ import annotations

from typing import Literal

from cairn.services.actors import Role
from cairn.services.views.base import Instant, View


class Session(View):
    actor: str
    roles: list[Role]
    version: str
    data_dir: str | None = None


class DriftReport(View):
    """What the last look at the folder tree found."""

    checked_at: Instant
    repaired: int
    moved_aside: int


class Health(View):
    status: Literal["ok"] = "ok"
    version: str
    database: Literal["sqlite", "postgresql"]
    drift: DriftReport | None = None
