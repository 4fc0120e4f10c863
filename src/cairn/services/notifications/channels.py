"""Create, update and delete channels. Their URLs and signing keys are stored as secrets."""

from __future__ import annotations

import re
import secrets as random
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit
from uuid import uuid4

from cairn.ports import Messenger, NotSent
from cairn.services.actors import Actor
from cairn.services.engine.admin_changes import AdminChange, AdminChanges
from cairn.services.errors import InvalidInput, PreconditionFailed
from cairn.services.notifications import queries, records
from cairn.services.notifications.recipients import Recipients
from cairn.services.notifications.sender import SecretReader, key_secret, url_secret
from cairn.store import Connection
from cairn.store.tables.notifications import ChannelKind, NotificationKind

DEFAULT_KINDS = tuple(
    kind.value for kind in NotificationKind if kind not in (NotificationKind.RUN_COMPLETED, NotificationKind.TEST)
)
MIN_KEY_LENGTH = 16
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,59}")
Errors = list[tuple[str, str]]


class ChannelSecrets(SecretReader, Protocol):
    def own_secrets(self) -> AbstractAsyncContextManager[Callable[[AdminChange, str, str | None], None]]:
        """A function that saves or removes a secret as part of a change inside the block."""
        ...


@dataclass(frozen=True, slots=True)
class ChannelSpec:
    """The fields of a channel. None means the default, or no change."""

    name: str | None = None
    kind: ChannelKind | None = None
    is_enabled: bool | None = None
    include_details: bool | None = None
    notification_kinds: Sequence[NotificationKind] | None = None
    pipelines: Sequence[str] | None = None
    recipients: Sequence[str] | None = None
    fallback: str | None = None  # "" removes it
    url: str | None = None
    signing_key: str | None = None


