"""Find limits on the cost that can't count the calls of a model, because its price is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cairn.core.states import CLOSED
from cairn.definitions import Finding, PipelineDefinition
from cairn.definitions.findings import warning
from cairn.definitions.model import BudgetLimits
from cairn.ports.models import ModelCatalogue
from cairn.runners.model_choices import model_choices
from cairn.services.costs.budgets import BudgetUsage
from cairn.services.engine.plans import DefinitionCache
from cairn.store import Connection, LoadedRun
from cairn.store.plans import newest_revision

# Resolves the library agents of a definition, with its revision, in the revisions that a run uses.
ResolveForRun = Callable[[Connection, LoadedRun, PipelineDefinition, int], PipelineDefinition]


def unpriced_models(definition: PipelineDefinition, models: ModelCatalogue) -> list[str]:
    """The models that a definition can call and whose price is unknown."""
    choices = (choice for checkpoint in definition.checkpoints for choice in model_choices(checkpoint))
    return sorted({model for name, settings in choices for model in models.unpriced_models(name, settings)})


def cost_limit_findings(definition: PipelineDefinition, models: ModelCatalogue) -> Iterator[Finding]:
    """A warning at each limit on the cost that doesn't count every call. The library agents are resolved."""
    budget = definition.budget
    limits: dict[str, BudgetLimits | None] = {"/budget": budget, "/budget/per_month": budget and budget.per_month}
    paths = [path for path, part in limits.items() if part is not None and part.max_cost_usd is not None]
    unpriced = unpriced_models(definition, models) if paths else []
    if unpriced:
        yield from (warning(f"{path}/max_cost_usd", _message("This limit", unpriced)) for path in paths)


class PriceCheck:
    def __init__(self, models: ModelCatalogue, plans: DefinitionCache, resolve: ResolveForRun) -> None:
        self._models = models
        self._plans = plans
        self._resolve = resolve

    def run_warnings(self, connection: Connection, loaded: LoadedRun, usage: BudgetUsage) -> list[str]:
        """A warning if the run can still call models that its limits on the cost can't count."""
        limits = (usage.run_limits, usage.definition_limits, usage.monthly_limits)
        if loaded.run.status in CLOSED or all(limit.max_cost_usd is None for limit in limits):
            return []
        facts = loaded.facts
        revision = newest_revision(connection, facts.pipeline_id, facts.definition_version)
        definition = self._plans.definition(connection, facts.pipeline_id, revision)
        unpriced = unpriced_models(self._resolve(connection, loaded, definition, revision), self._models)
        return [_message("The cost limit", unpriced)] if unpriced else []


def _message(limit: str, models: Sequence[str]) -> str:
    if len(models) == 1:
        cause, them = f"does not count calls to {models[0]}, whose price is unknown", "its price"
    else:
        cause, them = f"does not count calls to {', '.join(models)}, whose prices are unknown", "their prices"
    return f"{limit} {cause}. Add {them} to model_prices in the settings, or limit tokens or calls."
