"""The events of the YAML parser as typed values. Only this module uses ruamel's parser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.reader import ReaderError

from cairn.documents.errors import DocumentError
from cairn.documents.source_map import SourcePosition


class YamlEventKind(Enum):
    DOCUMENT = auto()  # start of a document
    SCALAR = auto()
    ALIAS = auto()
    SEQUENCE = auto()  # start of a list
    MAPPING = auto()  # start of a mapping
    END = auto()  # of a list, a mapping, a document or the whole text


@dataclass(frozen=True, slots=True)
class YamlEvent:
    kind: YamlEventKind
    mark: SourcePosition
    text: str = ""
    is_quoted: bool = False  # or a block: always text
    anchor: str | None = None
    tag: str | None = None
    version: tuple[int, int] | None = None


_KINDS: dict[object, YamlEventKind] = {
    events.DocumentStartEvent: YamlEventKind.DOCUMENT,
    events.ScalarEvent: YamlEventKind.SCALAR,
    events.AliasEvent: YamlEventKind.ALIAS,
    events.SequenceStartEvent: YamlEventKind.SEQUENCE,
    events.MappingStartEvent: YamlEventKind.MAPPING,
}


def parse(source: str) -> Iterator[YamlEvent]:
    """The events of a text, without the start of the stream."""
    parser: Any = YAML(typ="safe", pure=True)
    try:
        for event in parser.parse(source):
            if not isinstance(event, events.StreamStartEvent):
                yield _event(event)
    except MarkedYAMLError as error:
        raise _syntax_error(error) from None
    except ReaderError as error:
        raise unescaped_error(source, _attribute(error, "position")) from None


def unescaped_error(source: str, offset: int) -> DocumentError:
    """The error for a character that is allowed only as an escape."""
    at = mark_at(source, offset)
    message = f"the character U+{ord(source[offset]):04X} must be written as an escape in double quotes"
    return DocumentError(message, at.line, at.column)


def mark_at(text: str, offset: int) -> SourcePosition:
    before = text[:offset]
    return SourcePosition(before.count("\n") + 1, len(before) - before.rfind("\n"))


def _event(event: Any) -> YamlEvent:
    version = getattr(event, "version", None)
    return YamlEvent(
        _KINDS.get(event.__class__, YamlEventKind.END),
        _mark(event.start_mark),
        str(getattr(event, "value", "")),
        getattr(event, "style", None) is not None,
        getattr(event, "anchor", None),
        None if (tag := getattr(event, "tag", None)) is None else str(tag),
        version and (version[0], version[1]),
    )


def _mark(mark: Any) -> SourcePosition:
    return SourcePosition(mark.line + 1, mark.column + 1)


def _syntax_error(error: MarkedYAMLError) -> DocumentError:
    at = _mark(_attribute(error, "problem_mark"))
    return DocumentError(f"invalid YAML: {_attribute(error, 'problem')}", at.line, at.column)


def _attribute(error: Exception, name: str) -> Any:
    return getattr(error, name)
