"""The application: routes, middleware and the web app's files around the services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

import cairn as package
from cairn.api import openapi, problems, web
from cairn.api.middleware import UNCOMPRESSED, KnownHosts, Shield
from cairn.api.routes import (
    agents,
    approvals,
    artifacts,
    autonomy,
    checkpoints,
    costs,
    definitions,
    delegations,
    doctor,
    entry,
    events,
    executions,
    learning,
    letting_in,
    me,
    models,
    notices,
    pipelines,
    reworks,
    rollbacks,
    rules,
    runs,
    scripts,
    secrets,
    streams,
    uploads,
    users,
)

if TYPE_CHECKING:
    from cairn.bootstrap import AppServices

ROUTERS = (
    entry.router,
    users.router,
    delegations.router,
    letting_in.router,
    me.router,
    secrets.router,
    pipelines.router,
    definitions.router,
    agents.router,
    checkpoints.router,
    scripts.router,
    runs.router,
    executions.router,
    costs.router,
    uploads.router,
    approvals.router,
    learning.router,
    models.router,
    notices.router,
    rollbacks.router,
    reworks.router,
    rules.router,
    autonomy.router,
    artifacts.router,
    events.router,
    streams.router,
    doctor.router,
)


def create_app(cairn: AppServices) -> FastAPI:
    app = describe(names=(cairn.settings.host, *cairn.settings.allowed_hosts))
    app.state.cairn = cairn
    return app


def describe(names: tuple[str, ...] = ()) -> FastAPI:
    """The application without its services: enough to tell what it offers."""
    app = FastAPI(
        title="Cairn",
        version=package.__version__,
        summary="Pipelines of agents, scripts and people, held at approvals, versioned, rolled back without loss.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=openapi.operation_id,
        redirect_slashes=False,
    )
    problems.install(app)
    for router in ROUTERS:
        app.router.routes.extend(router.routes)  # as they are: to include a router is to build each of them again
    openapi.install(app)
    web.install(app)
    # The last one added is the outermost.
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5, exclude_content_types=UNCOMPRESSED)
    app.add_middleware(KnownHosts, names=names)
    app.add_middleware(Shield)
    return app
