"""What an action would do, in one plain line: the title of its approval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from cairn.documents import encode_json
from cairn.services.actions.templates import fill
from cairn.services.text import single_line

SHORT: Mapping[str, str] = {
    "send_email": "Send an email",
    "http_request": "Call an API",
    "financial_transaction": "Move money",
    "database_update": "Change data",
}


def summarize(operation_type: str, parameters: Mapping[str, Any]) -> str:
    """Names of other parameters stand as their values, as they will when it is carried out."""
    said = {name: _line(value) for name, value in parameters.items()}
    return single_line(_sentence(operation_type, said, parameters) or short(operation_type))


def short(operation_type: str) -> str:
    """Without its parameters."""
    if operation_type in SHORT:
        return SHORT[operation_type]
    words = " ".join(operation_type.replace("_", " ").replace("-", " ").split())
    return single_line(words[:1].upper() + words[1:])


def _sentence(operation_type: str, said: Mapping[str, str], parameters: Mapping[str, Any]) -> str:
    match operation_type:
        case "send_email" if said.get("to"):
            subject = _filled(said.get("subject", ""), parameters)
            return f"Send “{subject}” to {said['to']}" if subject else f"Send an email to {said['to']}"
        case "http_request" if said.get("url"):
            return f"Call {said.get('method') or 'POST'} {said['url']}"
        case "financial_transaction" if said.get("amount"):
            money = " ".join(filter(None, (said["amount"], said.get("currency"))))
            return f"Move {money} to {said['account']}" if said.get("account") else f"Move {money}"
        case "database_update" if said.get("table"):
            return f"Change data in {said['table']}"
        case _:
            return ""


def _filled(text: str, parameters: Mapping[str, Any]) -> str:
    try:
        return fill(text, parameters)
    except LookupError:
        return text


def _line(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case list():
            return ", ".join(_line(one) for one in cast("list[Any]", value))
        case _:
            return encode_json(value).decode()
