"""Setting channels up: what an admin says of them, with addresses and keys kept as secrets."""

from __future__ import annotations

import re
import secrets as random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit
from uuid import uuid4

import sqlalchemy as sa

from cairn.ports import Messenger, NotSent
from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import InvalidInput, PreconditionFailed
from cairn.services.notifications.sender import SealedAddress, key_secret, url_secret
from cairn.store import Connection
from cairn.store import tables as t
from cairn.store.errors import NotFound
from cairn.store.tables.notifications import ChannelKind, NotificationKind

C = t.channels.c
DEFAULT_KINDS = tuple(
    k.value for k in NotificationKind if k not in (NotificationKind.RUN_COMPLETED, NotificationKind.TEST)
)
SHORTEST_KEY = 16
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,59}")
Errors = list[tuple[str, str]]


class ChannelSecrets(SealedAddress, Protocol):
    async def put(self, name: str, value: str, actor: Actor) -> None: ...

    async def remove(self, name: str, actor: Actor) -> None: ...


@dataclass(frozen=True, slots=True)
class ChannelSpec:
    """What is said of a channel; None leaves it as it is."""

    name: str | None = None
    kind: ChannelKind | None = None
    is_enabled: bool | None = None
    include_details: bool | None = None
    notification_kinds: Sequence[NotificationKind] | None = None
    pipelines: Sequence[str] | None = None
    recipients: Sequence[str] | None = None
    fallback: str | None = None  # "" takes it away
    url: str | None = None
    signing_key: str | None = None


class ChannelService:
    def __init__(self, admin_changes: AdminChanges, secrets: ChannelSecrets, messenger: Messenger) -> None:
        self._changes = admin_changes
        self._secrets = secrets
        self._messenger = messenger

    async def create(self, wanted: ChannelSpec, actor: Actor) -> tuple[str, str | None]:
        """The id, and the signing key where one was made."""
        if wanted.kind is None or wanted.name is None:
            raise InvalidInput([("", "A channel has a name and a kind.")])
        host = self._check(wanted, wanted.kind, is_new=True)
        channel_id, made_key = str(uuid4()), None
        if wanted.kind is ChannelKind.WEBHOOK and wanted.signing_key is None:
            made_key = random.token_urlsafe(32)
        defaults = {
            "is_enabled": True,
            "include_details": True,
            "notification_kinds": list(DEFAULT_KINDS),
            "pipelines": [],
            "recipients": [],
            "fallback": None,
        }
        values = {**defaults, **_values(wanted), "kind": wanted.kind.value, "host": host}

        def body(change: AdminChange) -> None:
            _check_references(change.connection, channel_id, values)
            made = {"channel_id": channel_id, "revision": 1, "created_by": change.actor.name}
            times = {"created_at": change.at, "updated_at": change.at}
            change.connection.execute(sa.insert(t.channels).values({**values, **made, **times}))
            change.record("channel_created", channel=values["name"], kind=values["kind"])

        # Kept first: a channel that is there can be used. A secret that nobody uses does no harm.
        await self._keep(channel_id, wanted.url, wanted.signing_key or made_key, actor)
        try:
            await self._changes.apply(body, actor)
        except BaseException:
            await self._drop(channel_id, actor)
            raise
        return channel_id, made_key

    async def update(self, channel_id: str, wanted: ChannelSpec, actor: Actor, if_match: int | None = None) -> None:
        row = await self._changes.database.aread(lambda c: find(c, channel_id))
        host = self._check(wanted, ChannelKind(row.kind), is_new=False)
        values = {**_values(wanted), **({"host": host} if wanted.url is not None else {})}

        def body(change: AdminChange) -> None:
            now = find(change.connection, channel_id)
            if if_match is not None and now.revision != if_match:
                raise PreconditionFailed("The channel was changed meanwhile: look at it again.", now.revision)
            _check_references(change.connection, channel_id, {"name": now.name, **values})
            changed = {**values, "revision": now.revision + 1, "updated_at": change.at}
            change.connection.execute(sa.update(t.channels).where(C.channel_id == channel_id).values(changed))
            told = sorted({*values, *(["signing_key"] if wanted.signing_key else [])})
            change.record("channel_updated", channel=values.get("name", now.name), changed_fields=told)

        await self._changes.apply(body, actor)
        await self._keep(channel_id, wanted.url, wanted.signing_key, actor)

    async def remove(self, channel_id: str, actor: Actor) -> str:
        """Its name. What waits to be sent there is skipped."""

        def body(change: AdminChange) -> str:
            row = find(change.connection, channel_id)
            leaning = sa.update(t.channels).where(C.fallback == row.name).values(fallback=None)
            change.connection.execute(leaning)
            change.connection.execute(sa.delete(t.channels).where(C.channel_id == channel_id))
            change.record("channel_removed", channel=row.name, kind=row.kind)
            return row.name

        name = await self._changes.apply(body, actor)
        await self._drop(channel_id, actor)
        return name

    # ---- secrets ---------------------------------------------------------------------------------------
    async def _keep(self, channel_id: str, url: str | None, key: str | None, actor: Actor) -> None:
        if url is not None:
            await self._secrets.put(url_secret(channel_id), url, actor)
        if key is not None:
            await self._secrets.put(key_secret(channel_id), key, actor)

    async def _drop(self, channel_id: str, actor: Actor) -> None:
        for name in (url_secret(channel_id), key_secret(channel_id)):
            try:
                await self._secrets.remove(name, actor)
            except NotFound:
                continue

    # ---- what does not fit -------------------------------------------------------------------------------
    def _check(self, wanted: ChannelSpec, kind: ChannelKind, *, is_new: bool) -> str:
        """The host that the address leads to."""
        errors: Errors = []
        if wanted.name is not None and not _NAME.fullmatch(wanted.name):
            errors.append(("/name", "A name has letters, digits, spaces and . _ - in it, at most 60 characters."))
        if not is_new and wanted.kind is not None and wanted.kind is not kind:
            errors.append(("/kind", "The kind of a channel stays: make another channel."))
        if wanted.signing_key is not None and kind is not ChannelKind.WEBHOOK:
            errors.append(("/signing_key", "Only webhooks are signed."))
        if wanted.signing_key is not None and len(wanted.signing_key) < SHORTEST_KEY:
            errors.append(("/signing_key", f"A signing key has at least {SHORTEST_KEY} characters."))
        if wanted.recipients and kind is not ChannelKind.EMAIL:
            errors.append(("/recipients", "Only e-mail channels have recipients."))
        host = self._host(wanted.url, kind, is_new, errors)
        if errors:
            raise InvalidInput(errors)
        return host

    def _host(self, url: str | None, kind: ChannelKind, is_new: bool, errors: Errors) -> str:
        if kind is ChannelKind.EMAIL:
            if url is not None:
                errors.append(("/url", "An e-mail channel has no address: mail goes through CAIRN_SMTP_HOST."))
            return ""
        if url is None:
            if is_new:
                errors.append(("/url", "Give the address that notices are sent to."))
            return ""
        try:
            return self._messenger.check(url) if kind is ChannelKind.APPRISE else _host(url)
        except NotSent as fault:
            errors.append(("/url", str(fault)))
            return ""


