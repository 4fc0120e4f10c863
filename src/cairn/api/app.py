"""The application: routes, middleware and the web app's files around the services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

import cairn as package
from cairn.api import openapi, problems, web_app
from cairn.api.middleware import UNCOMPRESSED, KnownHosts, SecurityHeaders
from cairn.api.operations import OperationRoute, operation_id
from cairn.api.routes import (
    account,
    action_types,
    agents,
    approvals,
    artifacts,
    checkpoints,
    conversations,
    corrections,
    costs,
    definitions,
    delegations,
    doctor,
    emergency_stop,
    events,
    executions,
    groups,
    invitations,
    logs,
    models,
    notifications,
    pipelines,
    rework,
    rollbacks,
    rule_autonomy,
    rules,
    runs,
    scripts,
    secrets,
    session,
    sessions,
    sign_in,
    streams,
    tokens,
    tools,
    users,
)

if TYPE_CHECKING:
    from cairn.bootstrap import AppServices

ROUTERS = (
    session.router,
    sign_in.router,
    users.router,
    groups.router,
    delegations.router,
    invitations.router,
    tokens.router,
    sessions.router,
    account.router,
    secrets.router,
    pipelines.router,
    definitions.router,
    agents.router,
    checkpoints.router,
    scripts.router,
    runs.router,
    executions.router,
    logs.router,
    conversations.router,
    costs.router,
    action_types.router,  # before routes of single actions, whose ids would match
    approvals.router,
    corrections.router,
    models.router,
    tools.router,
    notifications.router,
    rollbacks.router,
    rework.router,
    rules.router,
    rule_autonomy.router,
    emergency_stop.router,
    artifacts.router,
    events.router,
    streams.router,
    doctor.router,
)


def operation_routes() -> list[OperationRoute]:
    """Every operation of the API."""
    return [route for router in ROUTERS for route in router.routes if isinstance(route, OperationRoute)]


def create_app(cairn: AppServices) -> FastAPI:
    app = describe(names=(cairn.settings.host, *cairn.settings.allowed_hosts))
    app.state.cairn = cairn
    return app


def describe(names: tuple[str, ...] = ()) -> FastAPI:
    """The application without its services, which is enough to build the OpenAPI document."""
    app = FastAPI(
        title="Cairn",
        version=package.__version__,
        summary="Versioned pipelines of agents, scripts and people, with approvals and lossless rollback.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=operation_id,
        redirect_slashes=False,
    )
    problems.install(app)
    for router in ROUTERS:
        app.router.routes.extend(router.routes)  # include_router would build every route again
    openapi.install(app)
    web_app.install(app)
    # The last one added is the outermost.
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5, exclude_content_types=UNCOMPRESSED)
    app.add_middleware(KnownHosts, names=names)
    app.add_middleware(SecurityHeaders)
    return app
