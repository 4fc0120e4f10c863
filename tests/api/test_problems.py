"""Every error is returned as problem details (RFC 9457)."""

from __future__ import annotations

import json
import logging
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

from cairn.api import problems
from cairn.api.middleware import KnownHosts, SecurityHeaders
from cairn.core.errors import CommandRefused, StaleCommand
from cairn.definitions import DefinitionError, Finding
from cairn.documents import DocumentError
from cairn.services import errors
from cairn.store import DamagedBlob, DatabaseClosed, LostRace, Unstorable
from cairn.store import errors as store_errors
from tests.mentions import mentions


def app_raising(error: Exception) -> FastAPI:
    app = FastAPI()

    @app.get("/api/thing")
    def thing() -> None:
        raise error

    problems.install(app)
    app.add_middleware(KnownHosts)
    app.add_middleware(SecurityHeaders)
    return app


async def get(app: FastAPI, path: str = "/api/thing") -> httpx.Response:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.get(path)


CASES: list[tuple[Exception, dict[str, Any]]] = [
    (
        store_errors.NotFound("run", "7"),
        {"type": "urn:cairn:problem:not-found", "title": mentions(), "status": 404, "detail": mentions("7")},
    ),
    (
        CommandRefused("The run is paused.", ("resume",)),
        {
            "type": "urn:cairn:problem:conflict",
            "title": mentions(),
            "status": 409,
            "detail": "The run is paused.",
            "suggestions": ["resume"],
        },
    ),
    (
        StaleCommand("What you looked at has changed."),
        {
            "type": "urn:cairn:problem:conflict",
            "title": mentions(),
            "status": 409,
            "detail": "What you looked at has changed.",
        },
    ),
    (
        errors.InvalidInput([("/fields/weight", "This has to be a number.")], "The form does not fit."),
        {
            "type": "urn:cairn:problem:invalid-input",
            "title": mentions(),
            "status": 422,
            "detail": "The form does not fit.",
            "errors": [{"path": "/fields/weight", "message": "This has to be a number."}],
        },
    ),
    (
        DefinitionError([Finding("/checkpoints/0/key", "This key is a duplicate.", line=3, column=5)]),
        {
            "type": "urn:cairn:problem:invalid-definition",
            "title": mentions(),
            "status": 422,
            "detail": mentions(),
            "errors": [{"path": "/checkpoints/0/key", "message": "This key is a duplicate.", "line": 3, "column": 5}],
        },
    ),
    (
        DocumentError("the key 'a' is a duplicate", path="/a"),
        {
            "type": "urn:cairn:problem:invalid-input",
            "title": mentions(),
            "status": 422,
            "detail": mentions(),
            "errors": [{"path": "/a", "message": "the key 'a' is a duplicate"}],
        },
    ),
    (
        errors.TooLarge(10),
        {
            "type": "urn:cairn:problem:payload-too-large",
            "title": mentions(),
            "status": 413,
            "detail": mentions("10"),
        },
    ),
    (
        errors.Gone("The archive is past its time."),
        {
            "type": "urn:cairn:problem:gone",
            "title": mentions(),
            "status": 410,
            "detail": "The archive is past its time.",
        },
    ),
    (
        errors.PreconditionFailed("It is at revision 4.", 4),
        {
            "type": "urn:cairn:problem:precondition-failed",
            "title": mentions(),
            "status": 412,
            "detail": "It is at revision 4.",
        },
    ),
    (
        errors.Forbidden("Editors may."),
        {"type": "urn:cairn:problem:forbidden", "title": mentions(), "status": 403, "detail": "Editors may."},
    ),
    (
        errors.Unauthenticated("Sign in."),
        {"type": "urn:cairn:problem:unauthenticated", "title": mentions(), "status": 401, "detail": "Sign in."},
    ),
    (
        errors.TooManyAttempts(30),
        {
            "type": "urn:cairn:problem:too-many-attempts",
            "title": mentions(),
            "status": 429,
            "detail": mentions("30"),
        },
    ),
    (
        LostRace("somebody was faster"),
        {
            "type": "urn:cairn:problem:conflict",
            "title": mentions(),
            "status": 409,
            "detail": mentions(),
        },
    ),
    (
        Unstorable("A text with a NUL character cannot be stored."),
        {
            "type": "urn:cairn:problem:invalid-input",
            "title": mentions(),
            "status": 422,
            "detail": "A text with a NUL character cannot be stored.",
        },
    ),
]


AWAY: list[tuple[Exception, dict[str, Any]]] = [
    (
        DatabaseClosed("The database has been closed."),
        {
            "type": "urn:cairn:problem:unavailable",
            "title": mentions(),
            "status": 503,
            "detail": mentions(),
        },
    ),
    *(
        (
            error,
            {
                "type": "urn:cairn:problem:unavailable",
                "title": mentions(),
                "status": 503,
                "detail": mentions(),
            },
        )
        for error in (OperationalError("SELECT 1", {}, Exception("away")), NoConnection("all are taken"))
    ),
    (
        IntegrityError("INSERT", {}, Exception("twice")),
        {
            "type": "urn:cairn:problem:conflict",
            "title": mentions(),
            "status": 409,
            "detail": mentions(),
        },
    ),
]


@pytest.mark.parametrize(("error", "expected"), CASES + AWAY, ids=lambda case: type(case).__name__)
async def test_each_error_is_returned_as_its_problem(error: Exception, expected: dict[str, Any]) -> None:
    response = await get(app_raising(error))
    assert response.status_code == expected["status"]
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json() == {"errors": [], "suggestions": [], **expected}


async def test_problems_set_their_headers() -> None:
    assert (await get(app_raising(errors.PreconditionFailed("changed", 4)))).headers["etag"] == '"4"'
    assert (await get(app_raising(errors.TooManyAttempts(30)))).headers["retry-after"] == "30"
    assert (await get(app_raising(errors.Unauthenticated("no")))).headers["www-authenticate"] == 'Bearer realm="cairn"'


@pytest.mark.parametrize("error", [DamagedBlob("changed"), errors.ServiceError("new"), RuntimeError("x")])
async def test_unexpected_errors_are_internal_errors(error: Exception) -> None:
    assert (await get(app_raising(error))).json()["type"] == "urn:cairn:problem:internal-error"


async def test_an_internal_error_shows_only_its_id_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        response = await get(app_raising(RuntimeError("the password is hunter2")))
    problem = response.json()
    assert response.status_code == 500
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "hunter2" not in response.text
    name = problem["instance"].removeprefix("urn:uuid:")
    assert name in problem["detail"]
    assert name in caplog.text
    assert "hunter2" in caplog.text


async def test_unknown_paths_and_methods_are_problems() -> None:
    app = app_raising(RuntimeError())
    missing = await get(app, "/api/nothing")
    assert (missing.status_code, missing.json()["type"]) == (404, "urn:cairn:problem:not-found")
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        wrong = await client.post("/api/thing")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET")
    assert json.loads(wrong.text)["type"] == "urn:cairn:problem:method-not-allowed"
