"""Why a use case is refused, one class per reason. HTTP statuses are given at the edge."""

from __future__ import annotations

from collections.abc import Iterable


class ServiceError(Exception):
    """What happened and what to do, in words for people."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidInput(ServiceError):
    """What was given does not fit; each fault is named by its place, a JSON pointer."""

    def __init__(self, errors: Iterable[tuple[str, str]], message: str = "What was given does not fit.") -> None:
        super().__init__(message)
        self.errors = tuple(errors)


class TooLarge(ServiceError):
    """More bytes than are taken."""

    def __init__(self, limit: int, what: str = "The body") -> None:
        super().__init__(f"{what} is too large: at most {limit:,} bytes are taken.")
        self.limit = limit


class Gone(ServiceError):
    """It was there, and has been removed for good."""


class PreconditionFailed(ServiceError):
    """Somebody else has changed it since it was read."""

    def __init__(self, message: str, current: int | None = None) -> None:
        super().__init__(message)
        self.current = current  # revision


class Forbidden(ServiceError):
    """Signed in, and not allowed to."""


class Unauthenticated(ServiceError):
    """Not signed in, or no longer."""


class UpstreamError(ServiceError):
    """Somebody outside, whom it takes, does not do their part."""


class TooManyAttempts(ServiceError):
    """Signing in has failed too often."""

    def __init__(self, wait_seconds: int) -> None:
        super().__init__(f"Too many failed attempts to sign in. Try again in {wait_seconds} seconds.")
        self.wait_seconds = wait_seconds
