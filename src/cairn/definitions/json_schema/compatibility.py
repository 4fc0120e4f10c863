"""What two JSON Schemas say of one another: can this be found in that, and does that fit this."""

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
# Keywords by which a schema may allow more than its own `properties` say.
_OPEN = frozenset(
    {"$dynamicRef", "allOf", "anyOf", "dependentSchemas", "else", "if", "not", "oneOf", "patternProperties", "then"}
)


class Presence(Enum):
    CERTAIN = auto()  # it will be there
    POSSIBLE = auto()  # it may be missing
    UNKNOWN = auto()  # nothing says so
    NEVER = auto()  # the schema rules it out


@dataclass(frozen=True, slots=True)
class SchemaView:
    """A place in a schema, its references followed."""

    schema: dict[str, Any]
    root: JsonSchema
    fills_defaults: bool = False  # what is missing gets its default

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
        """The types that it takes; None if it does not say."""
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
        """The types that what it describes will have: where properties are declared, an object is meant."""
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
        """The property of that name. Those that are declared are all, unless the schema says that it takes others."""
        if self.types is not None and "object" not in self.types:
            return Presence.NEVER, self
        if name in self.properties:
            inner = self.inner(self.properties[name])
            is_given = name in self.required or (self.fills_defaults and "default" in inner.schema)
            return Presence.CERTAIN if is_given and self.types == frozenset({"object"}) else Presence.POSSIBLE, inner
        more = self.schema.get("additionalProperties")
        if isinstance(more, dict) and more:
            return Presence.POSSIBLE, self.inner(cast("JsonSchema", more))
        if more is False or (more is None and self.properties and not _OPEN & self.schema.keys()):
            return Presence.NEVER, self
        return Presence.UNKNOWN, SchemaView({}, self.root)

    def item(self, position: int) -> tuple[Presence, SchemaView]:
        most, least = self.schema.get("maxItems"), self.schema.get("minItems")
        first = self.schema.get("prefixItems", [])
        inner = first[position] if position < len(first) else self.schema.get("items", True)
        is_short = isinstance(most, int) and position >= most
        if is_short or inner is False or (self.types is not None and "array" not in self.types):
            return Presence.NEVER, self
        is_given = isinstance(least, int) and position < least and self.types == frozenset({"array"})
        presence = Presence.CERTAIN if is_given else Presence.POSSIBLE if self.is_known else Presence.UNKNOWN
        return presence, self.inner(cast("JsonSchema", inner))

    def step(self, step: str | int) -> tuple[Presence, SchemaView]:
        return self.item(step) if isinstance(step, int) else self.member(step)


def compare(source: SchemaView, wanted: SchemaView, name: str, depth: int = 0) -> Iterator[tuple[Severity, str]]:
    """Why what `source` describes does not fit, or may not fit, what is `wanted`."""
    if not wanted.is_known or depth > _DEPTH:
        return
    comes, fits = source.types, wanted.declared_types
    if comes is None and fits is not None:
        yield Severity.WARNING, f"{name} has to be {join_types(fits)}; whether it is cannot be told beforehand"
    elif comes is not None and fits is not None and comes - fits:
        severity = Severity.WARNING if comes & fits else Severity.ERROR
        yield severity, f"{name} is {join_types(comes)}, but {join_types(fits)} is required"
    if "object" not in (fits or {"object"}) or "object" not in (comes or {"object"}):
        return
    for key in dict.fromkeys([*wanted.required, *wanted.properties]):
        presence, inner = source.member(key)
        if key in wanted.required and (found := _missing_property(presence, f"{name}.{key}")):
            yield found
        if key in wanted.properties and presence in (Presence.CERTAIN, Presence.POSSIBLE):
            yield from compare(inner, wanted.inner(wanted.properties[key]), f"{name}.{key}", depth + 1)


def _missing_property(presence: Presence, name: str) -> tuple[Severity, str] | None:
    match presence:
        case Presence.CERTAIN:
            return None
        case Presence.NEVER:
            return Severity.ERROR, f"{name} is required, but what it comes from declares no such property"
        case Presence.POSSIBLE | Presence.UNKNOWN:
            return Severity.WARNING, f"{name} is required, but it cannot be told beforehand whether it will be there"


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
