"""Why a command is not carried out. Nothing has changed when one of these is raised."""

from __future__ import annotations


class CommandRefused(Exception):
    """The command is not possible now. `possible` says what is."""

    def __init__(self, message: str, possible: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.possible = possible


class NotAllowed(CommandRefused):
    """Somebody else has to do it."""


class StaleCommand(CommandRefused):
    """It comes from a dispatch, timer, pass or content that is no longer current: workers and timers drop it."""


class AlreadyApplied(CommandRefused):
    """The very same command has been carried out before: the answer is the state it led to."""
