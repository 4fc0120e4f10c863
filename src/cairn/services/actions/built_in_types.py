"""The action types that every installation has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cairn.core.states import ActionEffect
from cairn.services.actions.action_type import ActionType

ADDRESS = {"type": "string", "format": "idn-email", "maxLength": 320}
ADDRESSES: dict[str, Any] = {
    "anyOf": [ADDRESS, {"type": "array", "items": ADDRESS, "minItems": 1, "maxItems": 100, "uniqueItems": True}]
}
LINE = {"type": "string", "pattern": r"^[^\r\n]*$", "maxLength": 998}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")

SEND_EMAIL: dict[str, Any] = {
    "title": "Send an email",
    "type": "object",
    "required": ["to", "subject"],
    "properties": {
        "to": {**ADDRESSES, "title": "To"},
        "cc": {**ADDRESSES, "title": "Copy"},
        "bcc": {**ADDRESSES, "title": "Blind copy"},
        "subject": {**LINE, "title": "Subject", "minLength": 1},
        "body": {"type": "string", "title": "Text", "default": "", "contentMediaType": "text/plain"},
        "attachments": {
            "type": "array",
            "title": "Attachments",
            "items": {"type": "string", "minLength": 1, "maxLength": 300},
            "maxItems": 50,
            "uniqueItems": True,
            "description": "Artifacts of this run, by name.",
        },
        "values": {
            "type": "object",
            "title": "Values",
            "description": "Values for the placeholders in the subject and the text, such as {{ amount }}.",
        },
    },
    "additionalProperties": False,
}
HTTP_REQUEST: dict[str, Any] = {
    "title": "Call an API",
    "type": "object",
    "required": ["url"],
    "properties": {
        "method": {"enum": list(METHODS), "default": "POST", "title": "Method"},
        "url": {"type": "string", "title": "Address", "minLength": 1, "maxLength": 4000},
        "headers": {
            "type": "object",
            "title": "Headers",
            "maxProperties": 50,
            "propertyNames": {"pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", "maxLength": 100},
            "additionalProperties": {"type": "string", "pattern": r"^[\t -~]*$", "maxLength": 8000},
        },
        "json": {"title": "JSON body"},
        "body": {"type": "string", "title": "Text body"},
        "timeout_seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 120, "default": 30},
    },
    "additionalProperties": False,
}
FINANCIAL_TRANSACTION: dict[str, Any] = {
    "title": "Move money",
    "type": "object",
    "required": ["amount"],
    "properties": {
        "amount": {"type": "number", "exclusiveMinimum": 0, "title": "Amount"},
        "currency": {"type": "string", "pattern": "^[A-Z]{3}$", "title": "Currency"},
        "account": {"type": "string", "minLength": 1, "title": "Account"},
        "reference": {"type": "string", "title": "Reference"},
    },
    "additionalProperties": False,
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
    "additionalProperties": False,
}

BUILT_IN: Mapping[str, ActionType] = {
    action.name: action
    for action in (
        ActionType(
            "send_email",
            title="Send an email",
            description="Sends an email through the mail server of this installation.",
            schema=SEND_EMAIL,
            effect=ActionEffect.CHANGES,
            identity=("recipients", "subject"),  # another wording doesn't make it another email
            executor="cairn",
            title_template="Send “{{ subject }}” to {{ recipients }}",
            source="built-in",
        ),
        ActionType(
            "http_request",
            title="Call an API",
            description="Sends an HTTP request. Redirects are not followed.",
            schema=HTTP_REQUEST,
            effect=ActionEffect.CHANGES,  # GET and HEAD requests only send
            identity=("method", "url", "json", "body"),
            executor="cairn",
            title_template="Call {{ method }} {{ url }}",
            source="built-in",
        ),
        ActionType(
            "financial_transaction",
            title="Move money",
            description="A payment or refund that the proposer carries out.",
            schema=FINANCIAL_TRANSACTION,
            identity=("amount", "currency", "account"),
            amount="amount",
            currency="currency",
            title_template="Move {{ amount }}[ {{ currency }}][ to {{ account }}]",
            source="built-in",
        ),
        ActionType(
            "database_update",
            title="Change data",
            description="A change in a database that the proposer carries out.",
            schema=DATABASE_UPDATE,
            title_template="Change data in {{ table }}",
            source="built-in",
        ),
    )
}
