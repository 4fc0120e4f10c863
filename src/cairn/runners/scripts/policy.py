"""What scripts may do here: the settings' word, and what a checkpoint asks for within it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cairn.core.execution import Failure
from cairn.definitions.execution_config import ScriptConfig
from cairn.ports import ProcessLimits, SandboxLevel, SandboxStatus

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ScriptPolicy:
    """As an admin has set them."""

    level: SandboxLevel = SandboxLevel.BUBBLEWRAP  # weaker is refused
    network: bool = False
    pythons: tuple[str, ...] = ()  # besides Cairn's own
    bounds: ProcessLimits = field(default_factory=ProcessLimits)
    output_bytes: int = MEGABYTE  # that are kept of what one dispatch prints
    output_lines: int = 10_000

    def objections(self, config: ScriptConfig) -> list[str]:
        """Why a checkpoint's script cannot be run by these rules."""
        found: list[str] = []
        if config.network and not self.network:
            found.append("It asks for the network, which the setting script_network does not allow.")
        if config.python is not None and config.python not in self.pythons:
            known = ", ".join(self.pythons) or "none"
            found.append(f"The interpreter {config.python} is not among script_interpreters of the settings: {known}.")
        for name, wanted in config.limits.model_dump(exclude_none=True).items():
            most = getattr(self.bounds, name)
            if wanted > most:
                found.append(f"It asks for {name} {wanted}; the settings allow {most}.")
        return found

    def bounds_for(self, config: ScriptConfig) -> ProcessLimits:
        return replace(self.bounds, **config.limits.model_dump(exclude_none=True), network=config.network)

    def too_weak(self, reached: SandboxStatus) -> Failure | None:
        if not reached.level.is_weaker(self.level):
            return None
        return Failure(
            "sandbox_too_weak",
            f"Scripts are to run at the level {self.level.value}, and this machine reaches {reached.level.value} only:"
            f" {reached.reason} Make it work, or let an admin set script_sandbox to {reached.level.value}.",
        )
