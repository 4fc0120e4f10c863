"""Every error as problem details (RFC 9457): what happened, where, and what is possible instead."""

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
from cairn.store import Closed, LostRace, StaleDispatch, StoreError, Unstorable
from cairn.store.errors import NotFound

log = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"


class ErrorLocation(BaseModel):
    """One fault and where it is: a JSON pointer into the body, or `?name` for a query parameter."""

    model_config = ConfigDict(frozen=True)

    path: str
    message: str
    line: int | None = None
    column: int | None = None


class Problem(BaseModel):
    """Problem details."""

    model_config = ConfigDict(frozen=True)

    type: str = Field(examples=["urn:cairn:problem:refused"])
    title: str
    status: int
    detail: str
    errors: list[ErrorLocation] = Field(default_factory=list[ErrorLocation])
    possible: list[str] = Field(default_factory=list[str], description="What is possible now instead.")
    instance: str | None = Field(default=None, description="Names an inner error; the server's log has it.")


class RequestRejected(Exception):
    """A request that is turned away at the edge."""

    def __init__(self, kind: str, detail: str, places: Iterable[ErrorLocation] = ()) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.places = tuple(places)


# slug: status, title
KINDS: dict[str, tuple[int, str]] = {
    "bad-body": (400, "Invalid request body"),
    "bad-request": (400, "Bad request"),
    "not-signed-in": (401, "Not signed in"),
    "forbidden": (403, "Permission denied"),
    "not-found": (404, "Not found"),
    "method-not-allowed": (405, "Method not allowed"),
    "refused": (409, "Conflict with the current state"),
    "gone": (410, "No longer available"),
    "stale": (412, "Changed since it was read"),
    "too-large": (413, "Payload too large"),
    "wrong-media-type": (415, "Unsupported media type"),
    "misdirected": (421, "Unknown host name"),
    "wrong-input": (422, "Invalid input"),
    "too-many-attempts": (429, "Too many attempts"),
    "unreachable": (502, "Upstream service failed"),
    "inner": (500, "Internal error"),
    "unavailable": (503, "Database unavailable"),
}
OF_STATUS = {status: slug for slug, (status, _) in reversed(KINDS.items())}


def make(kind: str, detail: str, places: Iterable[ErrorLocation] = (), possible: Iterable[str] = ()) -> Problem:
    status, title = KINDS[kind]
    return Problem(
        type=f"urn:cairn:problem:{kind}",
        title=title,
        status=status,
        detail=detail,
        errors=list(places),
        possible=list(possible),
    )


def answer(problem: Problem, headers: dict[str, str] | None = None) -> Response:
    content = problem.model_dump_json(exclude_none=True)
    return Response(content, status_code=problem.status, media_type=MEDIA_TYPE, headers=headers)


def inner(error: BaseException) -> Response:
    """An unexpected error: logged with an id, and answered with that id only."""
    name = uuid4()
    log.error("inner error %s", name, exc_info=error)
    problem = make("inner", f"This is a fault of the server, not of the request. Its log has it as {name}.")
    return answer(problem.model_copy(update={"instance": f"urn:uuid:{name}"}))


def place_of(error: DocumentError) -> ErrorLocation:
    return ErrorLocation(path=error.path or "", message=error.message, line=error.line, column=error.column)


def _of_service(error: errors.ServiceError) -> Response:
    match error:
        case errors.InvalidInput():
            places = [ErrorLocation(path=path, message=message) for path, message in error.errors]
            return answer(make("wrong-input", error.message, places))
        case errors.TooLarge():
            return answer(make("too-large", error.message), {"Connection": "close"})
        case errors.Gone():
            return answer(make("gone", error.message))
        case errors.PreconditionFailed():
            headers = None if error.current is None else {"ETag": f'"{error.current}"'}
            return answer(make("stale", error.message), headers)
        case errors.Forbidden():
            return answer(make("forbidden", error.message))
        case errors.Unauthenticated():
            return answer(make("not-signed-in", error.message), {"WWW-Authenticate": 'Bearer realm="cairn"'})
        case errors.UpstreamError():
            return answer(make("unreachable", error.message))
        case errors.TooManyAttempts():
            return answer(make("too-many-attempts", error.message), {"Retry-After": str(error.wait_seconds)})
        case _:
            return inner(error)


