"""Commands for the agent library."""

from __future__ import annotations

from pathlib import Path

from tests.cli.shell import Shell
from tests.mentions import mentions

CHECKER = """\
name: fact-checker
role: You check facts.
task_prompt: Check them.
tools: [ask_human]
"""


def test_agents_are_listed_shown_saved_and_removed(shell: Shell, tmp_path: Path, name: str) -> None:
    listed = shell("agents").out.splitlines()
    assert listed[0].isupper()
    assert any(line.split()[:3] == ["tester", "Tester", "Cairn"] for line in listed)
    tester = shell.json("agents", "show", "tester")["description"]
    assert [agent["name"] for agent in shell.json("agents", "list", tester)["items"]] == ["tester"]
    assert shell.json("agents", "list", "no-such-words")["items"] == []
    file = tmp_path / "checker.yaml"
    file.write_text(CHECKER)
    assert shell("agents", "apply", str(file)).out == mentions("fact-checker", "1")
    assert shell("agents", "apply", "-", stdin=CHECKER).out == mentions("fact-checker", "1")
    assert shell("agents", "show", "fact-checker").out == CHECKER
    assert shell.json("agents", "show", "fact-checker")["updated_by"]
    pipeline = f"pipeline_name: {name}\ncheckpoints:\n  - {{ key: check, agent: fact-checker, outputs: [facts.md] }}\n"
    shell("apply", "-", stdin=pipeline)
    assert shell("agents", "delete", "fact-checker", code=1).err == mentions("fact-checker", name)
    shell("apply", "-", stdin=pipeline.replace("agent: fact-checker", "prompt: Check."))
    assert shell("agents", "delete", "fact-checker").err == mentions("fact-checker")
    history = [line.split()[-2] for line in shell("agents", "history", "fact-checker").out.splitlines()]
    assert history[1:] == ["admin", "admin"]
    assert shell("agents", "history", "tester").err == mentions("tester")
    assert shell("agents", "show", "fact-checker", code=3).err == mentions("fact-checker")


def test_errors_in_an_agent_name_file_line_and_column(local_shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text("name: odd\nrole: You saw.\ntools: [saw]\n")
    assert f"{file}:3:9: /tools/0: " in local_shell("agents", "apply", str(file), code=1).err
    file.write_text("role: You saw.\n")
    assert local_shell("agents", "apply", str(file), code=1).err == mentions(file, "`name`")
    file.write_text("name: [\n")
    assert f"{file}:" in local_shell("agents", "apply", str(file), code=1).err
