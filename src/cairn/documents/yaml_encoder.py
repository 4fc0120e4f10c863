"""Encode values as readable YAML that decodes to the same value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cairn.documents.json_encoder import encode_json
from cairn.documents.values import Value
from cairn.documents.yaml_decoder import resolve

_WIDTH = 100  # a list or mapping of plain values is put on one line if it fits
_INDENT = "  "
# Safe without quotes: words that start with a letter, and separators that have no other meaning there.
_WORD = r"[\w./()'+*%&=@;$<>-]"
_PLAIN = re.compile(rf"[^\W\d]{_WORD}*(?:(?: |, |! |\? |:){_WORD}+)*[!?]?")
_PLAIN_IN_FLOW = re.compile(rf"[^\W\d]{_WORD}*(?: {_WORD}+)*")
# Characters that YAML parsers reject or treat as line breaks.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_NOT_IN_BLOCK = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def encode_yaml(value: Value) -> str:
    """Encode a value as one YAML document. Like `encode_json`, it rejects values that JSON can't represent."""
    encode_json(value)
    return "\n".join(_document(value)) + "\n"


def _document(value: Value) -> Iterator[str]:
    if not isinstance(value, dict) or not value:
        yield from _lines(value)
        return
    for key, inner in value.items():
        start = f"{_scalar(key, in_flow=True)}:"
        if isinstance(inner, list) and any(isinstance(item, dict) and item for item in inner):
            # The main lists of the document, such as `checkpoints`: one line per field gives readable diffs.
            yield start
            yield from (_INDENT + line if line else "" for item in inner for line in _item(item, block=True))
        else:
            yield from _member(start, inner)


def _lines(value: Value) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _member(f"{_scalar(key, in_flow=True)}:", inner)
    elif isinstance(value, list) and value:
        for inner in value:
            yield from _item(inner)
    elif isinstance(value, str) and _is_block(value):
        yield from _block("", value)
    else:
        yield _flow(value)


def _member(start: str, value: Value) -> Iterator[str]:
    """`key:` and its value, on the same line or on the next ones."""
    if isinstance(value, str) and _is_block(value):
        yield from _block(f"{start} ", value)
    elif not isinstance(value, dict | list):
        yield f"{start} {_scalar(value)}"
    elif _fits(value, len(start)):
        yield f"{start} {_flow(value)}"
    else:
        yield start
        yield from (_INDENT + line if line else "" for line in _lines(value))


def _item(value: Value, *, block: bool = False) -> Iterator[str]:
    """`- ` and its value, which starts on the same line."""
    if isinstance(value, str) and _is_block(value):
        yield from _block("- ", value)
    elif value and isinstance(value, dict | list) and (block or not _fits(value, 2)):
        for number, line in enumerate(_lines(value)):
            yield f"{_INDENT if number else '- '}{line}" if line else ""
    else:
        yield f"- {_flow(value) if isinstance(value, dict | list) else _scalar(value)}"


def _fits(value: Value, before: int) -> bool:
    """Whether a container fits on one line, because it is empty or has only plain values."""
    if not value:
        return True
    inner = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
    is_simple = not any(isinstance(item, dict | list) or (isinstance(item, str) and "\n" in item) for item in inner)
    return is_simple and before + len(_flow(value)) <= _WIDTH


def _flow(value: Value) -> str:
    if isinstance(value, dict):
        members = (f"{_scalar(key, in_flow=True)}: {_flow(inner)}" for key, inner in value.items())
        return f"{{ {', '.join(members)} }}" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return _scalar(value, in_flow=True)


def _scalar(value: Value, *, in_flow: bool = False) -> str:
    if not isinstance(value, str):
        return encode_json(value).decode()
    pattern = _PLAIN_IN_FLOW if in_flow else _PLAIN
    if pattern.fullmatch(value) and resolve(value) == value:
        return value
    quoted = encode_json(value).decode()
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _is_block(value: str) -> bool:
    if "\n" not in value.rstrip("\n") or _NOT_IN_BLOCK.search(value):
        return False
    return all(line == "" or line.strip(" \t") for line in value.split("\n"))


def _block(start: str, value: str) -> Iterator[str]:
    body = value.rstrip("\n")
    after = len(value) - len(body)
    hint = str(len(_INDENT)) if body[0] in " \t\n" else ""
    yield f"{start}|{hint}{'-' if not after else '' if after == 1 else '+'}"
    yield from (_INDENT + line if line else "" for line in body.split("\n"))
    yield from [""] * (after - 1)
