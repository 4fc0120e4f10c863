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
from cairn.adapters.models.catalogue import ANTHROPIC, SUCCESSOR, ModelPolicy, PydanticAiModels
from cairn.adapters.models.prices import PUBLISHED, Price
from cairn.adapters.models.providers import KNOWN, ProviderRule, is_installed
from cairn.ports.models import ModelCallContext, ModelError, ModelErrorKind, TokenUsage
from tests.adapters.models.fake_provider import FakeProvider
from tests.adapters.models.replies import Fails, Says
from tests.adapters.models.requests import CHAT, CLAUDE, ENVIRONMENT, GPT, KEY, opened, streamed
from tests.mentions import mentions


def simulates(name: str, settings: Mapping[str, Any], call_context: ModelCallContext) -> TestModel:
    return TestModel(custom_output_text="Simulated.")


def made(
    environment: Mapping[str, str] | None = None, secrets: Mapping[str, str] | None = None, **more: Any
) -> PydanticAiModels:
    kept = secrets or {}
    return PydanticAiModels(ModelPolicy(**more), kept.get, environment or {}, simulates)


def told(models: PydanticAiModels, name: str) -> str:
    with pytest.raises(ModelError) as raised:
        models.choose(name)
    assert raised.value.kind is ModelErrorKind.NOT_CONFIGURED
    return str(raised.value)


def test_whose_turn_it_is_without_a_name() -> None:
    """Settings, then Anthropic with a key, then the simulated one."""
    assert made().default == "simulated:default"
    assert made(ENVIRONMENT).default == ANTHROPIC
    assert made(secrets={"ANTHROPIC_API_KEY": KEY}).default == ANTHROPIC
    assert made(ENVIRONMENT, default="openai:gpt-5").default == "openai:gpt-5"
    assert made(default="claude-opus-5").default == "anthropic:claude-opus-5"
    chosen = made().choose()
    assert (chosen.name, chosen.is_simulated) == ("simulated:default", True)
    chosen = made(ENVIRONMENT).choose()
    assert (chosen.name, chosen.is_simulated) == (ANTHROPIC, False)


async def test_a_default_that_the_provider_has_ended_has_a_successor(provider: FakeProvider) -> None:
    async with opened(provider) as models:
        assert models.default == ANTHROPIC
        provider.will(Fails(404), Says("Here."))
        with pytest.warns(DeprecationWarning, match="will reach end-of-life"):
            response = await streamed(models.choose())
        assert [one.body["model"] for one in provider.asked] == [
            name.removeprefix("anthropic:") for name in (ANTHROPIC, SUCCESSOR)
        ]
        assert response.text == "Here."


def test_what_is_missing() -> None:
    models = made()
    assert told(models, CLAUDE) == mentions(CLAUDE, "ANTHROPIC_API_KEY")
    assert told(models, "google:gemini-2.5-pro") == mentions(
        "google:gemini-2.5-pro", "GOOGLE_API_KEY", "GEMINI_API_KEY"
    )
    assert told(models, "groq:llama-3.3-70b") == mentions("groq:llama-3.3-70b", '"pydantic-ai-slim[groq]"')
    assert told(models, "antropic:claude") == mentions("antropic:claude", "anthropic")
    assert told(models, "zzz:model") == mentions("zzz:model")
    assert told(models, "gpt-5") == mentions("'gpt-5'", ANTHROPIC)
    assert told(models, "vllm:qwen") == mentions("vllm:qwen", "base_url", "model_providers.vllm")
    moved = made({"DEEPSEEK_API_KEY": KEY}, providers={"deepseek": ProviderRule(base_url="http://127.0.0.1:1/v1")})
    assert told(moved, "deepseek:deepseek-chat") == mentions("deepseek-chat", "base_url", "openai-chat")


def test_a_secret_that_cannot_be_opened() -> None:
    def locked(name: str) -> str | None:
        raise LookupError(f"The secret {name} cannot be read: it was encrypted with another key.")

    models = PydanticAiModels(ModelPolicy(), locked, {}, simulates)
    assert told(models, CLAUDE) == mentions("ANTHROPIC_API_KEY")
    assert models.default == ANTHROPIC
    (anthropic,) = (one for one in models.providers() if one.name == "anthropic")
    assert (anthropic.has_key, anthropic.remedy) == (
        False,
        mentions("ANTHROPIC_API_KEY"),
    )


async def test_where_keys_come_from_and_go_to(provider: FakeProvider) -> None:
    """The store is asked first. A compatible server is given a key only where the settings name one."""
    secrets = {"ANTHROPIC_API_KEY": "from-the-store", "mine": "my-own-key"}
    providers = {
        "anthropic": ProviderRule(base_url=provider.url),
        "openai-chat": ProviderRule(base_url=provider.openai_url),
        "ollama": ProviderRule(base_url=provider.openai_url),
        "house": ProviderRule(kind="openai-chat", base_url=provider.openai_url, key="mine"),
        "other": ProviderRule(kind="anthropic", base_url=provider.url),
    }
    models = PydanticAiModels(ModelPolicy(providers=providers), secrets.get, ENVIRONMENT, simulates)
    for name in (CLAUDE, CHAT, "ollama:qwen3", "house:qwen3", "other:claude-sonnet-4-6"):
        await streamed(models.choose(name))
    secrets["ANTHROPIC_API_KEY"] = "changed-since"
    await streamed(models.choose(CLAUDE))
    await models.close()
    assert [one.headers["authorization"] for one in provider.asked] == [
        "Bearer from-the-store",
        "Bearer no-key",
        "Bearer no-key",
        "Bearer my-own-key",
        "Bearer no-key",
        "Bearer changed-since",
    ]


