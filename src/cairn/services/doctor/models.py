"""Models: whether the default and the fallbacks can be asked."""

from __future__ import annotations

from collections.abc import Sequence

from cairn.ports.models import ModelCatalogue
from cairn.services.doctor.views import HealthCheck


def models(known: ModelCatalogue, fallbacks: Sequence[str]) -> list[HealthCheck]:
    """Nobody is asked: that would cost."""
    default = known.default
    states = {one.name: one for one in known.providers()}
    found: list[HealthCheck] = []
    for name, what in ((default, "the default model"), *((other, "the fallback") for other in fallbacks)):
        state = states.get(name.partition(":")[0])
        if state is None:
            detail = f"{what} {name}: there is no provider of this name"
            found.append(_warning(detail, "see docs/guide/models.md, and cairn models list"))
        elif not state.is_ready:
            found.append(_warning(f"{what} {name} cannot be asked", state.hint))
        elif (end := known.retirement_date(name)) is not None:
            found.append(_warning(f"{what} {name} ends on {end}", "set another one: CAIRN_DEFAULT_MODEL"))
    if found:
        return found
    is_simulated = default.startswith("simulated:")
    detail = "no key for any provider: agents are simulated" if is_simulated else f"{default}; {known.prices}"
    return [HealthCheck(name="models", status="ok", detail=detail, hint="")]


def _warning(detail: str, hint: str) -> HealthCheck:
    return HealthCheck(name="models", status="warning", detail=detail, hint=hint)
