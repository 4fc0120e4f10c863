"""What handlers are given: the services, who asks, and the id of the command.

What fills a parameter is a coroutine, however little it does: FastAPI hands everything else to a thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from fastapi import Depends, Request

from cairn.services.actors import Actor

if TYPE_CHECKING:
    from cairn.bootstrap import AppServices
else:
    AppServices = Any  # the wiring imports every adapter; routes and the description of the API do without


async def _cairn(request: Request) -> Any:
    return request.app.state.cairn


async def _actor(request: Request) -> Actor:
    return request.state.actor


async def _command_id(request: Request) -> UUID:
    return request.state.command_id


async def _session_id(request: Request) -> str | None:
    return getattr(request.state, "session_id", None)


Services = Annotated[AppServices, Depends(_cairn)]
By = Annotated[Actor, Depends(_actor)]
UsedSession = Annotated[str | None, Depends(_session_id)]
CommandId = Annotated[UUID, Depends(_command_id)]
