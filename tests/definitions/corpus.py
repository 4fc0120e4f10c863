"""The corpus of definitions: valid ones, and invalid ones with one error each."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any, cast

from cairn.definitions import Document, PipelineDefinition, assign_ids, load, stamp
from cairn.documents import SourceMap, decode_json, decode_yaml

FOLDER = Path(__file__).parent / "corpus"
VALID = sorted((FOLDER / "valid").iterdir())
EXPECTED = cast("dict[str, dict[str, str]]", decode_json((FOLDER / "expected.json").read_bytes()))
MORNING, EVENING = "2026-01-01T09:00:00Z", "2026-01-01T18:00:00Z"


def read(path: Path) -> tuple[Any, SourceMap]:
    return decode_yaml(path.read_text("utf-8"))


def read_invalid(name: str) -> tuple[Any, SourceMap]:
    return read(FOLDER / "invalid" / name)


def pipeline(*checkpoints: Any, **fields: Any) -> Document:
    return {"pipeline_name": "P", **fields, "checkpoints": list(checkpoints)}


def ids() -> Any:
    """A source of numbered ids."""
    numbers = count(1)
    return lambda: f"00000000-0000-4000-8000-{next(numbers):012x}"


def no_id() -> str:
    raise AssertionError("expected no new id")


def saved(document: Any) -> PipelineDefinition:
    """The definition after it is saved for the first time."""
    return stamp(assign_ids(load(document).definition, None, ids()), None, MORNING)


def saved_again(document: Any, old: PipelineDefinition, new_id: Any = no_id) -> PipelineDefinition:
    return stamp(assign_ids(load(document).definition, old, new_id), old, EVENING)
