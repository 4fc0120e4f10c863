"""Script files of a pipeline."""

from __future__ import annotations

from cairn.services.view import Page, View


class Script(View):
    path: str
    checksum: str
    size_bytes: int
    used_by: list[str]  # keys of checkpoints


class SavedScript(Script):
    revision: int  # of the definition, from now on
    warnings: list[str]


class RemovedScript(View):
    path: str
    revision: int


class ScriptPage(Page[Script]):
    """All of them, by path."""
