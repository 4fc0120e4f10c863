"""What comes back: answers, messages of streams, problems. Nothing here needs a library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from cairn.cli.exit_codes import CommandFailed, ExitCode

Answer: TypeAlias = dict[str, Any]
_CODES = {
    401: ExitCode.FORBIDDEN,
    403: ExitCode.FORBIDDEN,
    404: ExitCode.NOT_FOUND,
    410: ExitCode.NOT_FOUND,
    503: ExitCode.UNREACHABLE,
}


class ServerUnreachable(CommandFailed):
    """Nobody answers."""

    def __init__(self, message: str) -> None:
        super().__init__(ExitCode.UNREACHABLE, message)


class ProblemResponse(CommandFailed):
    """The server says no, as problem details (RFC 9457)."""

    def __init__(self, status: int, told: Answer) -> None:
        self.status = status
        self.told = told
        self.errors: list[Answer] = told.get("errors") or []
        message = str(told.get("detail") or told.get("title") or f"The server answers {status}.")
        suggestions: list[str] = told.get("suggestions") or []
        more = [f"{error['path'] or 'the whole'}: {error['message']}" for error in self.errors]
        super().__init__(_CODES.get(status, ExitCode.REFUSED), message, [*more, *_suggested(suggestions)])


@dataclass(frozen=True, slots=True)
class StreamMessage:
    """One message of a live stream."""

    kind: str
    data: Any
    id: str = ""


def _suggested(suggestions: list[str]) -> list[str]:
    return [f"Try: {', '.join(suggestions)}"] if suggestions else []
