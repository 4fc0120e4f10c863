"""The script files of a definition: their paths and contents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256

from cairn.definitions.frozen_model import DefinitionModel, Document
from cairn.definitions.raw_document import section
from cairn.documents import Value

MAX_BYTES = 1024 * 1024  # of one script
_MAX_NAME_BYTES = 255  # per part of a path; every supported file system allows this
_RESERVED_PREFIX = ".cairn-new-"  # the names of files that are being written
_PART = re.compile(r"\.?[^/.\\\x00-\x1f][^/\\\x00-\x1f]*")


class ScriptFile(DefinitionModel):
    """A script file. Its text is stored by checksum."""

    checksum: str
    size_bytes: int


def normalize_path(path: str) -> str:
    """`./report.py` is the same path as `report.py`."""
    return path.removeprefix("./")


def path_error(path: str) -> str | None:
    """The reason why a script can't have this path, or None."""
    parts = normalize_path(path).split("/")
    if not all(_PART.fullmatch(part) for part in parts) or len(path) > 500:
        return "expected a relative path with forward slashes that stays inside the scripts folder"
    if any(len(part.encode(errors="replace")) > _MAX_NAME_BYTES or part.startswith(_RESERVED_PREFIX) for part in parts):
        return "this is not a valid file name: choose another one"
    return None


def reference(text: str) -> Document:
    """The entry in a definition that refers to this text."""
    content = text.encode(errors="replace")
    return {"checksum": sha256(content).hexdigest(), "size_bytes": len(content)}


def inline_scripts(document: Value) -> dict[str, str]:
    """The texts of the scripts in a document, by path."""
    return {normalize_path(path): text for path, text in section(document, "scripts").items() if isinstance(text, str)}


def replace_texts(pipeline: Document) -> None:
    """Replace each script text by a reference to it."""
    scripts = pipeline.get("scripts")
    if isinstance(scripts, dict):
        pipeline["scripts"] = {
            normalize_path(path): reference(entry) if isinstance(entry, str) else entry
            for path, entry in scripts.items()
        }


def with_texts(document: Mapping[str, Value], texts: Mapping[str, str]) -> Document:
    """The document with the known script texts instead of references, for applying it to another installation."""
    scripts = document.get("scripts")
    if not isinstance(scripts, dict) or not scripts:
        return dict(document)
    return {**document, "scripts": {path: texts.get(path, entry) for path, entry in scripts.items()}}
