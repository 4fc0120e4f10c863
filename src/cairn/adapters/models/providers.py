"""Providers of models: their keys, their client libraries and their connections."""

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

NO_KEY = "no-key"  # clients require a key even if the server doesn't
SIMULATED = "simulated"
_URL_PARAMETERS = ("base_url", "azure_endpoint", "api_base")


@dataclass(frozen=True, slots=True)
class KnownProvider:
    keys: tuple[str, ...]  # environment variables; empty if the client authenticates in another way
    module: str = "openai"  # the client library
    extra: str = "openai"  # the extra of pydantic-ai-slim that installs it
    is_compatible: bool = False  # works with any server, and sends a key only if the settings name one
    base_url: str | None = None  # default
    requires_base_url: bool = False


KNOWN: dict[str, KnownProvider] = {
    "anthropic": KnownProvider(("ANTHROPIC_API_KEY",), "anthropic", "anthropic"),
    "openai": KnownProvider(("OPENAI_API_KEY",)),
    "openai-chat": KnownProvider(("OPENAI_API_KEY",), is_compatible=True),
    "openai-responses": KnownProvider(("OPENAI_API_KEY",)),
    "google": KnownProvider(("GOOGLE_API_KEY", "GEMINI_API_KEY"), "google.genai", "google"),
    "google-cloud": KnownProvider((), "google.genai", "google"),
    "ollama": KnownProvider((), is_compatible=True, base_url="http://127.0.0.1:11434/v1"),
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
    "litellm": KnownProvider((), is_compatible=True, requires_base_url=True),
    "vllm": KnownProvider((), is_compatible=True, requires_base_url=True),
}


# Additions to the model profiles of pydantic-ai.
_PROFILES: dict[str, Any] = {
    "tool": {"default_structured_output_mode": "tool"},
    "schema": {"default_structured_output_mode": "native", "supports_json_schema_output": True},
}


@dataclass(frozen=True, slots=True)
class ProviderOptions:
    """A provider's options from the settings, which can define providers with new names."""

    kind: str = ""  # the known provider that it behaves like; default: its own name
    base_url: str | None = None
    key: str | None = None  # name of the secret or environment variable
    structured_output: str | None = None  # tool or schema; default: depends on the model


@dataclass(frozen=True, slots=True)
class ProviderConnection:
    """How to connect to a provider. Never log it: it contains the key."""

    kind: str
    base_url: str | None
    key: str | None
    key_source: str | None  # environment or secret
    structured_output: str | None = None


