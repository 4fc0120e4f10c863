"""Compare two JSON Schemas: whether one describes a value at a path, and whether the value matches the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, cast

from cairn.definitions.findings import Severity
from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.json_schema.messages import type_name
from cairn.documents import Value
from cairn.documents.pointers import look_up

_DEPTH = 20  # a schema may refer to itself
# Keywords that may allow more than the `properties` in the same schema.
_OPEN = frozenset(
    {"$dynamicRef", "allOf", "anyOf", "dependentSchemas", "else", "if", "not", "oneOf", "patternProperties", "then"}
)


class Presence(Enum):
    CERTAIN = auto()
    POSSIBLE = auto()  # the value may be missing
    UNKNOWN = auto()  # the schema does not mention it
    NEVER = auto()  # the schema excludes it


@dataclass(frozen=True, slots=True)
class SchemaView:
    """Part of a schema, with references resolved."""

    schema: dict[str, Any]
    root: JsonSchema
    fills_defaults: bool = False  # missing properties get their defaults

    @classmethod
    def of(cls, schema: JsonSchema, root: JsonSchema | None = None, *, fills: bool = False) -> SchemaView:
        root = schema if root is None else root
        for _ in range(_DEPTH):
            if isinstance(schema, bool):
                return cls({} if schema else {"not": {}, "enum": []}, root, fills)
            if not isinstance(reference := schema.get("$ref"), str):
                break
            schema = _resolve_reference(root, reference) | {
                key: value for key, value in schema.items() if key != "$ref"
            }
        return cls(cast("dict[str, Any]", schema), root, fills)

    def inner(self, schema: JsonSchema) -> SchemaView:
        return SchemaView.of(schema, self.root, fills=self.fills_defaults)

    @property
    def is_known(self) -> bool:
        return bool(self.schema)

    @property
    def declared_types(self) -> frozenset[str] | None:
        """The types that the schema allows, or None if it does not restrict them."""
        if (named := self.schema.get("type")) is not None:
            return frozenset(_with_integers([named] if isinstance(named, str) else named))
        values = [self.schema["const"]] if "const" in self.schema else self.schema.get("enum")
        if not isinstance(values, list):
            return None
        return frozenset(
            "integer" if _is_integer(value) else type_name(value) for value in cast("list[object]", values)
        )

    @property
    def types(self) -> frozenset[str] | None:
        """The types of the described values. Declared properties imply an object."""
        if self.declared_types is not None or not self.properties or _OPEN & self.schema.keys():
            return self.declared_types
        return frozenset({"object"})

    @property
    def properties(self) -> dict[str, JsonSchema]:
        found = self.schema.get("properties")
        return cast("dict[str, JsonSchema]", found) if isinstance(found, dict) else {}

    @property
    def required(self) -> list[str]:
        found = self.schema.get("required")
        return cast("list[str]", found) if isinstance(found, list) else []

    def member(self, name: str) -> tuple[Presence, SchemaView]:
        """The property with this name. Undeclared properties exist only if the schema allows them explicitly."""
        if self.types is not None and "object" not in self.types:
            return Presence.NEVER, self
        if name in self.properties:
            inner = self.inner(self.properties[name])
            is_present = name in self.required or (self.fills_defaults and "default" in inner.schema)
            return Presence.CERTAIN if is_present and self.types == frozenset({"object"}) else Presence.POSSIBLE, inner
        additional = self.schema.get("additionalProperties")
        if isinstance(additional, dict) and additional:
            return Presence.POSSIBLE, self.inner(cast("JsonSchema", additional))
        if additional is False or (additional is None and self.properties and not _OPEN & self.schema.keys()):
            return Presence.NEVER, self
        return Presence.UNKNOWN, SchemaView({}, self.root)

    def item(self, position: int) -> tuple[Presence, SchemaView]:
        max_items, min_items = self.schema.get("maxItems"), self.schema.get("minItems")
        prefix = self.schema.get("prefixItems", [])
        inner = prefix[position] if position < len(prefix) else self.schema.get("items", True)
        is_beyond_end = isinstance(max_items, int) and position >= max_items
        if is_beyond_end or inner is False or (self.types is not None and "array" not in self.types):
            return Presence.NEVER, self
        is_present = isinstance(min_items, int) and position < min_items and self.types == frozenset({"array"})
        presence = Presence.CERTAIN if is_present else Presence.POSSIBLE if self.is_known else Presence.UNKNOWN
        return presence, self.inner(cast("JsonSchema", inner))

    def step(self, step: str | int) -> tuple[Presence, SchemaView]:
        return self.item(step) if isinstance(step, int) else self.member(step)


def compare(source: SchemaView, target: SchemaView, name: str, depth: int = 0) -> Iterator[tuple[Severity, str]]:
    """The reasons why values of `source` don't or may not match `target`. Messages call the value `name`."""
    if not target.is_known or depth > _DEPTH:
        return
    actual, allowed = source.types, target.declared_types
    if actual is None and allowed is not None:
        yield Severity.WARNING, f"{name} must be {join_types(allowed)}, but its type is not declared"
    elif actual is not None and allowed is not None and actual - allowed:
        severity = Severity.WARNING if actual & allowed else Severity.ERROR
        yield severity, f"{name} must be {join_types(allowed)}, but is declared as {join_types(actual)}"
    if "object" not in (allowed or {"object"}) or "object" not in (actual or {"object"}):
        return
    for key in dict.fromkeys([*target.required, *target.properties]):
        presence, inner = source.member(key)
        if key in target.required and (found := _missing_property(presence, f"{name}.{key}")):
            yield found
        if key in target.properties and presence in (Presence.CERTAIN, Presence.POSSIBLE):
            yield from compare(inner, target.inner(target.properties[key]), f"{name}.{key}", depth + 1)


def _missing_property(presence: Presence, name: str) -> tuple[Severity, str] | None:
    match presence:
        case Presence.CERTAIN:
            return None
        case Presence.NEVER:
            return Severity.ERROR, f"{name} is required, but its schema does not declare it"
        case Presence.POSSIBLE | Presence.UNKNOWN:
            return Severity.WARNING, f"{name} is required, but may be missing"


def _resolve_reference(root: JsonSchema, reference: str) -> dict[str, Any]:
    try:
        found = look_up(cast("Value", root), reference.removeprefix("#"))
    except (LookupError, ValueError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _with_integers(names: list[str]) -> list[str]:
    return [*names, "integer"] if "number" in names else names


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def join_types(types: frozenset[str]) -> str:
    return " or ".join(sorted(types - ({"integer"} if "number" in types else set())))
