"""Summarize actions in one line, for the titles of their approvals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from cairn.documents import encode_json
from cairn.ports.tools import is_tool_operation
from cairn.services.actions.templates import fill
from cairn.services.text import single_line

SHORT_SUMMARIES: Mapping[str, str] = {
    "send_email": "Send an email",
    "http_request": "Call an API",
    "financial_transaction": "Move money",
    "database_update": "Change data",
}


def summarize(operation_type: str, parameters: Mapping[str, Any]) -> str:
    """Summarize an action with its parameters. Placeholders are replaced by their values, as on execution."""
    texts = {name: _text(value) for name, value in parameters.items()}
    return single_line(_sentence(operation_type, texts, parameters) or short_summary(operation_type))


def short_summary(operation_type: str) -> str:
    """Summarize an action without its parameters."""
    if operation_type in SHORT_SUMMARIES:
        return SHORT_SUMMARIES[operation_type]
    if is_tool_operation(operation_type):
        return single_line(f"Call {operation_type}")
    words = " ".join(operation_type.replace("_", " ").replace("-", " ").split())
    return single_line(words[:1].upper() + words[1:])


def _sentence(operation_type: str, texts: Mapping[str, str], parameters: Mapping[str, Any]) -> str:
    match operation_type:
        case "send_email" if texts.get("to"):
            subject = _filled(texts.get("subject", ""), parameters)
            return f"Send “{subject}” to {texts['to']}" if subject else f"Send an email to {texts['to']}"
        case "http_request" if texts.get("url"):
            return f"Call {texts.get('method') or 'POST'} {texts['url']}"
        case "financial_transaction" if texts.get("amount"):
            money = " ".join(filter(None, (texts["amount"], texts.get("currency"))))
            return f"Move {money} to {texts['account']}" if texts.get("account") else f"Move {money}"
        case "database_update" if texts.get("table"):
            return f"Change data in {texts['table']}"
        case _ if is_tool_operation(operation_type):
            arguments = ", ".join(f"{name} {text}" for name, text in texts.items())
            return f"Call {operation_type}: {arguments}" if arguments else f"Call {operation_type}"
        case _:
            return ""


def _filled(text: str, parameters: Mapping[str, Any]) -> str:
    try:
        return fill(text, parameters)
    except LookupError:
        return text


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case list():
            return ", ".join(_text(item) for item in cast("list[Any]", value))
        case _:
            return encode_json(value).decode()
