"""Warnings about tools whose calls wait for approval, for the author of a definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from cairn.core.states import ActionEffect
from cairn.definitions import CheckpointDefinition, Finding, PipelineDefinition
from cairn.definitions.enums import ToolApproval
from cairn.definitions.findings import warning
from cairn.ports.tools import MCP_PREFIX, OfferedTool, ToolGrant
from cairn.runners.agents.roles import tools_of
from cairn.runners.agents.tools.tool_effects import ToolState, effect_of, state_of

KnownTools = tuple[Mapping[str, OfferedTool], Mapping[str, ToolGrant]]
MAX_NAMED = 5
WEB_SEARCH = "web_search"


def tool_warnings(
    definition: PipelineDefinition, known_tools: Callable[[], KnownTools], search_mode: str
) -> Iterator[Finding]:
    """`known_tools` is called only if a checkpoint uses such tools."""
    known: KnownTools | None = None
    for position, checkpoint in enumerate(definition.checkpoints):
        names = _tool_names(checkpoint)
        used = [name for name in names if name.startswith(MCP_PREFIX)]
        searches = WEB_SEARCH in names and search_mode == "native"
        if not used and not searches:
            continue
        known = known or known_tools()
        pointer = f"/checkpoints/{position}"
        yield from _approval_warnings(pointer, checkpoint.tool_approval, used, known)
        search = known[1].get(WEB_SEARCH)
        if searches and (search is None or definition.pipeline_id not in search.pipelines):
            yield warning(
                f"{pointer}/execution/agent_config",
                "Web search by the model provider is not allowed for this pipeline, so the checkpoint can't start. Ask"
                " an admin to allow it under Tools.",
            )


def _tool_names(checkpoint: CheckpointDefinition) -> list[str]:
    config = checkpoint.execution.agent_config
    if config is None:
        return []
    names = [*config.tools, *(name for agent in config.all_agents for name in tools_of(config, agent))]
    return list(dict.fromkeys(names))


def _approval_warnings(
    pointer: str, approval: ToolApproval, used: Sequence[str], known: KnownTools
) -> Iterator[Finding]:
    offered, grants = known
    asking: list[str] = []
    not_allowed: list[str] = []
    for name in used:
        tools = [tool for tool in offered.values() if tool.name == name or tool.name.startswith(f"{name}/")]
        if not tools:
            asking.append(name)
            not_allowed.append(name)
        for tool in tools:
            grant = grants.get(tool.name)
            if effect_of(tool, grant) is ActionEffect.CHANGES:
                asking.append(tool.name)
                is_valid = grant is not None and state_of(tool, grant) is ToolState.LISTED
                if grant is None or not is_valid or not grant.may_skip_approval:
                    not_allowed.append(tool.name)
    if approval is ToolApproval.NEVER and not_allowed:
        yield warning(
            f"{pointer}/tool_approval",
            f"Calls of {_listed(not_allowed)} need approval all the same, because no admin allows them to skip it.",
        )
    elif approval is ToolApproval.ASK and asking:
        yield warning(
            f"{pointer}/execution/agent_config",
            f"Calls of {_listed(asking)} wait for approval. Admins can list tools that only read under Tools.",
        )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more
