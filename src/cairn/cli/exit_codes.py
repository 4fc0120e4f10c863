"""How a command ends: its exit code, and the one line that says why."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
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


MEANINGS: dict[ExitCode, str] = {
    ExitCode.OK: "done; a run that was followed has completed",
    ExitCode.REFUSED: "refused or failed: not possible now, a definition that cannot work, a failed run, a fault found",
    ExitCode.USAGE: "the command line cannot be understood, or names a file that cannot be read",
    ExitCode.NOT_FOUND: "there is nothing of that name, or several fit it",
    ExitCode.UNREACHABLE: "no server answers, or the data folder cannot be opened",
    ExitCode.FORBIDDEN: "not signed in, or not allowed",
    ExitCode.WAITS: "the run that was followed waits for a person, or is paused",
    ExitCode.INTERRUPTED: "stopped with Ctrl-C",
    ExitCode.PIPE_CLOSED: "whoever read the output has gone away",
}


class CommandFailed(Exception):
    """A command ends early. `lines` are told on standard error."""

    def __init__(self, code: ExitCode, message: str = "", more: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.more = tuple(more)

    @property
    def lines(self) -> list[str]:
        return [f"cairn: {self.message}", *(f"  {line}" for line in self.more)] if self.message else []
