"""Ready-made pipelines that come with the product (P6). Each is a YAML file beside this one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from cairn.definitions.lenient import text as text_of
from cairn.documents import Positions, Value, decode_yaml


@dataclass(frozen=True, slots=True)
class Template:
    name: str  # of the file
    title: str
    description: str
    text: str  # YAML

    def read(self) -> tuple[Value, Positions]:
        return decode_yaml(self.text)


@cache
def templates() -> list[Template]:
    """All of them, by name."""
    found = (entry for entry in files("cairn.definitions.templates").iterdir() if entry.name.endswith(".yaml"))
    return [_read(entry.name, entry.read_text("utf-8")) for entry in sorted(found, key=lambda entry: entry.name)]


def _read(file: str, text: str) -> Template:
    document, _ = decode_yaml(text)
    name, title = file.removesuffix(".yaml"), text_of(document, "pipeline_name") or ""
    return Template(name, title, text_of(document, "pipeline_description") or "", text)
