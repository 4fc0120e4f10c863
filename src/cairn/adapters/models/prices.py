"""The cost of calls, from the settings or the price table of genai-prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import version

from cairn.ports.models import TokenUsage

MILLION = Decimal(1_000_000)
PUBLISHED = {"0.2.1": "2026-10-30"}  # release dates, because the table has no date
SIMULATED = "simulated"
# Providers that have another name in the table.
_TABLE_NAMES = {"openai-chat": "openai", "openai-responses": "openai", "google-cloud": "google", "xai": "x-ai"}


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. By default, cached tokens cost as much as other input."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None

    def cost(self, tokens: TokenUsage) -> Decimal:
        uncached = max(tokens.input - tokens.cache_read - tokens.cache_write, 0)
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        total = (
            uncached * self.input + tokens.cache_read * read + tokens.cache_write * write + tokens.output * self.output
        )
        return total / MILLION


class PriceTable:
    def __init__(self, configured: Mapping[str, Price], kinds: Mapping[str, str]) -> None:
        """`configured`: prices from the settings, by `provider:model` or `provider:*`.

        `kinds`: the known provider that each provider behaves like.
        """
        self._configured = configured
        self._kinds = kinds

    @property
    def description(self) -> str:
        package_version = version("genai-prices")
        published = f" ({PUBLISHED[package_version]})" if package_version in PUBLISHED else ""
        configured = f", plus {len(self._configured)} from the settings" if self._configured else ""
        return f"genai-prices {package_version}{published}{configured}"

    def cost(self, model: str, tokens: TokenUsage) -> Decimal | None:
        provider, _, name = model.partition(":")
        if provider == SIMULATED:
            return Decimal(0)
        configured = self._configured.get(model) or self._configured.get(f"{provider}:*")
        return configured.cost(tokens) if configured is not None else self._published_cost(provider, name, tokens)

    def _published_cost(self, provider: str, name: str, tokens: TokenUsage) -> Decimal | None:
        from genai_prices import Usage, calc_price

        kind = self._kinds.get(provider, provider)
        usage = Usage(
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cache_read_tokens=tokens.cache_read,
            cache_write_tokens=tokens.cache_write,
        )
        try:
            return calc_price(usage, name, provider_id=_TABLE_NAMES.get(kind, kind)).total_price
        except (LookupError, ValueError):
            return None
