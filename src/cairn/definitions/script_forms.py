"""The form for a script's parameters, derived from their schema or their current values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from cairn.definitions import form_validation
from cairn.definitions.enums import FieldType
from cairn.definitions.execution_config import InputField, ScriptConfig
from cairn.definitions.findings import Finding
from cairn.definitions.json_schema.validator import SchemaError, check_value
from cairn.documents import DocumentError, Value, decode_json, encode_json
from cairn.documents.pointers import join

MAX_SINGLE_LINE = 200  # characters; fields for longer texts are multi-line
_TYPES = {
    "string": FieldType.TEXT,
    "number": FieldType.NUMBER,
    "integer": FieldType.NUMBER,
    "boolean": FieldType.BOOLEAN,
}
_KEYWORDS = (
    *("enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "format", "type"),
)


def form_question(config: ScriptConfig) -> dict[str, Any]:
    """The form as JSON, which is the same for the same definition."""
    fields = [field.model_dump(mode="json") for field in form_fields(config)]
    return {"prompt": config.user_input_prompt or "", "fields": fields}


def form_fields(config: ScriptConfig) -> tuple[InputField, ...]:
    """A field for each parameter that is in the schema or the signature, or has a value."""
    schema = config.form_schema if isinstance(config.form_schema, dict) else {}
    described = _object(schema.get("properties"))
    listed = schema.get("required")
    required = set(cast("list[str]", listed)) if isinstance(listed, list) else set[str]()
    names = list(dict.fromkeys((*described, *config.parameters)))
    return tuple(_field(name, _object(described.get(name)), config.parameters, name in required) for name in names)


def check_answers(config: ScriptConfig, values: Mapping[str, Value]) -> tuple[dict[str, Value], list[Finding]]:
    """Return the parameters from the answers, and the findings with the paths of fields."""
    fields = form_fields(config)
    clean, findings = form_validation.check(fields, values)
    for field in fields:
        if _is_json_text(field, config) and isinstance(text := clean.get(field.name), str):
            try:
                clean[field.name] = decode_json(text)
            except DocumentError as error:
                findings.append(Finding(join((field.name,)), f"invalid JSON: {error}"))
    if not findings and config.form_schema is not None:
        try:
            violations = check_value(config.form_schema, {**config.parameters, **clean})
        except SchemaError as error:
            violations = [("", error.message)]
        findings = [Finding(path, message) for path, message in violations]
    return clean, findings


def _field(name: str, schema: Mapping[str, Any], values: Mapping[str, Any], is_required: bool) -> InputField:
    default = values.get(name, schema.get("default"))
    kind = _type(schema, default)
    if kind is None:  # lists, objects and mixed types are entered as JSON
        text = None if default is None else encode_json(default).decode()
        label = f"{_label(name, schema)} (JSON)"
        return InputField(name=name, type=FieldType.MULTILINE_TEXT, label=label, required=is_required, default=text)
    validation = {keyword: schema[keyword] for keyword in _KEYWORDS if keyword in schema}
    is_plain = set(validation) <= {"type"} and validation.get("type") != "integer"
    return InputField(
        name=name,
        type=kind,
        label=_label(name, schema),
        required=is_required,
        default=default,
        validation=None if is_plain else validation,
    )


def _type(schema: Mapping[str, Any], default: Any) -> FieldType | None:
    """The type of the field, or None if the value is entered as JSON."""
    match schema.get("type"), default:
        case "string", _:
            return FieldType.MULTILINE_TEXT if _is_long(schema, default) else FieldType.TEXT
        case str() as name, _:
            return _TYPES.get(name)
        case None, bool():
            return FieldType.BOOLEAN
        case None, int() | float():
            return FieldType.NUMBER
        case None, str():
            return FieldType.MULTILINE_TEXT if _is_long(schema, default) else FieldType.TEXT
        case None, None if all(isinstance(option, str) for option in schema.get("enum", (1,))):
            return FieldType.TEXT
        case _:
            return None


def _is_json_text(field: InputField, config: ScriptConfig) -> bool:
    schema = config.form_schema if isinstance(config.form_schema, dict) else {}
    described = _object(_object(schema.get("properties")).get(field.name))
    return _type(described, config.parameters.get(field.name, described.get("default"))) is None


def _is_long(schema: Mapping[str, Any], default: Any) -> bool:
    max_length = schema.get("maxLength")
    has_lines = isinstance(default, str) and "\n" in default
    return has_lines or (isinstance(max_length, int) and max_length > MAX_SINGLE_LINE)


def _label(name: str, schema: Mapping[str, Any]) -> str:
    label = schema.get("title") or schema.get("description")
    return label if isinstance(label, str) else name


def _object(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
