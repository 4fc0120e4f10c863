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
    shell("approve", refund, "--set", "amount=89.99", "--set", "account=4712", "-m", "By policy", "--learn")
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


def test_actions_are_listed_shown_and_revoked(shell: Shell, refund: str) -> None:
    [action] = shell.json("actions", "list", "--run", refund, "--state", "waiting")["items"]
    listed = shell("actions", "list", "--run", refund).out.splitlines()
    assert listed[-1].startswith(action["action_id"][:8])
    assert shell.json("actions", "list", "--run", refund, "--unsettled")["items"] == []
    assert shell.json("actions", "list", "--run", refund, "--executed")["items"] == []
    assert shell("actions", "list", "--executed", code=2).err == mentions("--run")
    shown = shell("actions", "show", action["action_id"][:8]).out
    assert shown == mentions("financial_transaction", "  amount: 99.99", "waiting", "revoke")
    assert shell("actions", "show", "nothing", code=3).err == mentions("nothing")
    assert shell("actions", "revoke", action["action_id"], code=2).err == mentions("--reason")
    unknown = shell("actions", "settle", "happened", action["action_id"], code=1)
    assert unknown.err == mentions(action["action_id"][:8])
    assert shell("actions", "revoke", action["action_id"], "-m", "Cancelled").out == mentions("refused")
    shell("actions", "revoke", action["action_id"], "-m", "Cancelled", code=1)


def test_a_repeated_action_needs_a_choice(shell: Shell, refund: str) -> None:
    shell("approve", refund)
    shell("watch", refund)
    shell("retry", refund)
    again = f"{refund}@v2"
    undecided = shell("approve", again, code=1).err
    assert undecided == mentions("--use-earlier", "--execute-again", "done")
    assert shell("approve", again, "--use-earlier", "--execute-again", code=2).err == mentions("--use-earlier")
    assert shell("approve", again, "--override", code=2).err == mentions("--feedback")
    [executed] = shell.json("actions", "list", "--run", again, "--executed")["items"]
    shell("approve", again, "--use-earlier")
    shell("watch", again)
    [reused] = shell.json("actions", "list", "--run", again)["items"]
    assert (executed["state"], reused["state"]) == ("done", "reused")


def test_actions_are_stopped_and_released(shell: Shell) -> None:
    assert shell("rules", "stop", "--level", "everything", "-m", "odd", code=2).err == mentions("--level")
    assert shell.json("rules", "stop", "--level", "actions", "-m", "odd")["level"] == "actions"
    assert shell.json("actions", "release")["stopped"] is True
    assert shell.json("status")["actions"] == "stopped"
    shell("rules", "lift-stop")
    assert shell.json("actions", "release") == {
        "held": False,
        "stopped": False,
        "reason": "",
        "changed_at": shell.json("actions", "release")["changed_at"],
        "changed_by": "admin",
        "unknown": [],
    }
    shell("actions", "release", "--yes", code=1)
