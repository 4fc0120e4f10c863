"""P6, F3: templates in the terminal; a run with agents tells what they say as it happens."""

from __future__ import annotations

import json

from tests.cli.shell import Shell


def test_templates_are_listed_printed_and_used(alone: Shell) -> None:
    listed = alone("templates").out.splitlines()
    assert listed[0].split() == ["NAME", "TITLE", "USES", "DESCRIPTION"]
    assert any(line.startswith("ticket-triage ") and "agents, people" in line for line in listed)
    text = alone("templates", "show", "ticket-triage").out
    assert text == alone("templates", "ticket-triage").out
    assert text.startswith("# A ticket comes in")
    for words in (("show",), ("use",), ()):
        assert "There is no template" in alone("templates", *words, "ticket-triag", code=3).err
    made = alone("templates", "use", "develop-and-test")
    assert made.out.startswith("Develop and test: created")
    assert made.err == 'Start it with: cairn run "Develop and test"\n'


def test_a_template_with_agents_runs_to_its_end(alone: Shell) -> None:
    """What agents say and use is told while it happens, and labelled; a person approves; files are in their place."""
    alone("templates", "use", "develop-and-test")
    said = alone("run", "Develop and test", code=6)
    told = [line.partition("  ")[2] for line in said.out.splitlines()]
    begins = [
        "Develop | Developer (simulated):",
        "Develop |       return year % 4 == 0",
        "Test | Tester (simulated):",
        "Test |   → request_rework {",
        "Develop was sent back to be done again: One of four cases is answered wrongly.",
        "Develop |       return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)",
        "Test |   ← request_rework The rework of develop: ```json {",
        "Verify | Verifier (simulated):",
        "People are asked to approve the result of Verify.",
    ]
    left = iter(told)
    assert [begin for begin in begins if not any(line.startswith(begin) for line in left)] == []
    alone("approve", "Develop and test@v1/verify")
    run = alone.json("show", "Develop and test@v1")
    assert run["status"] == "completed"
    test = alone.json("show", "Develop and test@v1/test")
    (report,) = test["artifacts_generated"]
    file = alone.data / "pipelines" / run["pipeline_id"] / report["file_path"]
    assert json.loads(file.read_text())["passed"] is True
    spoken = alone("conversation", "Develop and test@v1/test").out
    assert "Tester (simulated:default, simulated)" in spoken
