"""Commands for users, groups, tokens, sessions, delegations and secrets."""

from __future__ import annotations

from pathlib import Path

from tests.cli.shell import Shell
from tests.mentions import mentions


def test_users_are_invited_updated_removed_and_restored(shell: Shell, notes: Path) -> None:
    shell("apply", str(notes))
    invited = shell("users", "invite", "Walker", "--email", "walker@example.com", "--role", "approver", "--hours", "2")
    assert invited.out.startswith("/welcome#invitation=cairn_")
    assert invited.err == mentions("Walker")
    (row,) = [line for line in shell("users", "invitations").out.splitlines() if "walker" in line]
    (invitation,) = shell.json("users", "invitations")["items"]
    assert (invitation["user"], invitation["is_open"]) == ("walker", True)
    shell("users", "invitations", "--revoke", row.split()[0])
    assert "walker" not in shell("users", "invitations").out
    assert "walker" in shell("users", "invitations", "--all").out
    shell("users", "add", "robot", "--role", "editor", "--display-name", "A robot")
    shell("groups", "add", "walkers", "--description", "All walkers", "--member", "walker")
    changed = shell.json("users", "update", "walker", "--role", "viewer", "--role", "approver", "--email", "")
    assert (changed["roles"], changed["email"], changed["groups"]) == (["viewer", "approver"], "", ["walkers"])
    assert shell.json("groups", "update", "walkers", "--member", "robot")["members"] == ["robot"]
    assert shell.json("groups", "update", "walkers", "--no-members")["members"] == []
    assert "All walkers" in shell("groups", "show", "walkers").out
    assert "walkers" in shell("groups").out
    shell("groups", "delete", "walkers")
    assert [line.split()[0] for line in shell("users", "--search", "obo").out.splitlines()[1:]] == ["robot"]
    rows = [line.split() for line in shell("users", "directory").out.splitlines()]
    assert ["walker", "walker", "yes"] in rows
    assert "A robot" in shell("users", "show", "robot").out
    assert shell("users", "delete", "robot").out == "robot: deleted\n"
    assert "robot (deleted)" in shell("users", "--deleted").out
    assert shell("users", "restore", "robot").out == "robot: restored\n"
    assert shell.json("users", "update", "robot", "--no-roles", "--no-groups")["roles"] == []
    rejected = shell("users", "update", "admin", "--role", "viewer", code=1)
    assert rejected.err == mentions("admin", "CAIRN_ADMIN_TOKEN")
    assert shell("users", "show", "nobody-there", code=3).err == mentions("nobody-there")
    assert "user_restored" in shell("events", "--global").out
    for name in ("robot", "walker"):
        shell("users", "delete", name)


def test_tokens_and_sessions(shell: Shell, notes: Path) -> None:
    shell("apply", str(notes))
    shell("users", "add", "importer", "--role", "editor")
    created = shell("tokens", "create", "nightly", "--user", "importer", "--scope", "run", "--days", "0")
    token = created.out.strip()
    assert (token.startswith("cairn_"), created.err) == (True, mentions("importer"))
    shell("runs", "--token", token)
    rejected = shell("tokens", "list", "--token", token, code=5)
    assert rejected.err == mentions("admin")
    (item,) = shell.json("tokens", "list", "--user", "importer")["items"]
    assert (item["scopes"], item["expires_at"], token in str(item)) == (["run"], None, False)
    assert shell("tokens", "revoke", item["token_id"]).out == "nightly: revoked\n"
    assert shell("runs", "--token", token, code=5).err == mentions("cairn: ")
    assert "nightly" in shell("tokens", "--all", "--user", "importer").out
    assert "nightly" not in shell("tokens", "--user", "importer").out
    assert shell.json("sessions")["items"] == []
    assert shell("sessions", "end", "--user", "importer").out == mentions("0")
    assert shell("sessions", "end", "00000000-0000-4000-8000-000000000000", code=3).code == 3
    shell("users", "delete", "importer")


