"""Send resolved actions, byte for byte as they were approved. Secrets are filled in here and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from cairn.core.states import ActionEffect
from cairn.documents import DocumentError, decode_json, encode_json
from cairn.ports.outbound import Attachment, HttpClient, HttpResponse, Mail, Mailer, NotSent, OutboundError
from cairn.services.actions import requests, secret_references
from cairn.services.actions.action_type import ActionType
from cairn.services.errors import ServiceError
from cairn.store import Connection, Database, blobs
from cairn.store.errors import DamagedBlob, MissingBlob

MAX_RESPONSE_BYTES = 64 * 1024
# The request may have been processed, or be processed later.
AMBIGUOUS_STATUSES = frozenset({408, 409, 425, 429})
State = Literal["done", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class SentAction:
    """`failed`: certainly not done. `unknown`: it may or may not have been done."""

    state: State
    result: dict[str, Any]


class Secrets(Protocol):
    def get(self, name: str) -> str | None: ...

    def mask(self, text: str) -> str: ...

    def partial_secret_length(self, text: str) -> int: ...


class Transports:
    def __init__(self, database: Database, mailer: Mailer, web: HttpClient, secrets: Secrets) -> None:
        """`web` follows no redirects and doesn't reach the server's own addresses."""
        self._database = database
        self._mailer = mailer
        self._web = web
        self._secrets = secrets

    def refusal(self, action: ActionType) -> str | None:
        """Why no action of this type can be carried out. None if it can."""
        if action.name == "send_email" and not self._mailer.is_configured:
            return "No mail server is configured. Set CAIRN_SMTP_HOST."
        return None

    async def send(self, operation: str, content: Mapping[str, Any], key: str) -> SentAction:
        """Send a resolved action once. The receiver can recognize a repetition by the idempotency key."""
        effect = requests.effect_of(content) if operation == "http_request" else ActionEffect.CHANGES
        try:
            match operation:
                case "http_request":
                    return await self._request(content, key)
                case "send_email":
                    return await self._send_email(content, key)
                case _:
                    return SentAction("failed", {"error": f"Cairn can't carry out {operation}."})
        except OutboundError as error:
            is_known = isinstance(error, NotSent) or effect is not ActionEffect.CHANGES
            text = await asyncio.to_thread(self.mask, str(error))
            return SentAction("failed" if is_known else "unknown", {"error": text})

    async def fill_secrets(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """The content with secrets instead of the references to them. Raises NotSent."""
        return await asyncio.to_thread(secret_references.fill_secrets, dict(content), self._secret)

    def mask(self, value: Any) -> Any:
        """What came back, without secrets."""
        match value:
            case str():
                return self._secrets.mask(value)
            case dict():
                members = cast("dict[str, Any]", value)
                return {self._secrets.mask(name): self.mask(item) for name, item in members.items()}
            case list():
                return [self.mask(item) for item in cast("list[Any]", value)]
            case int() | float() if not isinstance(value, bool):
                text = encode_json(value).decode()
                masked = self._secrets.mask(text)
                return value if masked == text else masked
            case _:
                return value

    def _secret(self, name: str) -> str:
        try:
            value = self._secrets.get(name)
        except ServiceError as error:
            raise NotSent(error.message, is_permanent=True) from None
        if value is None:
            raise NotSent(f"The secret {name} doesn't exist.", is_permanent=True)
        return value

    async def _request(self, content: Mapping[str, Any], key: str) -> SentAction:
        filled = await self.fill_secrets({name: content[name] for name in ("headers", "json") if name in content})
        headers: dict[str, str] = filled["headers"]
        response = await self._web.request(
            content["method"],
            content["url"],
            headers={**headers, "idempotency-key": key},
            body=requests.body_of({**content, **filled}),
            timeout=content["timeout_seconds"],
            limit=MAX_RESPONSE_BYTES,
        )
        result = await asyncio.to_thread(self._result, response)
        return SentAction(_state(requests.effect_of(content), response.status), result)

    def _result(self, response: HttpResponse) -> dict[str, Any]:
        result: dict[str, Any] = {"status": response.status, "body": self.mask(self._body(response))}
        if 300 <= response.status < 400 and "location" in response.headers:
            result["location"] = self.mask(response.headers["location"])
        if not response.is_complete:
            result["truncated"] = True
        return result

    def _body(self, response: HttpResponse) -> Any:
        if response.is_complete and "json" in response.headers.get("content-type", ""):
            try:
                return decode_json(response.body, max_bytes=MAX_RESPONSE_BYTES)
            except DocumentError:
                pass
        text = response.body.decode(errors="replace").replace("\0", "\ufffd")
        if response.is_complete:
            return text
        text = text.rstrip("\ufffd")  # half a character
        return text[: len(text) - self._secrets.partial_secret_length(text)]

    async def _send_email(self, content: Mapping[str, Any], key: str) -> SentAction:
        attachments: list[dict[str, Any]] = content.get("attachments", [])
        mail = Mail(
            to=tuple(content["to"]),
            cc=tuple(content.get("cc", ())),
            bcc=tuple(content.get("bcc", ())),
            subject=content["subject"],
            text=content["body"],
            attachments=await self._database.aread(lambda c: tuple(_attachment(c, item) for item in attachments)),
        )
        response = await self._mailer.send(mail, message_id=key)
        server = await asyncio.to_thread(self.mask, response)
        return SentAction("done", {"to": list(mail.to), "subject": mail.subject, "server": server})


def _state(effect: ActionEffect, status: int) -> State:
    if 200 <= status < 300:
        return "done"
    if effect is not ActionEffect.CHANGES:
        return "failed"
    return "failed" if 400 <= status < 500 and status not in AMBIGUOUS_STATUSES else "unknown"


def _attachment(connection: Connection, item: Mapping[str, Any]) -> Attachment:
    """The content that was approved. Raises NotSent."""
    try:
        data = blobs.read(connection, item["checksum"])
    except (MissingBlob, DamagedBlob):
        message = f"The content of the attachment {item['name']} is missing or damaged."
        raise NotSent(message, is_permanent=True) from None
    return Attachment(item["name"], item["content_type"], data)
