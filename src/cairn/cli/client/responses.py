"""Responses of the API: JSON objects, stream messages and problems. Imports no library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from cairn.cli.exit_codes import CommandFailed, ExitCode

JsonObject: TypeAlias = dict[str, Any]
_CODES = {
    401: ExitCode.FORBIDDEN,
    403: ExitCode.FORBIDDEN,
    404: ExitCode.NOT_FOUND,
    410: ExitCode.NOT_FOUND,
    503: ExitCode.UNREACHABLE,
}


class ServerUnreachable(CommandFailed):
    """The server cannot be reached, or is not a Cairn server."""

    def __init__(self, message: str) -> None:
        super().__init__(ExitCode.UNREACHABLE, message)


class ProblemResponse(CommandFailed):
    """An error response with problem details (RFC 9457)."""

    def __init__(self, status: int, problem: JsonObject) -> None:
        self.status = status
        self.errors: list[JsonObject] = problem.get("errors") or []
        message = str(problem.get("detail") or problem.get("title") or f"The server responded with HTTP {status}.")
        suggestions: list[str] = problem.get("suggestions") or []
        details = [_located(error) for error in self.errors]
        if suggestions:
            details.append(f"Try: {', '.join(suggestions)}")
        super().__init__(_CODES.get(status, ExitCode.FAILED), message, details)


def _located(error: JsonObject) -> str:
    line, column = error.get("line"), error.get("column")
    place = f"line {line}, column {column}: " if line and column else ""
    return f"{place}{error['path']}: {error['message']}" if error["path"] else f"{place}{error['message']}"


@dataclass(frozen=True, slots=True)
class StreamMessage:
    """One message of an event stream."""

    kind: str
    data: Any
    id: str = ""
