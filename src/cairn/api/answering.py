"""From a command that was carried out to the view that answers it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

from cairn.api.unhindered import looked
from cairn.core.errors import AlreadyApplied
from cairn.services.actors import Actor
from cairn.services.runs.execution_views import Execution
from cairn.services.runs.views import Run


class Warned(Protocol):
    @property
    def warnings(self) -> list[str] | tuple[str, ...]: ...


V = TypeVar("V", Run, Execution)


async def carried_out(command: Awaitable[Warned]) -> list[str]:
    """What the command warns of. One that was carried out before is answered with the state it led to (D59)."""
    try:
        return list((await command).warnings)
    except AlreadyApplied:
        return []


async def shown(services: Any, read: Callable[[str, Actor], V], id: str, by: Actor, warnings: list[str]) -> V:
    view = await looked(services, read, id, by)
    return view.model_copy(update={"warnings": [*view.warnings, *warnings]}) if warnings else view
