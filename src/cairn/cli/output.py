"""Prints results: tables and colors on a terminal, plain text in a pipe, JSON with --json."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {
    "completed": "green",
    "approved": "green",
    "ok": "green",
    "repaired": "green",
    "in_progress": "cyan",
    "failed": "red",
    "error": "red",
    "rejected": "red",
    "paused": "yellow",
    "pending": "yellow",
    "waiting": "yellow",
    "queued": "yellow",
    "warning": "yellow",
    "cancelled": "dim",
    "upcoming": "dim",
    "not_started": "dim",
}


def print_status(line: str) -> None:
    """Print a line on standard error, so that piped output stays clean."""
    sys.stderr.write(f"{printable(line)}\n")
    sys.stderr.flush()


def printable(text: object, *, lines: bool = False) -> str:
    """Escape control characters. Names and contents are untrusted, and could control the terminal."""
    allowed = "\n\t" if lines else ""
    return "".join(c if c.isprintable() or c in allowed else f"\\x{ord(c):02x}" for c in str(text))


def local_time(timestamp: str | None) -> str:
    """The timestamp in the time zone of this machine."""
    if not timestamp:
        return ""
    return datetime.fromisoformat(timestamp).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def file_size(count: int) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"
        count = count / 1000  # pyright: ignore[reportAssignmentType]
    return f"{count:.1f} GB"


class Output:
    """Standard output."""

    def __init__(self, *, as_json: bool = False, out: TextIO | None = None) -> None:
        self.out = out or sys.stdout
        self.as_json = as_json
        self.is_terminal = self.out.isatty() and os.environ.get("TERM") != "dumb"
        self._console: Console | None = None

    @property
    def console(self) -> Console:
        """Imported on first use: only a terminal needs Rich."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(file=self.out, highlight=False, emoji=False, soft_wrap=False)
        return self._console

    # ---- single values -------------------------------------------------------------------------------
    def line(self, text: object = "", style: str | None = None) -> None:
        if self.is_terminal:
            self.console.print(printable(text), style=style, markup=False, soft_wrap=True)
        else:
            self._write(f"{printable(text)}\n")

    def raw(self, text: str) -> None:
        """Print the text unchanged, with control characters escaped on a terminal."""
        self._write(printable(text, lines=True) if self.is_terminal else text)

    def json(self, value: Any) -> None:
        self._write(f"{json.dumps(value, indent=2, ensure_ascii=False)}\n")

    def json_line(self, value: Any) -> None:
        """Print one item of a stream as one line of JSON."""
        self._write(f"{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n")
        self.out.flush()

    def fields(self, pairs: Iterable[tuple[str, object]]) -> None:
        """Print names and values, one per line. Skips empty values."""
        filled = [(name, value) for name, value in pairs if value not in (None, "", [], ())]
        width = max((len(name) for name, _ in filled), default=0)
        for name, value in filled:
            text = printable(value)
            if self.is_terminal:
                from rich.text import Text

                self.console.print(
                    Text.assemble((f"{name:<{width}}  ", "dim"), (text, STYLES.get(text, ""))), soft_wrap=True
                )
            else:
                self._write(f"{name:<{width}}  {text}\n")

    # ---- tables --------------------------------------------------------------------------------------
    def table(self, headings: Sequence[str], rows: Iterable[Sequence[object]], empty: str = "") -> None:
        """Print a table, or the `empty` message on standard error if there are no rows."""
        cells = [[printable("" if cell is None else cell) for cell in row] for row in rows]
        if not cells:
            if empty:
                print_status(empty)
        elif self.is_terminal:
            self._rich_table(headings, cells)
        else:
            widths = [max(len(row[column]) for row in (headings, *cells)) for column in range(len(headings))]
            for row in ([heading.upper() for heading in headings], *cells):
                self._write("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
                self._write("\n")

    def _rich_table(self, headings: Sequence[str], cells: list[list[str]]) -> None:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for heading in headings:
            table.add_column(heading, overflow="fold", no_wrap=heading in ("id", "version"))
        for row in cells:
            table.add_row(*(Text(cell, style=STYLES.get(cell.partition(" ")[0], "")) for cell in row))
        self.console.print(table)

    def _write(self, text: str) -> None:
        self.out.write(text)
