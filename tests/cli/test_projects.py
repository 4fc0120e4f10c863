"""A project folder: created, applied with its scripts, run to its end with three commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell, invoke
from tests.mentions import mentions


def test_three_commands_to_the_end(alone: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "my-report"
    made = invoke("init", str(folder))
    assert made.out.splitlines() == [
        mentions(folder / name)
        for name in ("pipeline.yaml", "scripts/measure.py", "scripts/report.py", "README.md", ".gitignore")
    ]
    assert alone("apply", str(folder)).out == mentions("My report", "1")
    assert alone("run", "My report").out.splitlines()[-1] == mentions("My report@v1 completed", "2")
    assert alone("artifacts", "show", "My report/report").out.endswith("- 18 words\n- the longest is *Walkers*\n")


def test_scripts_go_with_their_definition(served: Shell, tmp_path: Path) -> None:
    """Applied again nothing changes; a changed script is a new revision; errors keep their line."""
    folder = tmp_path / "project"
    invoke("init", str(folder))
    definition = folder / "pipeline.yaml"
    definition.write_text(definition.read_text().replace("My report", "Scripted"))
    (folder / "scripts" / "__pycache__").mkdir()
    (folder / "scripts" / "__pycache__" / "measure.pyc").write_bytes(b"\xff")
    served("apply", str(folder))
    assert served("apply", str(definition)).out == mentions("Scripted", "1")
    assert served("diff", str(definition)).out == ""
    listed = served.json("scripts", "Scripted")["items"]
    assert [(one["path"], one["used_by"]) for one in listed] == [("measure.py", ["measure"]), ("report.py", ["report"])]
    script = folder / "scripts" / "measure.py"
    script.write_text(script.read_text().replace("words counted", "words"))
    assert served("apply", str(folder)).out == mentions("Scripted", "2")
    assert served("scripts", "show", "Scripted", "measure.py").out == script.read_text()
    put = served("scripts", "put", "Scripted", str(script), "--path", "more/other.py")
    assert put.out == mentions("more/other.py", "3")
    assert served("scripts", "delete", "Scripted", "more/other.py").out == mentions("more/other.py", "4")
    assert served("scripts", "delete", "Scripted", "measure.py", code=1).err.startswith("cairn: ")
    definition.write_text(definition.read_text().replace("outputs: [report.md]", "outputs: 7"))
    wrong = served("apply", str(folder), code=1)
    line = definition.read_text().splitlines().index("    outputs: 7") + 1
    assert wrong.err.splitlines()[1].strip().startswith(f"{definition}:{line}:")


def test_a_definition_as_json_takes_its_scripts_along(served: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    (folder / "scripts").mkdir(parents=True)
    (folder / "scripts" / "a.py").write_text("def main(ctx):\n    return {'ü': 1}\n", encoding="utf-8")
    definition = {"pipeline_name": "As JSON", "checkpoints": [{"key": "a", "script": "a.py", "outputs": ["a.json"]}]}
    (folder / "pipeline.json").write_text(json.dumps(definition))
    served("apply", str(folder))
    assert served("run", "As JSON").out.splitlines()[-1] == mentions("As JSON@v1 completed", "1")
    assert json.loads(served("artifacts", "show", "As JSON/a").out) == {"ü": 1}


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "pipeline.yaml").write_text("mine")
    made = invoke("init", str(tmp_path), "--template", "text-report", "--json").json
    assert (made["kept"], made["written"]) == (["pipeline.yaml"], ["README.md", ".gitignore"])
    assert (tmp_path / "pipeline.yaml").read_text() == "mine"
    assert "Text report" in (tmp_path / "README.md").read_text()
    assert invoke("init", str(tmp_path), "--template", "none").code == 3
    assert invoke("init", str(tmp_path / "pipeline.yaml" / "below")).code == 2


@pytest.mark.parametrize("wrong", [b"\xff\xfe", b""])
def test_a_script_that_is_no_text(served: Shell, tmp_path: Path, wrong: bytes) -> None:
    folder = tmp_path / "project"
    invoke("init", str(folder))
    (folder / "scripts" / "odd.py").write_bytes(wrong)
    said = served("validate", str(folder), code=2 if wrong else 0)
    assert said.err == (mentions(f"{folder}/scripts/odd.py", "UTF-8") if wrong else "")
