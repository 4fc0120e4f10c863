"""Models over HTTP: the list and the test call; keys are never returned."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import ExitStack
from errno import ENOENT
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cairn.adapters.simulated_model.script_file import SimulationFile
from cairn.ports.models import ModelError
from cairn.services.doctor.models import check_models
from tests.adapters.models.fake_provider import FakeProvider, running_provider
from tests.adapters.models.replies import Answer, ErrorReply
from tests.adapters.models.requests import KEY
from tests.api.app import App, open_app
from tests.api.users import token_for
from tests.databases import KINDS
from tests.mentions import mentions

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[FakeProvider]:
    async with running_provider() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=KINDS)
async def app(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, provider: FakeProvider
) -> AsyncIterator[App]:
    """A configured app: Anthropic behind a proxy, a self-hosted server and its price."""
    settings: dict[str, Any] = {
        "default_model": "anthropic:claude-sonnet-4-6",
        "model_fallbacks": ["house:qwen3"],
        "model_providers": {
            "anthropic": {"base_url": f"http://user:word@127.0.0.1:{provider.port}"},
            "house": {"kind": "openai-chat", "base_url": provider.openai_url, "key": "house-key"},
        },
        "model_prices": {"house:*": {"input": 1, "output": "2.5"}},
    }
    with ExitStack() as stack:
        url: str | None = None
        if request.param == "postgresql":
            url = stack.enter_context(request.getfixturevalue("postgres").new_database(migrated=True))
        async with open_app(tmp_path_factory.mktemp("data"), url, **settings) as opened:
            yield opened


async def with_keys(app: App) -> None:
    await app.put("/api/secrets/ANTHROPIC_API_KEY", {"value": KEY})
    await app.put("/api/secrets/house-key", {"value": "the-key-of-the-house"})


async def test_providers_without_a_key_are_not_configured(app: App) -> None:
    await app.client.delete("/api/secrets/ANTHROPIC_API_KEY")
    found = await app.get("/api/models")
    assert (found["default"], found["is_simulated"]) == ("anthropic:claude-sonnet-4-6", False)

    by_name = {provider["name"]: provider for provider in found["providers"]}
    assert by_name["google"] == {
        "name": "google",
        "is_ready": False,
        "is_installed": True,
        "requires_key": True,
        "has_key": False,
        "key_names": ["GOOGLE_API_KEY", "GEMINI_API_KEY"],
        "key_source": None,
        "base_url": None,
        "hint": mentions("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    }
    tried = await app.post("/api/models/test", {})
    assert (tried["succeeded"], tried["error_type"]) == (False, "not_configured")
    assert model_checks(app) == [("warning", mentions("anthropic:claude-sonnet-4-6"))]


async def test_the_simulated_model_needs_no_key(app: App) -> None:
    tried = await app.post("/api/models/test", {"model": "simulated:default"})
    assert {key: tried[key] for key in ("model", "is_simulated", "succeeded", "answer", "cost_usd", "error_type")} == {
        "model": "simulated:default",
        "is_simulated": True,
        "succeeded": True,
        "answer": "ready",
        "cost_usd": 0.0,
        "error_type": None,
    }


async def test_a_key_from_the_secret_store_and_a_self_hosted_server(app: App, provider: FakeProvider) -> None:
    await with_keys(app)
    response = await app.client.get("/api/models")
    assert KEY not in response.text
    assert "word" not in response.text
    found = response.json()
    assert (found["default"], found["fallbacks"]) == ("anthropic:claude-sonnet-4-6", ["house:qwen3"])
    assert found["prices"] == mentions("genai-prices", "1")
    by_name = {
        provider["name"]: (provider["is_ready"], provider["key_source"], provider["base_url"])
        for provider in found["providers"]
    }
    assert by_name["anthropic"] == (True, "secret", f"http://127.0.0.1:{provider.port}")
    assert by_name["house"] == (True, "secret", provider.openai_url)
    provider.enqueue(Answer("ready", input_tokens=1000, output_tokens=100))
    tried = await app.post("/api/models/test", {"model": "house:qwen3"})
    assert (tried["succeeded"], tried["answer"], tried["cost_usd"]) == (True, "ready", 0.00125)
    assert (tried["input_tokens"], tried["output_tokens"], tried["is_simulated"]) == (1000, 100, False)
    assert provider.requests[-1].headers["authorization"] == "Bearer the-key-of-the-house"


async def test_model_errors_are_explained(app: App, provider: FakeProvider) -> None:
    await with_keys(app)
    provider.enqueue(ErrorReply(401, message=f"Incorrect API key: {KEY}"))
    tried = await app.post("/api/models/test", {})
    assert (tried["succeeded"], tried["error_type"], tried["answer"], tried["input_tokens"]) == (
        False,
        "authentication",
        "",
        None,
    )
    assert tried["error_message"] == mentions("anthropic:claude-sonnet-4-6", "401")
    unknown = await app.post("/api/models/test", {"model": "zzz:model"})
    assert (unknown["error_type"], unknown["error_message"]) == (
        "not_configured",
        mentions("zzz:model"),
    )


async def test_permissions_for_models(app: App) -> None:
    """Every role can list models. A test call costs money, so it needs the editor role."""
    for roles, status in (((), 403), (("viewer",), 403), (("approver",), 403), (("editor",), 200)):
        async with app.client_for(await token_for(app, *roles)) as client:
            assert (await client.get("/api/models")).status_code == (200 if roles else 403)
            body = {"model": "simulated:default"}
            assert (await client.post("/api/models/test", json=body)).status_code == status
    async with app.client_for() as anonymous:
        assert (await anonymous.get("/api/models")).status_code == 401
    assert (await app.client.post("/api/models/test", json={"model": ""})).status_code == 422
    assert (await app.client.post("/api/models/test", json={"key": "x"})).status_code == 422


def model_checks(app: App, *fallbacks: str) -> list[tuple[str, str]]:
    return [(check.status, check.detail) for check in check_models(app.cairn.models, fallbacks)]


async def test_the_doctor_checks_models(app: App) -> None:
    await with_keys(app)
    ((verdict, detail),) = model_checks(app, "house:qwen3")
    assert (verdict, detail.startswith("anthropic:claude-sonnet-4-6; genai-prices ")) == ("ok", True)
    assert model_checks(app, "groq:llama", "zzz:m", "anthropic:claude-sonnet-4-5") == [
        ("warning", mentions("groq:llama")),
        ("warning", mentions("zzz:m")),
        ("warning", mentions("anthropic:claude-sonnet-4-5", "November 30th, 2026")),
    ]


async def test_the_simulated_model_follows_a_script_file(tmp_path: Path) -> None:
    """Users test their pipelines with such a script. It is read again when it changes."""
    file = tmp_path / "steps.yaml"
    steps = SimulationFile(file)
    with pytest.raises(ModelError, match=rf"steps\.yaml.*{os.strerror(ENOENT)}"):
        steps()
    file.write_text("- checkpoint: draft\n  attempt: 1\n  fail: overload\n")
    assert steps() == [{"checkpoint": "draft", "attempt": 1, "fail": "overload"}]
    file.write_text("- fail: overlod\n  attempt: 0\n")
    with pytest.raises(ModelError, match=r'/0/fail: .*"overlod"'):
        steps()
    file.write_text("a: [")
    with pytest.raises(ModelError, match=r"steps\.yaml"):
        steps()
    file.write_text("")
    assert list(steps()) == []
