"""Exit codes, and the exception that ends a command with one."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of all commands. `MEANINGS` explains them."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    UNREACHABLE = 4
    FORBIDDEN = 5
    WAITING = 6
    INTERRUPTED = 130
    PIPE_CLOSED = 141


MEANINGS: dict[ExitCode, str] = {
    ExitCode.OK: "success, or the followed run has completed",
    ExitCode.FAILED: "the command or the run failed, the definition is invalid, or a check found an error",
    ExitCode.USAGE: "invalid arguments, or a file that cannot be read or written",
    ExitCode.NOT_FOUND: "the name matches nothing, or more than one item",
    ExitCode.UNREACHABLE: "the server cannot be reached, or the data folder cannot be opened",
    ExitCode.FORBIDDEN: "not signed in, or permission denied",
    ExitCode.WAITING: "the followed run waits for a person, or is paused",
    ExitCode.INTERRUPTED: "interrupted with Ctrl-C",
    ExitCode.PIPE_CLOSED: "the reader of the output closed the pipe",
}


class CommandFailed(Exception):
    """Ends a command with an exit code. The message and its details are printed on standard error."""

    def __init__(self, code: ExitCode, message: str = "", details: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = tuple(details)

    @property
    def lines(self) -> list[str]:
        return [f"cairn: {self.message}", *(f"  {line}" for line in self.details)] if self.message else []
