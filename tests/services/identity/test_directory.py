"""Users are found by name, email address, role and group."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from cairn.services.actors import ADMIN, Actor
from cairn.services.identity.delegations import DelegationSpec
from cairn.services.identity.directory import DirectoryEntry
from cairn.store import Database
from tests.services.accounts import NOON, AccountsHarness


@pytest.fixture
def harness(database: Database, tmp_path: Path) -> AccountsHarness:
    return AccountsHarness(database, tmp_path)


async def fill(harness: AccountsHarness) -> None:
    """Ann and Bob are in finance, Cy is an editor, Di was removed."""
    await harness.identity.groups.create("finance", "", [], ADMIN)
    await harness.user("ann", "approver", email="Ann@Example.com", display_name="Ann A", groups=("finance",))
    await harness.user("bob", "viewer", groups=("finance",))
    await harness.user("cy", "editor", "approver")
    await harness.user("di", "approver", email="di@example.com")
    await harness.identity.users.remove("di", ADMIN)


ANN = DirectoryEntry("ann", "ann@example.com", "Ann A", frozenset({"approver"}), frozenset({"finance"}))
BOB = DirectoryEntry("bob", "", "bob", frozenset({"viewer"}), frozenset({"finance"}))
CY = DirectoryEntry("cy", "", "cy", frozenset({"editor", "approver"}))
ROOT = DirectoryEntry("admin", "", "Administrator", ADMIN.roles)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ()),
        (["ANN"], (ANN,)),
        (["ann", "ann@example.com", "finance"], (ANN, BOB)),
        (["Finance"], (ANN, BOB)),
        (["approver"], (ROOT, ANN, CY)),
        (["admin"], (ROOT,)),
        (["viewer", "nobody-there", "di", " "], (ROOT, BOB)),
        (
            ["di@example.com", "Out@Side.org"],
            (
                DirectoryEntry("", "di@example.com", "di@example.com"),
                DirectoryEntry("", "out@side.org", "out@side.org"),
            ),
        ),
    ],
)
async def test_names_refer_to_users(
    harness: AccountsHarness, names: list[str], expected: tuple[DirectoryEntry, ...]
) -> None:
    await fill(harness)
    assert harness.database.read(lambda c: harness.directory.resolve(c, names)) == expected


@pytest.mark.parametrize(
    ("names", "count"),
    [([], 3), (["approver"], 3), (["finance"], 1), (["ann", "cy"], 2), (["bob"], 0), (["di"], 0), (["x@y.org"], 0)],
)
async def test_only_users_who_can_decide_are_counted(harness: AccountsHarness, names: list[str], count: int) -> None:
    """The number of users who can approve."""
    await fill(harness)
    assert harness.database.read(lambda c: harness.directory.count_deciders(c, names)) == count


def test_a_new_installation_has_one_user_who_can_decide(harness: AccountsHarness) -> None:
    assert harness.database.read(harness.directory.count_deciders) == 1


async def test_a_delegate_is_found_and_can_decide_during_the_delegation(harness: AccountsHarness) -> None:
    await fill(harness)
    spec = DelegationSpec("ann", "cy", NOON + timedelta(days=2), NOON + timedelta(days=1))
    await harness.identity.delegations.create(spec, harness.actor("ann"))

    def find() -> tuple[list[str], Actor]:
        people = harness.database.read(lambda c: harness.directory.resolve(c, ["ann@example.com"]))
        return [person.name for person in people], harness.actor("cy")

    names, before = find()
    harness.clock.advance(days=1)
    names_during, during = find()
    harness.clock.advance(days=1)
    names_after, after = find()
    assert (names, names_during, names_after) == (["ann"], ["ann", "cy"], ["ann"])
    assert [actor.is_one_of(["finance"]) for actor in (before, during, after)] == [False, True, False]
    assert [actor.acting_for for actor in (before, during, after)] == [frozenset(), frozenset({"ann"}), frozenset()]
