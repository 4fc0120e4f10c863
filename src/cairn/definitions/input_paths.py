"""Paths into a run's input and context, and input mappings.

`ticket.tags[0].name` starts at the output of the checkpoint `ticket`, and `input.text` at the run's input. Write names
that contain dots or brackets in brackets and quotes: `report["v1.2"]`. A `?` at the end makes the path optional.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from cairn.definitions.json_schema.messages import preview
from cairn.documents import DocumentError, Value, decode_json, encode_json

INPUT = "input"

_STEP = re.compile(r'\.?\[(?P<index>[0-9]{1,9})\]|\.?\[(?P<quoted>"(?:[^"\\]|\\.)*")\]|\.(?P<name>[^.\[\]?"]+)')
_ROOT = re.compile(r'[^.\[\]?"]+')


class PathError(ValueError):
    """The text is not a valid path."""


class MappingError(ValueError):
    """Some mapped inputs were not found. Has a message for each of them."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors = dict(errors)
        super().__init__("; ".join(f"{target}: {message}" for target, message in self.errors.items()))


@dataclass(frozen=True, slots=True)
class Path:
    root: str  # the key of a checkpoint, or `input`
    steps: tuple[str | int, ...] = ()  # keys of objects and positions in lists
    is_optional: bool = False

    def __str__(self) -> str:
        return f"{self.prefix(len(self.steps))}{'?' if self.is_optional else ''}"

    def prefix(self, count: int) -> str:
        """The path up to this number of steps, as text."""
        return self.root + "".join(_format_step(step) for step in self.steps[:count])


@lru_cache(maxsize=4096)
def parse_path(text: str) -> Path:
    body = text.strip()
    is_optional = body.endswith("?")
    body = body.removesuffix("?")
    root = _ROOT.match(body)
    if not root:
        raise PathError(f"invalid path {text!r}: start with the key of a checkpoint or with `input`")
    steps: list[str | int] = []
    position = root.end()
    while position < len(body):
        step = _STEP.match(body, position)
        if not step:
            message = f'expected .name, [0] or ["name"], but got {body[position:]!r}'
            raise PathError(f"invalid path {text!r}: {message}")
        steps.append(int(step["index"]) if step["index"] else step["name"] or _decode_quoted(step["quoted"], text))
        position = step.end()
    return Path(root[0], tuple(steps), is_optional)


def resolve(paths: Mapping[str, str], context: Mapping[str, Value]) -> dict[str, Value]:
    """The mapped inputs without missing optional ones, or the complete context if nothing is mapped."""
    if not paths:
        return dict(context)
    found: dict[str, Value] = {}
    errors: dict[str, str] = {}
    for target, text in paths.items():
        path = parse_path(text)
        try:
            found[target] = follow(path, context)
        except LookupError as error:
            if not path.is_optional:
                errors[target] = str(error.args[0])
    if errors:
        raise MappingError(errors)
    return found


def follow(path: Path, context: Mapping[str, Value]) -> Value:
    """Return the value at the path. Raises LookupError if there is none."""
    if path.root not in context:
        known = f"has {', '.join(sorted(context))}" if context else "is empty"
        raise LookupError(f"{path}: expected {path.root!r} in the run's context, but it {known}")
    value = context[path.root]
    for count, step in enumerate(path.steps):
        match value, step:
            case dict(), str() if step in value:
                value = value[step]
            case list(), int() if step < len(value):
                value = value[step]
            case _:
                raise LookupError(_missing_message(path, count, value))
    return value


def _missing_message(path: Path, count: int, value: Value) -> str:
    step = path.steps[count]
    expected = f"an item at position {step}" if isinstance(step, int) else f"the key {step!r}"
    match value:
        case dict():
            actual = f"has the keys {', '.join(map(repr, list(value)[:20]))}" if value else "is an empty object"
        case list():
            actual = f"is a list of {len(value)}"
        case _:
            actual = f"is {preview(value)}"
    return f"{path}: expected {expected} in {path.prefix(count)}, but it {actual}"


def _format_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _ROOT.fullmatch(step) and step.strip() == step else f"[{encode_json(step).decode()}]"


def _decode_quoted(quoted: str, text: str) -> str:
    try:
        return str(decode_json(quoted))
    except DocumentError as error:
        raise PathError(f"invalid path {text!r}: {error.message}") from None
