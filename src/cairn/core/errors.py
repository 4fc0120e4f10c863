"""Reasons why a command is refused. A refused command changes nothing."""

from __future__ import annotations


class CommandRefused(Exception):
    """The command is not possible now. `suggestions` lists what is possible."""

    def __init__(self, message: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.suggestions = suggestions


class NotAllowed(CommandRefused):
    """The actor isn't allowed to do this."""


class StaleCommand(CommandRefused):
    """The dispatch, timer, pass or content of the command is no longer current. Workers and timers drop it."""


class AlreadyApplied(CommandRefused):
    """The same command has already been applied, so the current state is its result."""
