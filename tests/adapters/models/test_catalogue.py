"""Models are chosen by name, keys come from the secret store or the environment, and errors say what is missing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from decimal import Decimal
from importlib.metadata import version
from typing import Any

import pytest
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers import infer_provider_class

from cairn.adapters.models import providers as model_providers
from cairn.adapters.models.catalogue import DEFAULT_MODEL, DEFAULT_SUCCESSOR, ModelPolicy, PydanticAiModels
from cairn.adapters.models.prices import PUBLISHED, Price
from cairn.adapters.models.providers import KNOWN, ProviderOptions, is_installed
from cairn.ports.models import ModelCallContext, ModelError, ModelErrorKind, TokenUsage
from tests.adapters.models.fake_provider import FakeProvider
from tests.adapters.models.replies import Answer, ErrorReply
from tests.adapters.models.requests import CHAT, CLAUDE, ENVIRONMENT, GPT, KEY, open_catalogue, streamed
from tests.mentions import mentions


def simulated_model(name: str, settings: Mapping[str, Any], call_context: ModelCallContext) -> TestModel:
    return TestModel(custom_output_text="Simulated.")


def catalogue(
    environment: Mapping[str, str] | None = None, secrets: Mapping[str, str] | None = None, **more: Any
) -> PydanticAiModels:
    store = secrets or {}
    return PydanticAiModels(ModelPolicy(**more), store.get, environment or {}, simulated_model)


def configuration_error(models: PydanticAiModels, name: str) -> str:
    with pytest.raises(ModelError) as raised:
        models.choose(name)
    assert raised.value.kind is ModelErrorKind.NOT_CONFIGURED
    return str(raised.value)


def test_the_default_model_depends_on_settings_and_keys() -> None:
    """Without a key for Anthropic, the simulated model is the default."""
    assert catalogue().default == "simulated:default"
    assert catalogue(ENVIRONMENT).default == DEFAULT_MODEL
    assert catalogue(secrets={"ANTHROPIC_API_KEY": KEY}).default == DEFAULT_MODEL
    assert catalogue(ENVIRONMENT, default="openai:gpt-5").default == "openai:gpt-5"
    assert catalogue(default="claude-opus-5").default == "anthropic:claude-opus-5"
    chosen = catalogue().choose()
    assert (chosen.name, chosen.is_simulated) == ("simulated:default", True)
    chosen = catalogue(ENVIRONMENT).choose()
    assert (chosen.name, chosen.is_simulated) == (DEFAULT_MODEL, False)


async def test_a_retired_default_model_falls_back_to_its_successor(provider: FakeProvider) -> None:
    async with open_catalogue(provider) as models:
        assert models.default == DEFAULT_MODEL
        provider.enqueue(ErrorReply(404), Answer("Here."))
        with pytest.warns(DeprecationWarning, match="will reach end-of-life"):
            response = await streamed(models.choose())
        assert [request.body["model"] for request in provider.requests] == [
            name.removeprefix("anthropic:") for name in (DEFAULT_MODEL, DEFAULT_SUCCESSOR)
        ]
        assert response.text == "Here."


def test_configuration_errors_name_what_is_missing() -> None:
    models = catalogue()
    assert configuration_error(models, CLAUDE) == mentions(CLAUDE, "ANTHROPIC_API_KEY")
    assert configuration_error(models, "google:gemini-2.5-pro") == mentions(
        "google:gemini-2.5-pro", "GOOGLE_API_KEY", "GEMINI_API_KEY"
    )
    assert configuration_error(models, "groq:llama-3.3-70b") == mentions(
        "groq:llama-3.3-70b", '"pydantic-ai-slim[groq]"'
    )
    assert configuration_error(models, "antropic:claude") == mentions("antropic:claude", "anthropic")
    assert configuration_error(models, "zzz:model") == mentions("zzz:model")
    assert configuration_error(models, "gpt-5") == mentions("'gpt-5'", DEFAULT_MODEL)
    assert configuration_error(models, "vllm:qwen") == mentions("vllm:qwen", "base_url", "model_providers.vllm")
    with_base_url = catalogue(
        {"DEEPSEEK_API_KEY": KEY}, providers={"deepseek": ProviderOptions(base_url="http://127.0.0.1:1/v1")}
    )
    assert configuration_error(with_base_url, "deepseek:deepseek-chat") == mentions(
        "deepseek-chat", "base_url", "openai-chat"
    )


def test_an_unreadable_secret_is_reported() -> None:
    def locked(name: str) -> str | None:
        raise LookupError(f"The secret {name} cannot be read: it was encrypted with another key.")

    models = PydanticAiModels(ModelPolicy(), locked, {}, simulated_model)
    assert configuration_error(models, CLAUDE) == mentions("ANTHROPIC_API_KEY")
    assert models.default == DEFAULT_MODEL
    (anthropic,) = (state for state in models.providers() if state.name == "anthropic")
    assert (anthropic.has_key, anthropic.hint) == (
        False,
        mentions("ANTHROPIC_API_KEY"),
    )


async def test_secrets_take_precedence_over_the_environment(provider: FakeProvider) -> None:
    """A compatible server receives a key only if the settings name one."""
    secrets = {"ANTHROPIC_API_KEY": "from-the-store", "mine": "my-own-key"}
    providers = {
        "anthropic": ProviderOptions(base_url=provider.url),
        "openai-chat": ProviderOptions(base_url=provider.openai_url),
        "ollama": ProviderOptions(base_url=provider.openai_url),
        "company": ProviderOptions(kind="openai-chat", base_url=provider.openai_url, key="mine"),
        "other": ProviderOptions(kind="anthropic", base_url=provider.url),
    }
    models = PydanticAiModels(ModelPolicy(providers=providers), secrets.get, ENVIRONMENT, simulated_model)
    for name in (CLAUDE, CHAT, "ollama:qwen3", "company:qwen3", "other:claude-sonnet-4-6"):
        await streamed(models.choose(name))
    secrets["ANTHROPIC_API_KEY"] = "changed-since"
    await streamed(models.choose(CLAUDE))
    await models.close()
    assert [request.headers["authorization"] for request in provider.requests] == [
        "Bearer from-the-store",
        "Bearer no-key",
        "Bearer no-key",
        "Bearer my-own-key",
        "Bearer no-key",
        "Bearer changed-since",
    ]


def test_providers_report_their_keys_and_hints() -> None:
    models = catalogue(
        {"OPENAI_API_KEY": KEY},
        {"ANTHROPIC_API_KEY": KEY},
        providers={"company": ProviderOptions(kind="openai-chat", base_url="http://127.0.0.1:8080/v1", key="absent")},
    )
    states = {state.name: state for state in models.providers()}
    assert [*states] == [*KNOWN, "company", "simulated"]
    assert KEY not in repr(states)
    selected = {
        name: (state.is_ready, state.has_key, state.key_source, state.hint)
        for name, state in states.items()
        if name in ("anthropic", "openai", "google", "ollama", "groq", "company", "simulated")
    }
    assert selected == {
        "anthropic": (True, True, "secret", ""),
        "openai": (True, True, "environment", ""),
        "google": (False, False, None, mentions("GOOGLE_API_KEY", "GEMINI_API_KEY")),
        "ollama": (True, False, None, ""),
        "groq": (False, False, None, mentions('"pydantic-ai-slim[groq]"')),
        "company": (False, False, None, mentions("absent")),
        "simulated": (True, False, None, ""),
    }
    assert states["company"].base_url == "http://127.0.0.1:8080/v1"


def test_known_providers_match_pydantic_ai() -> None:
    """pydantic-ai names the same extra for each provider that is not installed."""
    for name, known in KNOWN.items():
        if is_installed(known.module):
            infer_provider_class(name)
        else:
            with pytest.raises(ImportError, match=rf"pydantic-ai-slim\[{known.extra}\]"):
                infer_provider_class(name)


def test_a_provider_that_only_pydantic_ai_knows_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict(KNOWN)
    del known["together"]
    monkeypatch.setattr(model_providers, "KNOWN", known)
    monkeypatch.delenv("TOGETHER_API_KEY", raising=False)
    assert "Set the `TOGETHER_API_KEY` environment variable" in configuration_error(catalogue(), "together:some/model")


async def test_a_model_test_makes_one_small_call(provider: FakeProvider) -> None:
    async with open_catalogue(provider, fallbacks=(GPT,)) as models:
        provider.enqueue(Answer("ready", input_tokens=100, output_tokens=10))
        tested = await models.test(CLAUDE)
        assert (tested.name, tested.text, tested.error, tested.is_simulated) == (CLAUDE, "ready", None, False)
        assert (tested.tokens, tested.cost) == (TokenUsage(100, 10), Decimal("0.00045"))
        assert 0 < tested.seconds < 5
        assert provider.requests[0].body["max_tokens"] == 256
        provider.enqueue(ErrorReply(529))
        failed = await models.test(CLAUDE)
        assert failed.error is not None
        assert (failed.error.kind, failed.text, len(provider.requests)) == (ModelErrorKind.OVERLOAD, "", 2)
        unknown = await models.test("zzz:model")
        assert str(unknown.error) == mentions("zzz:model")
        nameless = await models.test("gpt")
        assert nameless.error is not None
        assert nameless.name == "gpt"
    simulated = await catalogue().test()
    assert (simulated.name, simulated.text, simulated.is_simulated) == ("simulated:default", "Simulated.", True)
    assert simulated.cost == 0


def test_costs_come_from_settings_or_the_price_table() -> None:
    """Unknown prices stay unknown. Simulated calls cost nothing."""
    configured = {
        "company:*": Price(Decimal(1), Decimal(2)),
        CLAUDE: Price(Decimal(10), Decimal(20), cache_read=Decimal(1), cache_write=Decimal(30)),
    }
    models = catalogue(prices=configured, providers={"claude": ProviderOptions(kind="anthropic")})
    tokens = TokenUsage(input=1_000_000, output=100_000, cache_read=200_000, cache_write=100_000)
    assert models.cost("company:anything", tokens) == Decimal("1.2")
    assert models.cost(CLAUDE, tokens) == Decimal("12.2")
    assert catalogue().cost(CLAUDE, tokens) == Decimal("4.035")
    assert models.cost("claude:claude-sonnet-4-6", tokens) == Decimal("4.035")
    assert models.cost("openai-chat:gpt-4o", TokenUsage(1_000_000, 0)) == Decimal("2.5")
    assert models.cost("company2:unknown", tokens) is None
    assert models.cost("simulated:default", tokens) == 0
    assert models.cost(CLAUDE, TokenUsage(10, 1, 20, 30)) is not None
    assert models.unpriced_models("company2:unknown") == ["company2:unknown"]
    settings = {"fallbacks": ["company2:unknown", "simulated:default", "company:anything", "company2:other"]}
    assert models.unpriced_models(CLAUDE, settings) == ["company2:unknown", "company2:other"]
    assert models.unpriced_models("simulated:default", settings) == []
    assert models.unpriced_models("no provider", settings) == []
    number = version("genai-prices")
    assert models.prices == mentions("genai-prices", number, PUBLISHED[number], "2")
    assert catalogue().prices == mentions("genai-prices", number, PUBLISHED[number])


def test_pydantic_ai_is_not_imported_before_a_model_is_chosen() -> None:
    program = """
import sys
from cairn.adapters.models.catalogue import ModelPolicy, PydanticAiModels
models = PydanticAiModels(ModelPolicy(), lambda name: None, {"ANTHROPIC_API_KEY": "x"}, None)
assert models.default.startswith("anthropic:")
assert len(models.providers()) > 20
heavy = ("pydantic_ai", "anthropic", "openai", "genai_prices")
print([name for name in sys.modules if name.partition(".")[0] in heavy])
"""
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert completed.stdout.strip() == "[]"