class ProviderRegistry:
    def __init__(
        self,
        options: Mapping[str, ProviderOptions],
        read_secret: Callable[[str], str | None],
        environment: Mapping[str, str],
    ) -> None:
        """`read_secret` raises LookupError if the secret cannot be decrypted."""
        self._options = options
        self._read_secret = read_secret
        self._environment = environment

    @property
    def kinds(self) -> Mapping[str, str]:
        return {name: options.kind or name for name, options in self._options.items()}

    def connection(self, name: str) -> ProviderConnection:
        options = self._options.get(name, ProviderOptions())
        kind = options.kind or name
        known = KNOWN.get(kind)
        names = self._key_names(name, options, known)
        try:
            key_and_source = next(((key, source) for name in names for key, source in self._find_key(name)), None)
        except LookupError as error:
            raise _not_configured(name, str(error)) from None
        base_url = options.base_url or (known.base_url if known else None)
        if kind == "ollama" and options.base_url is None:
            base_url = self._environment.get("OLLAMA_BASE_URL") or base_url
        return ProviderConnection(kind, base_url, *(key_and_source or (None, None)), options.structured_output)

    def _key_names(self, name: str, options: ProviderOptions, known: KnownProvider | None) -> tuple[str, ...]:
        if options.key is not None:
            return (options.key,)
        if known is None:
            return ()
        is_other_server = options.base_url is not None and (known.is_compatible or options.kind not in ("", name))
        return () if is_other_server else known.keys

    def _find_key(self, name: str) -> tuple[tuple[str, str], ...]:
        """The secret store takes precedence, because it can change while the server runs."""
        if key := self._read_secret(name):
            return ((key, "secret"),)
        return ((key, "environment"),) if (key := self._environment.get(name)) else ()

    def create_model(self, name: str, model: str, connection: ProviderConnection) -> Model:
        """Raise ModelError if a key, library or setting is missing."""
        if hint := self._hint(name, connection):
            raise _not_configured(f"{name}:{model}", hint)
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model

        try:
            created = infer_model(f"{connection.kind}:{model}", lambda _: _provider(connection))
        except (ImportError, UserError, ValueError, TypeError) as error:
            raise _not_configured(f"{name}:{model}", _reason(error, name)) from None
        if connection.structured_output is not None:
            created._profile = _PROFILES[connection.structured_output]  # pyright: ignore[reportPrivateUsage]  # noqa: SLF001
            vars(created).pop("profile", None)  # cached by pydantic-ai
        return created

    def _hint(self, name: str, connection: ProviderConnection) -> str:
        known = KNOWN.get(connection.kind)
        if known is None:
            return "" if _is_library_provider(connection.kind) else f"unknown provider{self._suggestion(name)}"
        if not is_installed(known.module):
            return f'the client library is not installed. Run pip install "pydantic-ai-slim[{known.extra}]"'
        options = self._options.get(name, ProviderOptions())
        names = self._key_names(name, options, known)
        if names and connection.key is None:
            return f"no API key. Set {' or '.join(names)} in the server's environment, or store a secret with that name"
        if known.requires_base_url and connection.base_url is None:
            return f"no address. Set base_url under model_providers.{name}"
        return ""

    def _suggestion(self, name: str) -> str:
        close = get_close_matches(name, [*KNOWN, *self._options, SIMULATED], n=1, cutoff=0.6)
        return f". Did you mean {close[0]}?" if close else ""

    def states(self) -> list[ProviderState]:
        return [self._state(name) for name in dict.fromkeys((*KNOWN, *self._options))]

    def _state(self, name: str) -> ProviderState:
        options = self._options.get(name, ProviderOptions())
        known = KNOWN.get(options.kind or name)
        names = self._key_names(name, options, known)
        try:
            connection = self.connection(name)
            hint = self._hint(name, connection)
        except ModelError as error:
            connection = ProviderConnection(options.kind or name, options.base_url, None, None)
            hint = str(error).partition(": ")[2]
        return ProviderState(
            name=name,
            is_installed=known is None or is_installed(known.module),
            requires_key=bool(names),
            has_key=connection.key is not None,
            key_names=names,
            key_source=connection.key_source,
            base_url=options.base_url,
            hint=hint,
        )


def keys_in(environment: Mapping[str, str], options: Mapping[str, ProviderOptions]) -> tuple[str, ...]:
    """All API keys in the environment, for masking."""
    names = {*(key for known in KNOWN.values() for key in known.keys), *(option.key for option in options.values())}
    return tuple(environment[name] for name in sorted(name for name in names if name) if environment.get(name))


@cache
def is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        return False


def _is_library_provider(kind: str) -> bool:
    """Whether pydantic-ai supports a provider that is missing from KNOWN."""
    from pydantic_ai.providers import infer_provider_class

    try:
        infer_provider_class(kind)
    except ValueError:
        return False
    except ImportError:
        return True
    return True


def _provider(connection: ProviderConnection) -> Provider[Any]:
    from pydantic_ai.providers import infer_provider_class

    provider_class = infer_provider_class(connection.kind)
    parameters = inspect.signature(provider_class).parameters
    arguments: dict[str, Any] = {}
    if url_parameter := next((name for name in _URL_PARAMETERS if name in parameters), None):
        arguments[url_parameter] = connection.base_url
    elif connection.base_url is not None:
        raise ValueError(f"{connection.kind} does not support base_url. Use openai-chat for a compatible server")
    if "api_key" in parameters and (connection.key or connection.base_url):
        arguments["api_key"] = connection.key or NO_KEY
    return provider_class(**{name: value for name, value in arguments.items() if value is not None})


def _reason(error: Exception, name: str) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, ImportError):
        return f"the client library is not installed: {text}"
    return text.partition(" To try Pydantic AI")[0] or f"{name} is not available"


def _not_configured(model: str, reason: str) -> ModelError:
    end = "" if reason.endswith((".", "?")) else "."
    return ModelError(ModelErrorKind.NOT_CONFIGURED, f"{model}: {reason}{end}", model=model)
