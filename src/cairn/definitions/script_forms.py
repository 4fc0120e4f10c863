"""The plain form that asks for a script's parameters: made from their schema, or from the values that stand there."""

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

LONG = 200  # characters from which on a text gets several lines
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
    """What people are asked, as a value that does not change while the definition does not."""
    fields = [field.model_dump(mode="json") for field in form_fields(config)]
    return {"prompt": config.user_input_prompt or "", "fields": fields}


def form_fields(config: ScriptConfig) -> tuple[InputField, ...]:
    """One field for each parameter that the schema names, and for each that has a value already."""
    schema = config.parameters_schema if isinstance(config.parameters_schema, dict) else {}
    described = _object(schema.get("properties"))
    required = schema.get("required")
    wanted = set(cast("list[str]", required)) if isinstance(required, list) else set[str]()
    names = list(dict.fromkeys((*described, *config.parameters)))
    return tuple(_field(name, _object(described.get(name)), config.parameters, name in wanted) for name in names)


def check_answers(config: ScriptConfig, values: Mapping[str, Value]) -> tuple[dict[str, Value], list[Finding]]:
    """The parameters that the answers make, and every fault at its field."""
    fields = form_fields(config)
    clean, findings = form_validation.check(fields, values)
    for field in fields:
        if _is_json_text(field, config) and isinstance(text := clean.get(field.name), str):
            try:
                clean[field.name] = decode_json(text)
            except DocumentError as error:
                findings.append(Finding(join((field.name,)), f"expected JSON, but {error}"))
    if not findings and config.parameters_schema is not None:
        try:
            faults = check_value(config.parameters_schema, {**config.parameters, **clean})
        except SchemaError as error:
            faults = [("", error.message)]
        findings = [Finding(path, message) for path, message in faults]
    return clean, findings


def _field(name: str, schema: Mapping[str, Any], values: Mapping[str, Any], is_required: bool) -> InputField:
    default = values.get(name, schema.get("default"))
    kind = _type(schema, default)
    if kind is None:  # lists, objects and whatever has no field of its own are written as JSON
        text = None if default is None else encode_json(default).decode()
        hint = f"{_label(name, schema)} (JSON)"
        return InputField(name=name, type=FieldType.MULTILINE_TEXT, label=hint, required=is_required, default=text)
    narrowed = {keyword: schema[keyword] for keyword in _KEYWORDS if keyword in schema}
    is_plain = set(narrowed) <= {"type"} and narrowed.get("type") != "integer"
    return InputField(
        name=name,
        type=kind,
        label=_label(name, schema),
        required=is_required,
        default=default,
        validation=None if is_plain else narrowed,
    )


def _type(schema: Mapping[str, Any], default: Any) -> FieldType | None:
    """The type of field for a value; None if it has to be written as JSON."""
    match schema.get("type"), default:
        case "string", _:
            return FieldType.MULTILINE_TEXT if _is_long(schema, default) else FieldType.TEXT
        case str() as named, _:
            return _TYPES.get(named)
        case None, bool():
            return FieldType.BOOLEAN
        case None, int() | float():
            return FieldType.NUMBER
        case None, str():
            return FieldType.MULTILINE_TEXT if _is_long(schema, default) else FieldType.TEXT
        case None, None if all(isinstance(one, str) for one in schema.get("enum", (1,))):
            return FieldType.TEXT
        case _:
            return None


def _is_json_text(field: InputField, config: ScriptConfig) -> bool:
    schema = config.parameters_schema if isinstance(config.parameters_schema, dict) else {}
    described = _object(_object(schema.get("properties")).get(field.name))
    return _type(described, config.parameters.get(field.name, described.get("default"))) is None


def _is_long(schema: Mapping[str, Any], default: Any) -> bool:
    long = schema.get("maxLength")
    return (isinstance(long, int) and long > LONG) or (isinstance(default, str) and "\n" in default)


def _label(name: str, schema: Mapping[str, Any]) -> str:
    told = schema.get("title") or schema.get("description")
    return told if isinstance(told, str) else name


def _object(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
