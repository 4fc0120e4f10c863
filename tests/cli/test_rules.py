"""Rules in a terminal, with a server and without."""

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


def written(folder: Path, text: str) -> str:
    file = folder / "rules.yaml"
    file.write_text(text)
    return str(file)


def filled(shell: Shell, name: str) -> None:
    shell("run", name, "--detach")
    shell("submit", name, "--field", "text=One.")


def test_rules_are_checked(shell: Shell, tmp_path: Path) -> None:
    file = written(tmp_path, ASK)
    assert shell("rules", "check", file).out.splitlines() == [
        mentions(f"{file}:4:48: /checkpoints/0/action/on_timeout: "),
        mentions(f"{file}: ", "1"),
    ]
    wrong = shell("rules", "check", written(tmp_path, "checkpoints:\n  - name: 5\n"), code=1)
    assert wrong.out.splitlines()[-1].startswith(f"{file}:2:11: /checkpoints/0/name: ")
    assert shell.json("rules", "check", "-", given=APPROVE)["valid"] is True
    assert '"urn:cairn:schema:rules:1.0"' in invoke("rules", "schema").out


def test_from_a_file_into_force_and_away(shell: Shell, notes: Path, name: str, tmp_path: Path) -> None:
    shell("apply", str(notes))
    file = written(tmp_path, APPROVE)
    assert shell("rules", "apply", file, "--pipeline", name, "-m", "first").out == mentions(name, "1")
    assert shell("rules", "apply", file, "--pipeline", name).out == mentions(name, "1")
    assert shell("rules", "show", "--pipeline", name).out == APPROVE
    filled(shell, name)
    assert shell("watch", name).out.splitlines()[-1] == mentions(f"{name}@v1 completed", "2")
    listed = shell("rules").out
    assert next(line for line in listed.splitlines() if name in line).split()[-2:] == ["full", "1"]
    shell("rules", "apply", written(tmp_path, ASK), "--pipeline", name)
    assert shell("rules", "show", "--pipeline", name, "--version", "1").out == APPROVE
    versions = shell("rules", "versions", "--pipeline", name).out.splitlines()
    assert [line.split()[0] for line in versions[1:]] == ["2", "1"]
    assert versions[-1].endswith("first")
    told = shell("rules", "diff", "--from", "1", "--to", "2", "--pipeline", name).out
    assert "+    action: { timeout_seconds: 60, on_timeout: escalate }" in told
    filled(shell, name)
    shell("watch", name, code=6)
    why = shell("rules", "explain", f"{name}@v2/write").out
    assert why.splitlines() == [
        mentions("'Results are fine'", "2"),
        "",
        mentions("Results are fine"),
        mentions("kind", "completion"),
    ]
    assert shell("rules", "remove", "--pipeline", name).out == mentions(name, "3")
    refused = shell("rules", "apply", written(tmp_path, "checkpoints: 5\n"), "--pipeline", name, code=1)
    assert refused.err.splitlines()[1].startswith(f"  {tmp_path / 'rules.yaml'}:1:14: /checkpoints: ")


def test_samples_and_backtests(shell: Shell, notes: Path, name: str, tmp_path: Path) -> None:
    shell("apply", str(notes))
    file = written(tmp_path, APPROVE)
    filled(shell, name)
    shell("watch", name, code=6)
    shell("approve", name)
    compare_text("cli/backtest.txt", plain(shell("rules", "backtest", file, "--pipeline", name).out))
    wrong = shell("rules", "backtest", written(tmp_path, "a: 1\n"), code=1)
    assert wrong.err.splitlines()[1] == mentions(f"{file}:1:1", "`a`")
    shell("rules", "apply", written(tmp_path, APPROVE), "--pipeline", name)
    filled(shell, name)
    shell("watch", name)
    [sampled] = shell.json("rules", "audits", "--pipeline", name)["items"]
    said = shell("rules", "review", sampled["approval_id"], "--disagree", "-m", "too quick").out
    assert said == mentions("Results are fine", "admin")
    assert shell.json("rules", "audits", "--pipeline", name)["items"] == []
    [reviewed] = shell.json("rules", "audits", "--pipeline", name, "--all")["items"]
    assert (reviewed["review"]["by"], reviewed["review"]["agrees"]) == ("admin", False)


def test_one_command_stops_everything(alone: Shell, notes: Path, name: str, tmp_path: Path) -> None:
    alone("apply", str(notes))
    alone("rules", "apply", written(tmp_path, APPROVE))
    assert (alone.data / "rules.yaml").read_text() == APPROVE
    assert alone("rules", "stop", code=2).err == mentions("--reason")
    for reason in ("Refunds look odd", "A bad model"):
        assert alone("rules", "stop", "-m", reason).out == mentions("admin", reason)
        assert alone("rules", "list").out.splitlines()[0] == mentions("admin", reason)
    filled(alone, name)
    alone("watch", name, code=6)
    (considered,) = alone.json("rules", "explain", f"{name}/write")["considered"]
    assert considered["rule"] == "Results are fine"
    alone("rules", "lift-stop")
    assert alone.json("rules", "list")["emergency_stop"]["stopped"] is False
    assert "admin" in alone("rules", "stop-history").out.splitlines()[-1]


def test_what_is_wrong_in_the_file_is_told(alone: Shell) -> None:
    alone.data.mkdir(exist_ok=True)
    (alone.data / "rules.yaml").write_text("checkpoints: 5\n")
    said = alone("rules", "apply", "-", given="")
    assert re.findall(r"\d+", said.out) == ["0", "0"]
    assert alone("rules", "show").out == ""
