"""The built-in model: deterministic, offline, visibly labelled, able to walk every feature.

It is given what any provider is given, and nothing else; scripts say what goes otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cairn.adapters.simulated_model.script import Counts, SimulationScript
from cairn.ports.models import ModelCallContext, ModelErrorKind

if TYPE_CHECKING:
    from pydantic_ai.models import Model

Given = Sequence[Mapping[str, Any]]


def _none() -> Given:
    return ()


class SimulatedModelFactory:
    def __init__(self, pace: float = 0.0, steps: Callable[[], Given] = _none) -> None:
        """`pace`: characters a second, 0 is as fast as may be. `steps`: of the settings, for all checkpoints."""
        self._pace = pace
        self._steps = steps
        self._counts = Counts()

    def __call__(self, name: str, settings: Mapping[str, Any], call_context: ModelCallContext) -> Model:
        from cairn.adapters.simulated_model.model import SimulatedModel

        model = name.partition(":")[2]
        own: Given = settings.get("simulation", ())
        script = SimulationScript([*own, *self._steps(), *_of_name(model)], call_context, self._counts)
        return SimulatedModel(model, script.step, self._pace)


def _of_name(model: str) -> Given:
    """`simulated:overload` and the like fail just so."""
    kind = model.replace("-", "_")
    return ({"fail": kind},) if kind in set(ModelErrorKind) - {ModelErrorKind.NOT_CONFIGURED} else ()
