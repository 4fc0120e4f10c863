"""Secrets are encrypted at rest, never shown, and keys can be rotated."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest
import sqlalchemy as sa
from cryptography.fernet import Fernet

from cairn.adapters.key_file import InvalidEncryptionKey, KeyFile, SettingsKeys
from cairn.services.actors import ADMIN
from cairn.services.errors import InvalidInput
from cairn.services.secrets import MASKED, SecretStore, SecretUnreadable
from cairn.store import Database
from cairn.store import tables as t
from cairn.store.errors import NotFound
from tests.services.accounts import AccountsHarness

VALUE = 'p4ss "word"/ünder\nlines'


@pytest.fixture
def harness(database: Database, tmp_path: Path) -> AccountsHarness:
    return AccountsHarness(database, tmp_path)


def ciphertexts(harness: AccountsHarness) -> dict[str, str]:
    rows = harness.database.read(lambda c: c.execute(sa.select(t.secrets)).all())
    return {row.name: row.ciphertext for row in rows}


async def test_the_value_of_a_secret_is_available_only_inside_the_server(harness: AccountsHarness) -> None:
    secrets = harness.secrets
    assert (secrets.get("smtp"), secrets.list()) == (None, [])
    await secrets.save("smtp", VALUE, ADMIN)
    assert secrets.get("smtp") == VALUE
    await secrets.save("smtp", "another", ADMIN)
    assert secrets.get("smtp") == "another"
    [secret] = secrets.list()
    assert (secret.name, secret.created_by, secret.updated_by, secret.is_readable) == ("smtp", "admin", "admin", True)
    await secrets.remove("smtp", ADMIN)
    assert (secrets.get("smtp"), secrets.list()) == (None, [])
    with pytest.raises(NotFound):
        await secrets.remove("smtp", ADMIN)
    assert harness.events() == [
        (event, "admin", {"secret": "smtp"}) for event in ("secret_created", "secret_updated", "secret_deleted")
    ]


async def test_stored_secrets_are_encrypted(harness: AccountsHarness) -> None:
    await harness.secrets.save("smtp", VALUE, ADMIN)
    key = (harness.folder / "secret.key").read_text().strip()
    assert stat.S_IMODE((harness.folder / "secret.key").stat().st_mode) == 0o600
    for word in ("p4ss", key):
        assert word not in str(ciphertexts(harness))
        assert word not in repr(harness.secrets.list()) + repr(harness.events())


async def test_a_ciphertext_cannot_be_used_for_another_secret(harness: AccountsHarness) -> None:
    await harness.secrets.save("mine", "what is mine", ADMIN)
    await harness.secrets.save("theirs", "what is theirs", ADMIN)
    swap = sa.update(t.secrets).where(t.secrets.c.name == "theirs").values(ciphertext=ciphertexts(harness)["mine"])
    await harness.database.transact(lambda c: c.execute(swap))
    other = SecretStore(harness.admin_changes, KeyFile(harness.folder))
    with pytest.raises(SecretUnreadable):
        other.get("theirs")
    assert other.get("mine") == "what is mine"


async def test_a_rotation_replaces_the_key_and_encrypts_all_secrets_again(harness: AccountsHarness) -> None:
    for number in range(3):
        await harness.secrets.save(f"s{number}", f"value {number}", ADMIN)
    file = harness.folder / "secret.key"
    before, old = ciphertexts(harness), file.read_text()
    assert await harness.secrets.rotate(ADMIN) == 3
    after = ciphertexts(harness)
    assert len(file.read_text().split()) == 1
    assert file.read_text() != old
    assert all(before[name] != after[name] for name in before)
    other = SecretStore(harness.admin_changes, KeyFile(harness.folder))
    assert [other.get(name) for name in sorted(before)] == ["value 0", "value 1", "value 2"]
    file.write_text(old)
    with pytest.raises(SecretUnreadable, match="s0"):
        SecretStore(harness.admin_changes, KeyFile(harness.folder)).get("s0")


async def test_concurrent_rotations_and_changes_lose_nothing(harness: AccountsHarness) -> None:
    async def save(number: int) -> None:
        await harness.secrets.save(f"s{number}", f"value {number}", ADMIN)

    work = [save(number) for number in range(10)] + [harness.secrets.rotate(ADMIN) for _ in range(5)]
    await asyncio.gather(*work[::3], *work[1::3], *work[2::3])
    other = SecretStore(harness.admin_changes, KeyFile(harness.folder))
    assert [other.get(f"s{number}") for number in range(10)] == [f"value {number}" for number in range(10)]


async def test_an_interrupted_rotation_loses_nothing(harness: AccountsHarness) -> None:
    await harness.secrets.save("smtp", VALUE, ADMIN)
    KeyFile(harness.folder).add()  # then the process is killed
    again = SecretStore(harness.admin_changes, KeyFile(harness.folder))
    assert again.get("smtp") == VALUE
    await again.rotate(ADMIN)
    assert again.get("smtp") == VALUE


async def test_a_secret_with_a_missing_key_is_reported_and_can_be_set_again(harness: AccountsHarness) -> None:
    await harness.secrets.save("smtp", VALUE, ADMIN)
    (harness.folder / "secret.key").unlink()
    other = SecretStore(harness.admin_changes, KeyFile(harness.folder))
    assert [secret.is_readable for secret in other.list()] == [False]
    with pytest.raises(SecretUnreadable):
        await other.rotate(ADMIN)
    await other.save("smtp", "again", ADMIN)
    assert other.get("smtp") == "again"


async def test_keys_of_the_settings_come_first_and_the_file_stays_readable(harness: AccountsHarness) -> None:
    await harness.secrets.save("smtp", VALUE, ADMIN)
    newer, newest = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    file = KeyFile(harness.folder)
    store = SecretStore(harness.admin_changes, SettingsKeys([newest, newer], file))
    assert store.get("smtp") == VALUE
    await store.rotate(ADMIN)
    (harness.folder / "secret.key").unlink()
    assert SecretStore(harness.admin_changes, SettingsKeys([newest], file)).get("smtp") == VALUE
    with pytest.raises(InvalidEncryptionKey, match="CAIRN_SECRET_KEY"):
        SettingsKeys(["short"], file)


async def test_secrets_are_masked_in_every_encoding(harness: AccountsHarness) -> None:
    secrets = harness.secrets
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
async def test_invalid_names_and_values_are_rejected(harness: AccountsHarness, name: str, value: str) -> None:
    with pytest.raises(InvalidInput):
        await harness.secrets.save(name, value, ADMIN)
    assert harness.secrets.list() == []


async def test_cairns_own_secrets_are_saved_within_a_change_and_not_listed(harness: AccountsHarness) -> None:
    secrets = harness.secrets

    async def save(value: str | None) -> None:
        async with secrets.own_secrets() as save_own:
            await harness.admin_changes.apply(lambda change: save_own(change, "channel.a.url", value), ADMIN)

    await save(VALUE)
    assert (secrets.get("channel.a.url"), secrets.list(), harness.events()) == (VALUE, [], [])
    assert secrets.mask(f"at {VALUE}") == f"at {MASKED}"
    assert (await secrets.rotate(ADMIN), secrets.get("channel.a.url")) == (0, VALUE)
    with pytest.raises(InvalidInput):
        await secrets.save("channel.a.url", "another value", ADMIN)
    with pytest.raises(NotFound):
        await secrets.remove("channel.a.url", ADMIN)
    (harness.folder / "secret.key").unlink()
    other = SecretStore(harness.admin_changes, KeyFile(harness.folder))
    assert (other.list(), other.unreadable()) == ([], ["channel.a.url"])
    await save(None)
    assert secrets.get("channel.a.url") is None
