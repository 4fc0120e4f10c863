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
from tests.services.accounts import HERE, Household


@pytest.fixture
def household(database: Database, tmp_path: Path) -> Household:
    return Household(database, tmp_path)


async def test_every_change_is_told_with_who_made_it(household: Household) -> None:
    users, groups = household.accounts.users, household.accounts.groups
    await household.user("boss", "admin")
    boss = household.actor("boss")
    await groups.create("finance", "Who pays", [], boss)
    await users.create(UserSpec("Ann", "Ann", "ann@example.com", ("viewer",), ("finance",)), boss)
    await users.update("ann", UserUpdate(email="a@example.com", roles=("approver",), groups=()), boss)
    await users.update("ann", UserUpdate(display_name="Ann", roles=("approver",)), boss)  # as it is: nothing to tell
    await groups.update("finance", boss, description="Who pays now", members=["ann"])
    await groups.remove("finance", boss)
    await users.remove("ann", boss)
    await users.restore("ann", boss)
    assert household.told()[1:] == [
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
        ("group_removed", "boss", {"group": "finance"}),
        ("user_removed", "boss", {"user": "ann"}),
        ("user_restored", "boss", {"user": "ann", "roles": ["approver"]}),
    ]


@pytest.mark.parametrize(
    ("name", "email"),
    [
        ("ann", ""),  # taken
        ("ANN", ""),
        ("ann@example.com", ""),  # her address
        ("finance", ""),  # a group
        ("gone", ""),  # removed, and stays taken
        ("bob", "ann@example.com"),
        ("bob", "ANN@example.com"),
        ("approver", ""),  # a role
        ("timer", ""),  # acts in the trail
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
async def test_no_two_can_be_taken_for_each_other(household: Household, name: str, email: str) -> None:
    await household.user("ann", email="ann@example.com")
    await household.user("gone")
    await household.accounts.users.remove("gone", ADMIN)
    await household.accounts.groups.create("finance", "", [], ADMIN)
    with pytest.raises(InvalidInput):
        await household.user(name, email=email)
    with pytest.raises(InvalidInput):
        await household.accounts.groups.create(name if not email else "ann", "", [], ADMIN)


@pytest.mark.parametrize("roles", [(), ("viewer",), ("admin",), ("admin", "editor", "approver")])
async def test_the_local_admin_keeps_its_roles(household: Household, roles: tuple[str, ...]) -> None:
    """So there is always one: the start link and CAIRN_ADMIN_TOKEN sign in as this one."""
    await household.user("boss", "admin")
    boss = household.actor("boss")
    with pytest.raises(CommandRefused, match="CAIRN_ADMIN_TOKEN"):
        await household.accounts.users.update("admin", UserUpdate(roles=roles), boss)
    with pytest.raises(CommandRefused, match="CAIRN_ADMIN_TOKEN"):
        await household.accounts.users.remove("admin", boss)
    await household.accounts.users.update("admin", UserUpdate(display_name="The owner", email="o@example.com"), boss)
    assert household.actor("admin").roles == ADMIN.roles


async def test_nobody_removes_themselves(household: Household) -> None:
    await household.user("boss", "admin")
    with pytest.raises(CommandRefused):
        await household.accounts.users.remove("boss", household.actor("boss"))


async def test_who_is_removed_is_out_at_once(household: Household) -> None:
    await household.user_with_password("ann", "approver")
    accounts = household.accounts
    session = await accounts.sign_in.with_password("ann", "several plain words", HERE)
    token = await accounts.tokens.create(TokenSpec("ann", "ci"), ADMIN)
    invited = await accounts.invitations.create(UserSpec("ann"), 1, ADMIN)
    assert (await household.access.authenticate(token.token)).name == "ann"
    assert (await household.access.session(session.secret)).actor.name == "ann"
    await accounts.users.remove("ann", ADMIN)
    for attempt in (
        household.access.authenticate(token.token),
        household.access.session(session.secret),
        accounts.sign_in.with_password("ann", "several plain words", HERE),
    ):
        with pytest.raises(Unauthenticated):
            await attempt
    await accounts.users.restore("ann", ADMIN)
    with pytest.raises(Unauthenticated):
        await household.access.authenticate(token.token)
    open_ones = accounts.queries.invitations(all=False, limit=50, cursor=None)
    assert (open_ones.items, invited.user) == ([], "ann")


async def test_what_changes_holds_for_the_next_request(household: Household) -> None:
    """Answers of the database are kept for seconds, and forgotten with every change in this process."""
    await household.user("ann", "viewer")
    token = (await household.accounts.tokens.create(TokenSpec("ann", "ci"), ADMIN)).token
    seen: list[Any] = []
    for roles in (("viewer",), ("approver", "editor"), ()):
        await household.accounts.users.update("ann", UserUpdate(roles=roles), ADMIN)
        seen.append((await household.access.authenticate(token)).roles)
    await household.accounts.groups.create("finance", "", ["ann"], ADMIN)
    assert (await household.access.authenticate(token)).groups == {"finance"}
    assert seen == [{"viewer"}, {"approver", "editor"}, frozenset()]


async def test_what_is_not_there_cannot_be_changed(household: Household) -> None:
    users, groups = household.accounts.users, household.accounts.groups
    for attempt in (users.update("ann", UserUpdate(), ADMIN), users.remove("ann", ADMIN), groups.remove("x", ADMIN)):
        with pytest.raises(NotFound):
            await attempt
    await household.user("ann")
    with pytest.raises(CommandRefused, match="ann"):
        await users.restore("ann", ADMIN)
    await users.remove("ann", ADMIN)
    with pytest.raises(CommandRefused, match="ann"):
        await users.update("ann", UserUpdate(email="a@example.com"), ADMIN)
    with pytest.raises(InvalidInput):
        await groups.create("finance", "", ["ann"], ADMIN)
