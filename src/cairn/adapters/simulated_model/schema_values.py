"""Generate a plausible value for any JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any, cast

import jsonschema_rs

from cairn.adapters.simulated_model.regex_strings import matching_strings
from cairn.adapters.simulated_model.scalars import SCALARS
from cairn.adapters.simulated_model.schema_constraints import SchemaConstraints
from cairn.adapters.simulated_model.schema_document import Node, Pointer, SchemaDocument
from cairn.adapters.simulated_model.value_source import GenericValues, SchemaField, ValueSource
from cairn.definitions.json_schema.validator import PATTERNS

MAX_STEPS = 30_000
MAX_LIST_LENGTH = 2000
OPTIONAL_DEPTH = 5  # below this depth, only required properties are generated
MAX_DEPTH = 40
MAX_BRANCHES = 60
MAX_CANDIDATES = 120  # for one field
MAX_ALTERNATIVES = 4  # for one property

CandidateStream = Callable[[SchemaConstraints, SchemaField, int], Iterator[Any]]


class NoValueFound(Exception):
    """No value was found that the schema accepts."""


def generate(schema: Any, source: ValueSource | None = None) -> Any:
    """Return a valid value. Raises NoValueFound if there is none or the search fails."""
    source = source or GenericValues()
    document = SchemaDocument(schema)
    for value in _attempts(document, source):
        if document.is_valid(value):
            return value
    raise NoValueFound("no valid value was found for the schema")


def _attempts(document: SchemaDocument, source: ValueSource) -> Iterator[Any]:
    """Generate values without checks, then with each part validated, then for the schema's canonical form."""
    root: Node = ((),)
    description = SchemaConstraints.of(document, root).description if isinstance(document.root, dict) else ""
    field = SchemaField(description=description)
    yield from _values(_Generator(document, source, validates=False), root, field, 1)
    yield from _values(_Generator(document, source, validates=True), root, field, 20)
    try:
        canonical = jsonschema_rs.canonicalize(
            cast("Any", document.root), validate_formats=True, pattern_options=PATTERNS
        )
        simplified = SchemaDocument(canonical.to_json_schema())
    except (ValueError, jsonschema_rs.ValidationError):
        return
    yield from _values(_Generator(simplified, source, validates=True), root, field, 40)


def _values(generator: _Generator, root: Node, field: SchemaField, limit: int) -> Iterator[Any]:
    try:
        yield from islice(generator.values(root, field), limit)
    except (NoValueFound, RecursionError):
        return


