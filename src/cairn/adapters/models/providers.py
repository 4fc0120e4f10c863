"""Providers by name: what their keys are called, what has to be installed, how a model of theirs is made."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from cairn.ports.models import ModelError, ModelErrorKind, ProviderState

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

NO_KEY = "no-key"  # clients insist on one, also where a server of one's own wants none
SIMULATED = "simulated"
_ADDRESSES = ("base_url", "azure_endpoint", "api_base")  # what providers call it


@dataclass(frozen=True, slots=True)
class KnownProvider:
    keys: tuple[str, ...]  # environment variables; none: it has ways of its own to know who asks
    module: str = "openai"  # that has to be there
    extra: str = "openai"  # of pydantic-ai-slim, that brings it
    is_compatible: bool = False  # any server may be behind it: keys are sent only where the settings name them
    address: str | None = None  # where it is unless the settings say otherwise
    is_nowhere: bool = False  # the settings have to say where it is


KNOWN: dict[str, KnownProvider] = {
    "anthropic": KnownProvider(("ANTHROPIC_API_KEY",), "anthropic", "anthropic"),
    "openai": KnownProvider(("OPENAI_API_KEY",)),
    "openai-chat": KnownProvider(("OPENAI_API_KEY",), is_compatible=True),
    "openai-responses": KnownProvider(("OPENAI_API_KEY",)),
    "google": KnownProvider(("GOOGLE_API_KEY", "GEMINI_API_KEY"), "google.genai", "google"),
    "google-cloud": KnownProvider((), "google.genai", "google"),
    "ollama": KnownProvider((), is_compatible=True, address="http://127.0.0.1:11434/v1"),
    "azure": KnownProvider(("AZURE_OPENAI_API_KEY",)),
    "bedrock": KnownProvider((), "boto3", "bedrock"),
    "groq": KnownProvider(("GROQ_API_KEY",), "groq", "groq"),
    "mistral": KnownProvider(("MISTRAL_API_KEY",), "mistralai", "mistral"),
    "cohere": KnownProvider(("CO_API_KEY",), "cohere", "cohere"),
    "xai": KnownProvider(("XAI_API_KEY",), "xai_sdk", "xai"),
    "huggingface": KnownProvider(("HF_TOKEN",), "huggingface_hub", "huggingface"),
    "openrouter": KnownProvider(("OPENROUTER_API_KEY",)),
    "deepseek": KnownProvider(("DEEPSEEK_API_KEY",)),
    "cerebras": KnownProvider(("CEREBRAS_API_KEY",)),
    "fireworks": KnownProvider(("FIREWORKS_API_KEY",)),
    "together": KnownProvider(("TOGETHER_API_KEY",)),
    "moonshotai": KnownProvider(("MOONSHOTAI_API_KEY",)),
    "nebius": KnownProvider(("NEBIUS_API_KEY",)),
    "ovhcloud": KnownProvider(("OVHCLOUD_API_KEY",)),
    "sambanova": KnownProvider(("SAMBANOVA_API_KEY",)),
    "alibaba": KnownProvider(("ALIBABA_API_KEY", "DASHSCOPE_API_KEY")),
    "heroku": KnownProvider(("HEROKU_INFERENCE_KEY",)),
    "vercel": KnownProvider(("VERCEL_AI_GATEWAY_API_KEY",)),
    "meta": KnownProvider(("META_API_KEY",)),
    "zai": KnownProvider(("ZAI_API_KEY",)),
    "litellm": KnownProvider((), is_compatible=True, is_nowhere=True),
    "vllm": KnownProvider((), is_compatible=True, is_nowhere=True),
}


# What the agent library is told of models, besides what it knows.
_PROFILES: dict[str, Any] = {
    "tool": {"default_structured_output_mode": "tool"},
    "schema": {"default_structured_output_mode": "native", "supports_json_schema_output": True},
}


@dataclass(frozen=True, slots=True)
class ProviderRule:
    """What the settings say of a provider; it may be one of a name of its own."""

    kind: str = ""  # the provider that it is like; its own name unless said
    base_url: str | None = None
    key: str | None = None  # the secret, or else the environment variable, that holds its key
    structured_output: str | None = (
        None  # how it is asked for one: tool or schema; unless said, as its models are known
    )


@dataclass(frozen=True, slots=True)
class ProviderFactory:
    """How a provider is reached. Never shown: it has the key in it."""

    kind: str
    base_url: str | None
    key: str | None
    source: str | None  # of the key: environment or secret
    structured_output: str | None = None


class ProviderRegistry:
    def __init__(
        self,
        rules: Mapping[str, ProviderRule],
        secret: Callable[[str], str | None],
        environment: Mapping[str, str],
    ) -> None:
        """`secret` opens one of the store; LookupError says why it cannot."""
        self._rules = rules
        self._secret = secret
        self._environment = environment

    @property
    def kinds(self) -> Mapping[str, str]:
        return {name: rule.kind or name for name, rule in self._rules.items()}

    def way(self, name: str) -> ProviderFactory:
        rule = self._rules.get(name, ProviderRule())
        kind = rule.kind or name
        known = KNOWN.get(kind)
        names = self._key_names(name, rule, known)
        try:
            found = next(((key, source) for one in names for key, source in self._look(one)), None)
        except LookupError as error:
            raise _not_configured(name, str(error)) from None
        address = rule.base_url or (known.address if known else None)
        if kind == "ollama" and rule.base_url is None:
            address = self._environment.get("OLLAMA_BASE_URL") or address
        return ProviderFactory(kind, address, *(found or (None, None)), rule.structured_output)

    def _key_names(self, name: str, rule: ProviderRule, known: KnownProvider | None) -> tuple[str, ...]:
        if rule.key is not None:
            return (rule.key,)
        if known is None:
            return ()
        is_elsewhere = rule.base_url is not None and (known.is_compatible or rule.kind not in ("", name))
        return () if is_elsewhere else known.keys

    def _look(self, name: str) -> tuple[tuple[str, str], ...]:
        """The secret store first: it can be changed while the server runs."""
        if kept := self._secret(name):
            return ((kept, "secret"),)
        return ((given, "environment"),) if (given := self._environment.get(name)) else ()

    def make(self, name: str, model: str, way: ProviderFactory) -> Model:
        """ModelFault says what is missing, and what to do."""
        if hint := self._hint(name, way):
            raise _not_configured(f"{name}:{model}", hint)
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model

        try:
            made = infer_model(f"{way.kind}:{model}", lambda _: _provider(way))
        except (ImportError, UserError, ValueError, TypeError) as error:
            raise _not_configured(f"{name}:{model}", _plain(error, name)) from None
        if way.structured_output is not None:
            made._profile = _PROFILES[way.structured_output]  # pyright: ignore[reportPrivateUsage]  # noqa: SLF001
            vars(made).pop("profile", None)  # as it was read so far
        return made

    def _hint(self, name: str, way: ProviderFactory) -> str:
        known = KNOWN.get(way.kind)
        if known is None:
            return "" if _is_library_provider(way.kind) else f"there is no provider of this name{self._meant(name)}"
        if not is_installed(known.module):
            return f'it is not installed: pip install "pydantic-ai-slim[{known.extra}]" where Cairn is'
        rule = self._rules.get(name, ProviderRule())
        names = self._key_names(name, rule, known)
        if names and way.key is None:
            told = " or ".join(names)
            return (
                f"there is no key for it: set {told} in the server's environment, or keep it as a secret of that name"
            )
        if known.is_nowhere and way.base_url is None:
            return f"it is not known where it is: set its base_url under model_providers.{name}"
        return ""

    def _meant(self, name: str) -> str:
        close = get_close_matches(name, [*KNOWN, *self._rules, SIMULATED], n=1, cutoff=0.6)
        return f": did you mean {close[0]}?" if close else ""

    def states(self) -> list[ProviderState]:
        return [self._state(name) for name in dict.fromkeys((*KNOWN, *self._rules))]

    def _state(self, name: str) -> ProviderState:
        rule = self._rules.get(name, ProviderRule())
        known = KNOWN.get(rule.kind or name)
        names = self._key_names(name, rule, known)
        try:
            way = self.way(name)
            hint = self._hint(name, way)
        except ModelError as fault:
            way, hint = ProviderFactory(rule.kind or name, rule.base_url, None, None), str(fault).partition(": ")[2]
        return ProviderState(
            name=name,
            is_installed=known is None or is_installed(known.module),
            requires_key=bool(names),
            has_key=way.key is not None,
            key_names=names,
            key_source=way.source,
            base_url=rule.base_url,
            hint=hint,
        )


def keys_in(environment: Mapping[str, str], rules: Mapping[str, ProviderRule]) -> tuple[str, ...]:
    """Every key that stands in the environment: none of them is to be told."""
    names = {*(key for known in KNOWN.values() for key in known.keys), *(rule.key for rule in rules.values())}
    return tuple(environment[name] for name in sorted(name for name in names if name) if environment.get(name))


@cache
def is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        return False


def _is_library_provider(kind: str) -> bool:
    """Whether the agent library knows it, though this table does not."""
    from pydantic_ai.providers import infer_provider_class

    try:
        infer_provider_class(kind)
    except ValueError:
        return False
    except ImportError:
        return True
    return True


def _provider(way: ProviderFactory) -> Provider[Any]:
    from pydantic_ai.providers import infer_provider_class

    made = infer_provider_class(way.kind)
    takes = inspect.signature(made).parameters
    given: dict[str, Any] = {}
    if address := next((name for name in _ADDRESSES if name in takes), None):
        given[address] = way.base_url
    elif way.base_url is not None:
        raise ValueError(f"{way.kind} takes no base_url: for a server of its kind use openai-chat")
    if "api_key" in takes and (way.key or way.base_url):
        given["api_key"] = way.key or NO_KEY
    return made(**{name: value for name, value in given.items() if value is not None})


def _plain(error: Exception, name: str) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, ImportError):
        return f"it is not installed: {text}"
    return text.partition(" To try Pydantic AI")[0] or f"{name} cannot be used"


def _not_configured(model: str, words: str) -> ModelError:
    end = "" if words.endswith((".", "?")) else "."
    return ModelError(ModelErrorKind.NOT_CONFIGURED, f"{model}: {words}{end}", model=model)
