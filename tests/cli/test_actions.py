"""Commands for the approval of actions."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.mentions import mentions

REFUND = """\
pipeline_name: {name}
checkpoints:
  - {{ key: refund, checkpoint_name: Refund, function: cli.refund, outputs: [refund.json] }}
"""


@pytest.fixture
def refund(shell: Shell, tmp_path: Path) -> str:
    """A pipeline whose run waits for the approval of an action."""
    name = f"Refund {tmp_path.name}"
    file = tmp_path / "refund.yaml"
    file.write_text(REFUND.format(name=name))
    shell("apply", str(file))
    waits = shell("run", name, code=6)
    assert waits.out.splitlines()[-1] == mentions("Refund", f"cairn approve '{name}@v1/refund'")
    return name


def test_an_action_is_approved_with_modified_parameters(shell: Shell, refund: str) -> None:
    shown = shell("approvals", "show", refund).out
    assert "financial_transaction" in shown
    assert "87%" in shown
    assert "  amount: 99.99" in shown
    before = shell("approve", refund, "--set", "amount=89.99", "--dry-run").out
    assert before.splitlines()[-1].split() == ["amount", "updated", "99.99", "89.99"]
    wrong = shell("approve", refund, "--set", "amount=0", code=1)
    assert wrong.out.splitlines()[-1].startswith("/amount: ")
    assert wrong.err.startswith("cairn: ")
    assert shell.json("approvals", "show", refund)["status"] == "pending"
    assert shell("approve", refund, "--set", "amount", code=2).err == mentions("--set", "NAME=VALUE", "'amount'")
    shell("approve", refund, "--set", "amount=89.99", "--set", "account=4712", "-m", "By policy")
    shell("watch", refund)
    artifact = json.loads(shell("artifacts", "show", f"{refund}@v1/refund").out)
    assert artifact["parameters"] == {"amount": 89.99, "currency": "USD", "account": "4712"}
    listed = shell("approvals", "corrections", "--operation", "financial_transaction").out
    assert listed.splitlines()[-1].split()[-2:] == ["amount,", "account"]


def test_an_approval_is_commented_assigned_and_decided_in_a_batch(shell: Shell, refund: str) -> None:
    (approval,) = (
        approval for approval in shell.json("approvals", "list")["items"] if approval["pipeline_name"] == refund
    )
    assert shell("approvals", "comment", refund, "Verified with the policy").out == mentions("1")
    assert shell("approvals", "show", refund).out == mentions("admin", "Verified with the policy")
    assert shell("approvals", "assign", refund, "approver", "-m", "They know").out == mentions("approver")
    mine = shell.json("approvals", "list", "--mine", "--sort", "risk")["items"]
    assert approval["approval_id"] in {approval["approval_id"] for approval in mine}
    result = shell("approvals", "batch", "reject", approval["approval_id"], "-m", "Not today.")
    assert re.findall(r"\d+", result.out) == ["1", "0"]
    repeated = shell("approvals", "batch", "reject", approval["approval_id"], "-m", "Not today.", code=1)
    assert re.findall(r"\d+", repeated.out.splitlines()[0]) == ["0", "1"]
    shell("watch", refund, code=1)
