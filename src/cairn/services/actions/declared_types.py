"""Action types as the approvals of today read them. `catalogue` replaces this module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from cairn.core.rule_verdict import RiskLevel
from cairn.definitions import PipelineDefinition, check_value
from cairn.definitions.frozen_model import JsonSchema
from cairn.documents import Value
from cairn.ports.tools import is_tool_operation

ADDRESS = {"type": "string", "format": "email", "maxLength": 320}
ADDRESSES: dict[str, Any] = {
    "anyOf": [ADDRESS, {"type": "array", "items": ADDRESS, "minItems": 1, "maxItems": 100, "uniqueItems": True}]
}
LINE = {"type": "string", "pattern": r"^[^\r\n]*$", "maxLength": 998}

SEND_EMAIL: dict[str, Any] = {
    "title": "Send an email",
    "type": "object",
    "required": ["to", "subject"],
    "properties": {
        "to": {**ADDRESSES, "title": "To"},
        "cc": {**ADDRESSES, "title": "Copy"},
        "subject": {**LINE, "title": "Subject", "minLength": 1},
        "body": {"type": "string", "title": "Text", "default": "", "contentMediaType": "text/plain"},
        "amount": {"type": "number", "title": "Amount", "exclusiveMinimum": 0},
        "attachments": {
            "type": "array",
            "title": "Attachments",
            "items": {"type": "string", "minLength": 1},
            "description": "Artifacts of this run, by name.",
        },
    },
}
HTTP_REQUEST: dict[str, Any] = {
    "title": "Call an API",
    "type": "object",
    "required": ["url"],
    "properties": {
        "method": {"enum": ["GET", "POST", "PUT", "PATCH", "DELETE"], "default": "POST", "title": "Method"},
        "url": {"type": "string", "format": "uri", "pattern": "^https?://", "title": "Address", "maxLength": 4000},
        "headers": {
            "type": "object",
            "title": "Headers",
            "propertyNames": {"pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"},
            "additionalProperties": {"type": "string", "pattern": r"^[^\r\n]*$"},
        },
        "json": {"title": "JSON body"},
        "body": {"type": "string", "title": "Text body"},
        "timeout_seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 120, "default": 30},
    },
    "not": {"required": ["json", "body"]},
}
FINANCIAL_TRANSACTION: dict[str, Any] = {
    "title": "Move money",
    "type": "object",
    "required": ["amount"],
    "properties": {
        "amount": {"type": "number", "exclusiveMinimum": 0, "title": "Amount"},
        "currency": {"type": "string", "pattern": "^[A-Z]{3}$", "title": "Currency"},
        "account": {"type": "string", "minLength": 1, "title": "Account"},
    },
}
DATABASE_UPDATE: dict[str, Any] = {
    "title": "Change data",
    "type": "object",
    "required": ["table", "values"],
    "properties": {
        "table": {"type": "string", "minLength": 1, "title": "Table"},
        "where": {"type": "object", "title": "Where"},
        "values": {"type": "object", "minProperties": 1, "title": "Values"},
    },
}


@dataclass(frozen=True, slots=True)
class DeclaredType:
    name: str
    schema: JsonSchema | None = None
    risk: RiskLevel = RiskLevel.HIGH  # also of undeclared actions
    is_declared: bool = False  # by the pipeline
    description: str = ""

    @property
    def is_executed_by_cairn(self) -> bool:
        """Whether Cairn executes the action. Otherwise it returns the approved parameters to the proposer."""
        return self.name in EXECUTED_BY_CAIRN


EXECUTED_BY_CAIRN = frozenset({"send_email", "http_request"})
BUILT_IN: Mapping[str, dict[str, Any]] = {
    "send_email": SEND_EMAIL,
    "http_request": HTTP_REQUEST,
    "financial_transaction": FINANCIAL_TRANSACTION,
    "database_update": DATABASE_UPDATE,
}


def action_type(definition: PipelineDefinition, name: str) -> DeclaredType:
    """The action type that the pipeline declares, or the built-in one."""
    declared = definition.actions.get(name)
    if declared is None:
        return DeclaredType(name, BUILT_IN.get(name))
    schema = declared.parameters_schema if declared.parameters_schema is not None else BUILT_IN.get(name)
    return DeclaredType(name, schema, RiskLevel(declared.risk_level or RiskLevel.HIGH), True, declared.description)


def tool_action_type(name: str, supporting_data: Any) -> DeclaredType | None:
    """The type of a tool call, with the schema that the call was proposed with. None for other operations."""
    if not is_tool_operation(name):
        return None
    tool: Any = cast("dict[str, Any]", supporting_data).get("tool") if isinstance(supporting_data, dict) else None
    schema: Any = cast("dict[str, Any]", tool).get("schema") if isinstance(tool, dict) else None
    return DeclaredType(name, cast("JsonSchema", schema) if isinstance(schema, dict) else None)


def schema_violations(action: DeclaredType, parameters: Value) -> list[tuple[str, str]]:
    """Violations as paths and messages. Actions that Cairn executes must also match the built-in schema."""
    schemas = [action.schema, BUILT_IN[action.name]] if action.is_executed_by_cairn else [action.schema]
    violations = [v for schema in schemas if schema is not None for v in check_value(schema, parameters)]
    return [(violation.path, violation.message) for violation in dict.fromkeys(violations)]
