"""What several parts of a schema ask together, keyword by keyword."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd, inf
from typing import Any, cast

import jsonschema_rs

from cairn.adapters.simulated_model.schema_document import Document, Node, Pointer

TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
# Keywords that say what a value would be, where no type is given.
_TELLING = {
    "object": ("properties", "required", "additionalProperties", "minProperties", "patternProperties", "propertyNames"),
    "array": ("items", "prefixItems", "minItems", "uniqueItems", "contains"),
    "string": ("pattern", "format", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
}


@dataclass(frozen=True, slots=True)
class SchemaConstraints:
    document: Document
    pointers: Node
    parts: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, document: Document, pointers: Node) -> SchemaConstraints:
        return cls(document, pointers, tuple(cast("dict[str, Any]", document.at(one)) for one in pointers))

    def all(self, key: str) -> list[Any]:
        return [part[key] for part in self.parts if key in part]

    def having(self, key: str) -> list[tuple[Pointer, dict[str, Any]]]:
        return [(pointer, part) for pointer, part in zip(self.pointers, self.parts, strict=True) if key in part]

    def first(self, key: str) -> Any:
        return next(iter(self.all(key)), None)

    @property
    def options(self) -> list[Any] | None:
        """The only values that there are, if so."""
        if consts := self.all("const"):
            return consts[:1]
        return min((cast("list[Any]", one) for one in self.all("enum")), key=len, default=None)

    @property
    def description(self) -> str:
        return str(self.first("description") or self.first("title") or "")

    def highest(self, key: str, default: int = 0) -> int:
        return max((int(value) for value in self.all(key)), default=default)

    def lowest(self, key: str) -> float:
        return min((int(value) for value in self.all(key)), default=inf)

    @property
    def types(self) -> list[str]:
        """Those that all allow, the likeliest first."""
        allowed = list(TYPES)
        for given in self.all("type"):
            named: list[str] = [given] if isinstance(given, str) else list(given)
            allowed = [one for one in allowed if one in named or (one == "integer" and "number" in named)]
            allowed.sort(key=lambda one: named.index(one) if one in named else len(named))
        if self.all("type"):
            return [*(one for one in allowed if one != "null"), *(one for one in allowed if one == "null")]
        likely = [kind for kind, keys in _TELLING.items() if any(self.all(key) for key in keys)]
        return [*likely, *(one for one in ("string", *TYPES) if one not in likely)]

    # ---- numbers -----------------------------------------------------------------------------------------
    @property
    def lower(self) -> tuple[Fraction | None, bool]:
        """The lowest, and whether it is out itself."""
        found = [*self._bounds("minimum", "exclusiveMinimum")]
        return max(found, default=(None, False))  # of two that are equal the one that is out counts

    @property
    def upper(self) -> tuple[Fraction | None, bool]:
        found = [*self._bounds("maximum", "exclusiveMaximum")]
        return min(found, key=lambda one: (one[0], not one[1]), default=(None, False))

    def _bounds(self, within: str, without: str) -> Iterator[tuple[Fraction, bool]]:
        for part in self.parts:
            inner, outer = part.get(within), part.get(without)
            if isinstance(inner, int | float):
                yield Fraction(str(inner)), outer is True  # as early drafts write it
            if isinstance(outer, int | float) and not isinstance(outer, bool):
                yield Fraction(str(outer)), True

    def step(self, *, whole: bool) -> Fraction | None:
        steps = [Fraction(str(value)) for value in self.all("multipleOf")] + ([Fraction(1)] if whole else [])
        step = None
        for one in steps:
            step = one if step is None else _common(step, one)
        return step

    # ---- objects -----------------------------------------------------------------------------------------
    @property
    def required(self) -> list[str]:
        lists = [cast("list[str]", names) for names in self.all("required") if isinstance(names, list)]
        return list(dict.fromkeys(name for names in lists for name in names))

    @property
    def named(self) -> list[str]:
        return list(dict.fromkeys(name for properties in self.all("properties") for name in properties))

    def member(self, name: str) -> Node:
        """What has to hold of the value under this name."""
        found: list[Pointer] = []
        is_evaluated = False
        for pointer, part in zip(self.pointers, self.parts, strict=True):
            own = list(self._own(pointer, part, name))
            is_evaluated = is_evaluated or bool(own)
            if not own and "additionalProperties" in part:
                own, is_evaluated = [(*pointer, "additionalProperties")], True
            found += own
        if not is_evaluated:
            found += [(*pointer, "unevaluatedProperties") for pointer, _ in self.having("unevaluatedProperties")]
        return tuple(found)

    def _own(self, pointer: Pointer, part: dict[str, Any], name: str) -> Iterator[Pointer]:
        if name in part.get("properties", {}):
            yield (*pointer, "properties", name)
        for pattern in part.get("patternProperties", {}):
            if is_match(pattern, name):
                yield (*pointer, "patternProperties", pattern)

    def names_after(self, names: list[str]) -> list[str]:
        """With those that some of them bring along."""
        wanted = list(dict.fromkeys(names))
        for name in wanted:
            for dependent in (*self.all("dependentRequired"), *self.all("dependencies")):
                brought = dependent.get(name)
                wanted += [one for one in brought or () if isinstance(brought, list) and one not in wanted]
        return wanted

    # ---- lists -------------------------------------------------------------------------------------------
    def item(self, index: int) -> Node:
        found: list[Pointer] = []
        for pointer, part in zip(self.pointers, self.parts, strict=True):
            items = part.get("items")
            ahead = "prefixItems" if "prefixItems" in part else "items" if isinstance(items, list) else None
            if ahead is not None and index < len(part[ahead]):
                found.append((*pointer, ahead, str(index)))
            elif isinstance(items, list):
                found += [(*pointer, "additionalItems")] if "additionalItems" in part else []
            elif "items" in part:
                found.append((*pointer, "items"))
            elif "unevaluatedItems" in part:
                found.append((*pointer, "unevaluatedItems"))
        return tuple(found)

    @property
    def ahead(self) -> int:
        """Items that have a schema of their own."""
        lists = [
            cast("list[Any]", one) for key in ("prefixItems", "items") for one in self.all(key) if isinstance(one, list)
        ]
        return max(map(len, lists), default=0)


def _common(one: Fraction, other: Fraction) -> Fraction:
    """The smallest that is a multiple of both."""
    bottom = one.denominator * other.denominator // gcd(one.denominator, other.denominator)
    a, b = int(one * bottom), int(other * bottom)
    return Fraction(abs(a * b) // gcd(a, b) if a and b else 0, bottom)


@lru_cache(maxsize=1024)
def _validator(pattern: str) -> jsonschema_rs.Validator | None:
    try:
        return jsonschema_rs.validator_for({"pattern": pattern})
    except (jsonschema_rs.ValidationError, ValueError):
        return None


def is_match(pattern: str, text: str) -> bool:
    validator = _validator(pattern)
    return validator is not None and validator.is_valid(text)
