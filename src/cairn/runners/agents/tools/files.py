"""`file_operations`: list, read, write, edit, search, copy and delete files in the workspace and in staging."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from cairn.runners.agents.toolbox import Tool, ToolError, as_data
from cairn.runners.agents.tools.jail import Entry, Jail
from cairn.runners.limits import MEGABYTE, megabytes
from cairn.runners.prompt_layouts import displayable

MAX_READ_BYTES = 10 * MEGABYTE  # of one file
MAX_LINES = 2_000  # per call
MAX_ENTRIES = 500
MAX_MATCHES = 100
MAX_MATCH_CHARACTERS = 300
MAX_SEARCH_BYTES = 100 * MEGABYTE  # per call

PATH: dict[str, Any] = {
    "type": "string",
    "description": "A path, such as workspace/notes.txt or artifacts_staging/report.md.",
}
FOLDER: dict[str, Any] = {"type": "string", "description": "A folder. Default: all folders.", "default": ""}


def file_tools(jail: Jail, folders: Sequence[str], max_bytes: int) -> list[Tool]:
    """The tools for the folders. `max_bytes` limits the size of files that are written."""
    files = FileTools(jail, folders, max_bytes)
    return [
        _tool(
            "list_files",
            f"List files and folders with their sizes. Your folders are {' and '.join(folders)}.",
            files.list,
            {"folder": FOLDER},
        ),
        _tool(
            "read_file",
            "Read a text file or a range of its lines.",
            files.read,
            {
                "path": PATH,
                "first_line": {"type": "integer", "minimum": 1, "default": 1},
                "lines": {"type": "integer", "minimum": 1, "maximum": MAX_LINES, "default": MAX_LINES},
            },
            "path",
        ),
        _tool(
            "write_file",
            "Write a complete text file. An existing file is replaced.",
            files.write,
            {"path": PATH, "content": {"type": "string"}},
            "path",
            "content",
        ),
        _tool(
            "edit_file",
            "Replace text in a file. The old text must occur exactly once, unless `all` is true.",
            files.edit,
            {
                "path": PATH,
                "old": {"type": "string", "minLength": 1},
                "new": {"type": "string"},
                "all": {"type": "boolean", "default": False},
            },
            "path",
            "old",
            "new",
        ),
        _tool(
            "search_files",
            "Find lines that contain a text, in all files of a folder and its subfolders. Case is ignored.",
            files.search,
            {"text": {"type": "string", "minLength": 1}, "folder": FOLDER},
            "text",
        ),
        _tool(
            "copy_file",
            "Copy a text or binary file.",
            files.copy,
            {"source": PATH, "target": PATH},
            "source",
            "target",
        ),
        _tool("delete_file", "Delete a file.", files.delete, {"path": PATH}, "path"),
    ]


def _tool(name: str, description: str, call: Callable[..., str], properties: dict[str, Any], *required: str) -> Tool:
    async def use(arguments: dict[str, Any]) -> str:
        try:
            return await asyncio.to_thread(lambda: call(**arguments))
        except OSError as error:
            raise ToolError(f"The operation failed: {error.strerror or error}.") from None

    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return Tool(name, description, schema, use)


class FileTools:
    """The functions of the tools. Each returns the text for the model."""

    def __init__(self, jail: Jail, folders: Sequence[str], max_bytes: int) -> None:
        self._jail = jail
        self._folders = folders
        self._max_bytes = max_bytes

    def list(self, folder: str = "") -> str:
        found = list(islice(self._below(folder), MAX_ENTRIES + 1))
        lines = [_describe(entry) for entry in found[:MAX_ENTRIES]]
        more = ["There are more files. List a subfolder to see them."] if len(found) > MAX_ENTRIES else []
        return as_data("Files", "\n".join([*lines, *more]) or "No files.")

    def read(self, path: str, first_line: int = 1, lines: int = MAX_LINES) -> str:
        name, text = self._jail.normalize(path), self._text(path)
        all_lines = text.splitlines(keepends=True)
        selected = all_lines[first_line - 1 : first_line - 1 + lines]
        if not selected and all_lines:
            raise ToolError(f"{name} has only {len(all_lines):,} lines.")
        last = first_line + len(selected) - 1
        part = "" if len(selected) == len(all_lines) else f", lines {first_line:,} to {last:,} of {len(all_lines):,}"
        return as_data(f"{name}{part}", "".join(selected))

    def write(self, path: str, content: str) -> str:
        data = _encoded(content)
        existed = self._jail.write(path, data, self._max_bytes)
        return f"{'Replaced' if existed else 'Wrote'} {self._jail.normalize(path)} ({len(data):,} bytes)."

    def edit(self, path: str, old: str, new: str, all: bool = False) -> str:
        text, name = self._text(path), self._jail.normalize(path)
        count = text.count(old)
        if count == 0:
            raise ToolError(f"Text not found in {name}. Read it again: spaces and line breaks must match exactly.")
        if count > 1 and not all:
            raise ToolError(f"The text occurs {count} times in {name}. Include more surrounding text, or set `all`.")
        self._jail.write(path, _encoded(text.replace(old, new)), self._max_bytes)
        return f"Replaced {count} occurrence{'s' if count > 1 else ''} in {name}."

    def search(self, text: str, folder: str = "") -> str:
        found = list(islice(self._matches(text.casefold(), folder), MAX_MATCHES + 1))
        more = ["There are more matches. Search for a more specific text."] if len(found) > MAX_MATCHES else []
        return as_data("Matches", "\n".join([*found[:MAX_MATCHES], *more]) or "No matches.")

    def copy(self, source: str, target: str) -> str:
        data = self._jail.read(source, self._max_bytes)
        self._jail.write(target, data, self._max_bytes)
        return f"Copied {self._jail.normalize(source)} to {self._jail.normalize(target)} ({len(data):,} bytes)."

    def delete(self, path: str) -> str:
        self._jail.remove(path)
        return f"Deleted {self._jail.normalize(path)}."

    def _text(self, path: str) -> str:
        try:
            return self._jail.read(path, MAX_READ_BYTES).decode()
        except UnicodeDecodeError:
            raise ToolError(f"{self._jail.normalize(path)} is not text.") from None

    def _below(self, folder: str) -> Iterator[Entry]:
        for top in [folder] if folder.strip("./") else self._folders:
            yield from self._jail.entries(top)

    def _matches(self, text: str, folder: str) -> Iterator[str]:
        left = MAX_SEARCH_BYTES
        for entry in self._below(folder):
            if not entry.is_file or entry.size > min(MAX_READ_BYTES, left):
                continue
            left -= entry.size
            try:
                lines = self._text(entry.path).splitlines()
            except ToolError:
                continue
            for number, line in enumerate(lines, 1):
                if text in line.casefold():
                    yield f"{entry.path}:{number}: {line.strip()[:MAX_MATCH_CHARACTERS]}"


def _describe(entry: Entry) -> str:
    path = displayable(entry.path)
    if path != entry.path:
        return f"{path} (unsupported name)"
    if entry.is_folder:
        return f"{path}/"
    if not entry.is_file:
        return f"{path} (a link or a special file)"
    return f"{path} ({entry.size:,} bytes)" if entry.size < MEGABYTE else f"{path} ({megabytes(entry.size)})"


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ToolError("The text contains half of a surrogate pair, which is not a valid character.") from None