def test_users_without_the_admin_role_manage_their_own_tokens(shell: Shell, notes: Path) -> None:
    shell("apply", str(notes))
    shell("users", "add", "own-account", "--role", "approver")
    token = shell("tokens", "create", "a machine", "--user", "own-account", "--days", "2").out.strip()
    own = ("--token", token)
    created = shell("tokens", "create", "notebook", "--scope", "decide", "--days", "30", *own)
    assert created.err == mentions("own-account")
    rows = [line.split("  ") for line in shell("tokens", *own).out.splitlines()[1:]]
    assert sorted(cell.strip() for row in rows for cell in row if cell in ("notebook", "a machine")) == [
        "a machine",
        "notebook",
    ]
    assert "define" in shell("tokens", "create", "x", "--scope", "define", *own, code=1).err
    assert "365" in shell("tokens", "create", "x", "--days", "0", *own, code=2).err
    assert shell("tokens", "list", "--user", "admin", *own, code=5).code == 5
    (item,) = [item for item in shell.json("tokens", *own)["items"] if item["name"] == "notebook"]
    assert item["expires_at"][:10] <= shell.json("tokens", "--user", "own-account")["items"][-1]["expires_at"][:10]
    assert shell("tokens", "revoke", item["token_id"], *own).out == "notebook: revoked\n"
    assert shell("users", "display-name", "A worker", *own).out == mentions("own-account", "A worker")
    assert "A worker" in shell("users", "show", "own-account").out
    shell("users", "delete", "own-account")


def test_delegations(shell: Shell, notes: Path) -> None:
    shell("apply", str(notes))
    for name in ("first", "second"):
        shell("users", "add", name, "--role", "approver")
    until = ("--until", "2030-03-16T09:30:00Z", "--from", "2029-03-16T09:30:00Z")
    shell("delegations", "add", "second", "--user", "first", "--until", "2020-01-01T00:00:00Z", code=1)
    output = shell("delegations", "add", "second", "--user", "first", "--reason", "On holiday", *until).out
    assert output == mentions("second", "first", "2030-03-16 09:30:00")
    (item,) = shell.json("delegations", "--user", "first")["items"]
    assert "On holiday" in shell("delegations", "show", item["delegation_id"]).out
    assert shell("delegations", "end", item["delegation_id"]).out == mentions("second", "first")
    assert shell.json("delegations", "--user", "first")["items"] == []
    for name in ("first", "second"):
        shell("users", "delete", name)


def test_secrets_are_read_from_files_and_pipes(shell: Shell, notes: Path, tmp_path: Path) -> None:
    shell("apply", str(notes))
    file = tmp_path / "value.txt"
    file.write_text("from a file\n")
    assert shell("secrets", "put", "from-file", "--file", str(file)).out == "from-file: stored\n"
    assert shell("secrets", "put", "typed", stdin="from a pipe\n").out == "typed: stored\n"
    assert shell("secrets", "put", "empty", code=2).err == mentions("cairn: ", "empty")
    assert [line.split()[0] for line in shell("secrets").out.splitlines()[1:]] == ["from-file", "typed"]
    assert shell("secrets", "rotate").out == mentions("2")
    assert "from a" not in shell("secrets", "--json").out + shell("events", "--global").out
    for name in ("from-file", "typed"):
        assert shell("secrets", "delete", name).out == f"{name}: deleted\n"
    assert shell.json("secrets")["items"] == []


def test_users_change_their_own_password(shell: Shell, notes: Path) -> None:
    shell("apply", str(notes))
    assert shell("users", "password", stdin="short\n", code=1).err == mentions("12")
    assert shell("users", "password", stdin="several plain words\n").out == mentions("admin")
    wrong = shell("users", "password", stdin="not this one at all\nseveral other words\n", code=1)
    assert wrong.err.startswith("cairn: ")
    assert shell("users", "password", stdin="several plain words\nseveral other words\n").code == 0
