"""Script files that a definition brings: each has a place of its own."""

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
        place = join(("scripts", path))
        if message := path_error(path):
            yield Finding(place, message)
        above = path.rpartition("/")[0]
        while above:
            if above in paths:
                yield Finding(place, f"{above!r} is a script, so it cannot be a folder as well")
            above = above.rpartition("/")[0]
