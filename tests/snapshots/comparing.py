"""Compares a text with its snapshot, or writes the snapshot if WRITE_SNAPSHOTS is set, as `make snapshots` does."""

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
        pytest.fail(f"tests/snapshots/{name} is out of date. Run `make snapshots` and read the diff.", pytrace=False)


def compare_json(name: str, value: Any) -> None:
    compare_text(name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
