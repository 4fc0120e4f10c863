"""Errors of use cases, one class per reason. The API layer assigns HTTP statuses."""

from __future__ import annotations

from collections.abc import Iterable


class ServiceError(Exception):
    """An error whose message says what happened and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidInput(ServiceError):
    """`errors` are pairs of a location, usually a JSON pointer, and a message."""

    def __init__(self, errors: Iterable[tuple[str, str]], message: str = "Invalid input.") -> None:
        super().__init__(message)
        self.errors = tuple(errors)


class TooLarge(ServiceError):
    """The content is larger than the limit."""

    def __init__(self, limit: int, subject: str = "The body") -> None:
        super().__init__(f"{subject} is too large. The limit is {limit:,} bytes.")
        self.limit = limit


class Gone(ServiceError):
    """The resource was removed permanently."""


class PreconditionFailed(ServiceError):
    """The resource has changed since the caller read it."""

    def __init__(self, message: str, current: int | None = None) -> None:
        super().__init__(message)
        self.current = current  # revision


class Forbidden(ServiceError):
    """The user is signed in, but not allowed to do this."""


class Unauthenticated(ServiceError):
    """The user is not signed in, or the session has ended."""


class UpstreamError(ServiceError):
    """A service outside Cairn failed or is unreachable."""


class TooManyAttempts(ServiceError):
    """Too many failed sign-ins."""

    def __init__(self, wait_seconds: int) -> None:
        super().__init__(f"Too many failed sign-in attempts. Try again in {wait_seconds} seconds.")
        self.wait_seconds = wait_seconds
