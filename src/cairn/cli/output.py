"""What a command says: tables and colours on a terminal, plain text in a pipe, JSON where it is asked for."""

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
    "fault": "red",
    "error": "red",
    "rejected": "red",
    "paused": "yellow",
    "pending": "yellow",
    "waiting": "yellow",
    "warning": "yellow",
    "cancelled": "dim",
    "upcoming": "dim",
    "not_started": "dim",
}


def tell(line: str) -> None:
    """To the person, beside what is piped on."""
    sys.stderr.write(f"{printable(line)}\n")
    sys.stderr.flush()


def printable(text: object, *, lines: bool = False) -> str:
    """Without what would steer a terminal: names and contents come from anywhere."""
    kept = "\n\t" if lines else ""
    return "".join(c if c.isprintable() or c in kept else f"\\x{ord(c):02x}" for c in str(text))


def moment(at: str | None) -> str:
    """In the time of this machine."""
    if not at:
        return ""
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def size(count: int) -> str:
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
        """Rich is imported for a terminal alone."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(file=self.out, highlight=False, emoji=False, soft_wrap=False)
        return self._console

    # ---- one thing -----------------------------------------------------------------------------------
    def line(self, text: object = "", style: str | None = None) -> None:
        if self.is_terminal:
            self.console.print(printable(text), style=style, markup=False, soft_wrap=True)
        else:
            self._write(f"{printable(text)}\n")

    def raw(self, text: str) -> None:
        """As it is, but for what would steer a terminal."""
        self._write(printable(text, lines=True) if self.is_terminal else text)

    def answer(self, value: Any) -> None:
        self._write(f"{json.dumps(value, indent=2, ensure_ascii=False)}\n")

    def item(self, value: Any) -> None:
        """One of a stream: one line."""
        self._write(f"{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n")
        self.out.flush()

    def facts(self, pairs: Iterable[tuple[str, object]]) -> None:
        """Names and values, one below the other; what is empty is left out."""
        told = [(name, value) for name, value in pairs if value not in (None, "", [], ())]
        width = max((len(name) for name, _ in told), default=0)
        for name, value in told:
            text = printable(value)
            if self.is_terminal:
                from rich.text import Text

                self.console.print(
                    Text.assemble((f"{name:<{width}}  ", "dim"), (text, STYLES.get(text, ""))), soft_wrap=True
                )
            else:
                self._write(f"{name:<{width}}  {text}\n")

    # ---- many ----------------------------------------------------------------------------------------
    def table(self, heads: Sequence[str], rows: Iterable[Sequence[object]], empty: str = "") -> None:
        cells = [[printable("" if cell is None else cell) for cell in row] for row in rows]
        if not cells:
            if empty:
                tell(empty)
        elif self.is_terminal:
            self._rich_table(heads, cells)
        else:
            widths = [max(len(row[at]) for row in (list(heads), *cells)) for at in range(len(heads))]
            for row in ([head.upper() for head in heads], *cells):
                self._write("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
                self._write("\n")

    def _rich_table(self, heads: Sequence[str], cells: list[list[str]]) -> None:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for head in heads:
            table.add_column(head, overflow="fold", no_wrap=head in ("id", "version"))
        for row in cells:
            table.add_row(*(Text(cell, style=STYLES.get(cell.partition(" ")[0], "")) for cell in row))
        self.console.print(table)

    def _write(self, text: str) -> None:
        self.out.write(text)
