"""Tools of other programs: record what servers offer, and let admins list what the tools may do without approval."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cairn.core.states import ActionEffect
from cairn.ports.tools import MCP_PREFIX, ErrorOutcome, OfferedTool, ToolGrant
from cairn.runners.agents.policy import McpSecrets, McpServer
from cairn.runners.agents.tools.tool_effects import is_host, unpinned_reason
from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import InvalidInput, PreconditionFailed
from cairn.services.tools import queries, records, views
from cairn.store.errors import NotFound

WORKER = Actor("worker")


@dataclass(frozen=True, slots=True)
class ToolGrantSpec:
    """What an admin allows a tool to do, and the version that the admin has seen."""

    effect: ActionEffect
    digest: str | None = None
    hosts: tuple[str, ...] = ()
    url_argument: str | None = None
    may_skip_approval: bool = False
    error_outcome: ErrorOutcome = ErrorOutcome.UNKNOWN
    pipelines: tuple[str, ...] = ()


class ToolService:
    def __init__(
        self,
        admin_changes: AdminChanges,
        servers: Mapping[str, McpServer],
        get_secret: McpSecrets,
    ) -> None:
        self._changes = admin_changes
        self._database = admin_changes.database
        self._servers = servers
        self._get_secret = get_secret

    # For runners
    async def grants(self, names: Sequence[str]) -> Mapping[str, ToolGrant]:
        """The current grants of these tools, by name."""
        stored = await self._database.aread(lambda c: queries.stored_grants(c, names))
        return {name: row.grant for name, row in stored.items()}

    async def observe(self, offered: Sequence[OfferedTool]) -> None:
        """Record what a server offers now."""
        names = [tool.name for tool in offered]
        known = await self._database.aread(lambda c: queries.offered_tools(c, names))
        if any(tool.name not in known or known[tool.name].offered.pin != tool.pin for tool in offered):
            await self._changes.apply(lambda change: _save_offered(change, offered), WORKER)

    # For definitions
    def known_tools(self) -> tuple[Mapping[str, OfferedTool], Mapping[str, ToolGrant]]:
        """What servers were last seen to offer, and all grants."""
        offered, grants = self._database.read(lambda c: (queries.offered_tools(c), queries.stored_grants(c)))
        return (
            {name: seen.offered for name, seen in offered.items()},
            {name: stored.grant for name, stored in grants.items()},
        )

    # For admins
    async def discover(self) -> views.ToolDiscovery:
        """Start every MCP server and record its tools."""
        await asyncio.to_thread(importlib.import_module, "cairn.runners.agents.tools.mcp")
        from cairn.runners.agents.tools.code import ToolNotAvailable
        from cairn.runners.agents.tools.mcp import McpServers

        async def offered_by(name: str) -> list[OfferedTool] | views.ServerProblem:
            servers = McpServers({name: self._servers[name]}, self._get_secret)
            try:
                return [tool.offered for tool in await servers.tools([f"{MCP_PREFIX}{name}"])]
            except ToolNotAvailable as error:
                return views.ServerProblem(server=name, message=str(error))
            finally:
                await servers.close()

        found = await asyncio.gather(*map(offered_by, sorted(self._servers)))
        offered = [tool for tools in found if isinstance(tools, list) for tool in tools]
        await self.observe(offered)
        problems = [problem for problem in found if isinstance(problem, views.ServerProblem)]
        return views.ToolDiscovery(tools=len(offered), problems=problems)

    async def list_tool(self, name: str, spec: ToolGrantSpec, actor: Actor) -> None:
        """Create or replace the grant of a tool, for the version that the admin has seen."""
        if name == queries.WEB_SEARCH:
            await self._changes.apply(lambda change: _allow_search(change, spec), actor)
            return
        server = self._servers.get(name.removeprefix(MCP_PREFIX).partition("/")[0])
        await self._changes.apply(lambda change: _list_tool(change, name, spec, server), actor)

    async def unlist(self, name: str, actor: Actor) -> None:
        """Remove a grant. The tool's calls need approval from now on."""

        def remove(change: AdminChange) -> None:
            if not records.remove_grant(change.connection, name):
                raise NotFound("grant of the tool", repr(name)[:200])
            change.record("tool_unlisted", tool=name)

        await self._changes.apply(remove, actor)


