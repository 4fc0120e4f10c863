"""Check that the default model and its fallbacks can be used."""

from __future__ import annotations

from collections.abc import Sequence

from cairn.ports.models import ModelCatalogue
from cairn.services.doctor.views import HealthCheck


def check_models(catalogue: ModelCatalogue, fallbacks: Sequence[str]) -> list[HealthCheck]:
    """Check without calling a model, because a call costs money."""
    default = catalogue.default
    providers = {provider.name: provider for provider in catalogue.providers()}
    checks: list[HealthCheck] = []
    for name, kind in ((default, "default model"), *((fallback, "fallback") for fallback in fallbacks)):
        provider = providers.get(name.partition(":")[0])
        if provider is None:
            checks.append(
                _warning(f"{kind} {name}: unknown provider", "see docs/guide/models.md and cairn models list")
            )
        elif not provider.is_ready:
            checks.append(_warning(f"{kind} {name} is not available", provider.hint))
        elif (end := catalogue.retirement_date(name)) is not None:
            checks.append(_warning(f"{kind} {name} is retired on {end}", "set another model in CAIRN_DEFAULT_MODEL"))
    if checks:
        return checks
    is_simulated = default.startswith("simulated:")
    detail = "no provider has a key: agents are simulated" if is_simulated else f"{default}; {catalogue.prices}"
    return [HealthCheck(name="models", status="ok", detail=detail, hint="")]


def _warning(detail: str, hint: str) -> HealthCheck:
    return HealthCheck(name="models", status="warning", detail=detail, hint=hint)
