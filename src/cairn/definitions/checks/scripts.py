"""Check the paths of script files."""

from __future__ import annotations

from collections.abc import Iterator

from cairn.definitions.findings import Finding
from cairn.definitions.outline import DefinitionOutline
from cairn.definitions.raw_document import section
from cairn.definitions.script_files import path_error
from cairn.documents.pointers import join


def check_scripts(outline: DefinitionOutline) -> Iterator[Finding]:
    paths = section(outline.document, "scripts")
    for path in paths:
        pointer = join(("scripts", path))
        if message := path_error(path):
            yield Finding(pointer, message)
        folder = path.rpartition("/")[0]
        while folder:
            if folder in paths:
                yield Finding(pointer, f"{folder!r} is a script and can't also be a folder: rename one of them")
            folder = folder.rpartition("/")[0]
