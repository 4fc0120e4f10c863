"""Commands for rules, audits and the emergency stop."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.shell import Shell, invoke
from tests.cli.test_output import plain
from tests.mentions import mentions
from tests.snapshots.comparing import compare_text

APPROVE = """\
checkpoints:
  - name: Results are fine
    trigger: { kind: completion }
    action: { auto_approve: true, audit_sample_percentage: 100 }
"""
ASK = APPROVE.replace("auto_approve: true, audit_sample_percentage: 100", "timeout_seconds: 60, on_timeout: escalate")


def write_rules(folder: Path, text: str) -> str:
    file = folder / "rules.yaml"
    file.write_text(text)
    return str(file)


def submit_form(shell: Shell, name: str) -> None:
    shell("run", name, "--detach")
    shell("submit", name, "--field", "text=One.")


def test_rules_are_checked(shell: Shell, tmp_path: Path) -> None:
    file = write_rules(tmp_path, ASK)
    assert shell("rules", "check", file).out.splitlines() == [
        mentions(f"{file}:4:48: /checkpoints/0/action/on_timeout: "),
        mentions(f"{file}: ", "1"),
    ]
    wrong = shell("rules", "check", write_rules(tmp_path, "checkpoints:\n  - name: 5\n"), code=1)
    assert wrong.out.splitlines()[-1].startswith(f"{file}:2:11: /checkpoints/0/name: ")
    assert shell.json("rules", "check", "-", stdin=APPROVE)["is_valid"] is True
    assert '"urn:cairn:schema:rules:1.0"' in invoke("rules", "schema").out


def test_rules_are_applied_explained_and_removed(shell: Shell, notes: Path, name: str, tmp_path: Path) -> None:
    shell("apply", str(notes))
    file = write_rules(tmp_path, APPROVE)
    assert shell("rules", "apply", file, "--pipeline", name, "-m", "first").out == mentions(name, "1")
    assert shell("rules", "apply", file, "--pipeline", name).out == mentions(name, "1")
    assert shell("rules", "show", "--pipeline", name).out == APPROVE
    submit_form(shell, name)
    assert shell("watch", name).out.splitlines()[-1] == mentions(f"{name}@v1 completed", "2")
    listed = shell("rules").out
    assert next(line for line in listed.splitlines() if name in line).split()[-3:] == ["active,", "100%", "1"]
    shell("rules", "apply", write_rules(tmp_path, ASK), "--pipeline", name)
    assert shell("rules", "show", "--pipeline", name, "--version", "1").out == APPROVE
    versions = shell("rules", "versions", "--pipeline", name).out.splitlines()
    assert [line.split()[0] for line in versions[1:]] == ["2", "1"]
    assert versions[-1].endswith("first")
    assert shell.json("rules", "explain", f"{name}@v1")["status"] == "auto_approved"
    output = shell("rules", "diff", "--from", "1", "--to", "2", "--pipeline", name).out
    assert "+    action: { timeout_seconds: 60, on_timeout: escalate }" in output
    submit_form(shell, name)
    shell("watch", name, code=6)
    explanation = shell("rules", "explain", f"{name}@v2/write").out
    assert explanation.splitlines() == [
        mentions("'Results are fine'", "2"),
        "",
        mentions("Results are fine"),
        mentions("kind", "completion"),
    ]
    assert shell("rules", "delete", "--pipeline", name).out == mentions(name, "3")
    result = shell("rules", "apply", write_rules(tmp_path, "checkpoints: 5\n"), "--pipeline", name, code=1)
    assert result.err.splitlines()[1].startswith(f"  {tmp_path / 'rules.yaml'}:1:14: /checkpoints: ")


def test_audits_and_backtests(shell: Shell, notes: Path, name: str, tmp_path: Path) -> None:
    shell("apply", str(notes))
    file = write_rules(tmp_path, APPROVE)
    submit_form(shell, name)
    shell("watch", name, code=6)
    shell("approve", name)
    compare_text("cli/backtest.txt", plain(shell("rules", "backtest", file, "--pipeline", name).out))
    wrong = shell("rules", "backtest", write_rules(tmp_path, "a: 1\n"), code=1)
    assert wrong.err.splitlines()[1] == mentions(f"{file}:1:1", "`a`")
    shell("rules", "apply", write_rules(tmp_path, APPROVE), "--pipeline", name)
    submit_form(shell, name)
    shell("watch", name)
    [audit] = shell.json("rules", "audits", "--pipeline", name)["items"]
    result = shell("rules", "review", audit["approval_id"], "--disagree", "-m", "too quick").out
    assert result == mentions("Results are fine", "admin")
    assert shell.json("rules", "audits", "--pipeline", name)["items"] == []
    [reviewed] = shell.json("rules", "audits", "--pipeline", name, "--all")["items"]
    assert (reviewed["review"]["by"], reviewed["review"]["agrees"]) == ("admin", False)


def test_the_emergency_stop_stops_automatic_approvals(
    local_shell: Shell, notes: Path, name: str, tmp_path: Path
) -> None:
    local_shell("apply", str(notes))
    local_shell("rules", "apply", write_rules(tmp_path, APPROVE))
    assert (local_shell.data / "rules.yaml").read_text() == APPROVE
    assert local_shell("rules", "stop", code=2).err == mentions("--reason")
    for reason in ("Refunds look odd", "A bad model"):
        assert local_shell("rules", "stop", "-m", reason).out == mentions("admin", reason)
        assert local_shell("rules", "list").out.splitlines()[0] == mentions("admin", reason)
    submit_form(local_shell, name)
    local_shell("watch", name, code=6)
    (rule,) = local_shell.json("rules", "explain", f"{name}/write")["evaluated_rules"]
    assert rule["rule"] == "Results are fine"
    local_shell("rules", "lift-stop")
    assert local_shell.json("rules", "list")["emergency_stop"]["stopped"] is False
    assert "admin" in local_shell("rules", "stop-history").out.splitlines()[-1]


def test_errors_in_the_rules_file_do_not_block_saving(local_shell: Shell) -> None:
    local_shell.data.mkdir(exist_ok=True)
    (local_shell.data / "rules.yaml").write_text("checkpoints: 5\n")
    result = local_shell("rules", "apply", "-", stdin="")
    assert re.findall(r"\d+", result.out) == ["0", "0"]
    assert local_shell("rules", "show").out == ""
