"""Project folders and their scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell, invoke
from tests.mentions import mentions


def test_a_new_project_completes_with_three_commands(local_shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "my-report"
    created = invoke("init", str(folder))
    assert created.out.splitlines() == [
        mentions(folder / name)
        for name in ("pipeline.yaml", "scripts/measure.py", "scripts/report.py", "README.md", ".gitignore")
    ]
    assert local_shell("apply", str(folder)).out == mentions("My report", "1")
    assert local_shell("run", "My report").out.splitlines()[-1] == mentions("My report@v1 completed", "2")
    assert local_shell("artifacts", "show", "My report/report").out.endswith("- 18 words\n- the longest is *stones*\n")


def test_scripts_are_applied_with_their_definition(server_shell: Shell, tmp_path: Path) -> None:
    """A changed script creates a revision, and the scripts do not shift the line numbers of errors."""
    folder = tmp_path / "project"
    invoke("init", str(folder))
    definition = folder / "pipeline.yaml"
    definition.write_text(definition.read_text().replace("My report", "Scripted"))
    (folder / "scripts" / "__pycache__").mkdir()
    (folder / "scripts" / "__pycache__" / "measure.pyc").write_bytes(b"\xff")
    server_shell("apply", str(folder))
    assert server_shell("apply", str(definition)).out == mentions("Scripted", "1")
    assert server_shell("diff", str(definition)).out == ""
    listed = server_shell.json("scripts", "Scripted")["items"]
    assert [(script["path"], script["used_by"]) for script in listed] == [
        ("measure.py", ["measure"]),
        ("report.py", ["report"]),
    ]
    script = folder / "scripts" / "measure.py"
    script.write_text(script.read_text().replace("words counted", "words"))
    assert server_shell("apply", str(folder)).out == mentions("Scripted", "2")
    assert server_shell("scripts", "show", "Scripted", "measure.py").out == script.read_text()
    stored = server_shell("scripts", "put", "Scripted", str(script), "--path", "more/other.py")
    assert stored.out == mentions("more/other.py", "3")
    assert server_shell("scripts", "delete", "Scripted", "more/other.py").out == mentions("more/other.py", "4")
    assert server_shell("scripts", "delete", "Scripted", "measure.py", code=1).err.startswith("cairn: ")
    definition.write_text(definition.read_text().replace("outputs: [report.md]", "outputs: 7"))
    wrong = server_shell("apply", str(folder), code=1)
    line = definition.read_text().splitlines().index("    outputs: 7") + 1
    assert wrong.err.splitlines()[1].strip().startswith(f"{definition}:{line}:")


def test_scripts_are_applied_with_a_json_definition(server_shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    (folder / "scripts").mkdir(parents=True)
    (folder / "scripts" / "a.py").write_text("def main(ctx):\n    return {'ü': 1}\n", encoding="utf-8")
    definition = {"pipeline_name": "As JSON", "checkpoints": [{"key": "a", "script": "a.py", "outputs": ["a.json"]}]}
    (folder / "pipeline.json").write_text(json.dumps(definition))
    server_shell("apply", str(folder))
    assert server_shell("run", "As JSON").out.splitlines()[-1] == mentions("As JSON@v1 completed", "1")
    assert json.loads(server_shell("artifacts", "show", "As JSON/a").out) == {"ü": 1}


def test_init_does_not_overwrite_files(tmp_path: Path) -> None:
    (tmp_path / "pipeline.yaml").write_text("mine")
    created = invoke("init", str(tmp_path), "--template", "text-report", "--json").json
    assert (created["skipped"], created["written"]) == (["pipeline.yaml"], ["README.md", ".gitignore"])
    assert (tmp_path / "pipeline.yaml").read_text() == "mine"
    assert "Text report" in (tmp_path / "README.md").read_text()
    assert invoke("init", str(tmp_path), "--template", "none").code == 3
    assert invoke("init", str(tmp_path / "pipeline.yaml" / "below")).code == 2


@pytest.mark.parametrize("wrong", [b"\xff\xfe", b""])
def test_a_script_must_be_utf_8(server_shell: Shell, tmp_path: Path, wrong: bytes) -> None:
    folder = tmp_path / "project"
    invoke("init", str(folder))
    (folder / "scripts" / "odd.py").write_bytes(wrong)
    result = server_shell("validate", str(folder), code=2 if wrong else 0)
    assert result.err == (mentions(f"{folder}/scripts/odd.py", "UTF-8") if wrong else "")
