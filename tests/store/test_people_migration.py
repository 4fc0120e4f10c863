"""Existing data folders keep working: the start link and its sessions."""

from __future__ import annotations

import hashlib
from contextlib import closing

import sqlalchemy as sa
from alembic import command

from cairn.services.actors import ADMIN
from cairn.services.identity.directory import Directory
from cairn.services.sign_in.authentication import Authentication
from cairn.store import Database
from cairn.store.migrations.upgrade import configuration
from tests.services.accounts import NOON, SetClock

BEFORE = "0013"


async def test_tokens_and_sessions_of_the_local_admin_stay_valid(new_database_url: str) -> None:
    with closing(Database(new_database_url)) as database:
        with database.migration_engine.begin() as connection:
            config = configuration()
            config.attributes["connection"] = connection
            command.upgrade(config, BEFORE)
            _fill(connection)
        database.migrate()
        clock = SetClock()
        access = Authentication(database, clock, Directory(clock))
        actor = await access.bearer("the start link")
        session = await access.session("the cookie")
        assert (actor.name, actor.roles, actor.scopes) == ("admin", ADMIN.roles, None)
        assert session.actor == actor
        assert await access.local_token("the start link") == "the start link"
        [user] = database.read(lambda c: c.execute(sa.text("SELECT name, roles, created_at FROM users")).all())
        assert (user.name, user.created_at is not None) == ("admin", True)


def _fill(connection: sa.Connection) -> None:
    def digest(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    later = "2026-03-09T12:00:00.000000Z"
    roles = '["admin","approver","editor","viewer"]'
    at = NOON.isoformat(timespec="microseconds").replace("+00:00", "Z")
    token = "INSERT INTO api_tokens VALUES (:digest, 'local', 'admin', :roles, :at, NULL, NULL)"
    session = "INSERT INTO sessions VALUES (:digest, 'admin', :roles, :at, :later)"
    connection.execute(sa.text(token), {"digest": digest("the start link"), "roles": roles, "at": at})
    values = {"digest": digest("the cookie"), "roles": roles, "at": at, "later": later}
    connection.execute(sa.text(session), values)
