"""Which effect a tool has, and which of its calls need approval."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any
from urllib.parse import SplitResult, urlsplit

from cairn.core.states import ActionEffect
from cairn.ports.tools import OfferedTool, ToolGrant
from cairn.runners.agents.policy import McpServer
from cairn.runners.agents.tools.package_runners import floating_package

_HOST = re.compile(r"(\*\.)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[0-9]{1,5})?")
_DEFAULT_PORTS = {"http": 80, "https": 443}
CHANGED_NOTE = "This tool has changed since an admin listed it, so each call needs approval."


class ToolState(StrEnum):
    """What an admin knows about a tool."""

    NEW = "new"  # not listed: each call needs approval
    LISTED = "listed"
    CHANGED = "changed"  # listed, but its server or its description is a different one now: as new


def state_of(offered: OfferedTool, grant: ToolGrant | None) -> ToolState:
    if grant is None:
        return ToolState.NEW
    return ToolState.LISTED if grant.pin == offered.pin else ToolState.CHANGED


def effect_of(offered: OfferedTool, grant: ToolGrant | None) -> ActionEffect:
    """The effect of a tool. Without a valid grant, it changes something, whatever its server says about it."""
    if grant is None or state_of(offered, grant) is not ToolState.LISTED:
        return ActionEffect.CHANGES
    return grant.effect


def needs_approval(offered: OfferedTool, grant: ToolGrant | None, arguments: Mapping[str, Any]) -> bool:
    """Whether a call can't be made before the gate has approved it."""
    match effect_of(offered, grant):
        case ActionEffect.READS:
            return False
        case ActionEffect.SENDS:
            return grant is None or not _stays_within(grant, arguments)
        case ActionEffect.CHANGES:
            return True


def _stays_within(grant: ToolGrant, arguments: Mapping[str, Any]) -> bool:
    destination = arguments.get(grant.url_argument) if grant.url_argument is not None else None
    host = host_of(destination) if isinstance(destination, str) else None
    return host is not None and any(_matches(host, allowed) for allowed in grant.hosts)


def host_of(url: str) -> str | None:
    """The host of a URL with a port that is not the usual one. None if programs could read the URL differently."""
    if any(character <= " " or character in "\\\x7f" or character > "\x7f" for character in url):
        return None
    try:
        parts: SplitResult = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or "@" in parts.netloc:
        return None
    host = parts.hostname.lower().rstrip(".")
    return host if port in (None, _DEFAULT_PORTS[parts.scheme]) else f"{host}:{port}"


def _matches(host: str, allowed: str) -> bool:
    return host.endswith(allowed[1:]) if allowed.startswith("*.") else host == allowed


def is_host(text: str) -> bool:
    """Whether the text is a host name in ASCII, or `*.` with a domain, with or without a port."""
    return _HOST.fullmatch(text) is not None


def unpinned_reason(server: McpServer) -> str | None:
    """Why an admin can't let this server's tools pass without approval. None if they can."""
    package = floating_package(server.command, server.args) if server.command is not None else None
    if package is None:
        return None
    return f"{package} has no fixed version, so another program may be started next time. Add the exact version."


def model_definition(offered: OfferedTool, grant: ToolGrant | None) -> tuple[str, dict[str, Any]]:
    """The description and the schema that models see. Of a changed tool, they see what the admin saw."""
    if grant is not None and state_of(offered, grant) is ToolState.CHANGED:
        description = f"{grant.definition.get('description', '')}\n\n{CHANGED_NOTE}".strip()
        return description, dict(grant.definition.get("schema", {"type": "object"}))
    return offered.description or offered.name, dict(offered.schema)


_COMBINATORS = frozenset(
    {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas"}
)


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without arguments that it doesn't mention, unless it says that there may be others."""
    if "additionalProperties" in schema or "unevaluatedProperties" in schema or _COMBINATORS & schema.keys():
        return schema
    return {**schema, "properties": schema.get("properties", {}), "additionalProperties": False}
