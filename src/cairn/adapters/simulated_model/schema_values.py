"""A value that fits a JSON Schema, any schema, and reads as well as may be."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, cast

import jsonschema_rs

from cairn.adapters.simulated_model.field_meanings import FieldMeaning, FieldPlace, Plain
from cairn.adapters.simulated_model.regex_strings import matching
from cairn.adapters.simulated_model.scalars import PLAIN
from cairn.adapters.simulated_model.schema_constraints import SchemaConstraints
from cairn.adapters.simulated_model.schema_document import Document, Node, Pointer
from cairn.definitions.json_schema.validator import PATTERNS

WORK = 30_000  # parts that are looked at before it is given up
LONGEST = 2000  # list
DEEP = 5  # below, only what is asked for is made
VERY_DEEP = 40
WAYS = 60  # of choosing branches
TRIES = 120  # values for one place
OTHERS = 4  # values of a member that are tried when the first does not do


Stream = Callable[[SchemaConstraints, FieldPlace, int], Iterator[Any]]


class Impossible(Exception):
    """No value was found."""


def make(schema: Any, sense: FieldMeaning | None = None) -> Any:
    """A value; Impossible if there is none, or none that can be found."""
    sense = sense or Plain()
    document = Document(schema)
    for made in _attempts(document, sense):
        if document.is_valid(made):
            return made
    raise Impossible("no value was found that fits the schema")


def _attempts(document: Document, sense: FieldMeaning) -> Iterator[Any]:
    """The quick way, then with a look at each part, then in the form without negations and choices of one."""
    root: Node = ((),)
    place = FieldPlace(
        description=SchemaConstraints.of(document, root).description if isinstance(document.root, dict) else ""
    )
    for maker in (_Maker(document, sense, looks=False), _Maker(document, sense, looks=True)):
        yield from _made(maker, root, place, 1 if not maker.looks else 20)
    try:
        canonical = jsonschema_rs.canonicalize(
            cast("Any", document.root), validate_formats=True, pattern_options=PATTERNS
        )
        plain = Document(canonical.to_json_schema())
    except (ValueError, jsonschema_rs.ValidationError):
        return
    yield from _made(_Maker(plain, sense, looks=True), root, place, 40)


def _made(maker: _Maker, root: Node, place: FieldPlace, most: int) -> Iterator[Any]:
    try:
        yield from islice(maker.values(root, place), most)
    except (Impossible, RecursionError):
        return


class _Maker:
    def __init__(self, document: Document, sense: FieldMeaning, *, looks: bool) -> None:
        """`looks`: what is made for a part is held against it before it is used."""
        self.looks = looks
        self._document = document
        self._sense = sense
        self._left = WORK

    def make(self, node: Node, place: FieldPlace, depth: int) -> Any:
        for value in self.values(node, place, depth):
            return value
        raise Impossible

    def values(self, node: Node, place: FieldPlace, depth: int = 0) -> Iterator[Any]:
        """Different ones, best first; with a look, only such as fit."""
        for value in islice(self._candidates(node, place, depth), TRIES):
            if not self.looks or self._document.fits(node, value):
                yield value

    def _candidates(self, node: Node, place: FieldPlace, depth: int) -> Iterator[Any]:
        if depth > VERY_DEEP:
            return
        for pointers in islice(self._document.choices(node, is_deep=depth > DEEP), WAYS):
            self._left -= 1
            if self._left < 0:
                raise Impossible
            facts = SchemaConstraints.of(self._document, pointers)
            here = place if place.description or not facts.description else _described(place, facts.description)
            yield from self._of(facts, here, depth)

    def _of(self, facts: SchemaConstraints, place: FieldPlace, depth: int) -> Iterator[Any]:
        options = facts.options
        if options is not None:
            yield from self._sense.order(place, options)
            return
        types = facts.types
        for known in chain(self._sense.known(place), chain.from_iterable(facts.all("examples"))):
            if _type_of(known) in types and self._document.fits(facts.pointers, known):
                yield known
        makers: dict[str, Stream] = {
            "object": self._objects,
            "array": self._arrays,
            **{kind: self._plain(make) for kind, make in PLAIN.items()},
        }
        streams = [makers[kind](facts, place, depth) for kind in types]
        yield from chain.from_iterable(streams) if len(streams) == 1 else _in_turn(streams)

    def _plain(self, make: Callable[[SchemaConstraints, FieldPlace, FieldMeaning], Iterator[Any]]) -> Stream:
        return lambda facts, place, _depth: make(facts, place, self._sense)

    # ---- lists -------------------------------------------------------------------------------------------
    def _arrays(self, facts: SchemaConstraints, place: FieldPlace, depth: int) -> Iterator[list[Any]]:
        contained = [(pointer, int(part.get("minContains", 1))) for pointer, part in facts.having("contains")]
        low, high = facts.highest("minItems"), facts.lowest("maxItems")
        least = max([low, *(times for _, times in contained)])
        apart = max(low, sum(times for _, times in contained))
        wished = 0 if depth > DEEP else max(self._sense.count(place), facts.ahead)
        sizes = (min(max(wished, apart), high), apart, *range(least, least + 4))
        for size in dict.fromkeys(int(one) for one in sizes if one <= high and one <= LONGEST):
            for placed in _placements(contained, size):
                try:
                    yield self._list(facts, place, depth, size, placed)
                except Impossible:
                    continue

    def _list(
        self, facts: SchemaConstraints, place: FieldPlace, depth: int, size: int, placed: dict[int, Node]
    ) -> list[Any]:
        """`placed`: what items have to fit besides."""
        unique = any(facts.all("uniqueItems"))
        made: list[Any] = []
        seen: set[str] = set()
        for index in range(size):
            node = (*facts.item(index), *placed.get(index, ()))
            for value in self.values(node, place.at(index), depth + 1):
                spelled = json.dumps(value, sort_keys=True) if unique else ""
                if not unique or spelled not in seen:
                    seen.add(spelled)
                    made.append(value)
                    break
            else:
                raise Impossible
        return made

    # ---- objects -----------------------------------------------------------------------------------------
    def _objects(self, facts: SchemaConstraints, place: FieldPlace, depth: int) -> Iterator[dict[str, Any]]:
        low, high = facts.highest("minProperties"), facts.lowest("maxProperties")
        required = facts.names_after(facts.required)
        if len(required) > high:
            return
        named = [name for name in facts.names_after([*required, *facts.named]) if depth <= DEEP or name in required]
        every = named if len(named) <= high else [*required, *(n for n in named if n not in required)][: int(high)]
        made: list[dict[str, Any]] = []
        for names in (every, required):
            try:
                made.append(self._object(facts, place, depth, names, set(required), low))
            except Impossible:
                continue
            yield made[-1]
        for base in made:
            yield from self._others(facts, place, depth, base)

    def _object(
        self, facts: SchemaConstraints, place: FieldPlace, depth: int, names: list[str], required: set[str], low: int
    ) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name in names:
            try:
                made[name] = self.make(facts.member(name), place.inside(name), depth + 1)
            except Impossible:
                if name in required:
                    raise
        for name in islice(self._more_names(facts, place), 200):
            if len(made) >= low:
                break
            if name not in made and self._may_be_called(facts, name):
                try:
                    made[name] = self.make(facts.member(name), place.inside(name), depth + 1)
                except Impossible:
                    continue
        if len(made) < low:
            raise Impossible
        return made

    def _others(
        self, facts: SchemaConstraints, place: FieldPlace, depth: int, base: dict[str, Any]
    ) -> Iterator[dict[str, Any]]:
        """One member is something else, or is not there: for what the members ask of one another."""
        for name in base:
            node = facts.member(name)
            for value in islice(self.values(node, place.inside(name), depth + 1), 1, OTHERS):
                yield {**base, name: value}
            if name not in facts.required:
                yield {key: value for key, value in base.items() if key != name}
        for name in islice(self._more_names(facts, place), 2):
            if name not in base and facts.lowest("maxProperties") > len(base):
                yield {**base, name: self.make(facts.member(name), place.inside(name), depth + 1)}

    def _more_names(self, facts: SchemaConstraints, place: FieldPlace) -> Iterator[str]:
        yield from facts.named
        for patterns in facts.all("patternProperties"):
            for pattern in patterns:
                yield from matching(pattern, most=40)
        for pointer, _ in facts.having("propertyNames"):
            named = self.values(((*pointer, "propertyNames"),), FieldPlace("name"), 1)
            yield from (name for name in named if isinstance(name, str))
        word = self._sense.word(place)
        yield from (f"{word}_{n}" for n in range(1, 100))

    def _may_be_called(self, facts: SchemaConstraints, name: str) -> bool:
        return all(
            self._document.fits(((*pointer, "propertyNames"),), name) for pointer, _ in facts.having("propertyNames")
        )


def _placements(contained: list[tuple[Pointer, int]], size: int) -> Iterator[dict[int, Node]]:
    """Where what a list has to contain may stand: one after the other from some place on, or all in one."""
    nodes: list[Node] = [((*pointer, "contains"),) for pointer, times in contained for _ in range(times)]
    for start in dict.fromkeys((max(size - len(nodes), 0), *range(min(size, 6)))):
        if start + len(nodes) <= size:
            yield {start + n: node for n, node in enumerate(nodes)}
    if len(contained) > 1:
        for start in range(min(size, 6)):
            together = {n: [(*pointer, "contains") for pointer, times in contained if times > n] for n in range(size)}
            yield {start + n: tuple(node) for n, node in together.items() if node}


def _described(place: FieldPlace, description: str) -> FieldPlace:
    return FieldPlace(place.name, description, place.parents, place.index)


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


def _in_turn(streams: list[Iterator[Any]]) -> Iterator[Any]:
    """The first of each, then the second of each."""
    left = list(streams)
    while left:
        for stream in tuple(left):
            try:
                yield next(stream)
            except StopIteration:
                left.remove(stream)
