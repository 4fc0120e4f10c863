"""User accounts on a separate database, with a clock that the test advances."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher

from cairn.adapters.key_file import KeyFile
from cairn.bootstrap.identity import Identity, build_identity
from cairn.services.actors import ADMIN, Actor
from cairn.services.engine.admin_changes import AdminChanges
from cairn.services.engine.event_bus import EventBus
from cairn.services.events.queries import EventFilter, list_events
from cairn.services.identity.directory import Directory
from cairn.services.identity.users import UserSpec
from cairn.services.secrets import SecretStore
from cairn.services.sign_in.authentication import Authentication
from cairn.services.sign_in.passwords import Passwords
from cairn.services.sign_in.service import SignInClient
from cairn.store import Database, verify

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CLIENT = SignInClient("10.0.0.1", "a browser")
PASSWORD = "several plain words"
FAST_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@dataclass
class FakeClock:
    at: datetime = NOON

    def now(self) -> datetime:
        self.at += timedelta(microseconds=1)
        return self.at

    def advance(self, **time: float) -> None:
        self.at += timedelta(**time)


@dataclass
class AccountsHarness:
    database: Database
    folder: Path
    admin_token: str | None = None
    clock: FakeClock = field(default_factory=FakeClock)

    admin_changes: AdminChanges = field(init=False)
    directory: Directory = field(init=False)
    authentication: Authentication = field(init=False)
    identity: Identity = field(init=False)
    secrets: SecretStore = field(init=False)

    def __post_init__(self) -> None:
        self.admin_changes = AdminChanges(self.database, self.clock, EventBus())
        self.directory = Directory(self.clock)
        self.authentication = Authentication(self.database, self.clock, self.directory, self.admin_token)
        self.identity = build_identity(self.admin_changes, self.authentication, {}, Passwords(FAST_HASHER))
        self.secrets = SecretStore(self.admin_changes, KeyFile(self.folder))

    async def user(self, name: str, *roles: str, **fields: Any) -> str:
        return await self.identity.users.create(UserSpec(name, roles=roles, **fields), ADMIN)

    async def user_with_password(self, name: str, *roles: str, password: str = PASSWORD, **fields: Any) -> str:
        invitation = await self.identity.invitations.create(UserSpec(name, roles=roles, **fields), 1, ADMIN)
        await self.identity.invitations.accept(invitation.token, password, None, CLIENT)
        return invitation.user

    def actor(self, name: str) -> Actor:
        found = self.database.read(lambda c: self.directory.find(c, name))
        assert found is not None
        return found.actor

    def events(self) -> list[tuple[str, str, dict[str, Any]]]:
        """The events of the installation, oldest first: type, actor and metadata."""
        assert self.database.read(verify).broken == ()
        found = self.database.read(lambda c: list_events(c, EventFilter(is_global=True), 500, None))
        return [(event.event_type, event.actor, event.metadata) for event in found.items[::-1]]
