"""Mask personal data and keys in text that leaves Cairn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

MASKED = "***"
MAX_DEPTH = 6  # of nested fields
MAX_ITEMS = 20  # of a list

_EMAIL = re.compile(r"(?<![\w.+-])([\w+-])[\w.+-]*@((?:[\w-]+\.)+[\w-]{2,})", re.UNICODE)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
_KEY = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bxox[abeprs]-[\w-]{10,}|\bA(?:KIA|SIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}"
    r"|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*|\bnpm_[A-Za-z0-9]{30,}|\bcairn_[\w-]{20,}"
)
_BEARER = re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)
_ASSIGNMENT = re.compile(
    r"(?i)\b([\w-]*(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|private[_-]?key|access[_-]?key|credentials?)"
    r"[\w-]*[\"']?\s*[:=]\s*)(\"[^\"]*\"|'[^']*'|[^\s,;&\"']+)"
)
_URL_CREDENTIALS = re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+@")
_IBAN = re.compile(r"\b([A-Z]{2})\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
_CARD = re.compile(r"(?<![\w.,-])\d(?:[ -]?\d){12,18}(?![\w-])")
_PHONE = re.compile(
    r"(?<![\w.])(?:\+|00)\d{1,3}[\s./-]?(?:\(\d{1,5}\)[\s./-]?)?\d{1,5}(?:[\s./-]?\d{2,5}){1,5}(?![\w])"
    r"|(?<![\w.])\(\d{2,5}\)[\s./-]?\d{2,5}(?:[\s./-]?\d{2,5}){1,3}(?![\w])"
    r"|(?<![\w.-])\d{3}[.\s-]\d{3}[.\s-]\d{4}(?![\w.-])"
)
_SECRET_FIELD = re.compile(
    r"(?i)passw|passphrase|secret|token|credential|authorization|cookie|cvv|cvc|iban|ssn|card_?number|"
    r"(api|private|access)[_-]?key"
)


def mask(text: str) -> str:
    """Mask text that looks like personal data or a key. The rest stays readable."""
    text = _PRIVATE_KEY.sub(MASKED, text)
    text = _URL_CREDENTIALS.sub(f"{MASKED}@", text)
    text = _BEARER.sub(rf"\1 {MASKED}", text)
    text = _KEY.sub(MASKED, text)
    text = _ASSIGNMENT.sub(rf"\1{MASKED}", text)
    text = _EMAIL.sub(rf"\1{MASKED}@\2", text)
    text = _IBAN.sub(rf"\1{MASKED}", text)
    text = _CARD.sub(_mask_card, text)
    return _PHONE.sub(_mask_phone, text)


def mask_fields(value: Any, depth: int = 0) -> list[tuple[str, str]]:
    """The fields of a value as pairs of path and text. Fields whose name suggests a secret are masked completely."""
    if not isinstance(value, Mapping):
        return [("value", mask(_format(value)))]
    fields: list[tuple[str, str]] = []
    for name, inner in cast("Mapping[str, Any]", value).items():
        if _SECRET_FIELD.search(str(name)):
            fields.append((str(name), MASKED))
        elif isinstance(inner, Mapping) and inner and depth < MAX_DEPTH:
            fields += [(f"{name}.{path}", text) for path, text in mask_fields(inner, depth + 1)]
        else:
            fields.append((str(name), mask(_format(inner))))
    return fields


def _mask_card(match: re.Match[str]) -> str:
    digits = [int(c) for c in match.group() if c.isdigit()]
    doubled = [d if n % 2 == 0 else (d * 2 - 9 if d > 4 else d * 2) for n, d in enumerate(reversed(digits))]
    is_card = sum(doubled) % 10 == 0
    return f"{MASKED} {''.join(map(str, digits[-4:]))}" if is_card else match.group()


def _mask_phone(match: re.Match[str]) -> str:
    digits = [c for c in match.group() if c.isdigit()]
    return f"{MASKED}{''.join(digits[-2:])}" if 7 <= len(digits) <= 15 else match.group()


def _format(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return ", ".join(_format(item) for item in cast("list[Any]", value)[:MAX_ITEMS])
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {text}" for name, text in mask_fields(cast("Mapping[str, Any]", value)))
    return str(value)
