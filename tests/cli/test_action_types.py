"""Commands for the catalogue of action types."""

from __future__ import annotations

from pathlib import Path

from tests.cli.shell import Shell
from tests.mentions import mentions


def test_action_types_are_listed_saved_and_removed(shell: Shell, tmp_path: Path) -> None:
    built_in = ["database_update", "financial_transaction", "http_request", "send_email"]
    assert [line.split()[0] for line in shell("actions", "types").out.splitlines()[1:]] == built_in
    file = tmp_path / "refund.yaml"
    file.write_text("risk_level: medium\nidentity: [amount, account]\nhosts: []\n")
    assert shell("actions", "types", "put", "refund", f"@{file}").out == mentions("refund", "changes", "medium")
    assert shell("actions", "types").out == mentions("refund", "amount, account", "none", "admin")
    assert shell("actions", "types", "put", "Refund", "{}", code=1).err == mentions("/name")
    assert shell("actions", "types", "put", "refund", "[]", code=2).err == mentions("object")
    assert shell("actions", "types", "remove", "refund").out == "refund: removed\n"
    assert shell("actions", "types", "remove", "refund", code=3).err == mentions("refund")
    assert len(shell.json("actions", "types")["items"]) == len(built_in)
