"""Users and groups: unique names, changes as events, and always an admin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cairn.core.errors import CommandRefused
from cairn.services.actors import ADMIN
from cairn.services.errors import InvalidInput, Unauthenticated
from cairn.services.identity.tokens import TokenSpec
from cairn.services.identity.users import UserSpec, UserUpdate
from cairn.store import Database
from cairn.store.errors import NotFound
from tests.services.accounts import CLIENT, AccountsHarness


@pytest.fixture
def harness(database: Database, tmp_path: Path) -> AccountsHarness:
    return AccountsHarness(database, tmp_path)


async def test_every_change_is_an_event_with_its_actor(harness: AccountsHarness) -> None:
    users, groups = harness.identity.users, harness.identity.groups
    await harness.user("boss", "admin")
    boss = harness.actor("boss")
    await groups.create("finance", "Who pays", [], boss)
    await users.create(UserSpec("Ann", "Ann", "ann@example.com", ("viewer",), ("finance",)), boss)
    await users.update("ann", UserUpdate(email="a@example.com", roles=("approver",), groups=()), boss)
    await users.update("ann", UserUpdate(display_name="Ann", roles=("approver",)), boss)  # unchanged: no event
    await groups.update("finance", boss, description="Who pays now", members=["ann"])
    await groups.remove("finance", boss)
    await users.remove("ann", boss)
    await users.restore("ann", boss)
    assert harness.events()[1:] == [
        ("group_created", "boss", {"group": "finance", "members": []}),
        ("user_created", "boss", {"user": "ann", "roles": ["viewer"], "groups": ["finance"]}),
        (
            "user_updated",
            "boss",
            {"user": "ann", "changed_fields": ["email", "roles"], "roles": ["approver"], "earlier_roles": ["viewer"]},
        ),
        ("user_groups_updated", "boss", {"user": "ann", "groups": []}),
        ("group_updated", "boss", {"group": "finance"}),
        ("group_members_updated", "boss", {"group": "finance", "members": ["ann"], "earlier_members": []}),
        ("group_deleted", "boss", {"group": "finance"}),
        ("user_deleted", "boss", {"user": "ann"}),
        ("user_restored", "boss", {"user": "ann", "roles": ["approver"]}),
    ]


@pytest.mark.parametrize(
    ("name", "email"),
    [
        ("ann", ""),  # taken
        ("ANN", ""),
        ("ann@example.com", ""),  # her address
        ("finance", ""),  # a group
        ("gone", ""),  # removed users keep their names
        ("bob", "ann@example.com"),
        ("bob", "ANN@example.com"),
        ("approver", ""),  # a role
        ("timer", ""),  # an actor of events
        ("rule:refunds", ""),
        ("", ""),
        ("-bob", ""),
        ("bob ", "not an address"),
        ("bo b", ""),
        ("x" * 101, ""),
        ("bob", "b@example.com\nBcc: c@example.com"),
        ("bob", "<b@example.com>"),
    ],
)
async def test_ambiguous_or_invalid_names_and_addresses_are_rejected(
    harness: AccountsHarness, name: str, email: str
) -> None:
    await harness.user("ann", email="ann@example.com")
    await harness.user("gone")
    await harness.identity.users.remove("gone", ADMIN)
    await harness.identity.groups.create("finance", "", [], ADMIN)
    with pytest.raises(InvalidInput):
        await harness.user(name, email=email)
    with pytest.raises(InvalidInput):
        await harness.identity.groups.create(name if not email else "ann", "", [], ADMIN)


@pytest.mark.parametrize("roles", [(), ("viewer",), ("admin",), ("admin", "editor", "approver")])
async def test_the_local_admin_keeps_its_roles(harness: AccountsHarness, roles: tuple[str, ...]) -> None:
    """So there is always an admin: the start link and CAIRN_ADMIN_TOKEN sign in as this user."""
    await harness.user("boss", "admin")
    boss = harness.actor("boss")
    with pytest.raises(CommandRefused, match="CAIRN_ADMIN_TOKEN"):
        await harness.identity.users.update("admin", UserUpdate(roles=roles), boss)
    with pytest.raises(CommandRefused, match="CAIRN_ADMIN_TOKEN"):
        await harness.identity.users.remove("admin", boss)
    await harness.identity.users.update("admin", UserUpdate(display_name="The owner", email="o@example.com"), boss)
    assert harness.actor("admin").roles == ADMIN.roles


async def test_admins_cannot_remove_themselves(harness: AccountsHarness) -> None:
    await harness.user("boss", "admin")
    with pytest.raises(CommandRefused):
        await harness.identity.users.remove("boss", harness.actor("boss"))


async def test_a_removed_user_loses_access_immediately(harness: AccountsHarness) -> None:
    await harness.user_with_password("ann", "approver")
    accounts = harness.identity
    session = await accounts.sign_in.with_password("ann", "several plain words", CLIENT)
    token = await accounts.tokens.create(TokenSpec("ann", "ci"), ADMIN)
    invitation = await accounts.invitations.create(UserSpec("ann"), 1, ADMIN)
    assert (await harness.authentication.authenticate(token.token)).name == "ann"
    assert (await harness.authentication.session(session.secret)).actor.name == "ann"
    await accounts.users.remove("ann", ADMIN)
    for attempt in (
        harness.authentication.authenticate(token.token),
        harness.authentication.session(session.secret),
        accounts.sign_in.with_password("ann", "several plain words", CLIENT),
    ):
        with pytest.raises(Unauthenticated):
            await attempt
    await accounts.users.restore("ann", ADMIN)
    with pytest.raises(Unauthenticated):
        await harness.authentication.authenticate(token.token)
    open_ones = accounts.queries.list_invitations(all=False, limit=50, cursor=None)
    assert (open_ones.items, invitation.user) == ([], "ann")


async def test_changes_apply_to_the_next_request(harness: AccountsHarness) -> None:
    """Users are cached for seconds, and every change in this process clears the cache."""
    await harness.user("ann", "viewer")
    token = (await harness.identity.tokens.create(TokenSpec("ann", "ci"), ADMIN)).token
    found: list[Any] = []
    for roles in (("viewer",), ("approver", "editor"), ()):
        await harness.identity.users.update("ann", UserUpdate(roles=roles), ADMIN)
        found.append((await harness.authentication.authenticate(token)).roles)
    await harness.identity.groups.create("finance", "", ["ann"], ADMIN)
    assert (await harness.authentication.authenticate(token)).groups == {"finance"}
    assert found == [{"viewer"}, {"approver", "editor"}, frozenset()]


async def test_missing_users_and_groups_cannot_be_changed(harness: AccountsHarness) -> None:
    users, groups = harness.identity.users, harness.identity.groups
    for attempt in (users.update("ann", UserUpdate(), ADMIN), users.remove("ann", ADMIN), groups.remove("x", ADMIN)):
        with pytest.raises(NotFound):
            await attempt
    await harness.user("ann")
    with pytest.raises(CommandRefused, match="ann"):
        await users.restore("ann", ADMIN)
    await users.remove("ann", ADMIN)
    with pytest.raises(CommandRefused, match="ann"):
        await users.update("ann", UserUpdate(email="a@example.com"), ADMIN)
    with pytest.raises(InvalidInput):
        await groups.create("finance", "", ["ann"], ADMIN)
