"""Models that use the fake provider, and helpers to call them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import ModelRequest, ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import Model

from cairn.adapters.models.catalogue import ModelPolicy, PydanticAiModels
from cairn.adapters.models.providers import ProviderOptions
from cairn.ports.models import ChosenModel, ModelCallContext
from tests.adapters.models.fake_provider import FakeProvider

KEY = "sk-a-key-that-must-stay-secret"
ENVIRONMENT = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
CLAUDE, GPT, CHAT = "anthropic:claude-sonnet-4-6", "openai:gpt-4o", "openai-chat:qwen3"
NAMES = (CLAUDE, GPT, CHAT)


def no_simulated_model(name: str, settings: Mapping[str, Any], call_context: ModelCallContext) -> Model:
    raise AssertionError("these tests use no simulated model")


def no_secret(name: str) -> str | None:
    return None


def policy(provider: FakeProvider, **more: Any) -> ModelPolicy:
    """All three protocols at the fake provider, without retry delays."""
    providers = {
        "anthropic": ProviderOptions(base_url=provider.url),
        "openai": ProviderOptions(base_url=provider.openai_url),
        "openai-chat": ProviderOptions(base_url=provider.openai_url, key="OPENAI_API_KEY"),
    }
    values: dict[str, Any] = {"providers": providers, "retry_delay": 0.0, "max_wait": 5.0, **more}
    return ModelPolicy(**values)


@asynccontextmanager
async def open_catalogue(provider: FakeProvider, **more: Any) -> AsyncGenerator[PydanticAiModels]:
    models = PydanticAiModels(policy(provider, **more), no_secret, ENVIRONMENT, no_simulated_model)
    try:
        yield models
    finally:
        await models.close()


MESSAGES = [ModelRequest.user_text_prompt("How many?")]


async def streamed(chosen: ChosenModel, events: list[ModelResponseStreamEvent] | None = None) -> ModelResponse:
    async with model_request_stream(chosen.model, list(MESSAGES)) as stream:
        async for event in stream:
            if events is not None:
                events.append(event)
    return stream.get()


async def unstreamed(chosen: ChosenModel) -> ModelResponse:
    return await model_request(chosen.model, list(MESSAGES))
