"""Timer commands as JSON, the arguments of timer jobs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, get_args

from cairn.core.commands import Timer

_TIMER_TYPES: dict[str, type[Timer]] = {cls.__name__: cls for cls in get_args(Timer)}


def write_timer(command: Timer) -> str:
    return json.dumps({"type": type(command).__name__, **asdict(command)})


def read_timer(text: str) -> Timer:
    fields: dict[str, Any] = json.loads(text)
    return _TIMER_TYPES[fields.pop("type")](**fields)
