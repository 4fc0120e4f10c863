"""`file_operations`: list, read, write, edit, search, copy and delete, in the workspace and in staging."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from cairn.runners.agents.toolbox import Tool, ToolError, as_data
from cairn.runners.agents.tools.jail import Entry, Jail
from cairn.runners.limits import MEGABYTE, megabytes
from cairn.runners.prompt_layouts import shown

READABLE = 10 * MEGABYTE  # of one file
LINES = 2_000  # that are shown at once
ENTRIES = 500
MATCHES = 100
LONGEST_LINE = 300  # characters of a match
SEARCHED = 100 * MEGABYTE  # in one search

PATH: dict[str, Any] = {"type": "string", "description": "Such as workspace/notes.txt or artifacts_staging/report.md"}
FOLDER: dict[str, Any] = {"type": "string", "description": "A folder; by default everything", "default": ""}


def file_tools(jail: Jail, rooms: Sequence[str], most: int) -> list[Tool]:
    """`most`: bytes of one file that is written."""
    files = FileTools(jail, rooms, most)
    return [
        _tool(
            "list_files",
            f"List files and folders with their sizes. You have two folders: {' and '.join(rooms)}.",
            files.list,
            {"folder": FOLDER},
        ),
        _tool(
            "read_file",
            "Read a text file, or some lines of it.",
            files.read,
            {
                "path": PATH,
                "first_line": {"type": "integer", "minimum": 1, "default": 1},
                "lines": {"type": "integer", "minimum": 1, "maximum": LINES, "default": LINES},
            },
            "path",
        ),
        _tool(
            "write_file",
            "Write a text file whole; one that is there is replaced.",
            files.write,
            {"path": PATH, "content": {"type": "string"}},
            "path",
            "content",
        ),
        _tool(
            "edit_file",
            "Replace a piece of text in a file. The piece has to stand there exactly once, unless `all` is true.",
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
            "Find the lines that contain a text, in all files below a folder. Upper and lower case are the same.",
            files.search,
            {"text": {"type": "string", "minLength": 1}, "folder": FOLDER},
            "text",
        ),
        _tool(
            "copy_file",
            "Copy a file, also one that is no text.",
            files.copy,
            {"source": PATH, "target": PATH},
            "source",
            "target",
        ),
        _tool("delete_file", "Delete a file.", files.delete, {"path": PATH}, "path"),
    ]


def _tool(name: str, description: str, call: Callable[..., str], properties: dict[str, Any], *required: str) -> Tool:
    async def use(given: dict[str, Any]) -> str:
        try:
            return await asyncio.to_thread(lambda: call(**given))
        except OSError as error:
            raise ToolError(f"That did not work: {error.strerror or error}.") from None

    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return Tool(name, description, schema, use)


class FileTools:
    """What the tools do, each with an answer in words."""

    def __init__(self, jail: Jail, rooms: Sequence[str], most: int) -> None:
        self._jail = jail
        self._rooms = rooms
        self._most = most

    def list(self, folder: str = "") -> str:
        found = list(islice(self._below(folder), ENTRIES + 1))
        lines = [_listed(entry) for entry in found[:ENTRIES]]
        more = ["And more: list a folder of it."] if len(found) > ENTRIES else []
        return as_data("Files", "\n".join([*lines, *more]) or "There are none yet.")

    def read(self, path: str, first_line: int = 1, lines: int = LINES) -> str:
        plain, text = self._jail.plain(path), self._text(path)
        every = text.splitlines(keepends=True)
        shown = every[first_line - 1 : first_line - 1 + lines]
        if not shown and every:
            raise ToolError(f"{plain} has {len(every):,} lines.")
        last = first_line + len(shown) - 1
        part = "" if len(shown) == len(every) else f", lines {first_line:,} to {last:,} of {len(every):,}"
        return as_data(f"{plain}{part}", "".join(shown))

    def write(self, path: str, content: str) -> str:
        data = _encoded(content)
        was_there = self._jail.write(path, data, self._most)
        return f"{'Replaced' if was_there else 'Written'}: {self._jail.plain(path)}, {len(data):,} bytes."

    def edit(self, path: str, old: str, new: str, all: bool = False) -> str:
        text, plain = self._text(path), self._jail.plain(path)
        count = text.count(old)
        if count == 0:
            raise ToolError(f"That text does not stand in {plain}. Read it again: every space and line break counts.")
        if count > 1 and not all:
            raise ToolError(f"That text stands in {plain} {count} times. Give more of what is around it, or set `all`.")
        self._jail.write(path, _encoded(text.replace(old, new)), self._most)
        return f"Changed {count} place{'s' if count > 1 else ''} in {plain}."

    def search(self, text: str, folder: str = "") -> str:
        found = list(islice(self._matches(text.casefold(), folder), MATCHES + 1))
        more = ["And more: search for something rarer."] if len(found) > MATCHES else []
        return as_data("Matches", "\n".join([*found[:MATCHES], *more]) or "There are none.")

    def copy(self, source: str, target: str) -> str:
        data = self._jail.read(source, self._most)
        self._jail.write(target, data, self._most)
        return f"Copied {self._jail.plain(source)} to {self._jail.plain(target)}, {len(data):,} bytes."

    def delete(self, path: str) -> str:
        self._jail.remove(path)
        return f"Deleted {self._jail.plain(path)}."

    def _text(self, path: str) -> str:
        try:
            return self._jail.read(path, READABLE).decode()
        except UnicodeDecodeError:
            raise ToolError(f"{self._jail.plain(path)} is not text.") from None

    def _below(self, folder: str) -> Iterator[Entry]:
        for room in [folder] if folder.strip("./") else self._rooms:
            yield from self._jail.entries(room)

    def _matches(self, text: str, folder: str) -> Iterator[str]:
        left = SEARCHED
        for entry in self._below(folder):
            if not entry.is_file or entry.size > min(READABLE, left):
                continue
            left -= entry.size
            try:
                lines = self._text(entry.path).splitlines()
            except ToolError:
                continue
            for number, line in enumerate(lines, 1):
                if text in line.casefold():
                    yield f"{entry.path}:{number}: {line.strip()[:LONGEST_LINE]}"


def _listed(entry: Entry) -> str:
    path = shown(entry.path)
    if path != entry.path:
        return f"{path} (a name that cannot be used here)"
    if entry.is_folder:
        return f"{path}/"
    if not entry.is_file:
        return f"{path} (a link or no plain file)"
    return f"{path} ({entry.size:,} bytes)" if entry.size < MEGABYTE else f"{path} ({megabytes(entry.size)})"


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ToolError("The text holds half of a surrogate pair, which is not a character.") from None
