"""A running Cairn with HTTP clients."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import httpx
import sqlalchemy as sa
from fastapi import FastAPI
from pydantic import SecretStr

from cairn.api.app import create_app, describe
from cairn.bootstrap import AppServices, build
from cairn.config import Settings
from cairn.runners import FunctionRegistry
from cairn.services.sign_in import passwords
from cairn.worker import Worker
from tests.databases import prepare
from tests.isolation import PATIENCE
from tests.services.accounts import FAST_HASHER

TOKEN = "a-token-for-tests"
BASE = "http://127.0.0.1:8700"
Json = dict[str, Any]
T = TypeVar("T")


@cache
def specification() -> Json:
    """The OpenAPI document. Building it takes a second."""
    return describe().openapi()


@dataclass(frozen=True)
class App:
    """The services, the application around them, and a signed-in client."""

    cairn: AppServices
    asgi: FastAPI
    client: httpx.AsyncClient

    def client_for(self, token: str | None = None, base: str = BASE) -> httpx.AsyncClient:
        """Create a client that is signed in with the token, or not signed in without one."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.AsyncClient(transport=transport(self.asgi), base_url=base, headers=headers)

    # ---- shortcuts ---------------------------------------------------------------------------------
    async def get(self, path: str, **params: Any) -> Any:
        response = await self.client.get(path, params=params)
        assert response.status_code == 200, response.text
        return response.json()

    async def post(self, path: str, body: Any = None, status: int = 200, **options: Any) -> Any:
        response = await self.client.post(path, json=body, **options)
        assert response.status_code == status, response.text
        return response.json()

    async def put(self, path: str, body: Any = None, status: int = 200, **options: Any) -> Any:
        response = await self.client.put(path, json=body, **options)
        assert response.status_code == status, response.text
        return response.json()

    async def pipeline(self, *checkpoints: Json, **fields: Any) -> Json:
        body = {"pipeline_name": "Journey", "checkpoints": list(checkpoints) or [form("goals")], **fields}
        return await self.post("/api/pipelines", body, 201)

    async def run(self, pipeline: Json, **fields: Any) -> Json:
        return await self.post("/api/runs", {"pipeline_id": pipeline["pipeline_id"], **fields}, 201)

    async def execution(self, run: Json, position: int = 0) -> Json:
        """Wait for the execution at a position."""

        async def find() -> Json | None:
            listed = await self.get(f"/api/runs/{run['run_id']}/checkpoints")
            found = [e for e in listed["items"] if e["checkpoint_position"] == position]
            return found[-1] if found else None

        return await self.wait_until(find)

    async def submit_form(self, run: Json, position: int = 0, **fields: Any) -> Json:
        """Submit a form and wait until it has been processed."""
        name = (await self.execution(run, position))["execution_id"]
        await self.post(f"/api/executions/{name}/submit", {"fields": fields})

        async def processed() -> Json | None:
            now = await self.get(f"/api/executions/{name}")
            return now if now["status"] != "in_progress" else None

        return await self.wait_until(processed)

    async def wait_until(self, probe: Callable[[], Awaitable[T | None]]) -> T:
        return await wait_until(probe)


async def wait_until(probe: Callable[[], Awaitable[T | None]], seconds: float = PATIENCE) -> T:
    """Call the probe until it returns something other than None, and return that."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if (found := await probe()) is not None:
            return found
        await asyncio.sleep(0.01)
    raise AssertionError(f"condition not met within {seconds} seconds")


def form(key: str, **more: Any) -> Json:
    """Return a human checkpoint without approvals."""
    field = {"name": key, "type": "text", "label": key.capitalize()}
    return {"key": key, "checkpoint_name": key.capitalize(), "form": [field], "outputs": [f"{key}.json"], **more}


def transport(app: FastAPI) -> httpx.ASGITransport:
    return httpx.ASGITransport(app, raise_app_exceptions=False, client=("127.0.0.1", 50000))


@asynccontextmanager
async def open_app(
    folder: Path, url: str | None = None, functions: FunctionRegistry | None = None, **settings: Any
) -> AsyncGenerator[App, None]:
    if url is None:
        prepare(folder)
    chosen = Settings(data_dir=folder, database_url=url, admin_token=SecretStr(TOKEN), poll_seconds=0.5, **settings)
    with patch.object(passwords, "PasswordHasher", lambda: FAST_HASHER):
        cairn = build(chosen, functions=functions) if functions is not None else build(chosen)
    worker = Worker(cairn)
    await worker.start()
    app = create_app(cairn)
    try:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(transport=transport(app), base_url=BASE, headers=headers) as client:
            yield App(cairn, app, client)
    finally:
        cairn.event_bus.close()
        await _wait_for_lanes(cairn)
        await worker.stop()
        cairn.close()


async def _wait_for_lanes(cairn: AppServices) -> None:
    """Wait until no lane is active, because an interrupted lane would only end with the process."""
    table = "workflow_status" if cairn.database.kind == "sqlite" else "dbos.workflow_status"
    query = sa.text(f"SELECT count(*) FROM {table} WHERE name = 'lane' AND status IN ('PENDING', 'ENQUEUED')")

    async def is_idle() -> bool | None:
        return None if await cairn.database.aread(lambda c: c.execute(query).scalar_one()) else True

    await wait_until(is_idle)
