"""How Cairn itself carries an action out."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from cairn.documents import DocumentError, decode_json, encode_json
from cairn.ports.outbound import Attachment, HttpClient, Mail, Mailer, NotSent
from cairn.services.actions.templates import fill
from cairn.store import Connection, Database, LoadedRun, blobs
from cairn.store import tables as t

SHOWN = 64 * 1024  # bytes of an answer that are kept


class ActionTransports:
    def __init__(self, database: Database, mailer: Mailer, web: HttpClient) -> None:
        self._database = database
        self._mailer = mailer
        self._web = web

    async def go(self, operation_type: str, parameters: dict[str, Any], key: str, loaded: LoadedRun) -> dict[str, Any]:
        """Once; the key names it for whoever takes it. The answer is what came of it."""
        if operation_type == "send_email":
            return await self._send_email(parameters, key, loaded)
        return await self._request(parameters, key)

    async def _send_email(self, parameters: dict[str, Any], key: str, loaded: LoadedRun) -> dict[str, Any]:
        names: list[str] = parameters.get("attachments", [])
        mail = Mail(
            to=_addresses(parameters["to"]),
            cc=_addresses(parameters.get("cc", [])),
            subject=fill(parameters["subject"], parameters),
            text=fill(parameters.get("body", ""), parameters),
            attachments=await self._database.aread(lambda c: tuple(_attachment(c, loaded, name) for name in names)),
        )
        said = await self._mailer.send(mail, message_id=key)
        return {"to": list(mail.to), "subject": mail.subject, "server": said}

    async def _request(self, parameters: dict[str, Any], key: str) -> dict[str, Any]:
        headers: dict[str, str] = {"Idempotency-Key": key, **parameters.get("headers", {})}
        body = str(parameters.get("body", "")).encode()
        if "json" in parameters:
            body = encode_json(parameters["json"])
            headers.setdefault("Content-Type", "application/json")
        answer = await self._web.request(
            parameters.get("method", "POST"),
            parameters["url"],
            headers=headers,
            body=body,
            timeout=parameters.get("timeout_seconds", 30),
            limit=SHOWN,
        )
        return {"status": answer.status, "body": _shown(answer.headers, answer.body)}


def _addresses(given: str | list[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _shown(headers: Mapping[str, str], body: bytes) -> Any:
    if "json" in headers.get("content-type", ""):
        try:
            return decode_json(body, max_bytes=SHOWN)
        except DocumentError:
            pass
    return body.decode(errors="replace")


def _attachment(connection: Connection, loaded: LoadedRun, name: str) -> Attachment:
    """An artifact of the run, by its name with or without its format; the newest of that name."""
    a, x = t.artifacts.c, t.checkpoint_executions.c
    rows = connection.execute(
        sa.select(a.artifact_name, a.format, a.checksum)
        .join(t.checkpoint_executions, x.execution_id == a.execution_id)
        .where(x.run_id == loaded.facts.run_id, x.archived_by.is_(None))
        .order_by(a.created_at.desc())
    )
    for row in rows:
        file = f"{row.artifact_name}.{row.format}"
        if name in (row.artifact_name, file):
            kind = mimetypes.guess_type(file)[0] or "application/octet-stream"
            return Attachment(file, kind, blobs.read(connection, row.checksum))
    raise NotSent(f"There is no artifact named {name!r} in this run to attach.", lasting=True)
