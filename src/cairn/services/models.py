"""The available models and providers, and test calls."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field

from cairn.ports.models import ModelCatalogue, ProviderState
from cairn.services.view import View

MAX_ANSWER_LENGTH = 500


@dataclass(frozen=True)
class ModelService:
    models: ModelCatalogue
    fallbacks: tuple[str, ...] = ()

    def list(self) -> ModelList:
        default = self.models.default
        return ModelList(
            default=default,
            is_simulated=default.startswith("simulated:"),
            fallbacks=list(self.fallbacks),
            prices=self.models.prices,
            providers=[_provider_view(provider) for provider in self.models.providers()],
        )

    async def test(self, name: str | None = None) -> ModelTestResult:
        """Make one small call."""
        result = await self.models.test(name)
        return ModelTestResult(
            model=result.name,
            is_simulated=result.is_simulated,
            succeeded=result.error is None,
            seconds=round(result.seconds, 3),
            answer=result.text.strip()[:MAX_ANSWER_LENGTH],
            input_tokens=result.tokens.input if result.tokens is not None else None,
            output_tokens=result.tokens.output if result.tokens is not None else None,
            cost_usd=float(result.cost) if result.cost is not None else None,
            error_type=result.error.kind.value if result.error is not None else None,
            error_message=str(result.error) if result.error is not None else None,
        )


def _provider_view(state: ProviderState) -> ModelProvider:
    return ModelProvider(
        name=state.name,
        is_ready=state.is_ready,
        is_installed=state.is_installed,
        requires_key=state.requires_key,
        has_key=state.has_key,
        key_names=list(state.key_names),
        key_source=state.key_source,
        base_url=_without_credentials(state.base_url) if state.base_url else None,
        hint=state.hint,
    )


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


class ModelProvider(View):
    name: str = Field(description="The part before the colon in the names of its models.")
    is_ready: bool = Field(description="Whether you can use it.")
    is_installed: bool = Field(description="Whether its client library is installed.")
    requires_key: bool = Field(description="Whether it requires an API key.")
    has_key: bool = Field(description="Whether the key is configured.")
    key_names: list[str] = Field(description="Names of the environment variables or secrets that can hold the key.")
    key_source: str | None = Field(description="Where the key was found: `secret` or `environment`.")
    base_url: str | None = Field(description="Base URL from the settings.")
    hint: str = Field(description="What to do if it is not ready.")


class ModelList(View):
    default: str = Field(description="Model of agents that don't name one.")
    is_simulated: bool = Field(description="Whether this is the built-in model, which calls no provider.")
    fallbacks: list[str] = Field(description="Models to use in order when a model is unavailable.")
    prices: str = Field(description="Source and date of the prices.")
    providers: list[ModelProvider]


class ModelTestResult(View):
    model: str = Field(description="Model that was called.")
    is_simulated: bool
    succeeded: bool
    seconds: float = Field(description="Duration of the call.")
    answer: str = Field(description="Answer of the model.")
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None = Field(description="Null if the price is unknown.")
    error_type: str | None = Field(description="Kind of the error.")
    error_message: str | None = Field(description="What happened and what to do.")