def test_what_is_told_of_providers() -> None:
    models = made(
        {"OPENAI_API_KEY": KEY},
        {"ANTHROPIC_API_KEY": KEY},
        providers={"house": ProviderRule(kind="openai-chat", base_url="http://127.0.0.1:8080/v1", key="absent")},
    )
    states = {one.name: one for one in models.providers()}
    assert [*states] == [*KNOWN, "house", "simulated"]
    assert KEY not in repr(states)
    picked = {
        name: (one.is_ready, one.has_key, one.key_source, one.remedy)
        for name, one in states.items()
        if name in ("anthropic", "openai", "google", "ollama", "groq", "house", "simulated")
    }
    assert picked == {
        "anthropic": (True, True, "secret", ""),
        "openai": (True, True, "environment", ""),
        "google": (False, False, None, mentions("GOOGLE_API_KEY", "GEMINI_API_KEY")),
        "ollama": (True, False, None, ""),
        "groq": (False, False, None, mentions('"pydantic-ai-slim[groq]"')),
        "house": (False, False, None, mentions("absent")),
        "simulated": (True, False, None, ""),
    }
    assert states["house"].base_url == "http://127.0.0.1:8080/v1"


def test_the_table_is_the_librarys() -> None:
    """Every provider of the table is one of the agent library's, and says itself what has to be installed."""
    for name, known in KNOWN.items():
        if is_installed(known.module):
            infer_provider_class(name)
        else:
            with pytest.raises(ImportError, match=rf"pydantic-ai-slim\[{known.extra}\]"):
                infer_provider_class(name)


def test_a_provider_that_only_the_library_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict(KNOWN)
    del known["together"]
    monkeypatch.setattr(model_providers, "KNOWN", known)
    monkeypatch.delenv("TOGETHER_API_KEY", raising=False)
    assert "Set the `TOGETHER_API_KEY` environment variable" in told(made(), "together:some/model")


async def test_a_trial(provider: FakeProvider) -> None:
    async with opened(provider, fallbacks=(GPT,)) as models:
        provider.will(Says("ready", input_tokens=100, output_tokens=10))
        tried = await models.try_out(CLAUDE)
        assert (tried.name, tried.text, tried.fault, tried.is_simulated) == (CLAUDE, "ready", None, False)
        assert (tried.tokens, tried.cost) == (TokenUsage(100, 10), Decimal("0.00045"))
        assert 0 < tried.seconds < 5
        assert provider.asked[0].body["max_tokens"] == 256
        provider.will(Fails(529))
        failed = await models.try_out(CLAUDE)
        assert failed.fault is not None
        assert (failed.fault.kind, failed.text, len(provider.asked)) == (ModelErrorKind.OVERLOAD, "", 2)
        unknown = await models.try_out("zzz:model")
        assert str(unknown.fault) == mentions("zzz:model")
        nameless = await models.try_out("gpt")
        assert nameless.fault is not None
        assert nameless.name == "gpt"
    simulated = await made().try_out()
    assert (simulated.name, simulated.text, simulated.is_simulated) == ("simulated:default", "Simulated.", True)
    assert simulated.cost == 0


def test_prices() -> None:
    """Prices come from the table or the settings; unknown prices stay unknown, simulated calls cost nothing."""
    own = {
        "house:*": Price(Decimal(1), Decimal(2)),
        CLAUDE: Price(Decimal(10), Decimal(20), cache_read=Decimal(1), cache_write=Decimal(30)),
    }
    models = made(prices=own, providers={"claude": ProviderRule(kind="anthropic")})
    tokens = TokenUsage(input=1_000_000, output=100_000, cache_read=200_000, cache_write=100_000)
    assert models.cost("house:anything", tokens) == Decimal("1.2")
    assert models.cost(CLAUDE, tokens) == Decimal("12.2")
    assert made().cost(CLAUDE, tokens) == Decimal("4.035")
    assert models.cost("claude:claude-sonnet-4-6", tokens) == Decimal("4.035")
    assert models.cost("openai-chat:gpt-4o", TokenUsage(1_000_000, 0)) == Decimal("2.5")
    assert models.cost("house2:unknown", tokens) is None
    assert models.cost("simulated:default", tokens) == 0
    assert models.cost(CLAUDE, TokenUsage(10, 1, 20, 30)) is not None
    number = version("genai-prices")
    assert models.prices == mentions("genai-prices", number, PUBLISHED[number], "2")
    assert made().prices == mentions("genai-prices", number, PUBLISHED[number])


def test_the_library_is_not_imported_before_a_model_is_chosen() -> None:
    program = """
import sys
from cairn.adapters.models.catalogue import ModelPolicy, PydanticAiModels
models = PydanticAiModels(ModelPolicy(), lambda name: None, {"ANTHROPIC_API_KEY": "x"}, None)
assert models.default.startswith("anthropic:")
assert len(models.providers()) > 20
heavy = ("pydantic_ai", "anthropic", "openai", "genai_prices")
print([name for name in sys.modules if name.partition(".")[0] in heavy])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
