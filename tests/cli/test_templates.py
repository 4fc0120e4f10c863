"""Commands for templates. A followed run prints the messages of its agents."""

from __future__ import annotations

import json

from tests.cli.shell import Shell
from tests.mentions import mentions


def test_templates_are_listed_printed_and_used(local_shell: Shell) -> None:
    listed = local_shell("templates").out.splitlines()
    assert listed[0].isupper()
    assert any(line.startswith("ticket-triage ") and "agents, people" in line for line in listed)
    text = local_shell("templates", "show", "ticket-triage").out
    assert text == local_shell("templates", "ticket-triage").out
    assert "\npipeline_name: Ticket triage\n" in text
    for words in (("show",), ("use",), ()):
        assert local_shell("templates", *words, "ticket-triag", code=3).err == mentions("ticket-triag")
    created = local_shell("templates", "use", "develop-and-test")
    assert created.out == mentions("Develop and test")
    assert created.err == mentions('cairn run "Develop and test"')


def test_a_template_with_agents_completes(local_shell: Shell) -> None:
    """Messages and tool calls are printed in order, and the approved report is on disk."""
    local_shell("templates", "use", "develop-and-test")
    result = local_shell("run", "Develop and test", code=6)
    output = [line.partition("  ")[2] for line in result.out.splitlines()]
    expected = [
        "Develop | Developer ",
        "Develop |       return year % 4 == 0",
        "Test | Tester ",
        "Test |   → request_rework {",
        "Develop |       return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)",
        "Test |   ← request_rework ",
        "Verify | Verifier ",
    ]
    remaining = iter(output)
    assert [start for start in expected if not any(line.startswith(start) for line in remaining)] == []
    local_shell("approve", "Develop and test@v1/verify")
    run = local_shell.json("show", "Develop and test@v1")
    assert run["status"] == "completed"
    test = local_shell.json("show", "Develop and test@v1/test")
    (report,) = test["artifacts_generated"]
    file = local_shell.data / "pipelines" / run["pipeline_id"] / report["file_path"]
    assert json.loads(file.read_text())["passed"] is True
    conversation = local_shell("conversation", "Develop and test@v1/test").out
    assert conversation == mentions("Tester", "simulated:default")
