"""The catalogue of action types. Admins own it; a pipeline can only narrow a type, or declare one of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cairn.config.action_types import TYPE_NAME, ActionTypeDeclaration
from cairn.core.destinations import common_hosts
from cairn.core.rule_verdict import RiskLevel
from cairn.core.states import ActionEffect
from cairn.definitions import PipelineDefinition
from cairn.definitions.model import ActionDeclaration
from cairn.services.actions import queries
from cairn.services.actions.action_type import ActionType, TypeSource, closed
from cairn.services.actions.built_in_types import BUILT_IN
from cairn.services.actions.summaries import short_summary
from cairn.store import Connection

TOOL_PREFIX = "mcp:"
FindTool = Callable[[Connection, str], ActionType]


def any_tool(_: Connection, name: str) -> ActionType:
    """The type of a tool that no admin has classified."""
    return ActionType(name, title=name, executor="tool", source="tool")


class Catalogue:
    def __init__(
        self, settings: Mapping[str, ActionTypeDeclaration] | None = None, find_tool: FindTool = any_tool
    ) -> None:
        """`settings`: the types that the settings declare. `find_tool` returns the type of an `mcp:SERVER/TOOL`."""
        declared = settings or {}
        self._settings = {name: declared_type(name, entry, "settings") for name, entry in declared.items()}
        self._find_tool = find_tool

    def find(self, connection: Connection, definition: PipelineDefinition | None, name: str) -> ActionType:
        """The type with exactly this name, as the pipeline narrows it."""
        declared = definition.actions.get(name) if definition is not None else None
        known = self._known(connection, name)
        if declared is None:
            return known or ActionType(name, title=short_summary(name))
        return narrowed(known, declared) if known is not None else pipeline_type(name, declared)

    def all(self, connection: Connection) -> list[ActionType]:
        """The types of the catalogue, by name, without tools."""
        stored = queries.stored_types(connection)
        admin = {name: declared_type(name, entry, "admin") for name, entry in stored.items()}
        return [action for _, action in sorted({**BUILT_IN, **admin, **self._settings}.items())]

    def in_settings(self, name: str) -> bool:
        """Whether the settings declare the type, so that it can't be edited elsewhere."""
        return name in self._settings

    def _known(self, connection: Connection, name: str) -> ActionType | None:
        if name.startswith(TOOL_PREFIX):
            return self._find_tool(connection, name)
        if name in self._settings:
            return self._settings[name]
        stored = queries.stored_type(connection, name)
        return declared_type(name, stored, "admin") if stored is not None else BUILT_IN.get(name)


def is_type_name(name: str) -> bool:
    """Whether an action can have this name. Names of tools may contain capital letters, as servers define them."""
    if name.startswith(TOOL_PREFIX):
        return name.isascii() and name.isprintable() and " " not in name and len(name) <= MAX_TOOL_NAME
    return TYPE_NAME.fullmatch(name) is not None


MAX_TOOL_NAME = 300


def declared_type(name: str, declared: ActionTypeDeclaration, source: TypeSource) -> ActionType:
    """A type as an admin declares it. Omitted fields of a built-in type stay as they are."""
    built_in = BUILT_IN.get(name)
    action = built_in or ActionType(name, title=short_summary(name))
    changes: dict[str, Any] = {}
    for field in declared.model_fields_set:
        match field:
            case "parameters_schema" if action.executor == "cairn":
                changes["narrowed_by"] = _schemas(declared.parameters_schema)
            case "parameters_schema":
                changes["schema"] = closed(declared.parameters_schema)
            case "title":
                changes["title_template"] = declared.title
            case "effect" if action.executor == "cairn":
                pass  # the request itself shows it
            case "effect":
                changes["effect"] = ActionEffect(declared.effect)
            case "risk_level":
                changes["risk"] = RiskLevel(declared.risk_level)
            case "idempotent":
                changes["is_idempotent"] = declared.idempotent
            case "identity" | "hosts":
                value: list[str] | None = getattr(declared, field)
                changes[field] = None if value is None else tuple(value)
            case _:
                changes[field] = getattr(declared, field)
    return replace(action, **changes, source=source)


def narrowed(action: ActionType, declared: ActionDeclaration) -> ActionType:
    """A type of the catalogue as a pipeline narrows it. What would widen it has no effect."""
    return replace(
        action,
        description=declared.description or action.description,
        narrowed_by=(*action.narrowed_by, *_schemas(declared.parameters_schema)),
        risk=_highest(action.risk, declared.risk_level),
        # Fewer parameters make more actions the same.
        identity=_common(action.identity, declared.identity),
        hosts=_narrowed_hosts(action.hosts, declared.hosts),
        amount=action.amount or declared.amount,
        currency=action.currency or declared.currency,
    )


def pipeline_type(name: str, declared: ActionDeclaration) -> ActionType:
    """A type that only a pipeline declares. Its actions change something, and their risk is medium at least."""
    risk = RiskLevel(declared.risk_level) if declared.risk_level is not None else RiskLevel.HIGH
    return ActionType(
        name,
        title=short_summary(name),
        description=declared.description,
        schema=closed(declared.parameters_schema),
        risk=_highest(RiskLevel.MEDIUM, risk),
        identity=None if declared.identity is None else tuple(declared.identity),
        amount=declared.amount,
        currency=declared.currency,
        hosts=_narrowed_hosts(None, declared.hosts),
        title_template=declared.title,
        source="pipeline",
    )


def _schemas(schema: Any) -> tuple[Any, ...]:
    return () if schema is None else (schema,)


def _highest(level: RiskLevel, other: RiskLevel | None) -> RiskLevel:
    return level if other is None else max(level, RiskLevel(other), key=lambda risk: risk.rank)


def _common(ours: tuple[str, ...] | None, theirs: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if ours is None or theirs is None:
        return ours if theirs is None else theirs
    return tuple(name for name in ours if name in theirs)


def _narrowed_hosts(ours: tuple[str, ...] | None, theirs: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if theirs is None:
        return ours
    return common_hosts(theirs if ours is None else ours, theirs)
