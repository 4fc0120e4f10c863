"""The output of commands in a pipe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cairn.cli.completion import approvals, executions, pipelines, runs
from cairn.cli.output import file_size, printable
from cairn.cli.prompts import ask_for_answers
from cairn.cli.run_state import is_idle
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
def run_name(server_shell: Shell, notes: Path, name: str) -> str:
    """A run that waits for an approval."""
    server_shell("apply", str(notes))
    server_shell("run", name, "--detach")
    server_shell("submit", name, "--field", "text=New.")
    server_shell("watch", name, code=6)
    return name


def test_the_list_of_runs(server_shell: Shell, run_name: str) -> None:
    head, row = plain(server_shell("runs", run_name).out).splitlines()
    assert head.isupper()
    assert re.split(r" {2,}", row) == ["SHORT", run_name, "v1", "in_progress", "0/2", "1", "MOMENT"]


def test_a_run_is_shown(server_shell: Shell, run_name: str) -> None:
    compare_text("cli/run.txt", plain(server_shell("show", run_name).out).replace(run_name, "NAME"))


def test_an_execution_and_its_approval_are_shown(server_shell: Shell, run_name: str) -> None:
    compare_text(
        "cli/execution.txt",
        plain(server_shell("show", f"{run_name}/write").out).replace(run_name, "NAME"),
    )
    compare_text(
        "cli/approval.txt",
        plain(server_shell("approvals", "show", run_name).out).replace(run_name, "NAME"),
    )
    row = server_shell("approvals", "--run", run_name).out.splitlines()[1].split("  ")
    assert [cell.strip() for cell in row if cell.strip()][1:3] == ["completion", mentions("Write the notes")]


def test_json_is_the_response_of_the_api(server_shell: Shell, server: Server, run_name: str) -> None:
    run = server_shell.json("show", run_name)
    rejected = server.call("GET", f"/api/runs/{run['run_id']}")
    assert {**run, "progress": None} == {**rejected, "progress": None}  # changes with time
    items = server_shell.json("events", run_name, "--limit", "3")["items"]
    assert items == server.call("GET", f"/api/events?run_id={run['run_id']}&limit=3")["items"]


def test_an_input_keeps_every_digit(server_shell: Shell, run_name: str) -> None:
    stdin = '{"big":123456789012345678901234567890,"exact":0.1}'
    server_shell("run", run_name, "--detach", "--input", stdin)
    assert server_shell("show", run_name, "--input").out.replace(" ", "") == f"{stdin}\n"


def test_artifacts_and_logs_are_downloaded(server_shell: Shell, run_name: str, tmp_path: Path) -> None:
    server_shell("artifacts", "download", f"{run_name}/notes", "--to", str(tmp_path / "notes.json"))
    content = (tmp_path / "notes.json").read_text()
    assert server_shell("artifacts", "show", f"{run_name}/write/notes").out == content
    assert server_shell("artifacts", "download", f"{run_name}/notes", "--to", "-").out == content
    rejected = server_shell("artifacts", "download", f"{run_name}/notes", "--to", str(tmp_path / "notes.json"), code=1)
    assert rejected.err == mentions(tmp_path / "notes.json", "--overwrite")
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []
    server_shell("logs", f"{run_name}/write", "--to", str(tmp_path / "write.log"))
    assert (tmp_path / "write.log").exists()


def test_settings_are_shown_with_their_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "settings.toml").write_text("max_concurrent_executions = 3\n")
    monkeypatch.setenv("CAIRN_ADMIN_TOKEN", "very secret")
    shown = invoke("config", "show", "--data-dir", str(tmp_path), "--json").json
    assert shown["max_concurrent_executions"] == {"value": 3, "source": str(tmp_path / "settings.toml")}
    assert shown["admin_token"] == {"value": "**********", "source": "CAIRN_ADMIN_TOKEN"}
    assert shown["poll_seconds"]["source"] == "default"
    assert "very secret" not in invoke("config", "show", "--data-dir", str(tmp_path)).out


def test_names_are_completed_by_a_running_server(
    server: Server, run_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAIRN_DATA_DIR", str(server.data))
    assert run_name in pipelines("notes of")
    assert runs(run_name) == [f"{run_name}@v1"]
    assert executions(f"{run_name}@v1/") == [f"{run_name}@v1/write", f"{run_name}@v1/echo"]
    assert approvals("")
    monkeypatch.setenv("CAIRN_DATA_DIR", "nowhere")
    assert pipelines("") == []


def test_shell_completion_of_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_CAIRN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "cairn pipel")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert invoke().out.split() == ["pipelines"]


def test_file_sizes_and_control_characters() -> None:
    assert [file_size(count) for count in (0, 999, 1000, 12_345, 2_500_000, 3_000_000_000)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "12 kB",
        "2.5 MB",
        "3.0 GB",
    ]
    assert printable("a\x1b[31m\nb\u202e") == "a\\x1b[31m\\x0ab\\x202e"


def test_an_empty_answer_keeps_the_previous_one() -> None:
    fields = [
        {"name": "text", "type": "text", "label": "Text", "required": True, "default": None},
        {"name": "often", "type": "number", "label": "Often", "required": False, "default": 3},
        {"name": "more", "type": "text", "label": "More", "required": False, "default": None},
    ]
    form = {"instructions": "", "feedback": "Again.", "values": {"text": "before"}, "fields": fields}
    assert ask_for_answers(form, lambda _: "") == {"text": "before", "often": 3}


@pytest.mark.parametrize(
    ("status", "items", "expected"),
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
def test_a_run_is_idle_when_only_a_person_can_continue_it(
    status: str, items: list[tuple[str, str | None]], expected: bool
) -> None:
    checkpoints = [{"status": status, "waiting_on": wait_reason} for status, wait_reason in items]
    assert is_idle({"status": status, "checkpoints": checkpoints}) is expected