def find(connection: Connection, channel_id: str) -> sa.Row[tuple[Any, ...]]:
    row = connection.execute(sa.select(t.channels).where(C.channel_id == channel_id)).one_or_none()
    if row is None:
        raise NotFound("channel", channel_id)
    return row


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host, parts = None, None
    if host is None or parts is None or parts.scheme not in ("http", "https") or not url.isprintable():
        raise NotSent("An address begins with https:// or http://.")
    if parts.username or parts.password:
        raise NotSent("An address may not hold a user and a password.")
    return host


def _values(wanted: ChannelSpec) -> dict[str, Any]:
    """The columns that are given."""
    given: dict[str, Any] = {
        "name": wanted.name,
        "is_enabled": wanted.is_enabled,
        "include_details": wanted.include_details,
        "notification_kinds": [k.value for k in wanted.notification_kinds]
        if wanted.notification_kinds is not None
        else None,
        "pipelines": list(wanted.pipelines) if wanted.pipelines is not None else None,
        "recipients": list(wanted.recipients) if wanted.recipients is not None else None,
    }
    values = {name: value for name, value in given.items() if value is not None}
    return values | ({"fallback": wanted.fallback or None} if wanted.fallback is not None else {})


def _check_references(connection: Connection, channel_id: str, values: Mapping[str, Any]) -> None:
    errors: Errors = []
    same = sa.select(C.channel_id).where(sa.func.lower(C.name) == values["name"].lower(), C.channel_id != channel_id)
    if connection.execute(same).first() is not None:
        errors.append(("/name", "There is a channel of this name already."))
    if fallback := values.get("fallback"):
        other = connection.execute(sa.select(C.channel_id).where(C.name == fallback)).scalar_one_or_none()
        if other is None or other == channel_id:
            errors.append(("/fallback", "The fallback is the name of another channel."))
    for pipeline_id in values.get("pipelines") or ():
        p = t.pipelines.c.pipeline_id
        if connection.execute(sa.select(p).where(p == pipeline_id)).first() is None:
            errors.append(("/pipelines", f"There is no pipeline {pipeline_id}."))
    if errors:
        raise InvalidInput(errors)
