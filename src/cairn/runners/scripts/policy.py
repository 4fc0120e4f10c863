"""The policy for scripts from the settings, and the limits of each checkpoint's script."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cairn.core.execution import Failure
from cairn.definitions.execution_config import ScriptConfig
from cairn.ports import ProcessLimits, SandboxLevel, SandboxStatus

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ScriptPolicy:
    level: SandboxLevel = SandboxLevel.BUBBLEWRAP  # minimum level for scripts
    network: bool = False
    interpreters: tuple[str, ...] = ()  # in addition to the one that runs Cairn
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    output_bytes: int = MEGABYTE  # logged output of one dispatch
    output_lines: int = 10_000

    def violations(self, config: ScriptConfig) -> list[str]:
        """Why the settings don't allow a checkpoint's script."""
        found: list[str] = []
        if config.network and not self.network:
            found.append("The script needs network access, which the setting script_network does not allow.")
        if config.python is not None and config.python not in self.interpreters:
            known = ", ".join(self.interpreters) or "none"
            found.append(f"The interpreter {config.python} is not listed in the setting script_interpreters: {known}.")
        for name, requested in config.limits.model_dump(exclude_none=True).items():
            allowed = getattr(self.limits, name)
            if requested > allowed:
                found.append(f"The script requests {name} {requested}; the settings allow {allowed}.")
        return found

    def limits_for(self, config: ScriptConfig) -> ProcessLimits:
        return replace(self.limits, **config.limits.model_dump(exclude_none=True), network=config.network)

    def check_sandbox(self, status: SandboxStatus) -> Failure | None:
        if not status.level.is_weaker(self.level):
            return None
        return Failure(
            "sandbox_too_weak",
            f"Scripts require the sandbox level {self.level.value}, but only {status.level.value} is available:"
            f" {status.reason} Fix this, or ask an admin to set script_sandbox to {status.level.value}.",
        )
