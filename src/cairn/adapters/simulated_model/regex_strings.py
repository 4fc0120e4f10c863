"""Texts that match a regular expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from itertools import islice
from typing import Any

_PARSER: Any = import_module("re._parser")  # the standard library's own, which has no public name
_LETTERS = "stonepathcairnwalktrailmark"
_POOL = (
    _LETTERS
    + "abcdefghijklmnopqrstuvwxyzSTONEABCDEFGHIJKLMNPQRUVWXYZ1234567890 -_.,:;/@#+=!?()[]{}'\"*&%$\\|<>~^`\n\t"
    + "".join(chr(code) for code in range(0xA1, 0x17F))
    + "αβγабв日本語🪨"
)
_STRETCHES = (3, 1, 2, 5, 8, 13, 21, 34, 60, 100, 200, 500, 1000)  # how often what may repeat does
_PROPERTIES = {"L": r"[^\W\d_]", "Lu": "[A-Z]", "Ll": "[a-z]", "N": r"\d", "Nd": r"\d", "P": r"[.,;:!?-]", "Z": " "}
_NAMED = re.compile(r"\\p\{(?:\w+=)?(\w+)\}|\(\?<(?![=!])|\\u\{([0-9a-fA-F]+)\}|\\Z")


def matching(pattern: str, *, most: int = 200) -> Iterator[str]:
    """Different ones, short and tidy first. Not all of them match where a pattern looks ahead or back."""
    tree = _parsed(pattern)
    if tree is None:
        return
    seen: set[str] = set()
    for turn in range(most):
        writer = _Writer(_STRETCHES[turn % len(_STRETCHES)], turn // len(_STRETCHES) + (turn if turn < 3 else 0))
        text = writer.write(tree)
        if text not in seen:
            seen.add(text)
            yield text


@lru_cache(maxsize=512)
def _parsed(pattern: str) -> Any:
    try:
        return _PARSER.parse(_NAMED.sub(_translated, pattern))
    except (re.error, RecursionError, OverflowError):
        return None


def _translated(found: re.Match[str]) -> str:
    """From the dialect of JSON Schema to Python's."""
    if found[1]:
        return _PROPERTIES.get(found[1], r"\w")
    if found[2]:
        return re.escape(chr(int(found[2], 16)))
    return r"\Z" if found[0] == r"\Z" else "(?P<"


@dataclass
class _Writer:
    stretch: int
    offset: int  # other branches and letters
    _count: int = 0
    _groups: dict[int, str] = field(default_factory=dict[int, str])

    def write(self, tree: Any) -> str:
        return "".join(self._one(str(op), argument) for op, argument in tree)

    def _one(self, op: str, argument: Any) -> str:
        match op:
            case "LITERAL":
                return chr(argument)
            case "NOT_LITERAL":
                return self._letter(lambda letter: ord(letter) != argument)
            case "ANY":
                return self._letter(lambda letter: letter != "\n")
            case "IN":
                return self._letter(lambda letter: _is_in(argument, letter))
            case "CATEGORY":
                return self._letter(lambda letter: _is_of(str(argument), letter))
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
                return self._again(op, argument)

    def _again(self, op: str, argument: Any) -> str:
        match op:
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                low, high, inner = argument
                times = min(max(int(low), self.stretch if high != 1 else self.offset % 2), int(high))
                return "".join(self.write(inner) for _ in range(times))
            case "GROUPREF":
                return self._groups.get(argument, "")
            case "GROUPREF_EXISTS":
                number, yes, no = argument
                return self.write(yes if number in self._groups else no or [])
            case _:  # places and looks ahead: they take no letters
                return ""

    def _letter(self, fits: Callable[[str], bool]) -> str:
        """Each time another one of those that come first."""
        tidy = list(islice((letter for letter in _POOL if fits(letter)), len(_LETTERS)))
        if not tidy:
            return next((chr(code) for code in range(0x110000) if fits(chr(code))), "")
        self._count += 1
        return tidy[(self._count - 1 + self.offset * (self._count % 5 + 1)) % len(tidy)]


def _is_in(items: Any, letter: str) -> bool:
    negated = bool(items) and str(items[0][0]) == "NEGATE"
    return any(_item_holds(str(op), argument, letter) for op, argument in items) != negated


def _item_holds(op: str, argument: Any, letter: str) -> bool:
    match op:
        case "LITERAL":
            return ord(letter) == argument
        case "RANGE":
            return argument[0] <= ord(letter) <= argument[1]
        case "CATEGORY":
            return _is_of(str(argument), letter)
        case _:
            return False


_CATEGORIES = {"DIGIT": r"[0-9]", "WORD": r"\w", "SPACE": r"\s"}


def _is_of(category: str, letter: str) -> bool:
    name = category.removeprefix("CATEGORY_").removeprefix("UNI_")
    holds = re.fullmatch(_CATEGORIES.get(name.removeprefix("NOT_"), "."), letter, re.ASCII) is not None
    return holds != name.startswith("NOT_")
