"""Dependencies of handlers: the services, the actor and the command id.

Every dependency is a coroutine, because FastAPI runs other functions in a thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from fastapi import Depends, Request

from cairn.services.actors import Actor

if TYPE_CHECKING:
    from cairn.bootstrap import AppServices
else:
    AppServices = Any  # bootstrap imports every adapter, which routes and the OpenAPI document don't need


async def _cairn(request: Request) -> Any:
    return request.app.state.cairn


async def _actor(request: Request) -> Actor:
    return request.state.actor


async def _command_id(request: Request) -> UUID:
    return request.state.command_id


async def _session_id(request: Request) -> str | None:
    return getattr(request.state, "session_id", None)


Services = Annotated[AppServices, Depends(_cairn)]
CurrentActor = Annotated[Actor, Depends(_actor)]
CurrentSessionId = Annotated[str | None, Depends(_session_id)]
CommandId = Annotated[UUID, Depends(_command_id)]
