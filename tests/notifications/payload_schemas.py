"""The JSON schemas of the payloads for each kind of channel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs

_FOLDER = Path(__file__).parent / "schemas"
_VALIDATORS = {
    kind: jsonschema_rs.Draft202012Validator(json.loads((_FOLDER / name).read_text()), validate_formats=True)
    for kind, name in (("teams", "adaptive_card.json"), ("slack", "slack_blocks.json"), ("webhook", "webhook.json"))
}


def schema_errors(kind: str, sent: Any) -> list[str]:
    return [f"{list(error.instance_path)}: {error.message}" for error in _VALIDATORS[kind].iter_errors(sent)]
