"""F3, H2, H3b, H6: rules in a terminal, with a server and without."""

from __future__ import annotations

from pathlib import Path

from tests.cli.shell import Shell, invoke

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
    doubt = "warning: nobody is named to escalate to: those who are asked get more time"
    assert shell("rules", "check", file).out.splitlines() == [
        f"{file}:4:48: /checkpoints/0/action/on_timeout: {doubt}",
        f"{file}: valid (1 rule)",
    ]
    wrong = shell("rules", "check", written(tmp_path, "checkpoints:\n  - name: 5\n"), code=1)
    assert (
        wrong.out.splitlines()[-1] == f"{file}:2:11: /checkpoints/0/name: expected a text, but here it is a number: 5"
    )
    assert shell.json("rules", "check", "-", given=APPROVE)["valid"] is True
    assert '"urn:cairn:schema:rules:1.0"' in invoke("rules", "schema").out


def test_from_a_file_into_force_and_away(shell: Shell, notes: Path, name: str, tmp_path: Path) -> None:
    shell("apply", str(notes))
    file = written(tmp_path, APPROVE)
    assert shell("rules", "apply", file, "--pipeline", name, "-m", "first").out == f"{name}: revision 1 (1 rule)\n"
    assert shell("rules", "apply", file, "--pipeline", name).out == f"{name}: revision 1 (1 rule)\n"
    assert shell("rules", "show", "--pipeline", name).out == APPROVE
    filled(shell, name)
    assert shell("watch", name).out.splitlines()[-1] == f"{name}@v1 completed: 2 of 2 checkpoints"
    listed = shell("rules").out
    assert next(line for line in listed.splitlines() if name in line).split()[-2:] == ["full", "1"]
    shell("rules", "apply", written(tmp_path, ASK), "--pipeline", name)
    assert shell("rules", "show", "--pipeline", name, "--version", "1").out == APPROVE
    versions = shell("rules", "versions", "--pipeline", name).out.splitlines()
    assert [line.split()[0] for line in versions] == ["REVISION", "2", "1"]
    assert versions[-1].endswith("first")
    told = shell("rules", "diff", "--from", "1", "--to", "2", "--pipeline", name).out
    assert "+    action: { timeout_seconds: 60, on_timeout: escalate }" in told
    filled(shell, name)
    shell("watch", name, code=6)
    why = shell("rules", "explain", f"{name}@v2/write").out
    assert why.splitlines() == [
        "'Results are fine' of the pipeline's rules, revision 2, asks.",
        "",
        "Results are fine (of the pipeline): asks",
        "  kind completion: completion, holds",
    ]
    assert shell("rules", "remove", "--pipeline", name).out == f"{name}: no rules, revision 3\n"
    refused = shell("rules", "apply", written(tmp_path, "checkpoints: 5\n"), "--pipeline", name, code=1)
    assert refused.err.splitlines()[1] == (
        f"  {tmp_path / 'rules.yaml'}:1:14: /checkpoints: expected a list, but here it is a number: 5"
    )


def test_samples_and_backtests(shell: Shell, notes: Path, name: str, tmp_path: Path) -> None:
    shell("apply", str(notes))
    file = written(tmp_path, APPROVE)
    filled(shell, name)
    shell("watch", name, code=6)
    shell("approve", name)
    found = shell("rules", "backtest", file, "--pipeline", name).out.splitlines()
    assert found[0] == "decisions of people  1"
    assert "would have approved  1" in found
    assert "people disagreed     0 of 1 (0% to 79%)" in found
    assert shell("rules", "backtest", written(tmp_path, "a: 1\n"), code=1).err.startswith(
        "cairn: The rules cannot work"
    )
    shell("rules", "apply", written(tmp_path, APPROVE), "--pipeline", name)
    filled(shell, name)
    shell("watch", name)
    [sampled] = shell.json("rules", "audits", "--pipeline", name)["items"]
    said = shell("rules", "review", sampled["approval_id"], "--disagree", "-m", "too quick").out
    assert said == "Results are fine: admin disagrees\n"
    assert shell.json("rules", "audits", "--pipeline", name)["items"] == []
    assert "admin disagrees" in shell("rules", "audits", "--pipeline", name, "--all").out


def test_one_command_stops_everything(alone: Shell, notes: Path, name: str, tmp_path: Path) -> None:
    alone("apply", str(notes))
    alone("rules", "apply", written(tmp_path, APPROVE))
    assert (alone.data / "rules.yaml").read_text() == APPROVE
    assert alone("rules", "stop", code=2).err == "cairn: Say why: --reason.\n"
    told = "Every automatic approval is stopped, by admin: Refunds look odd\n"
    assert alone("rules", "stop", "-m", "Refunds look odd").out == told
    assert alone("rules", "list").out.startswith(told)
    again = told.replace("Refunds look odd", "A bad model")
    assert alone("rules", "stop", "-m", "A bad model").out == again
    assert alone("rules", "list").out.startswith(again)
    filled(alone, name)
    alone("watch", name, code=6)
    assert "held back: emergency stop" in alone("rules", "explain", f"{name}/write").out
    assert alone("rules", "resume").out == "Automatic approvals go on.\n"
    assert [line.split()[2:4] for line in alone("rules", "stops").out.splitlines()[1:]] == [
        ["goes", "on"],
        ["stopped", "admin"],
    ]


def test_what_is_wrong_in_the_file_is_told(alone: Shell) -> None:
    alone.data.mkdir(exist_ok=True)
    (alone.data / "rules.yaml").write_text("checkpoints: 5\n")
    said = alone("rules", "apply", "-", given="")
    assert said.out == "global rules: revision 0 (0 rules)\n"
    assert alone("rules", "show").out == ""
