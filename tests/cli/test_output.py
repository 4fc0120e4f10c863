"""What commands print into a pipe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cairn.cli.completion import approvals, executions, pipelines, runs
from cairn.cli.output import printable, size
from cairn.cli.prompts import ask_all
from cairn.cli.run_state import is_at_rest
from tests.chaos.server import Server
from tests.cli.shell import Shell, invoke
from tests.mentions import mentions
from tests.snapshots.comparing import compare_text

DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])")
SHORT = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}(?![0-9a-f])")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


def plain(text: str) -> str:
    for pattern, word in ((DIGEST, "DIGEST"), (ID, "ID"), (MOMENT, "MOMENT"), (SHORT, "SHORT")):
        text = pattern.sub(word, text)
    return re.sub(r"\d+\.\d s +", "SECONDS  ", re.sub(r" +\n", "\n", text))


@pytest.fixture
def walked(served: Shell, notes: Path, name: str) -> str:
    """A run that waits for its second question."""
    served("apply", str(notes))
    served("run", name, "--detach")
    served("submit", name, "--field", "text=New.")
    served("watch", name, code=6)
    return name


def test_a_list_of_runs(served: Shell, walked: str) -> None:
    head, row = plain(served("runs", walked).out).splitlines()
    assert head.isupper()
    assert re.split(r" {2,}", row) == ["SHORT", walked, "v1", "in_progress", "0/2", "1", "MOMENT"]


def test_a_run(served: Shell, walked: str) -> None:
    compare_text("cli/run.txt", plain(served("show", walked).out).replace(walked, "NAME"))


def test_an_execution_and_its_question(served: Shell, walked: str) -> None:
    compare_text("cli/execution.txt", plain(served("show", f"{walked}/write").out).replace(walked, "NAME"))
    compare_text("cli/approval.txt", plain(served("approvals", "show", walked).out).replace(walked, "NAME"))
    row = served("approvals", "--run", walked).out.splitlines()[1].split("  ")
    assert [cell.strip() for cell in row if cell.strip()][1:3] == ["completion", mentions("Write the notes")]


def test_json_is_the_answer_of_the_api(served: Shell, server: Server, walked: str) -> None:
    run = served.json("show", walked)
    again = server.call("GET", f"/api/runs/{run['run_id']}")
    assert {**run, "progress": None} == {**again, "progress": None}  # time goes on
    items = served.json("events", walked, "--limit", "3")["items"]
    assert items == server.call("GET", f"/api/events?run_id={run['run_id']}&limit=3")["items"]


def test_an_input_keeps_every_digit(served: Shell, walked: str) -> None:
    given = '{"big":123456789012345678901234567890,"exact":0.1}'
    served("run", walked, "--detach", "--input", given)
    assert served("show", walked, "--input").out.replace(" ", "") == f"{given}\n"


def test_downloads(served: Shell, walked: str, tmp_path: Path) -> None:
    served("artifacts", "download", f"{walked}/notes", "--to", str(tmp_path / "notes.json"))
    content = (tmp_path / "notes.json").read_text()
    assert served("artifacts", "show", f"{walked}/write/notes").out == content
    assert served("artifacts", "download", f"{walked}/notes", "--to", "-").out == content
    again = served("artifacts", "download", f"{walked}/notes", "--to", str(tmp_path / "notes.json"), code=1)
    assert again.err == mentions(tmp_path / "notes.json", "--overwrite")
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []
    served("logs", f"{walked}/write", "--to", str(tmp_path / "write.log"))
    assert (tmp_path / "write.log").exists()


def test_settings_are_shown_with_their_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "settings.toml").write_text("max_concurrent_executions = 3\n")
    monkeypatch.setenv("CAIRN_ADMIN_TOKEN", "very secret")
    shown = invoke("config", "show", "--data-dir", str(tmp_path), "--json").json
    assert shown["max_concurrent_executions"] == {"value": 3, "from": str(tmp_path / "settings.toml")}
    assert shown["admin_token"] == {"value": "**********", "from": "CAIRN_ADMIN_TOKEN"}
    assert shown["poll_seconds"]["from"] == "default"
    assert "very secret" not in invoke("config", "show", "--data-dir", str(tmp_path)).out


def test_names_are_completed_by_a_running_server(server: Server, walked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_DATA_DIR", str(server.data))
    assert walked in pipelines("notes of")
    assert runs(walked) == [f"{walked}@v1"]
    assert executions(f"{walked}@v1/") == [f"{walked}@v1/write", f"{walked}@v1/echo"]
    assert approvals("")
    monkeypatch.setenv("CAIRN_DATA_DIR", "nowhere")
    assert pipelines("") == []


def test_shells_are_taught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_CAIRN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "cairn pipel")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert invoke().out.split() == ["pipelines"]


def test_small_words() -> None:
    assert [size(count) for count in (0, 999, 1000, 12_345, 2_500_000, 3_000_000_000)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "12 kB",
        "2.5 MB",
        "3.0 GB",
    ]
    assert printable("a\x1b[31m\nb\u202e") == "a\\x1b[31m\\x0ab\\x202e"


def test_what_is_left_empty_takes_what_was_there() -> None:
    fields = [
        {"name": "text", "type": "text", "label": "Text", "required": True, "default": None},
        {"name": "often", "type": "number", "label": "Often", "required": False, "default": 3},
        {"name": "more", "type": "text", "label": "More", "required": False, "default": None},
    ]
    form = {"instructions": "", "feedback": "Again.", "values": {"text": "before"}, "fields": fields}
    assert ask_all(form, {}, lambda _: "") == {"text": "before", "often": 3}


@pytest.mark.parametrize(
    ("status", "items", "rests"),
    [
        ("completed", [], True),
        ("paused", [("in_progress", None)], True),
        ("in_progress", [("in_progress", None)], False),
        ("in_progress", [("in_progress", "retry_delay")], False),
        ("in_progress", [("in_progress", "human_form")], True),
        ("in_progress", [("in_progress", "human_form"), ("in_progress", None)], False),
        ("in_progress", [("waiting_approval_to_start", None), ("upcoming", None)], True),
        ("in_progress", [("in_progress", "rework"), ("in_progress", None)], False),
        ("in_progress", [("in_progress", "rework"), ("failed", None)], True),
        ("in_progress", [("pending", None)], True),
    ],
)
def test_when_a_run_is_at_rest(status: str, items: list[tuple[str, str | None]], rests: bool) -> None:
    trail = [{"status": each, "waiting_on": waits} for each, waits in items]
    assert is_at_rest({"status": status, "checkpoints": trail}) is rests
