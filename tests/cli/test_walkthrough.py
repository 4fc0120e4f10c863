"""Whole workflows. The output is the same with a server and without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.databases import PostgresServer
from tests.mentions import mentions


def test_a_run_from_its_definition_to_completion(shell: Shell, notes: Path, name: str, tmp_path: Path) -> None:
    (checked,) = shell.json("validate", str(notes))
    assert checked["is_valid"] is True
    assert shell("apply", str(notes)).out == mentions(name, "1")
    assert shell("apply", str(notes)).out == mentions(name, "1")
    followed = shell("run", name, code=6)
    assert followed.out.splitlines()[-1] == mentions("Write the notes", f"cairn submit '{name}@v1/write'")
    paper = tmp_path / "paper.txt"
    paper.write_text("On paper.")
    data = json.dumps({"text": "Rollbacks.", "count": 12345678901234567890, "paper": str(paper)})
    shell("submit", f"{name}@v1/write", "--answers", data)
    waiting = shell("watch", name, code=6)
    assert waiting.out.splitlines()[-1] == mentions("Write the notes", f"cairn approve '{name}@v1/write'")
    assert '"count":12345678901234567890' in shell("artifacts", "show", f"{name}@v1/notes").out.replace(" ", "")
    assert shell("approve", name).out.startswith("Write the notes: completed\n")
    followed = shell("watch", name)
    assert followed.out.splitlines()[-1] == mentions(f"{name}@v1 completed", "2")
    run = shell.json("show", name)
    assert [(item["key"], item["status"]) for item in run["checkpoints"]] == [
        ("write", "completed"),
        ("echo", "completed"),
    ]
    assert "received" in shell("logs", f"{name}/echo").out
    assert {event["event_type"] for event in shell.json("events", name)["items"]} >= {"run_started", "run_completed"}
    assert shell.json("audit", "verify", "--run", name)["is_valid"] is True


def test_work_is_revised_rejected_and_retried(shell: Shell, notes: Path, name: str) -> None:
    shell("apply", str(notes))
    shell("run", name, "--detach")
    shell("submit", name, "--field", "text=One.", "--field", "urgent=true")
    shell("watch", name, code=6)
    assert shell("revise", name, code=2).err == mentions("--feedback")
    shell("revise", f"{name}/write", "--feedback", "More.")
    form = shell.json("forms", "show", f"{name}/write")
    assert (form["feedback"], form["values"]["text"], form["values"]["urgent"]) == ("More.", "One.", True)
    shell("submit", name, "--field", "text=Two.")
    shell("watch", name, code=6)
    assert shell("reject", name, code=2).err == mentions("--reason")
    shell("reject", name, "--reason", "Not wanted.")
    assert shell("watch", name, code=1).out.splitlines()[-1] == mentions(f"{name}@v1 failed", "0", "2")
    assert shell("retry", name, "--whole-run").out.startswith(f"{name}@v2: in_progress")
    assert "PREVIOUS VERSION" not in shell("context", f"{name}@v2/write").out  # v1 completed nothing


def test_a_rollback_is_previewed_created_and_undone(shell: Shell, notes: Path, name: str) -> None:
    """A rollback is previewed, created, listed and undone."""
    shell("apply", str(notes))
    for version in ("v1", "v2"):
        shell("run", name, "--detach")
        shell("submit", name, "--field", f"text={version}")
        shell("watch", name, code=6)
        shell("approve", name)
        shell("watch", name)
    plan = shell("rollback", f"{name}@v2", "--to-run", f"{name}@v1", "--dry-run").out
    assert plan.splitlines()[0] == mentions("1 run", "0 executions", "2 artifacts")
    assert [run["run_version"] for run in shell.json("runs", name)["items"]] == [2, 1]
    created = shell.json("rollback", f"{name}@v2", "--to-run", f"{name}@v1", "--reason", "v1 was better")
    assert [run["run_version"] for run in shell.json("runs", name)["items"]] == [1]
    listed = shell("rollbacks", "--pipeline", name).out
    assert created["rollback_id"][:8] in listed
    assert shell.json("rollbacks", "show", created["rollback_id"][:8])["can_undo"] is True
    assert "v1 was better" in shell("rollbacks", "show", created["rollback_id"][:8]).out
    shell("undo", created["rollback_id"][:8])
    assert [run["run_version"] for run in shell.json("runs", name)["items"]] == [2, 1]
    shell("rollback", f"{name}@v2", "--to", "start")
    assert shell.json("show", name)["checkpoints"][0]["waiting_on"] == "human_form"


def test_a_run_is_started_paused_resumed_and_cancelled(shell: Shell, notes: Path, name: str) -> None:
    shell("apply", str(notes))
    created = shell.json("run", name, "--no-start")
    assert created["status"] == "not_started"
    assert shell("start", name).out.startswith(f"{name}@v1: in_progress")
    assert shell("pause", created["run_id"][:8]).out.startswith(f"{name}@v1: paused")
    assert shell("watch", name, code=6).out.splitlines()[-2] == mentions(f"cairn resume '{name}@v1'")
    assert shell("resume", name).out.startswith(f"{name}@v1: in_progress")
    assert shell("cancel", f"{name}/write").out.startswith("Write the notes: cancelled")
    shell("start", name)
    assert len(shell.json("executions", name)["items"]) == 2
    assert shell("cancel", name).out.startswith(f"{name}@v1: cancelled")
    failed_pause = shell("pause", name, code=1)
    assert failed_pause.err.startswith("cairn: ")
    assert shell.json("run", name, "--test", "--detach")["test"] is True
    assert [run["test"] for run in shell.json("runs", name, "--tests")["items"]] == [True, False]


def test_decisions_by_name_and_the_next_pass(shell: Shell, notes: Path, name: str) -> None:
    """Decisions by name, the next pass, and an empty conversation."""
    shell("apply", str(notes))
    shell("run", name, "--detach")
    shell("submit", name, "--field", "text=One.")
    shell("watch", name, code=6)
    failed_decision = shell("approvals", "decide", f"{name}/write", "decline", code=1)
    assert failed_decision.err.startswith("cairn: ")
    shell("approvals", "decide", f"{name}/write", "revise", "--feedback", "More.")
    shell("submit", name, "--field", "text=Two.")
    shell("watch", name, code=6)
    shell("approvals", "decide", f"{name}/write", "approve")
    shell("watch", name)
    assert shell.json("conversation", f"{name}/echo")["items"] == []
    assert shell("restart", name).out.startswith(f"{name}@v1: in_progress")
    assert shell.json("show", name)["pass_number"] == 2
    assert "PREVIOUS PASS" in shell("context", f"{name}/write").out


def test_a_definition_changes_over_time(shell: Shell, notes: Path, name: str) -> None:
    shell("apply", str(notes))
    assert shell("diff", str(notes)).out == ""
    notes.write_text(notes.read_text().replace("A form, then a function.", "Changed."))
    assert "+pipeline_description: Changed." in shell("diff", str(notes)).out
    assert shell("apply", str(notes)).out == mentions(name, "2", "1")
    assert "+pipeline_description: Changed." in shell("diff", name, "--from", "1", "--to", "2").out
    assert shell("pipelines", "revert", name, "1").out == mentions(name, "3", "1")
    history = shell.json("pipelines", "history", name)["items"]
    assert [item["revision"] for item in history] == [3, 2, 1]
    assert "A form, then a function." in shell("pipelines", "definition", name).out
    assert shell.json("pipelines", "definition", name, "--revision", "2")["pipeline_description"] == "Changed."
    added = shell.json("checkpoints", "add", name, '{"key": "sign", "form": [{"name": "name"}]}')
    assert (added["key"], added["position"]) == ("sign", 2)
    shell("checkpoints", "update", f"{name}/sign", '{"checkpoint_name": "Sign it"}')
    assert shell.json("checkpoints", "show", f"{name}/sign")["checkpoint_name"] == "Sign it"
    shell("checkpoints", "order", name, "sign", "write", "echo")
    assert [item["key"] for item in shell.json("checkpoints", name)] == ["sign", "write", "echo"]
    shell("checkpoints", "delete", f"{name}/sign")
    assert "Write the notes" in shell("pipelines", "show", name).out
    shell("pipelines", "delete", name)
    assert shell("show", name, code=3).err == mentions(name)
    assert name in [item["pipeline_name"] for item in shell.json("pipelines", "--deleted")["items"]]
    shell("pipelines", "restore", name)
    assert name in shell("pipelines").out


def test_a_rework_is_previewed_requested_and_completed(shell: Shell, notes: Path, name: str) -> None:
    """A rework is previewed, requested and done; its lineage is shown."""
    shell("apply", str(notes))
    shell("run", name, "--detach")
    shell("submit", name, "--field", "text=One.")
    shell("watch", name, code=6)
    shell("approve", name)
    shell("watch", name)
    plan = shell("rework", f"{name}/echo", "--to", "write", "--dry-run").out
    assert plan.splitlines()[0] == mentions("Write the notes")
    assert len(plan.splitlines()) > 1
    assert shell("rework", f"{name}/echo", "--to", "write", code=2).err == mentions("--prompt", "--reason")
    assert shell("rework", f"{name}/echo", "--to", "none", "--reason", "x", code=1).err.startswith("cairn: ")
    shell("rework", f"{name}/echo", "--to", "write", "--prompt", "Say more.", "--reason", "Too short")
    shell("submit", name, "--field", "text=One and two.")
    shell("watch", name, code=6)
    shell("approve", name)
    assert shell("watch", name).out.splitlines()[-1] == mentions(f"{name}@v1 completed", "2")
    (rework,) = shell.json("lineage", name)["reworks"]
    assert (rework["checkpoint_key"], rework["prompt"], rework["status"]) == ("write", "Say more.", "completed")
    assert "Too short" in shell("lineage", name).out
    assert shell("rerun", f"{name}/echo").out.startswith("Say it again: ")
    shell("watch", name)


@pytest.mark.postgres
def test_without_a_server_on_postgresql(
    postgres: PostgresServer, local_shell: Shell, notes: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder lock and the database lock are both taken, and released."""
    with postgres.new_database(migrated=False) as url:
        monkeypatch.setenv("CAIRN_DATABASE_URL", url)
        shell = local_shell
        shell("apply", str(notes))
        waits = shell("run", name, code=6).out.splitlines()[-1]
        assert waits == mentions("Write the notes", f"cairn submit '{name}@v1/write'")
        shell("submit", name, "--field", "text=New.")
        shell("approve", name)
        assert shell.json("show", name)["status"] == "completed"
        assert shell.json("doctor")["healthy"] is True


def test_log_lines_of_rolled_back_executions_name_their_checkpoint(server_shell: Shell, notes: Path, name: str) -> None:
    server_shell("apply", str(notes))
    server_shell("run", name, "--detach")
    server_shell("submit", name, "--field", "text=One.")
    server_shell("watch", name, code=6)
    server_shell("approve", name)
    server_shell("watch", name)
    server_shell("rollback", f"{name}@v1", "--to", "start")
    followed = server_shell("watch", name, code=6)
    [line] = [line for line in followed.out.splitlines() if "| received" in line]
    assert line.split("  ", 1)[1] == "Say it again | received"
