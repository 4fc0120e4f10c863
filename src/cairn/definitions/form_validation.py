"""Check the answers in a form, field by field."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import cast

from cairn.definitions.enums import FieldType
from cairn.definitions.execution_config import InputField
from cairn.definitions.findings import Finding
from cairn.definitions.json_schema.messages import preview
from cairn.definitions.json_schema.patterns import MAX_TEXT, matches
from cairn.definitions.json_schema.validator import check_value
from cairn.definitions.outline import unknown_name
from cairn.documents import Value, encode_json
from cairn.documents.pointers import join

_TEXTS = (FieldType.TEXT, FieldType.MULTILINE_TEXT)
_EXPECTED = {
    FieldType.TEXT: "text",
    FieldType.MULTILINE_TEXT: "text",
    FieldType.NUMBER: "a number",
    FieldType.BOOLEAN: "true or false",
    FieldType.FILE: "the id of an uploaded file",
}


def check(fields: Iterable[InputField], values: Mapping[str, Value]) -> tuple[dict[str, Value], list[Finding]]:
    """Return the answers, with defaults and without unanswered fields, and the findings with the paths of fields."""
    clean: dict[str, Value] = {}
    known = {field.name: field for field in fields}
    unknown = [name for name in values if name not in known]
    findings = [Finding(join((name,)), unknown_name("field", name, list(known))) for name in unknown]
    for name, field in known.items():
        value = values.get(name)
        if value is None:
            value = cast("Value", field.default)
        if value is None or value == "":
            if field.required:
                findings.append(Finding(join((name,)), f"{field.label or name} is required"))
            elif value == "" and field.type in _TEXTS:
                clean[name] = ""
            continue
        clean[name] = value
        findings.extend(_field_errors(field, value))
    return clean, findings


def _field_errors(field: InputField, value: Value) -> list[Finding]:
    pointer = join((field.name,))
    if not _is_of_type(field.type, value):
        return [Finding(pointer, f"expected {_EXPECTED[field.type]}, but got {preview(value)}")]
    match field.validation:
        case str() as pattern:
            return [] if (message := _mismatch(field, pattern, value)) is None else [Finding(pointer, message)]
        case dict() as schema:
            return [Finding(pointer + path, message) for path, message in check_value(schema, value)]
        case None:
            return []


def _is_of_type(type: FieldType, value: Value) -> bool:
    match type:
        case FieldType.NUMBER:
            return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        case FieldType.BOOLEAN:
            return isinstance(value, bool)
        case FieldType.TEXT | FieldType.MULTILINE_TEXT | FieldType.FILE:
            return isinstance(value, str)


def _mismatch(field: InputField, pattern: str, value: Value) -> str | None:
    text = value if isinstance(value, str) else encode_json(value).decode()
    if len(text) > MAX_TEXT:
        return f"expected at most {MAX_TEXT:,} characters, but got {len(text):,}"
    is_match = matches(pattern, text, across_lines=field.type is FieldType.MULTILINE_TEXT)
    return None if is_match else f"expected text that matches {pattern}, but got {preview(value)}"
