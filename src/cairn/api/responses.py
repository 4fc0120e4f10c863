"""Responses to commands: the view of what changed, with the command's warnings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from starlette.concurrency import run_in_threadpool

from cairn.core.errors import AlreadyApplied
from cairn.services.actors import Actor
from cairn.services.runs.execution_views import Execution
from cairn.services.runs.views import Run


class HasWarnings(Protocol):
    @property
    def warnings(self) -> list[str] | tuple[str, ...]: ...


V = TypeVar("V", Run, Execution)


async def command_warnings(command: Awaitable[HasWarnings]) -> list[str]:
    """The warnings of a command. Empty if it was applied before, so that a repeated request succeeds."""
    try:
        return list((await command).warnings)
    except AlreadyApplied:
        return []


async def with_warnings(read: Callable[[str, Actor], V], id: str, actor: Actor, warnings: list[str]) -> V:
    view = await run_in_threadpool(read, id, actor)
    return view.model_copy(update={"warnings": [*view.warnings, *warnings]}) if warnings else view
