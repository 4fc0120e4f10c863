"""Commands for channels, deliveries and preferences."""

from __future__ import annotations

from pathlib import Path

from tests.cli.shell import Shell
from tests.mentions import mentions


def test_a_channel_is_created_updated_tested_and_removed(shell: Shell, notes: Path, tmp_path: Path) -> None:
    shell("apply", str(notes))
    address = tmp_path / "address.txt"
    address.write_text("http://127.0.0.1:9/hook?token=very-secret\n")
    assert shell.json("channels")["items"] == []
    shell("channels", "add", "Mail", "--kind", "email", "--recipient", "ops@example.com")
    created = shell("channels", "add", "Ops", "--kind", "webhook", "--url", f"@{address}", "--fallback", "Mail").out
    assert len(created.splitlines()) > 1
    listed = shell("channels").out.splitlines()
    assert [line.split() for line in listed[1:]] == [
        ["Mail", "email", "-", "-", "yes"],
        ["Ops", "webhook", "127.0.0.1", "Mail", "yes"],
    ]
    updated = shell.json(
        "channels", "update", "Ops", "--no-include-details", "--disable", "--notification-kind", "run_failed"
    )
    assert [updated[name] for name in ("include_details", "is_enabled", "notification_kinds")] == [
        False,
        False,
        ["run_failed"],
    ]
    assert "very-secret" not in shell("channels", "show", "Ops").out
    tested = shell("channels", "test", "Ops", code=1).out
    assert tested == mentions("Ops", "failed", "127.0.0.1", "CAIRN_OUTBOUND_ALLOWED")
    (delivery,) = shell.json("deliveries", "--channel", "Ops", "--status", "failed")["items"]
    assert "not_sent" in shell("deliveries", "show", delivery["delivery_id"]).out
    assert shell("channels", "delete", "Ops").out == "Ops: deleted\n"
    assert shell("channels", "show", "Ops", code=3).err == mentions("Ops", "`cairn channels`")
    shell("channels", "delete", "Mail")


def test_preferences_are_set_and_reset(shell: Shell, notes: Path) -> None:
    shell("apply", str(notes))
    assert len(shell("preferences").out.splitlines()) == 3
    options = ("--kind", "approval_requested", "--quiet-hours", "22:00-07:00", "--time-zone", "Europe/Berlin")
    assert "22:00-07:00 Europe/Berlin" in shell("preferences", "set", *options).out
    assert shell.json("preferences")["notification_kinds"] == ["approval_requested"]
    assert shell("preferences", "set", "--quiet-hours", "22-7", code=1).err.startswith("cairn: ")
    shell("preferences", "set")
