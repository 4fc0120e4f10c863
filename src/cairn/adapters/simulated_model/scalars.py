"""Candidate values for strings, numbers, booleans and null."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, count, islice, permutations
from math import inf
from typing import Any, cast

from cairn.adapters.simulated_model.regex_strings import matching_strings
from cairn.adapters.simulated_model.schema_constraints import SchemaConstraints, matches_pattern
from cairn.adapters.simulated_model.string_formats import formatted_strings
from cairn.adapters.simulated_model.value_source import SchemaField, ValueSource


def _nulls(_constraints: SchemaConstraints, _field: SchemaField, _source: ValueSource) -> Iterator[None]:
    yield None


def _booleans(_constraints: SchemaConstraints, field: SchemaField, source: ValueSource) -> Iterator[bool]:
    first = source.boolean(field)
    yield from (first, not first)


def _strings(constraints: SchemaConstraints, field: SchemaField, source: ValueSource) -> Iterator[str]:
    low, high = constraints.highest("minLength"), constraints.lowest("maxLength")
    patterns, formats = constraints.all("pattern"), constraints.all("format")
    if low > high:
        return
    candidates: list[Iterator[str]] = []
    candidates += [formatted_strings(name, word, field.index) for name in formats for word in (source.word(field), "a")]
    candidates += [matching_strings(pattern) for pattern in patterns]
    candidates += [_overlapping(pattern, other) for pattern, other in permutations(patterns, 2)]
    if not candidates or not any(formats):
        candidates.insert(0, source.texts(field))
    candidates += [_variants(next(source.texts(field), "text")), _of_length(source, field, low, high)]
    for text in chain.from_iterable(candidates):
        for candidate in (text, *_resized(text, low, high)):
            if low <= len(candidate) <= high and all(matches_pattern(pattern, candidate) for pattern in patterns):
                yield candidate
                break


def _integers(constraints: SchemaConstraints, field: SchemaField, source: ValueSource) -> Iterator[int]:
    for found in _in_range(constraints, field, source, is_integer=True):
        yield int(found)


def _numbers(constraints: SchemaConstraints, field: SchemaField, source: ValueSource) -> Iterator[float]:
    for found in _in_range(constraints, field, source, is_integer=False):
        yield int(found) if found.denominator == 1 else float(found)


def _in_range(
    constraints: SchemaConstraints, field: SchemaField, source: ValueSource, *, is_integer: bool
) -> Iterator[Fraction]:
    (low, excludes_low), (high, excludes_high) = constraints.lower, constraints.upper
    step = constraints.multiple_of(is_integer=is_integer)
    preferred = Fraction(str(source.number(field)))

    def is_in(value: Fraction) -> bool:
        above = low is None or value > low or (value == low and not excludes_low)
        return above and (high is None or value < high or (value == high and not excludes_high))

    if low is not None and high is not None and not is_in(preferred):
        preferred = low + (high - low) * Fraction(4, 5)  # near the top, like a good score
    elif not is_in(preferred):
        preferred = low if low is not None else cast("Fraction", high)
    grid = step or Fraction(1, 100)
    for offset in _offsets():
        value = round(preferred / grid) * grid + offset * grid
        if is_in(value):
            yield value
    if step is None:
        span = (low, high) if low is not None and high is not None else (preferred - 1, preferred + 1)
        yield from (v for n in range(1, 60) if is_in(v := span[0] + (span[1] - span[0]) * Fraction(n, 60)))


def _offsets() -> Iterator[int]:
    yield 0
    for n in islice(count(1), 60):
        yield from (n, -n)


def _resized(text: str, low: int, high: float) -> Iterator[str]:
    if len(text) > high:
        cut = text[: int(high)]
        yield cut.rpartition(" ")[0].rstrip(",;: ") or cut
        yield cut
    elif len(text) < low:
        yield (f"{text} " * (low // (len(text) + 1) + 2))[: int(min(max(low, 1), high))].rstrip().ljust(low, ".")


def _overlapping(pattern: str, other: str) -> Iterator[str]:
    """Combine strings of two patterns by replacing the start or the end of one with the other."""
    for part in islice(matching_strings(pattern), 4):
        for text in islice(matching_strings(other), 12):
            yield part + text[len(part) :]
            yield text[: max(len(text) - len(part), 0)] + part


def _variants(text: str) -> Iterator[str]:
    """Variants for schemas that exclude the obvious texts."""
    yield from ("", text.capitalize(), text.upper(), f"1. {text}", f"({text})", text[::-1], text.replace(" ", "_"))
    yield from ("0", "A", "-", "ä", "日本", text * 3)


def _of_length(source: ValueSource, field: SchemaField, low: int, high: float) -> Iterator[str]:
    """Distinct strings of the required length, even a very short one."""
    word = source.word(field)
    for n in range(200):
        text = f"{word}-{n + 1}" if n else word
        if len(text) > high:
            text = chr(ord("a") + n % 26) * int(min(high, max(low, 1))) if n < 26 else str(n)[: int(high)]
        yield text
    if high == inf:
        yield "x" * max(low, 1)


SCALARS: dict[str, Callable[[SchemaConstraints, SchemaField, ValueSource], Iterator[Any]]] = {
    "string": _strings,
    "integer": _integers,
    "number": _numbers,
    "boolean": _booleans,
    "null": _nulls,
}
