"""Operations of the API: what each one declares about itself, and the route class that enforces it.

Before a handler runs, the request is authenticated, its size is limited, its body is decoded, and a repeated
`Idempotency-Key` gets the stored response.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, TypeVar
from uuid import uuid4

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from cairn.api.authentication import SAFE, authenticate
from cairn.api.parameters import is_id
from cairn.api.problems import RequestRejected
from cairn.api.request_body import BoundedRequest
from cairn.documents import decode_json, encode_json
from cairn.services.actors import ALL_ROLES, ALL_SCOPES, Actor, Permission, Role, Scope
from cairn.services.idempotency import IdempotencyKeys, IdempotentRequest, StoredResponse
from cairn.store.errors import NotFound

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Media = Mapping[str, dict[str, Any]]  # a JSON Schema by media type
Example = Callable[[], Any]
ANY_JSON: dict[str, Any] = {"description": "Any JSON value."}
TEXT: dict[str, Any] = {"type": "string"}
H = TypeVar("H", bound=Callable[..., Any])

# ---- permissions: admins can do everything ---------------------------------------------------------------
_EDITORS = frozenset({Role.EDITOR.value})
OPEN: Permission | None = None  # no sign-in needed
READ = Permission(ALL_ROLES, ALL_SCOPES)
DEFINE = Permission(_EDITORS, frozenset({Scope.DEFINE.value}))
RUN = Permission(_EDITORS, frozenset({Scope.RUN.value}))
OWN = Permission(ALL_ROLES, frozenset({Scope.ADMIN.value}))  # your own account; admins manage those of others too
ADMIN = Permission(frozenset({Role.ADMIN.value}), frozenset({Scope.ADMIN.value}))


# ---- what an operation declares --------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Operation:
    """What `@operation` declares about a handler."""

    permission: Permission | None
    idempotent: bool = True
    streams_body: bool = False
    request_media: Media | None = None
    response_media: Media | None = None
    etag: bool = False
    errors: Sequence[int] = ()
    request_example: Example | None = None
    response_example: Example | None = None


def operation(  # noqa: PLR0913 - one option for each thing that an operation declares
    permission: Permission | None,
    *,
    idempotent: bool = True,
    streams_body: bool = False,
    request_media: Media | None = None,
    response_media: Media | None = None,
    etag: bool = False,
    errors: Sequence[int] = (),
    request_example: Example | None = None,
    response_example: Example | None = None,
) -> Callable[[H], H]:
    """Declare an operation of the API.

    permission: who may call it; `OPEN` needs no sign-in.
    idempotent: whether `Idempotency-Key` is honored. False if nothing changes, or if the response contains a
        secret, because responses are stored.
    streams_body: the handler reads the body as it arrives; it is not read into memory.
    request_media: schemas of a body that the handler reads itself.
    response_media: schemas of a response that is not the view of the return type.
    etag: the response has an ETag.
    errors: statuses that do not follow from the method, the parameters and the body.
    request_example, response_example: called only when the OpenAPI document is built.
    """
    declared = Operation(
        permission,
        idempotent=idempotent,
        streams_body=streams_body,
        request_media=request_media,
        response_media=response_media,
        etag=etag,
        errors=errors,
        request_example=request_example,
        response_example=response_example,
    )

    def declare(handler: H) -> H:
        handler.__operation__ = declared  # pyright: ignore[reportFunctionMemberAccess]
        return handler

    return declare


def operation_id(route: APIRoute) -> str:
    """`list_pipelines` is `listPipelines` for clients."""
    first, *rest = route.name.split("_")
    return first + "".join(word.capitalize() for word in rest)


# ---- the route class -------------------------------------------------------------------------------------
NOBODY = Actor("nobody")
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_STORED_HEADERS = ("content-type", "etag", "location")


def operation_router(prefix: str, tag: str) -> APIRouter:
    """A router whose routes are operations."""
    return APIRouter(prefix=prefix, route_class=OperationRoute, tags=[tag], generate_unique_id_function=operation_id)


class OperationRoute(APIRoute):
    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        declared = getattr(endpoint, "__operation__", None)
        if not isinstance(declared, Operation):
            raise TypeError(f"The handler of {path} needs @operation.")
        self.operation = declared
        super().__init__(path, _as_coroutine(endpoint), **options)

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        declared = self.operation

        async def handle_operation(request: Request) -> Response:
            incoming = BoundedRequest(request.scope, request.receive)
            cairn = request.app.state.cairn
            allowed = declared.permission
            actor = NOBODY if allowed is None else await authenticate(incoming, cairn.authentication, allowed)
            _check_ids(incoming.path_params)
            incoming.state.actor = actor
            incoming.state.command_id = uuid4()
            if incoming.method in SAFE:
                return await handle(incoming)
            if not declared.streams_body:
                await incoming.read()
                if self.body_field is not None:
                    await incoming.check_json()
            if declared.idempotent and (keyed := await _keyed(incoming, actor, declared)):
                incoming.state.command_id = keyed.command_id
                return await _answer_once(cairn.idempotency, keyed, lambda: handle(incoming))
            return await handle(incoming)

        return handle_operation


def _check_ids(params: dict[str, Any]) -> None:
    """A malformed id is not found, like an unknown one."""
    for name, value in params.items():
        if name.endswith("_id") and not is_id(value):
            raise NotFound(name.removesuffix("_id").replace("_", " "), repr(value)[:80])


async def _keyed(request: BoundedRequest, actor: Actor, declared: Operation) -> IdempotentRequest | None:
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    if not _KEY.fullmatch(key):
        raise RequestRejected("bad-request", "An Idempotency-Key has 1 to 255 printable ASCII characters and no space.")
    head = f"{request.media_type}\n{request.headers.get('if-match', '')}\n".encode()
    # A streamed body has not been read yet, so its length is used instead.
    is_streamed = declared.streams_body
    body = request.headers.get("content-length", "").encode() if is_streamed else await request.read()
    path = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    return IdempotentRequest(actor.name, key, request.method, path, hashlib.sha256(head + body).hexdigest())


async def _answer_once(
    keys: IdempotencyKeys, keyed: IdempotentRequest, handle: Callable[[], Coroutine[Any, Any, Response]]
) -> Response:
    if stored := await keys.claim(keyed):
        return _unpack(stored)
    try:
        response = await handle()
    except BaseException:
        await keys.release(keyed)
        raise
    if response.status_code < 400:
        await keys.store_response(keyed, response.status_code, _pack(response))
    else:
        await keys.release(keyed)
    return response


def _pack(response: Response) -> bytes:
    headers = {name: response.headers[name] for name in _STORED_HEADERS if name in response.headers}
    return encode_json({**headers}) + b"\n" + bytes(response.body)


def _unpack(stored: StoredResponse) -> Response:
    head, _, body = stored.response.partition(b"\n")
    headers: Any = decode_json(head)
    return Response(body, stored.status, {**headers, "Idempotency-Replayed": "true"})


# ---- threads ---------------------------------------------------------------------------------------------
def _as_coroutine(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Run the handler in a thread. FastAPI would use two: one for the handler and one for the response."""
    if iscoroutinefunction(handler):
        return handler

    @wraps(handler)
    async def handle(**arguments: Any) -> Any:
        return await run_in_threadpool(handler, **arguments)

    return handle
