"""The API matches its OpenAPI document and never returns an internal error."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks as general_checks
from schemathesis.specs.openapi import checks as openapi_checks

from tests.api.app import BASE, TOKEN, App, Json, form, open_app, specification, transport
from tests.effort import effort

# the server's threads use `random` while examples are generated
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
_general: Any = general_checks
_described: Any = openapi_checks
CHECKS = [
    _general.not_a_server_error,
    _described.status_code_conformance,
    _described.content_type_conformance,
    _described.response_schema_conformance,
    _described.response_headers_conformance,
]
# Streams never end, and httpx can't send the forms of Schemathesis. Both have their own tests.
loaded: Any = schemathesis.openapi.from_dict(specification())
schema: Any = loaded.exclude(path_regex="(stream|/files)$")


class Background:
    """An app on its own event loop, because Schemathesis is synchronous."""

    def __init__(self, folder: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self._opened = open_app(folder)
        self.app: App = self.run(self._opened.__aenter__())
        self.known: Json = self.run(self._create_samples())

    def run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    async def _create_samples(self) -> Json:
        """Create one item of each kind, so that operations find something."""
        run = await self.app.run(await self.app.pipeline(form("goals", approve="complete")))
        execution = await self.app.submit_form(run, goals="grow")
        return {
            "pipeline_id": run["pipeline_id"],
            "run_id": run["run_id"],
            "execution_id": execution["execution_id"],
            "checkpoint_id": execution["checkpoint_id"],
            "approval_id": execution["approval"]["approval_id"],
            "artifact_record_id": execution["artifacts_generated"][0]["artifact_record_id"],
        }

    def call(self, method: str, url: str, **options: Any) -> httpx.Response:
        async def call() -> httpx.Response:
            async with httpx.AsyncClient(transport=transport(self.app.asgi), base_url=BASE) as client:
                request = client.build_request(method, url, **options)
                await request.aread()
                return await client.send(request)

        return self.run(call())

    def close(self) -> None:
        self.run(self._opened.__aexit__(None, None, None))
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@pytest.fixture(scope="module")
def background(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Background]:
    opened = Background(tmp_path_factory.mktemp("data"))
    try:
        yield opened
    finally:
        opened.close()


@schema.parametrize()
@settings(
    max_examples=effort().api_examples,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
def test_the_api_matches_its_description(case: Any, background: Background) -> None:
    for name, value in background.known.items():
        if name in (case.path_parameters or {}):
            case.path_parameters[name] = value  # generated ids never exist
    case.headers["Authorization"] = f"Bearer {TOKEN}"
    sent = case.as_transport_kwargs(base_url=BASE)
    names = {"params", "headers", "json", "data", "files", "content"}
    options = {name: value for name, value in sent.items() if name in names and value is not None}
    response = background.call(sent["method"], sent["url"], **_as_httpx(options))
    # The schema of a definition is a string, but Schemathesis would parse the YAML.
    is_yaml = response.headers.get("content-type") == "application/yaml"
    checks = [check for check in CHECKS if not (is_yaml and check is _described.response_schema_conformance)]
    case.validate_response(response, checks=checks)


def _as_httpx(options: dict[str, Any]) -> dict[str, Any]:
    data = options.pop("data", None)
    if isinstance(data, bytes | str):
        options["content"] = data
    elif data is not None:
        options["data"] = data
    return options
