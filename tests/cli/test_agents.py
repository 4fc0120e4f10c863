"""P6, F3: the agent library in the terminal."""

from __future__ import annotations

from pathlib import Path

from tests.cli.shell import Shell

CHECKER = """\
name: fact-checker
role: You check facts.
task_prompt: Check them.
tools: [ask_human]
"""


def test_agents_are_listed_shown_saved_and_removed(shell: Shell, tmp_path: Path, name: str) -> None:
    listed = shell("agents").out.splitlines()
    assert listed[0].split() == ["NAME", "TITLE", "FROM", "USED", "BY", "DESCRIPTION"]
    assert any(line.split()[:3] == ["tester", "Tester", "Cairn"] for line in listed)
    assert [one["name"] for one in shell.json("agents", "list", "sends work")["items"]] == ["tester"]
    assert shell("agents", "no-such-words").err == "There is no such agent.\n"
    file = tmp_path / "checker.yaml"
    file.write_text(CHECKER)
    assert shell("agents", "apply", str(file)).out.startswith("fact-checker: revision 1, ")
    assert shell("agents", "apply", "-", given=CHECKER).out.startswith("fact-checker: revision 1, ")
    assert shell("agents", "show", "fact-checker").out == CHECKER
    assert shell.json("agents", "show", "fact-checker")["updated_by"]
    pipeline = f"pipeline_name: {name}\ncheckpoints:\n  - {{ key: check, agent: fact-checker, outputs: [facts.md] }}\n"
    shell("apply", "-", given=pipeline)
    assert f"fact-checker is used by {name}" in shell("agents", "remove", "fact-checker", code=1).err
    shell("apply", "-", given=pipeline.replace("agent: fact-checker", "prompt: Check."))
    assert shell("agents", "remove", "fact-checker").err == "fact-checker is removed.\n"
    history = [line.split()[-2:] for line in shell("agents", "history", "fact-checker").out.splitlines()]
    assert history[1:] == [["admin", "removed"], ["admin", "saved"]]
    assert shell("agents", "history", "tester").err == "tester is as it came with Cairn.\n"
    assert "There is no agent in the library fact-checker" in shell("agents", "show", "fact-checker", code=3).err


def test_what_is_wrong_is_told_with_file_line_and_column(alone: Shell, tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text("name: odd\nrole: You saw.\ntools: [saw]\n")
    assert f"{file}:3:9: /tools/0: a tool is " in alone("agents", "apply", str(file), code=1).err
    file.write_text("role: You saw.\n")
    assert "does not say which agent it is: add `name`" in alone("agents", "apply", str(file), code=1).err
    file.write_text("name: [\n")
    assert f"{file}:" in alone("agents", "apply", str(file), code=1).err
