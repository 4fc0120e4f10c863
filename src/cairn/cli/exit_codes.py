"""How a command ends: its exit code, and the one line that says why."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Code(IntEnum):
    """Exit codes, the same for every command; what they mean stands below."""

    OK = 0
    REFUSED = 1
    USAGE = 2
    NOT_FOUND = 3
    UNREACHABLE = 4
    FORBIDDEN = 5
    WAITS = 6
    INTERRUPTED = 130
    PIPE_CLOSED = 141


MEANINGS: dict[Code, str] = {
    Code.OK: "done; a run that was followed has completed",
    Code.REFUSED: "refused or failed: not possible now, a definition that cannot work, a failed run, a fault found",
    Code.USAGE: "the command line cannot be understood, or names a file that cannot be read",
    Code.NOT_FOUND: "there is nothing of that name, or several fit it",
    Code.UNREACHABLE: "no server answers, or the data folder cannot be opened",
    Code.FORBIDDEN: "not signed in, or not allowed",
    Code.WAITS: "the run that was followed waits for a person, or is paused",
    Code.INTERRUPTED: "stopped with Ctrl-C",
    Code.PIPE_CLOSED: "whoever read the output has gone away",
}


class Ended(Exception):
    """A command ends early. `lines` are told on standard error."""

    def __init__(self, code: Code, message: str = "", more: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.more = tuple(more)

    @property
    def lines(self) -> list[str]:
        return [f"cairn: {self.message}", *(f"  {line}" for line in self.more)] if self.message else []
