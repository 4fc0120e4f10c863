"""Strings that match a regular expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from itertools import islice
from typing import Any

_PARSER: Any = import_module("re._parser")  # the standard library's parser has no public name
_LETTERS = "stonepathcairnwalktrailmark"
_POOL = (
    _LETTERS
    + "abcdefghijklmnopqrstuvwxyzSTONEABCDEFGHIJKLMNPQRUVWXYZ1234567890 -_.,:;/@#+=!?()[]{}'\"*&%$\\|<>~^`\n\t"
    + "".join(chr(code) for code in range(0xA1, 0x17F))
    + "αβγабв日本語🪨"
)
_REPETITIONS = (3, 1, 2, 5, 8, 13, 21, 34, 60, 100, 200, 500, 1000)
_PROPERTIES = {"L": r"[^\W\d_]", "Lu": "[A-Z]", "Ll": "[a-z]", "N": r"\d", "Nd": r"\d", "P": r"[.,;:!?-]", "Z": " "}
_JSON_SCHEMA_SYNTAX = re.compile(r"\\p\{(?:\w+=)?(\w+)\}|\(\?<(?![=!])|\\u\{([0-9a-fA-F]+)\}|\\Z")


def matching_strings(pattern: str, *, limit: int = 200) -> Iterator[str]:
    """Distinct strings, short and simple ones first. If the pattern has lookarounds, some strings don't match."""
    tree = _parsed(pattern)
    if tree is None:
        return
    seen: set[str] = set()
    for number in range(limit):
        offset = number // len(_REPETITIONS) + (number if number < 3 else 0)
        text = _Writer(_REPETITIONS[number % len(_REPETITIONS)], offset).write(tree)
        if text not in seen:
            seen.add(text)
            yield text


@lru_cache(maxsize=512)
def _parsed(pattern: str) -> Any:
    try:
        return _PARSER.parse(_JSON_SCHEMA_SYNTAX.sub(_translated, pattern))
    except (re.error, RecursionError, OverflowError):
        return None


def _translated(found: re.Match[str]) -> str:
    """Translate the syntax of JSON Schema patterns to Python's."""
    if found[1]:
        return _PROPERTIES.get(found[1], r"\w")
    if found[2]:
        return re.escape(chr(int(found[2], 16)))
    return r"\Z" if found[0] == r"\Z" else "(?P<"


@dataclass
class _Writer:
    repetitions: int
    offset: int  # selects branches and characters
    _count: int = 0
    _groups: dict[int, str] = field(default_factory=dict[int, str])

    def write(self, tree: Any) -> str:
        return "".join(self._write_node(str(op), argument) for op, argument in tree)

    def _write_node(self, op: str, argument: Any) -> str:
        match op:
            case "LITERAL":
                return chr(argument)
            case "NOT_LITERAL":
                return self._character(lambda character: ord(character) != argument)
            case "ANY":
                return self._character(lambda character: character != "\n")
            case "IN":
                return self._character(lambda character: _is_in_set(argument, character))
            case "CATEGORY":
                return self._character(lambda character: _is_in_category(str(argument), character))
            case "BRANCH":
                branches = argument[1]
                return self.write(branches[self.offset % len(branches)])
            case "SUBPATTERN":
                text = self.write(argument[-1])
                if argument[0] is not None:
                    self._groups[argument[0]] = text
                return text
            case "ATOMIC_GROUP":
                return self.write(argument)
            case _:
                return self._repeat_or_reference(op, argument)

    def _repeat_or_reference(self, op: str, argument: Any) -> str:
        match op:
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                low, high, inner = argument
                times = min(max(int(low), self.repetitions if high != 1 else self.offset % 2), int(high))
                return "".join(self.write(inner) for _ in range(times))
            case "GROUPREF":
                return self._groups.get(argument, "")
            case "GROUPREF_EXISTS":
                number, yes, no = argument
                return self.write(yes if number in self._groups else no or [])
            case _:  # anchors and lookarounds match no characters
                return ""

    def _character(self, accepts: Callable[[str], bool]) -> str:
        """Choose one of the first matching characters of the pool, in rotation."""
        candidates = list(islice((character for character in _POOL if accepts(character)), len(_LETTERS)))
        if not candidates:
            return next((chr(code) for code in range(0x110000) if accepts(chr(code))), "")
        self._count += 1
        return candidates[(self._count - 1 + self.offset * (self._count % 5 + 1)) % len(candidates)]


def _is_in_set(items: Any, character: str) -> bool:
    negated = bool(items) and str(items[0][0]) == "NEGATE"
    return any(_item_matches(str(op), argument, character) for op, argument in items) != negated


def _item_matches(op: str, argument: Any, character: str) -> bool:
    match op:
        case "LITERAL":
            return ord(character) == argument
        case "RANGE":
            return argument[0] <= ord(character) <= argument[1]
        case "CATEGORY":
            return _is_in_category(str(argument), character)
        case _:
            return False


_CATEGORIES = {"DIGIT": r"[0-9]", "WORD": r"\w", "SPACE": r"\s"}


def _is_in_category(category: str, character: str) -> bool:
    name = category.removeprefix("CATEGORY_").removeprefix("UNI_")
    matches = re.fullmatch(_CATEGORIES.get(name.removeprefix("NOT_"), "."), character, re.ASCII) is not None
    return matches != name.startswith("NOT_")
