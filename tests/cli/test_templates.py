"""Templates in the terminal; a run with agents shows their messages as they arrive."""

from __future__ import annotations

import json

from tests.cli.shell import Shell
from tests.mentions import mentions


def test_templates_are_listed_printed_and_used(alone: Shell) -> None:
    listed = alone("templates").out.splitlines()
    assert listed[0].isupper()
    assert any(line.startswith("ticket-triage ") and "agents, people" in line for line in listed)
    text = alone("templates", "show", "ticket-triage").out
    assert text == alone("templates", "ticket-triage").out
    assert "\npipeline_name: Ticket triage\n" in text
    for words in (("show",), ("use",), ()):
        assert alone("templates", *words, "ticket-triag", code=3).err == mentions("ticket-triag")
    made = alone("templates", "use", "develop-and-test")
    assert made.out == mentions("Develop and test")
    assert made.err == mentions('cairn run "Develop and test"')


def test_a_template_with_agents_runs_to_its_end(alone: Shell) -> None:
    """What agents say and use is told while it happens, and labelled; a person approves; files are in their place."""
    alone("templates", "use", "develop-and-test")
    said = alone("run", "Develop and test", code=6)
    told = [line.partition("  ")[2] for line in said.out.splitlines()]
    begins = [
        "Develop | Developer ",
        "Develop |       return year % 4 == 0",
        "Test | Tester ",
        "Test |   → request_rework {",
        "Develop |       return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)",
        "Test |   ← request_rework ",
        "Verify | Verifier ",
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
    assert spoken == mentions("Tester", "simulated:default")
