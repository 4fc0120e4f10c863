"""Which models can be used, and whether one answers (A2)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from cairn.ports.models import ModelCatalogue, ProviderState
from cairn.services.model_views import ModelList, ModelProvider, ModelTestResult

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
            works=tried.fault is None,
            seconds=round(tried.seconds, 3),
            answer=tried.text.strip()[:LONGEST],
            input_tokens=tried.tokens.input if tried.tokens is not None else None,
            output_tokens=tried.tokens.output if tried.tokens is not None else None,
            cost_usd=float(tried.cost) if tried.cost is not None else None,
            fault=tried.fault.kind.value if tried.fault is not None else None,
            message=str(tried.fault) if tried.fault is not None else None,
        )


def _shown(state: ProviderState) -> ModelProvider:
    return ModelProvider(
        name=state.name,
        is_ready=state.is_ready,
        is_installed=state.is_installed,
        wants_key=state.wants_key,
        has_key=state.has_key,
        key_names=list(state.key_names),
        key_source=state.key_source,
        base_url=_plain(state.base_url) if state.base_url else None,
        remedy=state.remedy,
    )


def _plain(address: str) -> str:
    """Without what may be written into an address to be let in."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
