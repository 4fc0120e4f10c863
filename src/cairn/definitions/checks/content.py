"""Check the JSON Schemas, regular expressions, functions and limits in a definition."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cairn.core.states import ExecutionMode
from cairn.definitions.findings import DefinitionLimits, Finding
from cairn.definitions.json_schema.patterns import check_pattern
from cairn.definitions.json_schema.validator import SchemaError, check_value, compile_schema
from cairn.definitions.outline import DefinitionOutline, unknown_name
from cairn.definitions.raw_document import get, items, objects, section, text
from cairn.documents import Value
from cairn.documents.pointers import child, join

_FIELDS = ("execution", "human_only_config", "input_fields")
_PARAMETERS = ("execution", "script_config", "parameters_schema")


def check_schemas(outline: DefinitionOutline) -> Iterator[Finding]:
    """Compile every schema and pattern, except those that the shape check has already reported."""
    for path, found in _schemas(outline):
        if (schema := outline.schema(path, found)) is not None:
            try:
                compile_schema(schema)
            except SchemaError as error:
                yield Finding(path + error.path, error.message)
        elif isinstance(found, str) and outline.is_valid(path) and (message := check_pattern(found)):
            yield Finding(path, message)
    yield from _check_parameters(outline)


def check_size(document: Value, limits: DefinitionLimits) -> Iterator[Finding]:
    count = len(items(document, "checkpoints"))
    if count > limits.max_checkpoints:
        message = f"expected at most {limits.max_checkpoints} checkpoints, but got {count}"
        yield Finding("/checkpoints", message)


def check_limits(outline: DefinitionOutline, limits: DefinitionLimits) -> Iterator[Finding]:
    for checkpoint in outline.checkpoints:
        minutes = get(checkpoint.document, "execution", "timeout_config", "timeout_minutes")
        if isinstance(minutes, int | float) and minutes > limits.max_timeout_minutes:
            message = f"expected at most {limits.max_timeout_minutes:g} minutes, but got {minutes}"
            yield Finding(checkpoint.pointer("execution", "timeout_config", "timeout_minutes"), message)
        retries = get(checkpoint.document, "execution", "retry_config", "max_auto_retries")
        if isinstance(retries, int | float) and retries > limits.max_auto_retries:
            message = f"expected at most {limits.max_auto_retries} retries, but got {retries}"
            yield Finding(checkpoint.pointer("execution", "retry_config", "max_auto_retries"), message)


def check_functions(outline: DefinitionOutline, functions: Collection[str]) -> Iterator[Finding]:
    for checkpoint in outline.checkpoints:
        name = text(checkpoint.document, "execution", "function_config", "function")
        if checkpoint.mode == ExecutionMode.FUNCTION and name is not None and name not in functions:
            message = unknown_name("function", name, sorted(functions))
            yield Finding(checkpoint.pointer("execution", "function_config", "function"), message)


def _schemas(outline: DefinitionOutline) -> Iterator[tuple[str, Value]]:
    yield "/input_schema", get(outline.document, "input_schema")
    for name, action in section(outline.document, "actions").items():
        yield join(("actions", name, "schema")), get(action, "schema")
    for checkpoint in outline.checkpoints:
        yield checkpoint.pointer("input_schema"), checkpoint.document.get("input_schema")
        yield checkpoint.pointer("output_schema"), checkpoint.document.get("output_schema")
        yield checkpoint.pointer(*_PARAMETERS), get(checkpoint.document, *_PARAMETERS)
        for path, name in ((("output", "artifacts"), "schema"), (_FIELDS, "validation")):
            for index, part in objects(checkpoint.document, *path):
                yield child(checkpoint.pointer(*path, index), name), part.get(name)


def _check_parameters(outline: DefinitionOutline) -> Iterator[Finding]:
    """Check that parameters match their schema, unless a person completes them."""
    for checkpoint in outline.checkpoints:
        script = section(checkpoint.document, "execution", "script_config")
        schema = outline.schema(checkpoint.pointer(*_PARAMETERS), script.get("parameters_schema"))
        if schema is None or script.get("requires_user_input") is True:
            continue
        try:
            violations = check_value(schema, script.get("parameters"))
        except SchemaError:
            continue  # reported by `check_schemas`
        for path, message in violations:
            yield Finding(checkpoint.pointer("execution", "script_config", "parameters") + path, message)
