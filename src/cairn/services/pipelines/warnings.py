"""What a definition may say and this server does not carry out: kept, and told as a warning rather than passed over."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cairn.definitions import CheckpointDefinition, Finding, PipelineDefinition
from cairn.definitions.findings import warning
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.agents.roles import uses_tool

SEARCH = "web_search"


def not_carried_out(definition: PipelineDefinition, modes: Collection[str], agents: AgentPolicy) -> Iterator[Finding]:
    for position, checkpoint in enumerate(definition.checkpoints):
        for path, message in _of_checkpoint(checkpoint, modes):
            yield warning(f"/checkpoints/{position}/{path}", message)
        if agents.search.way == "off" and uses_tool(checkpoint, SEARCH):
            path = f"/checkpoints/{position}/execution/agent_config"
            yield warning(path, "The setting web_search is off: the checkpoint cannot start before an admin sets it.")


def _of_checkpoint(checkpoint: CheckpointDefinition, modes: Collection[str]) -> Iterator[tuple[str, str]]:
    mode = checkpoint.execution.mode.value
    if mode not in modes:
        yield "execution/mode", f"This server carries out {', '.join(sorted(modes))}: a run with {mode} cannot start."
    if checkpoint.loop is not None:
        yield "loop", "The loop is kept, and the checkpoint is carried out once."
