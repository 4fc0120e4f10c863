"""Definition files: YAML or JSON, with the scripts in the `scripts` folder next to them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cairn.cli.arguments import os_reason, read_bytes
from cairn.cli.client import JsonObject
from cairn.cli.exit_codes import CommandFailed, ExitCode

SUFFIXES = (".yaml", ".yml", ".json")
SCRIPTS = "scripts"
YAML, JSON = "application/yaml", "application/json"


@dataclass(frozen=True, slots=True)
class DefinitionSource:
    """A definition file as it is sent to the server."""

    file: str
    text: bytes
    media_type: str
    pipeline_name: str | None = None  # None if the text is invalid; the server reports why
    scripts: tuple[str, ...] = ()

    def located(self, finding: JsonObject) -> str:
        """The finding with its location as file:line:column, which editors can open."""
        location = self.file
        if finding.get("line"):
            location += f":{finding['line']}" + (f":{finding['column']}" if finding.get("column") else "")
        path = f" {finding['path']}:" if finding.get("path") else ""
        return f"{location}:{path} {finding['message']}"


def is_file(name: str) -> bool:
    """Whether the name is a definition file rather than a pipeline."""
    return name.endswith(SUFFIXES) and Path(name).is_file()


def is_path(name: str) -> bool:
    """Whether the name refers to stdin, a file or a folder rather than a pipeline."""
    return name == "-" or name.endswith(SUFFIXES) or Path(name).exists()


def only_file_in(name: str) -> str:
    """The file itself, or the only definition file in the folder."""
    first, *others = files_in(name)
    if others:
        raise CommandFailed(ExitCode.USAGE, f"{name} contains several definitions. Choose one.", (first, *others))
    return first


def collect(names: Iterable[str]) -> list[DefinitionSource]:
    """Read files, and all definitions directly in folders."""
    return [read(file) for name in names for file in files_in(name)]


def files_in(name: str) -> Iterator[str]:
    """The file itself, or the definition files in the folder."""
    folder = Path(name)
    if name == "-" or not folder.is_dir():
        yield name
        return
    files = sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES and file.is_file())
    if not files:
        raise CommandFailed(
            ExitCode.USAGE, f"{name} contains no definition. Definition files end in .yaml, .yml or .json."
        )
    yield from map(str, files)


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
    pipeline_name = value.get("pipeline_name")
    scripts = {} if SCRIPTS in value or name == "-" else _read_scripts(Path(name).parent / SCRIPTS)
    if scripts:
        text, media_type = _with_scripts(text, value, scripts, media_type)
    return DefinitionSource(
        name, text, media_type, pipeline_name if isinstance(pipeline_name, str) else None, tuple(scripts)
    )


def _read_scripts(folder: Path) -> dict[str, str]:
    """The text of every file in the folder, by relative path. Skips hidden files and Python caches."""
    scripts: dict[str, str] = {}
    for file in sorted(folder.rglob("*")) if folder.is_dir() else ():
        parts = file.relative_to(folder).parts
        if not file.is_file() or any(part.startswith(".") or part == "__pycache__" for part in parts):
            continue
        try:
            scripts["/".join(parts)] = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise CommandFailed(ExitCode.USAGE, f"{file} is not valid UTF-8. Scripts must be UTF-8 text.") from None
        except OSError as error:
            raise CommandFailed(ExitCode.USAGE, f"Can't read {file}: {os_reason(error)}.") from None
    return scripts


def _with_scripts(text: bytes, value: JsonObject, scripts: dict[str, str], media_type: str) -> tuple[bytes, str]:
    """Append the scripts to the text, so that the lines before them keep their numbers in findings.

    The appended value is JSON, which is also YAML.
    """
    encoded = json.dumps(scripts).encode()
    is_block = media_type == YAML and not text.lstrip().startswith((b"{", b"%", b"---"))
    if is_block and not text.rstrip().endswith(b"..."):
        return text.rstrip(b"\n") + b"\nscripts: " + encoded + b"\n", YAML
    from cairn.documents import encode_json

    document: Any = {**value, SCRIPTS: scripts}
    return encode_json(document), JSON
