"""Secrets are encrypted at rest, never shown, and keys can be rotated."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest
import sqlalchemy as sa
from cryptography.fernet import Fernet

from cairn.adapters.key_file import KeyFile, SettingsKeys, WrongKey
from cairn.services.actors import ADMIN
from cairn.services.errors import InvalidInput
from cairn.services.secrets import MASKED, SecretStore, SecretUnreadable
from cairn.store import Database
from cairn.store import tables as t
from cairn.store.errors import NotFound
from tests.services.accounts import Household

VALUE = 'p4ss "word"/ünder\nlines'


@pytest.fixture
def household(database: Database, tmp_path: Path) -> Household:
    return Household(database, tmp_path)


def sealed(household: Household) -> dict[str, str]:
    rows = household.database.read(lambda c: c.execute(sa.select(t.secrets)).all())
    return {row.name: row.ciphertext for row in rows}


async def test_a_secret_comes_back_inside_the_program_alone(household: Household) -> None:
    secrets = household.secrets
    assert (secrets.get("smtp"), secrets.list()) == (None, [])
    await secrets.save("smtp", VALUE, ADMIN)
    assert secrets.get("smtp") == VALUE
    await secrets.save("smtp", "another", ADMIN)
    assert secrets.get("smtp") == "another"
    [kept] = secrets.list()
    assert (kept.name, kept.created_by, kept.updated_by, kept.is_readable) == ("smtp", "admin", "admin", True)
    await secrets.remove("smtp", ADMIN)
    assert (secrets.get("smtp"), secrets.list()) == (None, [])
    with pytest.raises(NotFound):
        await secrets.remove("smtp", ADMIN)
    assert household.told() == [
        (event, "admin", {"secret": "smtp"}) for event in ("secret_created", "secret_updated", "secret_removed")
    ]


async def test_what_is_stored_tells_nothing(household: Household) -> None:
    await household.secrets.save("smtp", VALUE, ADMIN)
    key = (household.folder / "secret.key").read_text().strip()
    assert stat.S_IMODE((household.folder / "secret.key").stat().st_mode) == 0o600
    for word in ("p4ss", key):
        assert word not in str(sealed(household))
        assert word not in repr(household.secrets.list()) + repr(household.told())


async def test_one_cannot_be_put_in_the_place_of_another(household: Household) -> None:
    await household.secrets.save("mine", "what is mine", ADMIN)
    await household.secrets.save("theirs", "what is theirs", ADMIN)
    swap = sa.update(t.secrets).where(t.secrets.c.name == "theirs").values(ciphertext=sealed(household)["mine"])
    await household.database.transact(lambda c: c.execute(swap))
    other = SecretStore(household.admin_changes, KeyFile(household.folder))
    with pytest.raises(SecretUnreadable):
        other.get("theirs")
    assert other.get("mine") == "what is mine"


async def test_a_rotation_changes_the_key_and_everything_under_it(household: Household) -> None:
    for number in range(3):
        await household.secrets.save(f"s{number}", f"value {number}", ADMIN)
    file = household.folder / "secret.key"
    before, old = sealed(household), file.read_text()
    assert await household.secrets.rotate(ADMIN) == 3
    after = sealed(household)
    assert len(file.read_text().split()) == 1
    assert file.read_text() != old
    assert all(before[name] != after[name] for name in before)
    other = SecretStore(household.admin_changes, KeyFile(household.folder))
    assert [other.get(name) for name in sorted(before)] == ["value 0", "value 1", "value 2"]
    file.write_text(old)
    with pytest.raises(SecretUnreadable, match="s0"):
        SecretStore(household.admin_changes, KeyFile(household.folder)).get("s0")


async def test_rotations_and_changes_at_once_lose_nothing(household: Household) -> None:
    async def put(number: int) -> None:
        await household.secrets.save(f"s{number}", f"value {number}", ADMIN)

    work = [put(number) for number in range(10)] + [household.secrets.rotate(ADMIN) for _ in range(5)]
    await asyncio.gather(*work[::3], *work[1::3], *work[2::3])
    other = SecretStore(household.admin_changes, KeyFile(household.folder))
    assert [other.get(f"s{number}") for number in range(10)] == [f"value {number}" for number in range(10)]


async def test_a_rotation_that_was_cut_off_loses_nothing(household: Household) -> None:
    await household.secrets.save("smtp", VALUE, ADMIN)
    KeyFile(household.folder).add()  # and then the power went
    again = SecretStore(household.admin_changes, KeyFile(household.folder))
    assert again.get("smtp") == VALUE
    await again.rotate(ADMIN)
    assert again.get("smtp") == VALUE


async def test_a_key_that_is_lost_is_told_and_the_secret_can_be_set_anew(household: Household) -> None:
    await household.secrets.save("smtp", VALUE, ADMIN)
    (household.folder / "secret.key").unlink()
    other = SecretStore(household.admin_changes, KeyFile(household.folder))
    assert [kept.is_readable for kept in other.list()] == [False]
    with pytest.raises(SecretUnreadable):
        await other.rotate(ADMIN)
    await other.save("smtp", "anew", ADMIN)
    assert other.get("smtp") == "anew"


async def test_keys_of_the_settings_come_first_and_the_file_stays_readable(household: Household) -> None:
    await household.secrets.save("smtp", VALUE, ADMIN)
    newer, newest = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    file = KeyFile(household.folder)
    given = SecretStore(household.admin_changes, SettingsKeys([newest, newer], file))
    assert given.get("smtp") == VALUE
    await given.rotate(ADMIN)
    (household.folder / "secret.key").unlink()
    assert SecretStore(household.admin_changes, SettingsKeys([newest], file)).get("smtp") == VALUE
    with pytest.raises(WrongKey, match="CAIRN_SECRET_KEY"):
        SettingsKeys(["short"], file)


async def test_known_secrets_are_masked_however_they_are_spelled(household: Household) -> None:
    secrets = household.secrets
    assert secrets.mask("nothing is known") == "nothing is known"
    await secrets.save("one", VALUE, ADMIN)
    await secrets.save("longer", VALUE + " and more", ADMIN)
    for text in (VALUE, '{"password":"p4ss \\"word\\"/ünder\\nlines"}', "?p=p4ss%20%22word%22%2F%C3%BCnder%0Alines"):
        assert "p4ss" not in secrets.mask(f"before {text} after")
    assert secrets.mask(f"a {VALUE} and more b {VALUE} c") == f"a {MASKED} b {MASKED} c"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("", "long enough"),
        ("1st", "long enough"),
        ("a b", "long enough"),
        ("<b>", "long enough"),
        ("a", "123"),
        ("a", "x" * 65537),
        ("a" * 101, "long enough"),
    ],
)
async def test_what_is_no_secret_is_refused(household: Household, name: str, value: str) -> None:
    with pytest.raises(InvalidInput):
        await household.secrets.save(name, value, ADMIN)
    assert household.secrets.list() == []
