"""Access to a JSON Schema: subschemas by pointer, references and branches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Any, cast
from urllib.parse import unquote, urljoin

import jsonschema_rs

from cairn.definitions.json_schema.validator import PATTERNS, reject_fetch

Pointer = tuple[str, ...]
Node = tuple[Pointer, ...]  # subschemas that must all accept a value
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_TARGETS = ("$anchor", "$dynamicAnchor")


class SchemaDocument:
    def __init__(self, root: Any) -> None:
        self.root: Any = root

    def subschema(self, pointer: Pointer) -> Any:
        found: Any = self.root
        for token in pointer:
            found = found[int(token) if isinstance(found, list) else token]
        return found

    @cached_property
    def _root_validator(self) -> jsonschema_rs.Validator:
        return jsonschema_rs.validator_for(
            self.root, validate_formats=True, retriever=reject_fetch, pattern_options=PATTERNS
        )

    @cached_property
    def _validators(self) -> jsonschema_rs.ValidatorMap:
        return jsonschema_rs.validator_map_for(
            self.root, validate_formats=True, retriever=reject_fetch, pattern_options=PATTERNS
        )

    def is_valid(self, value: Any) -> bool:
        return self._root_validator.is_valid(value)

    def accepts(self, node: Node, value: Any) -> bool:
        """Whether all subschemas of the node accept the value."""
        return all(self._accepts(pointer, value) for pointer in node)

    def _accepts(self, pointer: Pointer, value: Any) -> bool:
        schema = self.subschema(pointer)
        if isinstance(schema, bool):
            return schema
        fragment = "#" + "".join(f"/{token.replace('~', '~0').replace('/', '~1')}" for token in pointer)
        validator = self._validators.get(fragment)
        return validator is None or validator.is_valid(value)

    # References
    def resolve(self, reference: str) -> Pointer | None:
        """The pointer to the target of a reference. None if the target is missing or outside the document."""
        address, _, fragment = reference.partition("#")
        start: Pointer | None = ()
        if address:
            start = self._identifiers.get(reference) or self._identifiers.get(urljoin(self._base, address))
            if reference in self._identifiers:
                return start
        if start is None:
            return None
        fragment = unquote(fragment)
        if not fragment.startswith("/"):
            return self._identifiers.get(f"#{fragment}") if fragment else start
        tokens = (token.replace("~1", "/").replace("~0", "~") for token in fragment[1:].split("/"))
        pointer = (*start, *tokens)
        try:
            self.subschema(pointer)
        except (KeyError, IndexError, ValueError, TypeError):
            return None
        return pointer

    @cached_property
    def _base(self) -> str:
        root = cast("dict[str, Any]", self.root) if isinstance(self.root, dict) else {}
        return str(root.get("$id", ""))

    @cached_property
    def _identifiers(self) -> dict[str, Pointer]:
        """Pointers by `$anchor` and `$id`."""
        found: dict[str, Pointer] = {}
        for pointer, schema in _walk(self.root, ()):
            for key in _TARGETS:
                if isinstance(name := schema.get(key), str):
                    found.setdefault(f"#{name}", pointer)
            if isinstance(name := schema.get("$id"), str):
                found.setdefault(name, pointer)
                found.setdefault(urljoin(self._base, name), pointer)
        return found

    # Branches
    def branch_choices(self, node: Node, *, is_deep: bool = False) -> Iterator[Node]:
        """Expand references, and yield every combination of branches.

        Each combination lists the subschemas whose remaining keywords apply together.
        """
        yield from self._expand(node, (), is_deep)

    def _expand(self, todo: Node, done: Node, is_deep: bool) -> Iterator[Node]:
        if not todo:
            yield done
            return
        pointer, rest = todo[0], todo[1:]
        schema: Any = self.subschema(pointer)
        if schema is False:
            return
        if pointer in done or not isinstance(schema, dict):
            yield from self._expand(rest, done, is_deep)
            return
        part = cast("dict[str, Any]", schema)
        more = [target for key in _REFERENCES if key in part if (target := self.resolve(str(part[key]))) is not None]
        more += [(*pointer, "allOf", str(n)) for n in range(len(part.get("allOf", ())))]
        for branches in product(*self._alternatives(pointer, part, is_deep)):
            chosen = tuple(pointer for branch in branches for pointer in branch)
            yield from self._expand((*more, *chosen, *rest), (*done, pointer), is_deep)

    def _alternatives(self, pointer: Pointer, part: Mapping[str, Any], is_deep: bool) -> list[list[Node]]:
        found: list[list[Node]] = []
        for key in ("anyOf", "oneOf"):
            if isinstance(part.get(key), list):
                branches = [(*pointer, key, str(n)) for n in range(len(part[key]))]
                found.append(
                    [(branch,) for branch in sorted(branches, key=lambda pointer: self._rank(pointer, is_deep))]
                )
        if "if" in part:
            then, other = ([(*pointer, key)] if key in part else [] for key in ("then", "else"))
            found.append([((*pointer, "if"), *then), tuple(other)])
        found += [[((*pointer, "dependentSchemas", name),), ()] for name in part.get("dependentSchemas", ())]
        return found

    def _rank(self, pointer: Pointer, is_deep: bool) -> int:
        """Other values rank before null. At great depth, branches without nested schemas rank first."""
        schema: Any = self.subschema(pointer)
        if not isinstance(schema, dict):
            return 1 if is_deep else 5
        part = cast("dict[str, Any]", schema)
        is_null = part.get("type") == "null" or ("const" in part and part["const"] is None)
        is_nested = any(key in part for key in (*_REFERENCES, "properties", "items", "allOf", "anyOf", "oneOf"))
        return (2 if is_nested else 0) if is_deep else (9 if is_null else 0)


def _walk(schema: Any, pointer: Pointer) -> Iterator[tuple[Pointer, dict[str, Any]]]:
    if isinstance(schema, dict):
        part = cast("dict[str, Any]", schema)
        yield pointer, part
        for key, inner in part.items():
            if key not in ("const", "enum", "default", "examples"):
                yield from _walk(inner, (*pointer, key))
    elif isinstance(schema, list):
        for number, inner in enumerate(cast("list[Any]", schema)):
            yield from _walk(inner, (*pointer, str(number)))
