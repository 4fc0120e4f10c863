"""Script files of a definition: their paths, their contents, and who runs them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256

from cairn.definitions.frozen_model import DefinitionModel, Document
from cairn.definitions.raw_document import section
from cairn.documents import Value

MAX_BYTES = 1024 * 1024  # of one script
_LONGEST_NAME = 255  # bytes of one step of a path, on every file system
_RESERVED = ".cairn-new-"  # names of files that are half written
_STEP = re.compile(r"\.?[^/.\\\x00-\x1f][^/\\\x00-\x1f]*")


class ScriptFile(DefinitionModel):
    """A file by what it holds; the text itself is kept once, by its checksum."""

    checksum: str
    size_bytes: int


def normalize_path(path: str) -> str:
    """One spelling of a path: `./report.py` is `report.py`."""
    return path.removeprefix("./")


def path_error(path: str) -> str | None:
    """Why a file cannot bear this path."""
    steps = normalize_path(path).split("/")
    if not all(_STEP.fullmatch(step) for step in steps) or len(path) > 500:
        return (
            "a script is named by a path inside the scripts folder, with forward slashes, that never climbs out of it"
        )
    if any(len(step.encode(errors="replace")) > _LONGEST_NAME or step.startswith(_RESERVED) for step in steps):
        return "this cannot be the name of a file"
    return None


def reference(text: str) -> Document:
    """How a definition refers to a text."""
    content = text.encode(errors="replace")
    return {"checksum": sha256(content).hexdigest(), "size_bytes": len(content)}


def inline_scripts(document: Value) -> dict[str, str]:
    """The scripts that a document brings along, by path."""
    return {normalize_path(path): text for path, text in section(document, "scripts").items() if isinstance(text, str)}


def replace_texts(pipeline: Document) -> None:
    """In place of each text stands what refers to it."""
    scripts = pipeline.get("scripts")
    if isinstance(scripts, dict):
        pipeline["scripts"] = {
            normalize_path(path): reference(entry) if isinstance(entry, str) else entry
            for path, entry in scripts.items()
        }


def with_texts(document: Mapping[str, Value], texts: Mapping[str, str]) -> Document:
    """The document with the texts themselves, as far as they are given: it can be applied elsewhere."""
    scripts = document.get("scripts")
    if not isinstance(scripts, dict) or not scripts:
        return dict(document)
    return {**document, "scripts": {path: texts.get(path, entry) for path, entry in scripts.items()}}