def _of_refusal(error: CommandRefused) -> Response:
    if isinstance(error, NotAllowed):
        return answer(make("forbidden", error.message, possible=error.possible))
    return answer(make("refused", error.message, possible=error.possible))


def _of_document(error: DocumentError) -> Response:
    return answer(make("wrong-input", str(error), [place_of(error)]))


def _of_definition(error: DefinitionError) -> Response:
    faults = [found for found in error.findings if found.severity is Severity.ERROR]
    places = [ErrorLocation(path=f.path, message=f.message, line=f.line, column=f.column) for f in faults]
    return answer(make("wrong-input", f"The {error.what} cannot work: {_counted(len(faults))}.", places))


def _counted(faults: int) -> str:
    return "one thing has to be put right" if faults == 1 else f"{faults} things have to be put right"


def _of_store(error: StoreError) -> Response:
    match error:
        case NotFound():
            return answer(make("not-found", error.message))
        case Unstorable():
            return answer(make("wrong-input", str(error)))
        case LostRace() | StaleDispatch():
            return answer(make("refused", "Somebody else changed it at the same moment. Look again, then repeat."))
        case Closed():
            return answer(make("unavailable", "The server is stopping."), {"Retry-After": "5"})
        case _:
            return inner(error)


def _of_database(error: OperationalError | NoConnection) -> Response:
    log.error("the database does not answer", exc_info=error)
    return answer(make("unavailable", "Nothing has been changed; try again in a moment."), {"Retry-After": "1"})


def _of_conflict(error: IntegrityError) -> Response:
    log.warning("two of one", exc_info=error)
    return answer(make("refused", "This has been done already, or somebody else does it at this moment. Look again."))


def _of_turning(error: RequestRejected) -> Response:
    return answer(make(error.kind, error.detail, error.places))


def _of_http(error: HTTPException) -> Response:
    if error.status_code == 404:
        return answer(make("not-found", "There is nothing at this address."))
    if error.status_code == 405:
        detail = "This address does not take that method."
        return answer(make("method-not-allowed", detail), dict(error.headers or {}))
    return answer(make(OF_STATUS.get(error.status_code, "bad-request"), str(error.detail)))


def _of_validation(error: RequestValidationError) -> Response:
    places = [_place(found) for found in error.errors()]
    names = ", ".join(dict.fromkeys(place.path or "the body" for place in places))
    return answer(make("wrong-input", f"What was given does not fit: {names}.", places))


def _place(found: Any) -> ErrorLocation:
    """Pydantic's words, placed as everything else is."""
    source, *way = found["loc"]
    message = "This is required." if found["type"] == "missing" else f"{found['msg']}."
    if source == "body":
        return ErrorLocation(path=join(way), message=message)
    return ErrorLocation(path=f"?{way[0]}" if source == "query" else str(way[0]), message=message)


HANDLERS: dict[type[Exception], Callable[[Any], Response]] = {
    errors.ServiceError: _of_service,
    CommandRefused: _of_refusal,
    DocumentError: _of_document,
    DefinitionError: _of_definition,
    StoreError: _of_store,
    OperationalError: _of_database,
    NoConnection: _of_database,
    IntegrityError: _of_conflict,
    RequestRejected: _of_turning,
    HTTPException: _of_http,
    RequestValidationError: _of_validation,
    ClientDisconnect: lambda _: Response(status_code=400),  # nobody reads it
}


def install(app: FastAPI) -> None:
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, _handling(handler))


def _handling(handler: Callable[[Any], Response]) -> Callable[[Request, Exception], Response]:
    def handle(request: Request, error: Exception) -> Response:  # noqa: ARG001 - the signature is Starlette's
        return handler(error)

    return handle
