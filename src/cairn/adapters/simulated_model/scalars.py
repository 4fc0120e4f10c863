"""Texts, numbers and the like that fit what is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, count, islice, permutations
from math import inf
from typing import Any, cast

from cairn.adapters.simulated_model.field_meanings import FieldMeaning, FieldPlace
from cairn.adapters.simulated_model.regex_strings import matching
from cairn.adapters.simulated_model.schema_constraints import SchemaConstraints, is_match
from cairn.adapters.simulated_model.string_formats import of_format


def _nulls(_facts: SchemaConstraints, _place: FieldPlace, _sense: FieldMeaning) -> Iterator[None]:
    yield None


def _booleans(_facts: SchemaConstraints, place: FieldPlace, sense: FieldMeaning) -> Iterator[bool]:
    first = sense.is_so(place)
    yield from (first, not first)


def _strings(facts: SchemaConstraints, place: FieldPlace, sense: FieldMeaning) -> Iterator[str]:
    low, high = facts.highest("minLength"), facts.lowest("maxLength")
    patterns, formats = facts.all("pattern"), facts.all("format")
    if low > high:
        return
    sources: list[Iterator[str]] = []
    sources += [of_format(name, word, place.index) for name in formats for word in (sense.word(place), "a")]
    sources += [matching(pattern) for pattern in patterns]
    sources += [_overlaid(one, other) for one, other in permutations(patterns, 2)]
    if not sources or not any(formats):
        sources.insert(0, sense.texts(place))
    sources += [_varied(next(sense.texts(place), "text")), _of_length(sense, place, low, high)]
    for text in chain.from_iterable(sources):
        for fitted in (text, *_fitted(text, low, high)):
            if low <= len(fitted) <= high and all(is_match(pattern, fitted) for pattern in patterns):
                yield fitted
                break


def _integers(facts: SchemaConstraints, place: FieldPlace, sense: FieldMeaning) -> Iterator[int]:
    for found in _in_range(facts, place, sense, whole=True):
        yield int(found)


def _numbers(facts: SchemaConstraints, place: FieldPlace, sense: FieldMeaning) -> Iterator[float]:
    for found in _in_range(facts, place, sense, whole=False):
        yield int(found) if found.denominator == 1 else float(found)


def _in_range(facts: SchemaConstraints, place: FieldPlace, sense: FieldMeaning, *, whole: bool) -> Iterator[Fraction]:
    (low, low_out), (high, high_out) = facts.lower, facts.upper
    step = facts.step(whole=whole)
    wanted = Fraction(str(sense.number(place)))

    def is_in(value: Fraction) -> bool:
        above = low is None or value > low or (value == low and not low_out)
        return above and (high is None or value < high or (value == high and not high_out))

    if low is not None and high is not None and not is_in(wanted):
        wanted = low + (high - low) * Fraction(4, 5)  # most of the way, as good marks are
    elif not is_in(wanted):
        wanted = low if low is not None else cast("Fraction", high)
    grid = step or Fraction(1, 100)
    for offset in _outwards():
        value = round(wanted / grid) * grid + offset * grid
        if is_in(value):
            yield value
    if step is None:
        span = (low, high) if low is not None and high is not None else (wanted - 1, wanted + 1)
        yield from (v for n in range(1, 60) if is_in(v := span[0] + (span[1] - span[0]) * Fraction(n, 60)))


def _outwards() -> Iterator[int]:
    yield 0
    for n in islice(count(1), 60):
        yield from (n, -n)


def _fitted(text: str, low: int, high: float) -> Iterator[str]:
    if len(text) > high:
        cut = text[: int(high)]
        yield cut.rpartition(" ")[0].rstrip(",;: ") or cut
        yield cut
    elif len(text) < low:
        yield (f"{text} " * (low // (len(text) + 1) + 2))[: int(min(max(low, 1), high))].rstrip().ljust(low, ".")


def _overlaid(pattern: str, other: str) -> Iterator[str]:
    """What the first asks for, in the place of so much of what the other does."""
    for own in islice(matching(pattern), 4):
        for text in islice(matching(other), 12):
            yield own + text[len(own) :]
            yield text[: max(len(text) - len(own), 0)] + own


def _varied(text: str) -> Iterator[str]:
    """For those who say what a text is not."""
    yield from ("", text.capitalize(), text.upper(), f"1. {text}", f"({text})", text[::-1], text.replace(" ", "_"))
    yield from ("0", "A", "-", "ä", "日本", text * 3)


def _of_length(sense: FieldMeaning, place: FieldPlace, low: int, high: float) -> Iterator[str]:
    """Different ones, however short they have to be."""
    word = sense.word(place)
    for n in range(200):
        text = f"{word}-{n + 1}" if n else word
        if len(text) > high:
            text = chr(ord("a") + n % 26) * int(min(high, max(low, 1))) if n < 26 else str(n)[: int(high)]
        yield text
    if high == inf:
        yield "x" * max(low, 1)


PLAIN: dict[str, Callable[[SchemaConstraints, FieldPlace, FieldMeaning], Iterator[Any]]] = {
    "string": _strings,
    "integer": _integers,
    "number": _numbers,
    "boolean": _booleans,
    "null": _nulls,
}