class ChannelService:
    def __init__(
        self, admin_changes: AdminChanges, secrets: ChannelSecrets, messenger: Messenger, recipients: Recipients
    ) -> None:
        self._changes = admin_changes
        self._secrets = secrets
        self._messenger = messenger
        self._recipients = recipients

    async def create(self, spec: ChannelSpec, actor: Actor) -> tuple[str, str | None]:
        """Create a channel. Return its id, and its signing key if one was generated."""
        if spec.kind is None or spec.name is None:
            raise InvalidInput([("", "A channel requires a name and a kind.")])
        host = self._check(spec, spec.kind, is_new=True)
        channel_id, generated_key = str(uuid4()), None
        if spec.kind is ChannelKind.WEBHOOK and spec.signing_key is None:
            generated_key = random.token_urlsafe(32)
        defaults = {
            "is_enabled": True,
            "include_details": True,
            "notification_kinds": list(DEFAULT_KINDS),
            "pipelines": [],
            "recipients": [],
            "fallback": None,
        }
        values = {**defaults, **_columns(spec), "kind": spec.kind.value, "host": host}

        def insert(change: AdminChange) -> None:
            self._check_references(change.connection, channel_id, values)
            creation = {"channel_id": channel_id, "revision": 1, "created_by": change.actor.name}
            times = {"created_at": change.at, "updated_at": change.at}
            records.insert_channel(change.connection, {**values, **creation, **times})
            _save_secrets(change, save_secret, channel_id, spec.url, spec.signing_key or generated_key)
            change.record("channel_created", channel=values["name"], kind=values["kind"])

        async with self._secrets.own_secrets() as save_secret:
            await self._changes.apply(insert, actor)
        return channel_id, generated_key

    async def update(self, channel_id: str, spec: ChannelSpec, actor: Actor, if_match: int | None = None) -> None:
        channel = await self._changes.database.aread(lambda c: queries.find_channel(c, channel_id))
        host = self._check(spec, ChannelKind(channel.kind), is_new=False)
        values = {**_columns(spec), **({"host": host} if spec.url is not None else {})}

        def update(change: AdminChange) -> None:
            current = queries.find_channel(change.connection, channel_id)
            if if_match is not None and current.revision != if_match:
                raise PreconditionFailed(
                    f"The channel has changed: it is at revision {current.revision}, not {if_match}. "
                    "Reload it and try again.",
                    current.revision,
                )
            self._check_references(change.connection, channel_id, {"name": current.name, **values})
            new_revision = {"revision": current.revision + 1, "updated_at": change.at}
            records.update_channel(change.connection, channel_id, {**values, **new_revision})
            _save_secrets(change, save_secret, channel_id, spec.url, spec.signing_key)
            changed_fields = sorted({*values, *(["signing_key"] if spec.signing_key else [])})
            change.record("channel_updated", channel=values.get("name", current.name), changed_fields=changed_fields)

        async with self._secrets.own_secrets() as save_secret:
            await self._changes.apply(update, actor)

    async def remove(self, channel_id: str, actor: Actor) -> str:
        """Delete a channel and return its name. Its queued deliveries are skipped."""

        def delete(change: AdminChange) -> str:
            channel = queries.find_channel(change.connection, channel_id)
            records.delete_channel(change.connection, channel_id, channel.name)
            for secret in (url_secret(channel_id), key_secret(channel_id)):
                save_secret(change, secret, None)
            change.record("channel_deleted", channel=channel.name, kind=channel.kind)
            return channel.name

        async with self._secrets.own_secrets() as save_secret:
            return await self._changes.apply(delete, actor)

    # Checks
    def _check(self, spec: ChannelSpec, kind: ChannelKind, *, is_new: bool) -> str:
        """Check the fields and return the host of the URL."""
        errors: Errors = []
        if spec.name is not None and not _NAME.fullmatch(spec.name):
            errors.append(
                ("/name", "Use at most 60 letters, digits, spaces and . _ - and start with a letter or a digit.")
            )
        if spec.name is not None and spec.name.casefold() in set(ChannelKind):
            errors.append(("/name", f"{spec.name} is a kind of channel, which rules can name. Choose another name."))
        if not is_new and spec.kind is not None and spec.kind is not kind:
            errors.append(("/kind", "You can't change the kind of a channel. Create another channel."))
        if spec.signing_key is not None and kind is not ChannelKind.WEBHOOK:
            errors.append(("/signing_key", "Only webhooks have a signing key."))
        if spec.signing_key is not None and len(spec.signing_key) < MIN_KEY_LENGTH:
            errors.append(("/signing_key", f"A signing key must have at least {MIN_KEY_LENGTH} characters."))
        if spec.recipients and kind is not ChannelKind.EMAIL:
            errors.append(("/recipients", "Only email channels have recipients."))
        host = self._check_url(spec.url, kind, is_new, errors)
        if errors:
            raise InvalidInput(errors)
        return host

    def _check_references(self, connection: Connection, channel_id: str, values: Mapping[str, Any]) -> None:
        errors: Errors = []
        if queries.is_channel_name_taken(connection, values["name"], channel_id):
            errors.append(("/name", "Another channel has this name."))
        if fallback := values.get("fallback"):
            fallback_id = queries.channel_id_by_name(connection, fallback)
            if fallback_id is None or fallback_id == channel_id:
                errors.append(("/fallback", "Enter the name of another channel."))
        for pipeline_id in queries.unknown_pipelines(connection, values.get("pipelines") or ()):
            errors.append(("/pipelines", f"Pipeline {pipeline_id} does not exist."))
        for index, name in enumerate(values.get("recipients") or ()):
            if not tuple(self._recipients.resolve(connection, (name,))):
                message = f"No user, role or group with members matches {name!r}. Correct it, or add the user first."
                errors.append((f"/recipients/{index}", message))
        if errors:
            raise InvalidInput(errors)

    def _check_url(self, url: str | None, kind: ChannelKind, is_new: bool, errors: Errors) -> str:
        if kind is ChannelKind.EMAIL:
            if url is not None:
                errors.append(("/url", "An email channel has no URL. Email is sent through CAIRN_SMTP_HOST."))
            return ""
        if url is None:
            if is_new:
                errors.append(("/url", "Enter the URL to send notifications to."))
            return ""
        try:
            return self._messenger.check(url) if kind is ChannelKind.APPRISE else _host(url)
        except NotSent as error:
            errors.append(("/url", str(error)))
            return ""


def _save_secrets(
    change: AdminChange,
    save: Callable[[AdminChange, str, str | None], None],
    channel_id: str,
    url: str | None,
    key: str | None,
) -> None:
    """Save the URL and the signing key together with the channel. None leaves them unchanged."""
    for name, value in ((url_secret(channel_id), url), (key_secret(channel_id), key)):
        if value is not None:
            save(change, name, value)


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host, parts = None, None
    if host is None or parts is None or parts.scheme not in ("http", "https") or not url.isprintable():
        raise NotSent("Enter a URL that starts with https:// or http://.")
    if parts.username or parts.password:
        raise NotSent("A URL can't contain a username or password.")
    return host


def _columns(spec: ChannelSpec) -> dict[str, Any]:
    kinds = [kind.value for kind in spec.notification_kinds] if spec.notification_kinds is not None else None
    columns: dict[str, Any] = {
        "name": spec.name,
        "is_enabled": spec.is_enabled,
        "include_details": spec.include_details,
        "notification_kinds": kinds,
        "pipelines": list(spec.pipelines) if spec.pipelines is not None else None,
        "recipients": list(spec.recipients) if spec.recipients is not None else None,
    }
    values = {name: value for name, value in columns.items() if value is not None}
    return values | ({"fallback": spec.fallback or None} if spec.fallback is not None else {})
