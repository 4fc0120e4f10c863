"""Users named by name, address, role or group."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from cairn.services.actors import ADMIN, Actor
from cairn.services.identity.delegations import DelegationSpec
from cairn.services.identity.directory import DirectoryEntry
from cairn.store import Database
from tests.services.accounts import NOON, Household


@pytest.fixture
def household(database: Database, tmp_path: Path) -> Household:
    return Household(database, tmp_path)


async def fill(household: Household) -> None:
    """Ann and Bob are in finance, Cy edits, Di was removed."""
    await household.accounts.groups.create("finance", "", [], ADMIN)
    await household.user("ann", "approver", email="Ann@Example.com", display_name="Ann A", groups=("finance",))
    await household.user("bob", "viewer", groups=("finance",))
    await household.user("cy", "editor", "approver")
    await household.user("di", "approver", email="di@example.com")
    await household.accounts.users.remove("di", ADMIN)


ANN = DirectoryEntry("ann", "ann@example.com", "Ann A", frozenset({"approver"}), frozenset({"finance"}))
BOB = DirectoryEntry("bob", "", "bob", frozenset({"viewer"}), frozenset({"finance"}))
CY = DirectoryEntry("cy", "", "cy", frozenset({"editor", "approver"}))
ROOT = DirectoryEntry("admin", "", "Administrator", ADMIN.roles)


@pytest.mark.parametrize(
    ("named", "meant"),
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
async def test_names_mean_people(household: Household, named: list[str], meant: tuple[DirectoryEntry, ...]) -> None:
    await fill(household)
    assert household.database.read(lambda c: household.directory.resolve(c, named)) == meant


@pytest.mark.parametrize(
    ("named", "count"),
    [([], 3), (["approver"], 3), (["finance"], 1), (["ann", "cy"], 2), (["bob"], 0), (["di"], 0), (["x@y.org"], 0)],
)
async def test_only_who_may_decide_counts(household: Household, named: list[str], count: int) -> None:
    """The number of users who can approve."""
    await fill(household)
    assert household.database.read(lambda c: household.directory.count_deciders(c, named)) == count


def test_a_new_folder_has_one_who_decides(household: Household) -> None:
    assert household.database.read(household.directory.count_deciders) == 1


async def test_who_stands_for_somebody_is_told_and_meant_while_it_lasts(household: Household) -> None:
    await fill(household)
    wanted = DelegationSpec("ann", "cy", NOON + timedelta(days=2), NOON + timedelta(days=1))
    await household.accounts.delegations.create(wanted, household.actor("ann"))

    def look() -> tuple[list[str], Actor]:
        people = household.database.read(lambda c: household.directory.resolve(c, ["ann@example.com"]))
        return [person.name for person in people], household.actor("cy")

    names, before = look()
    household.clock.go(days=1)
    names_meanwhile, meanwhile = look()
    household.clock.go(days=1)
    names_after, after = look()
    assert (names, names_meanwhile, names_after) == (["ann"], ["ann", "cy"], ["ann"])
    assert [actor.is_one_of(["finance"]) for actor in (before, meanwhile, after)] == [False, True, False]
    assert [actor.acting_for for actor in (before, meanwhile, after)] == [frozenset(), frozenset({"ann"}), frozenset()]
