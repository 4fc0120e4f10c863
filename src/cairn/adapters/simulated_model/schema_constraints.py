"""The combined constraints of several subschemas, by keyword."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd, inf
from typing import Any, cast

import jsonschema_rs

from cairn.adapters.simulated_model.schema_document import Node, Pointer, SchemaDocument

TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
# Keywords that imply a type if the schema declares none.
_TYPE_KEYWORDS = {
    "object": ("properties", "required", "additionalProperties", "minProperties", "patternProperties", "propertyNames"),
    "array": ("items", "prefixItems", "minItems", "uniqueItems", "contains"),
    "string": ("pattern", "format", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
}


@dataclass(frozen=True, slots=True)
class SchemaConstraints:
    document: SchemaDocument
    pointers: Node
    parts: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, document: SchemaDocument, pointers: Node) -> SchemaConstraints:
        return cls(
            document, pointers, tuple(cast("dict[str, Any]", document.subschema(pointer)) for pointer in pointers)
        )

    def all(self, key: str) -> list[Any]:
        return [part[key] for part in self.parts if key in part]

    def parts_with(self, key: str) -> list[tuple[Pointer, dict[str, Any]]]:
        return [(pointer, part) for pointer, part in zip(self.pointers, self.parts, strict=True) if key in part]

    def first(self, key: str) -> Any:
        return next(iter(self.all(key)), None)

    @property
    def options(self) -> list[Any] | None:
        """The allowed values if the schema lists them, otherwise None."""
        if consts := self.all("const"):
            return consts[:1]
        return min((cast("list[Any]", values) for values in self.all("enum")), key=len, default=None)

    @property
    def description(self) -> str:
        return str(self.first("description") or self.first("title") or "")

    def highest(self, key: str, default: int = 0) -> int:
        return max((int(value) for value in self.all(key)), default=default)

    def lowest(self, key: str) -> float:
        return min((int(value) for value in self.all(key)), default=inf)

    @property
    def types(self) -> list[str]:
        """Types that all subschemas allow, most likely first."""
        allowed = list(TYPES)
        for declared in self.all("type"):
            named: list[str] = [declared] if isinstance(declared, str) else list(declared)
            allowed = [
                type_name
                for type_name in allowed
                if type_name in named or (type_name == "integer" and "number" in named)
            ]
            allowed.sort(key=lambda type_name: named.index(type_name) if type_name in named else len(named))
        if self.all("type"):
            return [
                *(type_name for type_name in allowed if type_name != "null"),
                *(type_name for type_name in allowed if type_name == "null"),
            ]
        likely = [kind for kind, keys in _TYPE_KEYWORDS.items() if any(self.all(key) for key in keys)]
        return [*likely, *(type_name for type_name in ("string", *TYPES) if type_name not in likely)]

    # Numbers
    @property
    def lower(self) -> tuple[Fraction | None, bool]:
        """The lower bound, and whether it is exclusive."""
        bounds = [*self._bounds("minimum", "exclusiveMinimum")]
        return max(bounds, default=(None, False))  # of equal bounds, the exclusive one applies

    @property
    def upper(self) -> tuple[Fraction | None, bool]:
        bounds = [*self._bounds("maximum", "exclusiveMaximum")]
        return min(bounds, key=lambda bound: (bound[0], not bound[1]), default=(None, False))

    def _bounds(self, inclusive_key: str, exclusive_key: str) -> Iterator[tuple[Fraction, bool]]:
        for part in self.parts:
            inclusive, exclusive = part.get(inclusive_key), part.get(exclusive_key)
            if isinstance(inclusive, int | float):
                yield Fraction(str(inclusive)), exclusive is True  # a boolean in draft 4
            if isinstance(exclusive, int | float) and not isinstance(exclusive, bool):
                yield Fraction(str(exclusive)), True

    def multiple_of(self, *, is_integer: bool) -> Fraction | None:
        divisors = [Fraction(str(value)) for value in self.all("multipleOf")] + ([Fraction(1)] if is_integer else [])
        common = None
        for divisor in divisors:
            common = divisor if common is None else _least_common_multiple(common, divisor)
        return common

    # Objects
    @property
    def required(self) -> list[str]:
        lists = [cast("list[str]", names) for names in self.all("required") if isinstance(names, list)]
        return list(dict.fromkeys(name for names in lists for name in names))

    @property
    def property_names(self) -> list[str]:
        return list(dict.fromkeys(name for properties in self.all("properties") for name in properties))

    def property_node(self, name: str) -> Node:
        """The subschemas for the value of a property."""
        found: list[Pointer] = []
        is_evaluated = False
        for pointer, part in zip(self.pointers, self.parts, strict=True):
            declared = list(self._declared(pointer, part, name))
            is_evaluated = is_evaluated or bool(declared)
            if not declared and "additionalProperties" in part:
                declared, is_evaluated = [(*pointer, "additionalProperties")], True
            found += declared
        if not is_evaluated:
            found += [(*pointer, "unevaluatedProperties") for pointer, _ in self.parts_with("unevaluatedProperties")]
        return tuple(found)

    def _declared(self, pointer: Pointer, part: dict[str, Any], name: str) -> Iterator[Pointer]:
        if name in part.get("properties", {}):
            yield (*pointer, "properties", name)
        for pattern in part.get("patternProperties", {}):
            if matches_pattern(pattern, name):
                yield (*pointer, "patternProperties", pattern)

    def with_dependents(self, names: list[str]) -> list[str]:
        """Add the properties that other properties require."""
        found = list(dict.fromkeys(names))
        for name in found:
            for dependencies in (*self.all("dependentRequired"), *self.all("dependencies")):
                required = dependencies.get(name)
                found += [name for name in required or () if isinstance(required, list) and name not in found]
        return found

    # Lists
    def item_node(self, index: int) -> Node:
        found: list[Pointer] = []
        for pointer, part in zip(self.pointers, self.parts, strict=True):
            items = part.get("items")
            prefix_key = "prefixItems" if "prefixItems" in part else "items" if isinstance(items, list) else None
            if prefix_key is not None and index < len(part[prefix_key]):
                found.append((*pointer, prefix_key, str(index)))
            elif isinstance(items, list):
                found += [(*pointer, "additionalItems")] if "additionalItems" in part else []
            elif "items" in part:
                found.append((*pointer, "items"))
            elif "unevaluatedItems" in part:
                found.append((*pointer, "unevaluatedItems"))
        return tuple(found)

    @property
    def prefix_length(self) -> int:
        """The number of items that have their own schema."""
        lists = [
            cast("list[Any]", items)
            for key in ("prefixItems", "items")
            for items in self.all(key)
            if isinstance(items, list)
        ]
        return max(map(len, lists), default=0)


def _least_common_multiple(a: Fraction, b: Fraction) -> Fraction:
    denominator = a.denominator * b.denominator // gcd(a.denominator, b.denominator)
    m, n = int(a * denominator), int(b * denominator)
    return Fraction(abs(m * n) // gcd(m, n) if m and n else 0, denominator)


@lru_cache(maxsize=1024)
def _validator(pattern: str) -> jsonschema_rs.Validator | None:
    try:
        return jsonschema_rs.validator_for({"pattern": pattern})
    except (jsonschema_rs.ValidationError, ValueError):
        return None


def matches_pattern(pattern: str, text: str) -> bool:
    validator = _validator(pattern)
    return validator is not None and validator.is_valid(text)
