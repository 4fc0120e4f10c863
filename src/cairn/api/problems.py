"""Every error as problem details (RFC 9457): what happened, where, and what to do instead."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any
from uuid import uuid4

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from cairn.core.errors import CommandRefused, NotAllowed
from cairn.definitions import DefinitionError, Severity
from cairn.documents import DocumentError
from cairn.documents.pointers import join
from cairn.services import errors
from cairn.store import DatabaseClosed, LostRace, StaleDispatch, StoreError, Unstorable
from cairn.store.errors import NotFound

log = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"


class ErrorLocation(BaseModel):
    """One error and its location: a JSON pointer into the body, or `?name` for a query parameter."""

    model_config = ConfigDict(frozen=True)

    path: str
    message: str
    line: int | None = None
    column: int | None = None


class Problem(BaseModel):
    """Problem details (RFC 9457)."""

    model_config = ConfigDict(frozen=True)

    type: str = Field(examples=["urn:cairn:problem:conflict"])
    title: str
    status: int
    detail: str
    errors: list[ErrorLocation] = Field(default_factory=list[ErrorLocation])
    suggestions: list[str] = Field(default_factory=list[str], description="What you can do instead.")
    instance: str | None = Field(default=None, description="The id of an internal error in the server log.")


class RequestRejected(Exception):
    """A request that the API rejects before it reaches a service."""

    def __init__(self, kind: str, detail: str, errors: Iterable[ErrorLocation] = ()) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.errors = tuple(errors)


# Slug: status, title. The first kind with a status is the default for that status.
KINDS: dict[str, tuple[int, str]] = {
    "bad-request": (400, "Bad request"),
    "invalid-body": (400, "Invalid request body"),
    "unauthenticated": (401, "Not signed in"),
    "forbidden": (403, "Permission denied"),
    "not-found": (404, "Not found"),
    "method-not-allowed": (405, "Method not allowed"),
    "conflict": (409, "Conflict with the current state"),
    "gone": (410, "No longer available"),
    "precondition-failed": (412, "Changed since it was read"),
    "payload-too-large": (413, "Payload too large"),
    "unsupported-media-type": (415, "Unsupported media type"),
    "misdirected-request": (421, "Unknown host name"),
    "invalid-input": (422, "Invalid input"),
    "invalid-definition": (422, "Invalid definition"),
    "too-many-attempts": (429, "Too many attempts"),
    "internal-error": (500, "Internal error"),
    "upstream-error": (502, "Upstream service failed"),
    "unavailable": (503, "Database unavailable"),
}
KIND_BY_STATUS = {status: slug for slug, (status, _) in reversed(KINDS.items())}
_CONCURRENT_CHANGE = "Someone else changed this at the same time. Reload it and try again."


def problem_of(
    kind: str, detail: str, errors: Iterable[ErrorLocation] = (), suggestions: Iterable[str] = ()
) -> Problem:
    status, title = KINDS[kind]
    return Problem(
        type=f"urn:cairn:problem:{kind}",
        title=title,
        status=status,
        detail=detail,
        errors=list(errors),
        suggestions=list(suggestions),
    )


def to_response(problem: Problem, headers: dict[str, str] | None = None) -> Response:
    content = problem.model_dump_json(exclude_none=True)
    return Response(content, status_code=problem.status, media_type=MEDIA_TYPE, headers=headers)


def internal_error(error: BaseException) -> Response:
    """Logs an unexpected error under an id; the response has only that id."""
    error_id = uuid4()
    log.error("internal error %s", error_id, exc_info=error)
    problem = problem_of("internal-error", f"An unexpected error occurred. Find {error_id} in the server log.")
    return to_response(problem.model_copy(update={"instance": f"urn:uuid:{error_id}"}))


def location_of(error: DocumentError) -> ErrorLocation:
    return ErrorLocation(path=error.path or "", message=error.message, line=error.line, column=error.column)


def _from_service(error: errors.ServiceError) -> Response:
    match error:
        case errors.InvalidInput():
            locations = [ErrorLocation(path=path, message=message) for path, message in error.errors]
            return to_response(problem_of("invalid-input", error.message, locations))
        case errors.TooLarge():
            return to_response(problem_of("payload-too-large", error.message), {"Connection": "close"})
        case errors.Gone():
            return to_response(problem_of("gone", error.message))
        case errors.PreconditionFailed():
            headers = None if error.current is None else {"ETag": f'"{error.current}"'}
            return to_response(problem_of("precondition-failed", error.message), headers)
        case errors.Forbidden():
            return to_response(problem_of("forbidden", error.message))
        case errors.Unauthenticated():
            return to_response(
                problem_of("unauthenticated", error.message), {"WWW-Authenticate": 'Bearer realm="cairn"'}
            )
        case errors.UpstreamError():
            return to_response(problem_of("upstream-error", error.message))
        case errors.TooManyAttempts():
            return to_response(problem_of("too-many-attempts", error.message), {"Retry-After": str(error.wait_seconds)})
        case _:
            return internal_error(error)


def _from_refusal(error: CommandRefused) -> Response:
    kind = "forbidden" if isinstance(error, NotAllowed) else "conflict"
    return to_response(problem_of(kind, error.message, suggestions=error.suggestions))


def _from_document(error: DocumentError) -> Response:
    return to_response(problem_of("invalid-input", "Invalid document: 1 error.", [location_of(error)]))


def _from_definition(error: DefinitionError) -> Response:
    findings = [finding for finding in error.findings if finding.severity is Severity.ERROR]
    locations = [ErrorLocation(path=f.path, message=f.message, line=f.line, column=f.column) for f in findings]
    count = "1 error" if len(findings) == 1 else f"{len(findings)} errors"
    return to_response(problem_of("invalid-definition", f"Invalid {error.noun}: {count}.", locations))


def _from_store(error: StoreError) -> Response:
    match error:
        case NotFound():
            return to_response(problem_of("not-found", error.message))
        case Unstorable():
            return to_response(problem_of("invalid-input", str(error)))
        case LostRace() | StaleDispatch():
            return to_response(problem_of("conflict", _CONCURRENT_CHANGE))
        case DatabaseClosed():
            return to_response(problem_of("unavailable", "The server is stopping."), {"Retry-After": "5"})
        case _:
            return internal_error(error)


def _from_database(error: OperationalError | NoConnection) -> Response:
    log.error("the database is not available", exc_info=error)
    return to_response(problem_of("unavailable", "Nothing was changed. Try again in a moment."), {"Retry-After": "1"})


def _from_integrity(error: IntegrityError) -> Response:
    log.warning("a unique value exists already", exc_info=error)
    return to_response(problem_of("conflict", _CONCURRENT_CHANGE))


def _from_rejection(error: RequestRejected) -> Response:
    return to_response(problem_of(error.kind, error.detail, error.errors))


def _from_http(error: HTTPException) -> Response:
    if error.status_code == 404:
        return to_response(problem_of("not-found", "This address doesn't exist."))
    if error.status_code == 405:
        detail = "This address doesn't support that method."
        return to_response(problem_of("method-not-allowed", detail), dict(error.headers or {}))
    return to_response(problem_of(KIND_BY_STATUS.get(error.status_code, "bad-request"), str(error.detail)))


def _from_validation(error: RequestValidationError) -> Response:
    locations = [_location(details) for details in error.errors()]
    names = ", ".join(dict.fromkeys(location.path or "the body" for location in locations))
    return to_response(problem_of("invalid-input", f"Invalid values: {names}.", locations))


def _location(details: Any) -> ErrorLocation:
    """The location of an error that Pydantic found, written like all others."""
    source, *steps = details["loc"]
    message = "This is required." if details["type"] == "missing" else f"{details['msg']}."
    if source == "body":
        return ErrorLocation(path=join(steps), message=message)
    return ErrorLocation(path=f"?{steps[0]}" if source == "query" else str(steps[0]), message=message)


HANDLERS: dict[type[Exception], Callable[[Any], Response]] = {
    errors.ServiceError: _from_service,
    CommandRefused: _from_refusal,
    DocumentError: _from_document,
    DefinitionError: _from_definition,
    StoreError: _from_store,
    OperationalError: _from_database,
    NoConnection: _from_database,
    IntegrityError: _from_integrity,
    RequestRejected: _from_rejection,
    HTTPException: _from_http,
    RequestValidationError: _from_validation,
    ClientDisconnect: lambda _: Response(status_code=400),  # the client has gone
}


def install(app: FastAPI) -> None:
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, _handling(handler))


def _handling(handler: Callable[[Any], Response]) -> Callable[[Request, Exception], Response]:
    def handle(request: Request, error: Exception) -> Response:  # noqa: ARG001 - the signature is Starlette's
        return handler(error)

    return handle
