"""The schema of a script's parameters, read from the signature of its entry function without running it."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from typing import Any

from cairn.core.states import ExecutionMode
from cairn.definitions.execution_config import ScriptConfig
from cairn.definitions.frozen_model import JsonSchema
from cairn.definitions.model import CheckpointDefinition, PipelineDefinition

_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}
_NO_DEFAULT = ast.Constant(value=...)


def with_signatures(definition: PipelineDefinition, read: Callable[[str], str]) -> PipelineDefinition:
    """Add the signatures of scripts that ask people for parameters. `read` returns a script's text by checksum."""
    if not any(_asks(checkpoint) for checkpoint in definition.checkpoints):
        return definition
    checkpoints = tuple(_with_signature(definition, checkpoint, read) for checkpoint in definition.checkpoints)
    return definition.model_copy(update={"checkpoints": checkpoints})


def _asks(checkpoint: CheckpointDefinition) -> bool:
    config = checkpoint.execution.script_config
    is_script = checkpoint.execution.mode is ExecutionMode.SCRIPT
    return is_script and config is not None and config.requires_user_input and config.parameters_schema is None


def _with_signature(
    definition: PipelineDefinition, checkpoint: CheckpointDefinition, read: Callable[[str], str]
) -> CheckpointDefinition:
    config = checkpoint.execution.script_config
    if config is None or not _asks(checkpoint):
        return checkpoint
    file = definition.scripts.get(checkpoint.script_file or "")
    source = config.script_source or (read(file.checksum) if file is not None else "")
    signed = config.model_copy(update={"signature": signature(source, config.entry_function)})
    execution = checkpoint.execution.model_copy(update={"script_config": signed})
    return checkpoint.model_copy(update={"execution": execution})


def signature(source: str, entry_function: str) -> JsonSchema | None:
    """The parameters of the entry function after `ctx`. None if the function can't be found."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    entry = next((function for function in functions[::-1] if function.name == entry_function), None)
    if entry is None:
        return None
    parameters = list(_parameters(entry.args))
    required = [argument.arg for argument, default in parameters if default is _NO_DEFAULT]
    return {
        "type": "object",
        "properties": {argument.arg: _schema(argument.annotation, default) for argument, default in parameters},
        **({"required": required} if required else {}),
    }


def _parameters(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """The parameters that are passed by name, with their defaults."""
    positional = [*arguments.posonlyargs, *arguments.args]
    missing = [_NO_DEFAULT] * (len(positional) - len(arguments.defaults))
    pairs = list(zip(positional, [*missing, *arguments.defaults], strict=True))
    yield from pairs[max(1, len(arguments.posonlyargs)) :]
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield argument, _NO_DEFAULT if default is None else default


def _schema(annotation: ast.expr | None, default: ast.expr) -> dict[str, Any]:
    value = _literal(default) if default is not _NO_DEFAULT else None
    schema = _annotated(annotation)
    if not schema and value is None:
        schema = {"type": "string"}  # as people type it
    return schema if value is None else {**schema, "default": value}


def _literal(node: ast.expr) -> Any:
    """A JSON value, or None for anything that only running the script would tell."""
    try:
        value: Any = ast.literal_eval(node)
        is_json = json.loads(json.dumps(value, allow_nan=False)) == value
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if is_json else None


def _annotated(annotation: ast.expr | None) -> dict[str, Any]:
    match annotation:
        case ast.Name(id=name) if name in _TYPES:
            return {"type": _TYPES[name]}
        case ast.Constant(value=str() as text):  # a quoted annotation
            try:
                return _annotated(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return {}
        case ast.BinOp(left=left, op=ast.BitOr(), right=ast.Constant(value=None)):
            return _annotated(left)
        case ast.Subscript(value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"), slice=inner):
            return _annotated(inner)
        case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal"), slice=inner):
            options = [_literal(one) for one in (inner.elts if isinstance(inner, ast.Tuple) else [inner])]
            return {"enum": options}
        case ast.Subscript(value=ast.Name(id="list" | "dict" as name)):
            return {"type": _TYPES[name]}
        case _:
            return {}


def empty_form_reason(config: ScriptConfig, source: str) -> str | None:
    """Why a script asks people for parameters with an empty form. None if the form has fields."""
    if not config.requires_user_input or config.parameters_schema is not None or config.parameters:
        return None
    found = signature(source, config.entry_function)
    if found is None:
        return f"the parameters of {config.entry_function} can't be read. Define the function in this script"
    is_empty = isinstance(found, dict) and not found["properties"]
    return f"{config.entry_function} has no parameters but ctx. Add parameters" if is_empty else None
