"""Check the full form against the published schema. The messages also mention short forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from jsonschema_rs import ValidationErrorKind

from cairn.definitions.findings import Finding
from cairn.definitions.json_schema.messages import explain
from cairn.definitions.published_schemas import MODES, authoring_schema, full_validator
from cairn.documents import Value
from cairn.documents.pointers import child, join

NO_MODE = f"nothing executes this checkpoint: add {', '.join(f'`{mode}`' for mode in MODES)} or `execution`"


class ShapeError(NamedTuple):
    finding: Finding
    key: str | None = None  # the pointer to the key, if the key is invalid, not its value


def check_shape(document: Value) -> Iterator[ShapeError]:
    for error in full_validator().iter_errors(document):
        path = join(error.instance_path)
        match error.kind:
            case ValidationErrorKind.Required("execution"):
                yield ShapeError(Finding(path, NO_MODE))
            case ValidationErrorKind.FalseSchema():
                yield from (ShapeError(Finding(path, text), path) for text, _ in explain(error, authoring_schema()))
            case _:
                for text, key in explain(error, authoring_schema()):
                    yield ShapeError(Finding(path, text), None if key is None else child(path, key))
