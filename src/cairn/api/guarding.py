"""The one route class: every request is admitted, bounded, decoded and answered once before its handler sees it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import uuid4

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from cairn.api.admission import SAFE, admit
from cairn.api.incoming import Incoming
from cairn.api.openapi import operation_id
from cairn.api.parameters import is_id
from cairn.api.permissions import PERMISSIONS
from cairn.api.problems import Turned
from cairn.api.unhindered import unhindered
from cairn.documents import decode_json, encode_json
from cairn.services.actors import Actor
from cairn.services.errors import NotFound
from cairn.services.idempotency import IdempotencyKeys, IdempotentRequest, StoredResponse

Handler = Callable[[Request], Coroutine[Any, Any, Response]]

NOBODY = Actor("nobody")
STREAMED = frozenset({"upload_file"})  # their bodies are not read into memory
UNKEYED = frozenset(  # nothing to repeat, or an answer that must not be kept
    {
        "sign_in",
        "sign_out",
        "change_password",
        "begin_sign_in",
        "finish_sign_in",
        "create_invitation",
        "preview_invitation",
        "accept_invitation",
        "create_token",
        "create_own_token",
        "put_secret",
        "validate_definition",
        "compare_definition",
        "preview_rollback",
        "check_rules",
        "backtest_rules",
        "create_channel",
    }
)
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_KEPT_HEADERS = ("content-type", "etag", "location")


def operations(prefix: str, tag: str) -> APIRouter:
    """Where the operations of one kind are listed, each as the application takes it over."""
    return APIRouter(prefix=prefix, route_class=Guarded, tags=[tag], generate_unique_id_function=operation_id)


class Guarded(APIRoute):
    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, unhindered(endpoint), **options)

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        name = self.endpoint.__name__
        allowed = PERMISSIONS[name]
        is_keyed, is_streamed = name not in UNKEYED, name in STREAMED

        async def guarded(request: Request) -> Response:
            incoming = Incoming(request.scope, request.receive)
            cairn = request.app.state.cairn
            actor = NOBODY if allowed is None else await admit(incoming, cairn.access, allowed)
            _check_ids(incoming.path_params)
            incoming.state.actor = actor
            incoming.state.command_id = uuid4()
            if incoming.method in SAFE:
                return await handle(incoming)
            if not is_streamed:
                await incoming.read()
                if self.body_field is not None:
                    await incoming.check_json()
            if is_keyed and (asked := await _asked(incoming, actor, is_streamed)):
                incoming.state.command_id = asked.command_id
                return await _answer_once(cairn.idempotency, asked, lambda: handle(incoming))
            return await handle(incoming)

        return guarded


def _check_ids(params: dict[str, Any]) -> None:
    """What is not even an id names nothing."""
    for name, value in params.items():
        if name.endswith("_id") and not is_id(value):
            raise NotFound(name.removesuffix("_id").replace("_", " "), repr(value)[:80])


async def _asked(request: Incoming, actor: Actor, is_streamed: bool) -> IdempotentRequest | None:
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    if not _KEY.fullmatch(key):
        raise Turned("bad-request", "An Idempotency-Key has 1 to 255 printable ASCII characters and no space.")
    told = f"{request.media_type}\n{request.headers.get('if-match', '')}\n".encode()
    # A file is not read before it is known to be wanted: its length has to do.
    body = request.headers.get("content-length", "").encode() if is_streamed else await request.read()
    path = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    return IdempotentRequest(actor.name, key, request.method, path, hashlib.sha256(told + body).hexdigest())


async def _answer_once(
    keys: IdempotencyKeys, asked: IdempotentRequest, handle: Callable[[], Coroutine[Any, Any, Response]]
) -> Response:
    if answered := await keys.claim(asked):
        return _unpack(answered)
    try:
        response = await handle()
    except BaseException:
        await keys.release(asked)
        raise
    if response.status_code < 400:
        await keys.keep(asked, response.status_code, _pack(response))
    else:
        await keys.release(asked)
    return response


def _pack(response: Response) -> bytes:
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    return encode_json({**headers}) + b"\n" + bytes(response.body)


def _unpack(answered: StoredResponse) -> Response:
    head, _, body = answered.response.partition(b"\n")
    headers: Any = decode_json(head)
    return Response(body, answered.status, {**headers, "Idempotency-Replayed": "true"})
