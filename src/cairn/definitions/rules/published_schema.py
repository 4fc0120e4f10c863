"""The published schema of rules."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, cast

import jsonschema_rs

from cairn.definitions.json_schema.validator import reject_fetch
from cairn.documents import decode_json


@cache
def schema() -> dict[str, Any]:
    return cast("dict[str, Any]", decode_json(files("cairn.definitions.rules").joinpath("schema.json").read_bytes()))


@cache
def validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator(schema(), retriever=reject_fetch)
