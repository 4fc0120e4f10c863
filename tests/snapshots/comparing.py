"""Compares a text with its snapshot file, or writes that file: `make snapshots` sets WRITE_SNAPSHOTS."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent


def compare_text(name: str, text: str) -> None:
    file = FOLDER / name
    if os.environ.get("WRITE_SNAPSHOTS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if not file.exists() or text != file.read_text(encoding="utf-8"):
        pytest.fail(f"tests/snapshots/{name} is stale: run `make snapshots`, then read its diff.", pytrace=False)


def compare_json(name: str, value: Any) -> None:
    compare_text(name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