def _save_offered(change: AdminChange, offered: Sequence[OfferedTool]) -> None:
    names = [tool.name for tool in offered]
    known = queries.offered_tools(change.connection, names)
    grants = queries.stored_grants(change.connection, names)
    differing = [tool for tool in offered if tool.name not in known or known[tool.name].offered.pin != tool.pin]
    for tool in differing:
        stored = grants.get(tool.name)
        if stored is not None and stored.grant.pin != tool.pin:
            change.record("tool_changed", tool=tool.name)
    records.save_offered(change.connection, differing, change.at)


def _list_tool(change: AdminChange, name: str, spec: ToolGrantSpec, server: McpServer | None) -> None:
    seen = queries.offered_tools(change.connection, [name]).get(name)
    if seen is None:
        raise NotFound("tool", repr(name)[:200])
    offered = seen.offered
    if spec.digest is None:
        raise InvalidInput([("/digest", "Send the digest of the version that you have seen.")])
    if server is None or server.digest != offered.server_digest:
        raise PreconditionFailed(
            f"The settings of the server have changed since {name} was seen. Discover tools, and check {name} again."
        )
    if spec.digest != offered.pin.digest:
        raise PreconditionFailed(f"{name} has changed since you have seen it. Check it again.")
    if errors := list(_errors(spec, offered, server)):
        raise InvalidInput(errors)
    grant = ToolGrant(
        name=name,
        effect=spec.effect,
        pin=offered.pin,
        definition=offered.definition,
        hosts=tuple(host.lower() for host in spec.hosts),
        url_argument=spec.url_argument,
        may_skip_approval=spec.may_skip_approval,
        error_outcome=spec.error_outcome,
    )
    records.save_grant(change.connection, grant, offered.server, change.at, change.actor.name)
    change.record("tool_listed", tool=name, effect=spec.effect.value, may_skip_approval=spec.may_skip_approval)


def _errors(spec: ToolGrantSpec, offered: OfferedTool, server: McpServer) -> list[tuple[str, str]]:
    errors: list[tuple[str, str]] = []
    if (spec.effect is not ActionEffect.CHANGES or spec.may_skip_approval) and (reason := unpinned_reason(server)):
        errors.append(("/effect" if spec.effect is not ActionEffect.CHANGES else "/may_skip_approval", reason))
    if spec.pipelines:
        errors.append(("/pipelines", "Only web_search has a list of pipelines."))
    if spec.effect is not ActionEffect.SENDS:
        if spec.hosts or spec.url_argument is not None:
            errors.append(("/hosts", "Only a tool with the effect `sends` has hosts and url_argument."))
        return errors
    for index, host in enumerate(spec.hosts):
        if not is_host(host.lower()):
            errors.append((f"/hosts/{index}", "Enter a host name in ASCII, such as api.example.com or *.example.com."))
    if bool(spec.hosts) != (spec.url_argument is not None):
        errors.append(("/url_argument", "Set both hosts and the argument that contains the URL, or neither."))
    properties = offered.schema.get("properties")
    if spec.url_argument is not None and isinstance(properties, dict) and spec.url_argument not in properties:
        errors.append(("/url_argument", f"{offered.name} has no argument {spec.url_argument}."))
    return errors


def _allow_search(change: AdminChange, spec: ToolGrantSpec) -> None:
    """Allow the search of model providers for some pipelines."""
    if spec != ToolGrantSpec(ActionEffect.SENDS, pipelines=spec.pipelines):
        raise InvalidInput([("/effect", "web_search has the effect `sends`. You can only list pipelines.")])
    if unknown := queries.unknown_pipelines(change.connection, spec.pipelines):
        raise InvalidInput([("/pipelines", f"There is no pipeline {unknown[0]}.")])
    grant = ToolGrant(queries.WEB_SEARCH, ActionEffect.SENDS, None, pipelines=tuple(dict.fromkeys(spec.pipelines)))
    records.save_grant(change.connection, grant, None, change.at, change.actor.name)
    change.record("tool_listed", tool=grant.name, effect=grant.effect.value, may_skip_approval=False)
