"""The built-in model: deterministic, offline, clearly labelled, and able to exercise every feature.

It receives only the requests that any provider would receive. Scripts override its replies and failures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cairn.adapters.simulated_model.script import MatchCounts, SimulationScript
from cairn.ports.models import ModelCallContext, ModelErrorKind

if TYPE_CHECKING:
    from pydantic_ai.models import Model

RawSteps = Sequence[Mapping[str, Any]]


def _no_steps() -> RawSteps:
    return ()


class SimulatedModelFactory:
    def __init__(self, chars_per_second: float = 0.0, steps: Callable[[], RawSteps] = _no_steps) -> None:
        """`chars_per_second`: streaming speed, 0 for no delay. `steps`: script steps for all checkpoints."""
        self._chars_per_second = chars_per_second
        self._steps = steps
        self._counts = MatchCounts()

    def __call__(self, name: str, settings: Mapping[str, Any], call_context: ModelCallContext) -> Model:
        from cairn.adapters.simulated_model.model import SimulatedModel

        model = name.partition(":")[2]
        checkpoint_steps: RawSteps = settings.get("simulation", ())
        steps = [*checkpoint_steps, *self._steps(), *_steps_for_name(model)]
        script = SimulationScript(steps, call_context, self._counts)
        return SimulatedModel(model, script.matching_step, self._chars_per_second)


def _steps_for_name(model: str) -> RawSteps:
    """A model named after an error kind, such as `simulated:overload`, fails with that error."""
    kind = model.replace("-", "_")
    return ({"fail": kind},) if kind in set(ModelErrorKind) - {ModelErrorKind.NOT_CONFIGURED} else ()
