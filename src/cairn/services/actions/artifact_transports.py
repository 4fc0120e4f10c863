"""Send actions by email or HTTP, with the artifacts of the moment. `transports` replaces this module."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from typing import Any

from cairn.documents import DocumentError, decode_json, encode_json
from cairn.ports.outbound import Attachment, HttpClient, Mail, Mailer, NotSent
from cairn.services.actions.queries import run_artifacts
from cairn.services.actions.templates import fill
from cairn.store import Connection, Database, LoadedRun, blobs

MAX_RESPONSE_BYTES = 64 * 1024


class ActionTransports:
    def __init__(self, database: Database, mailer: Mailer, web: HttpClient) -> None:
        self._database = database
        self._mailer = mailer
        self._web = web

    async def send(
        self, operation_type: str, parameters: dict[str, Any], idempotency_key: str, loaded: LoadedRun
    ) -> dict[str, Any]:
        """Send once and return the response."""
        if operation_type == "send_email":
            return await self._send_email(parameters, idempotency_key, loaded)
        return await self._request(parameters, idempotency_key)

    async def _send_email(self, parameters: dict[str, Any], message_id: str, loaded: LoadedRun) -> dict[str, Any]:
        names: list[str] = parameters.get("attachments", [])
        mail = Mail(
            to=_addresses(parameters["to"]),
            cc=_addresses(parameters.get("cc", [])),
            subject=fill(parameters["subject"], parameters),
            text=fill(parameters.get("body", ""), parameters),
            attachments=await self._database.aread(lambda c: tuple(_attachment(c, loaded, name) for name in names)),
        )
        response = await self._mailer.send(mail, message_id=message_id)
        return {"to": list(mail.to), "subject": mail.subject, "server": response}

    async def _request(self, parameters: dict[str, Any], idempotency_key: str) -> dict[str, Any]:
        headers: dict[str, str] = {"Idempotency-Key": idempotency_key, **parameters.get("headers", {})}
        body = str(parameters.get("body", "")).encode()
        if "json" in parameters:
            body = encode_json(parameters["json"])
            headers.setdefault("Content-Type", "application/json")
        response = await self._web.request(
            parameters.get("method", "POST"),
            parameters["url"],
            headers=headers,
            body=body,
            timeout=parameters.get("timeout_seconds", 30),
            limit=MAX_RESPONSE_BYTES,
        )
        return {"status": response.status, "body": _decode_body(response.headers, response.body)}


def _addresses(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _decode_body(headers: Mapping[str, str], body: bytes) -> Any:
    if "json" in headers.get("content-type", ""):
        try:
            return decode_json(body, max_bytes=MAX_RESPONSE_BYTES)
        except DocumentError:
            pass
    return body.decode(errors="replace")


def _attachment(connection: Connection, loaded: LoadedRun, name: str) -> Attachment:
    """The newest artifact of the run with this name, with or without its format."""
    for row in run_artifacts(connection, loaded.facts.run_id):
        file = f"{row.artifact_name}.{row.format}"
        if name in (row.artifact_name, file):
            media_type = mimetypes.guess_type(file)[0] or "application/octet-stream"
            return Attachment(file, media_type, blobs.read(connection, row.checksum))
    raise NotSent(f"This run has no artifact named {name!r} to attach.", is_permanent=True)