class _Generator:
    def __init__(self, document: SchemaDocument, source: ValueSource, *, validates: bool) -> None:
        """`validates`: check each part of a value against its subschemas before it is used."""
        self._validates = validates
        self._document = document
        self._source = source
        self._steps_left = MAX_STEPS

    def first_value(self, node: Node, field: SchemaField, depth: int) -> Any:
        for value in self.values(node, field, depth):
            return value
        raise NoValueFound

    def values(self, node: Node, field: SchemaField, depth: int = 0) -> Iterator[Any]:
        """Candidates, best first. With `validates`, all of them are valid."""
        for value in islice(self._candidates(node, field, depth), MAX_CANDIDATES):
            if not self._validates or self._document.accepts(node, value):
                yield value

    def _candidates(self, node: Node, field: SchemaField, depth: int) -> Iterator[Any]:
        if depth > MAX_DEPTH:
            return
        for pointers in islice(self._document.branch_choices(node, is_deep=depth > OPTIONAL_DEPTH), MAX_BRANCHES):
            self._steps_left -= 1
            if self._steps_left < 0:
                raise NoValueFound
            constraints = SchemaConstraints.of(self._document, pointers)
            described = field if field.description else replace(field, description=constraints.description)
            yield from self._constrained(constraints, described, depth)

    def _constrained(self, constraints: SchemaConstraints, field: SchemaField, depth: int) -> Iterator[Any]:
        options = constraints.options
        if options is not None:
            yield from self._source.ranked(field, options)
            return
        types = constraints.types
        for known in chain(self._source.known(field), chain.from_iterable(constraints.all("examples"))):
            if _type_of(known) in types and self._document.accepts(constraints.pointers, known):
                yield known
        generators: dict[str, CandidateStream] = {
            "object": self._objects,
            "array": self._arrays,
            **{type_: self._scalar(candidates) for type_, candidates in SCALARS.items()},
        }
        streams = [generators[type_](constraints, field, depth) for type_ in types]
        yield from chain.from_iterable(streams) if len(streams) == 1 else _interleaved(streams)

    def _scalar(
        self, candidates: Callable[[SchemaConstraints, SchemaField, ValueSource], Iterator[Any]]
    ) -> CandidateStream:
        return lambda constraints, field, _depth: candidates(constraints, field, self._source)

    # Lists
    def _arrays(self, constraints: SchemaConstraints, field: SchemaField, depth: int) -> Iterator[list[Any]]:
        contained = [(pointer, int(part.get("minContains", 1))) for pointer, part in constraints.parts_with("contains")]
        low, high = constraints.highest("minItems"), constraints.lowest("maxItems")
        shared_minimum = max([low, *(times for _, times in contained)])
        separate_minimum = max(low, sum(times for _, times in contained))
        preferred = 0 if depth > OPTIONAL_DEPTH else max(self._source.count(field), constraints.prefix_length)
        sizes = (
            min(max(preferred, separate_minimum), high),
            separate_minimum,
            *range(shared_minimum, shared_minimum + 4),
        )
        for size in dict.fromkeys(int(bound) for bound in sizes if bound <= high and bound <= MAX_LIST_LENGTH):
            for extra in _contains_positions(contained, size):
                try:
                    yield self._list(constraints, field, depth, size, extra)
                except NoValueFound:
                    continue

    def _list(
        self, constraints: SchemaConstraints, field: SchemaField, depth: int, size: int, extra: dict[int, Node]
    ) -> list[Any]:
        """`extra`: additional subschemas by index."""
        is_unique = any(constraints.all("uniqueItems"))
        items: list[Any] = []
        seen: set[str] = set()
        for index in range(size):
            node = (*constraints.item_node(index), *extra.get(index, ()))
            for value in self.values(node, field.at(index), depth + 1):
                key = json.dumps(value, sort_keys=True) if is_unique else ""
                if not is_unique or key not in seen:
                    seen.add(key)
                    items.append(value)
                    break
            else:
                raise NoValueFound
        return items

    # Objects
    def _objects(self, constraints: SchemaConstraints, field: SchemaField, depth: int) -> Iterator[dict[str, Any]]:
        low, high = constraints.highest("minProperties"), constraints.lowest("maxProperties")
        required = constraints.with_dependents(constraints.required)
        if len(required) > high:
            return
        declared = constraints.with_dependents([*required, *constraints.property_names])
        declared = [name for name in declared if depth <= OPTIONAL_DEPTH or name in required]
        optional = [name for name in declared if name not in required]
        complete = declared if len(declared) <= high else [*required, *optional][: int(high)]
        objects: list[dict[str, Any]] = []
        for names in (complete, required):
            try:
                objects.append(self._object(constraints, field, depth, names, set(required), low))
            except NoValueFound:
                continue
            yield objects[-1]
        for base in objects:
            yield from self._variations(constraints, field, depth, base)

    def _object(
        self,
        constraints: SchemaConstraints,
        field: SchemaField,
        depth: int,
        names: list[str],
        required: set[str],
        low: int,
    ) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for name in names:
            try:
                members[name] = self.first_value(constraints.property_node(name), field.child(name), depth + 1)
            except NoValueFound:
                if name in required:
                    raise
        for name in islice(self._extra_names(constraints, field), 200):
            if len(members) >= low:
                break
            if name not in members and self._is_allowed_name(constraints, name):
                try:
                    members[name] = self.first_value(constraints.property_node(name), field.child(name), depth + 1)
                except NoValueFound:
                    continue
        if len(members) < low:
            raise NoValueFound
        return members

    def _variations(
        self, constraints: SchemaConstraints, field: SchemaField, depth: int, base: dict[str, Any]
    ) -> Iterator[dict[str, Any]]:
        """Change, omit or add one property, because properties can constrain each other."""
        for name in base:
            node = constraints.property_node(name)
            for value in islice(self.values(node, field.child(name), depth + 1), 1, MAX_ALTERNATIVES):
                yield {**base, name: value}
            if name not in constraints.required:
                yield {key: value for key, value in base.items() if key != name}
        for name in islice(self._extra_names(constraints, field), 2):
            if name not in base and constraints.lowest("maxProperties") > len(base):
                yield {**base, name: self.first_value(constraints.property_node(name), field.child(name), depth + 1)}

    def _extra_names(self, constraints: SchemaConstraints, field: SchemaField) -> Iterator[str]:
        yield from constraints.property_names
        for patterns in constraints.all("patternProperties"):
            for pattern in patterns:
                yield from matching_strings(pattern, limit=40)
        for pointer, _ in constraints.parts_with("propertyNames"):
            names = self.values(((*pointer, "propertyNames"),), SchemaField("name"), 1)
            yield from (name for name in names if isinstance(name, str))
        word = self._source.word(field)
        yield from (f"{word}_{n}" for n in range(1, 100))

    def _is_allowed_name(self, constraints: SchemaConstraints, name: str) -> bool:
        return all(
            self._document.accepts(((*pointer, "propertyNames"),), name)
            for pointer, _ in constraints.parts_with("propertyNames")
        )


def _contains_positions(contained: list[tuple[Pointer, int]], size: int) -> Iterator[dict[int, Node]]:
    """Positions of the items that `contains` requires: separate items, or items that satisfy several at once."""
    nodes: list[Node] = [((*pointer, "contains"),) for pointer, times in contained for _ in range(times)]
    for start in dict.fromkeys((max(size - len(nodes), 0), *range(min(size, 6)))):
        if start + len(nodes) <= size:
            yield {start + n: node for n, node in enumerate(nodes)}
    if len(contained) > 1:
        for start in range(min(size, 6)):
            together = {n: [(*pointer, "contains") for pointer, times in contained if times > n] for n in range(size)}
            yield {start + n: tuple(node) for n, node in together.items() if node}


def _type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _interleaved(streams: list[Iterator[Any]]) -> Iterator[Any]:
    """The first value of each stream, then the second of each, and so on."""
    remaining = list(streams)
    while remaining:
        for stream in tuple(remaining):
            try:
                yield next(stream)
            except StopIteration:
                remaining.remove(stream)
