"""Definitions in files: a YAML or JSON file, and the scripts that lie in a folder beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cairn.cli.arguments import read_bytes
from cairn.cli.client import Answer
from cairn.cli.exit_codes import CommandFailed, ExitCode

ENDINGS = (".yaml", ".yml", ".json")
SCRIPTS = "scripts"
YAML, JSON = "application/yaml", "application/json"


@dataclass(frozen=True, slots=True)
class DefinitionSource:
    """What is sent to the server for a file."""

    file: str
    text: bytes
    media_type: str
    pipeline_name: str | None = None  # None if the text cannot be read: the server says why
    scripts: tuple[str, ...] = ()

    def placed(self, finding: Answer) -> str:
        """A fault as editors and people find it: file:line:column."""
        where = self.file
        if finding.get("line"):
            where += f":{finding['line']}" + (f":{finding['column']}" if finding.get("column") else "")
        path = f" {finding['path']}:" if finding.get("path") else ""
        return f"{where}:{path} {finding['message']}"


def is_file(name: str) -> bool:
    """Rather a file than a pipeline of that name."""
    return name.endswith(ENDINGS) and Path(name).is_file()


def collect(names: Iterable[str]) -> list[DefinitionSource]:
    """The files, and every definition that lies directly in a folder that is named."""
    return [read(file) for name in names for file in files_in(name)]


def files_in(name: str) -> Iterator[str]:
    """The file, or those of a folder."""
    folder = Path(name)
    if name == "-" or not folder.is_dir():
        yield name
        return
    found = sorted(file for file in folder.iterdir() if file.suffix in ENDINGS and file.is_file())
    if not found:
        raise CommandFailed(
            ExitCode.USAGE, f"There is no definition in {name}: a file that ends in .yaml, .yml or .json."
        )
    yield from map(str, found)


def read(name: str) -> DefinitionSource:
    from cairn.documents import DocumentError, decode_json, decode_yaml

    text = read_bytes(name)
    media_type = JSON if name.endswith(".json") else YAML
    try:
        value = decode_json(text) if media_type == JSON else decode_yaml(text)[0]
    except DocumentError:
        return DefinitionSource(name, text, media_type)
    if not isinstance(value, dict):
        return DefinitionSource(name, text, media_type)
    given = value.get("pipeline_name")
    pipeline_name = given if isinstance(given, str) else None
    scripts = {} if SCRIPTS in value or name == "-" else _scripts(Path(name).parent / SCRIPTS)
    if scripts:
        text, media_type = _with_scripts(text, value, scripts, media_type)
    return DefinitionSource(name, text, media_type, pipeline_name, tuple(scripts))


def _scripts(folder: Path) -> dict[str, str]:
    """Every file below the folder by its path there; what begins with a dot and Python's caches are left out."""
    found: dict[str, str] = {}
    for file in sorted(folder.rglob("*")) if folder.is_dir() else ():
        parts = file.relative_to(folder).parts
        if not file.is_file() or any(part.startswith(".") or part == "__pycache__" for part in parts):
            continue
        try:
            found["/".join(parts)] = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise CommandFailed(ExitCode.USAGE, f"{file} is not text in UTF-8: a script has to be.") from None
        except OSError as error:
            raise CommandFailed(
                ExitCode.USAGE, f"{file} cannot be read: {(error.strerror or str(error)).lower()}."
            ) from None
    return found


def _with_scripts(text: bytes, value: Answer, scripts: dict[str, str], media_type: str) -> tuple[bytes, str]:
    """At the end of the text, so that everything else keeps its line; JSON is YAML too."""
    written = json.dumps(scripts).encode()
    is_block = media_type == YAML and not text.lstrip().startswith((b"{", b"%", b"---"))
    if is_block and not text.rstrip().endswith(b"..."):
        return text.rstrip(b"\n") + b"\nscripts: " + written + b"\n", YAML
    from cairn.documents import encode_json

    whole: Any = {**value, SCRIPTS: scripts}
    return encode_json(whole), JSON
