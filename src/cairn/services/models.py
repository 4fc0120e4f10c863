"""Which models can be used, and whether one answers."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field

from cairn.ports.models import ModelCatalogue, ProviderState
from cairn.services.view import View

LONGEST = 500  # characters of an answer that are shown


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
            providers=[_shown(one) for one in self.models.providers()],
        )

    async def test(self, name: str | None = None) -> ModelTestResult:
        """One small call."""
        tried = await self.models.try_out(name)
        return ModelTestResult(
            model=tried.name,
            is_simulated=tried.is_simulated,
            succeeded=tried.fault is None,
            seconds=round(tried.seconds, 3),
            answer=tried.text.strip()[:LONGEST],
            input_tokens=tried.tokens.input if tried.tokens is not None else None,
            output_tokens=tried.tokens.output if tried.tokens is not None else None,
            cost_usd=float(tried.cost) if tried.cost is not None else None,
            error_type=tried.fault.kind.value if tried.fault is not None else None,
            error_message=str(tried.fault) if tried.fault is not None else None,
        )


def _shown(state: ProviderState) -> ModelProvider:
    return ModelProvider(
        name=state.name,
        is_ready=state.is_ready,
        is_installed=state.is_installed,
        requires_key=state.requires_key,
        has_key=state.has_key,
        key_names=list(state.key_names),
        key_source=state.key_source,
        base_url=_plain(state.base_url) if state.base_url else None,
        hint=state.hint,
    )


def _plain(address: str) -> str:
    """Without what may be written into an address to be let in."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


class ModelProvider(View):
    name: str = Field(description="What stands before the colon in the names of its models.")
    is_ready: bool = Field(description="Whether nothing is missing to ask it.")
    is_installed: bool = Field(description="Whether its client is installed here.")
    requires_key: bool = Field(description="Whether it has to be given a key.")
    has_key: bool = Field(description="Whether there is one.")
    key_names: list[str] = Field(description="Environment variables, or secrets, that hold it.")
    key_source: str | None = Field(description="Where it was found: `secret` or `environment`.")
    base_url: str | None = Field(description="Its address, where the settings give one.")
    hint: str = Field(description="What to do if it is not ready.")


class ModelList(View):
    default: str = Field(description="The model of agents that name none.")
    is_simulated: bool = Field(description="Whether that is the built-in model: no provider is asked.")
    fallbacks: list[str] = Field(description="Models to take in turn when one cannot be had.")
    prices: str = Field(description="Whose prices costs are counted by, and of when.")
    providers: list[ModelProvider]


class ModelTestResult(View):
    model: str = Field(description="The model that was asked.")
    is_simulated: bool
    succeeded: bool
    seconds: float = Field(description="How long it took.")
    answer: str = Field(description="What it said.")
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None = Field(description="Null if nobody knows its price.")
    error_type: str | None = Field(description="The kind of error.")
    error_message: str | None = Field(description="What failed, and what to do.")
