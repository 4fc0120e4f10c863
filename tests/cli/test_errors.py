"""Error messages and exit codes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from errno import ENOENT
from pathlib import Path

import pytest

from cairn.adapters.folder_lock import FolderLock
from cairn.cli import embedded_server
from cairn.cli.exit_codes import MEANINGS, ExitCode
from tests.chaos.server import TOKEN, Server
from tests.cli.shell import Shell, invoke
from tests.mentions import mentions


def test_every_exit_code_has_a_meaning() -> None:
    assert set(MEANINGS) == set(ExitCode)


@pytest.mark.parametrize(
    "words",
    [
        ("show", "nothing"),
        ("show", "nothing@v3"),
        ("show", "00000000-0000-4000-8000-000000000000"),
        ("approve", "nothing/key"),
        ("artifacts", "show", "abcd1234"),
        ("undo", "abcd1234"),
        ("pipelines", "show", "nothing"),
        ("pipelines", "restore", "nothing"),
        ("templates", "nothing"),
    ],
)
def test_an_unknown_name_is_not_found(server_shell: Shell, words: tuple[str, ...]) -> None:
    result = server_shell(*words, code=ExitCode.NOT_FOUND)
    assert result.out == ""
    assert result.err.startswith("cairn: ")
    assert result.err == mentions(words[-1].partition("@")[0].partition("/")[0])
    assert result.err.count("\n") == 1


def test_an_ambiguous_name_lists_the_candidates(server_shell: Shell, notes: Path, name: str) -> None:
    for number in ("one", "two"):
        text = notes.read_text().replace(name, f"{name} {number}")
        notes.write_text(text)
        server_shell("apply", str(notes))
        notes.write_text(text.replace(f"{name} {number}", name))
    result = server_shell("run", name, code=ExitCode.NOT_FOUND)
    first, *candidates = result.err.splitlines()
    assert first == mentions("cairn: ", f"{name!r}")
    assert sorted(line.split("  ")[-1] for line in candidates) == [f"{name} one", f"{name} two"]


def test_an_unknown_checkpoint_lists_the_available_ones(server_shell: Shell, notes: Path, name: str) -> None:
    server_shell("apply", str(notes))
    server_shell("run", name, "--detach")
    result = server_shell("show", f"{name}/wrong", code=ExitCode.NOT_FOUND)
    assert result.err == mentions(f"{name}@v1", "'wrong'", "write, echo")
    assert server_shell("show", f"{name}/echo", code=3).err == mentions("Say it again", f"{name}@v1")


def test_no_server_at_the_address() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    result = invoke("runs", "--server", address)
    assert (result.code, result.err) == (4, mentions("cairn: ", address))


def test_another_web_server_at_the_address(tmp_path: Path) -> None:
    """The server at the address is not Cairn."""
    script = "import http.server; s = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)"
    script += "; print(s.server_port, flush=True); s.serve_forever()"
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as other:
        assert other.stdout is not None
        address = f"http://127.0.0.1:{other.stdout.readline().strip()}"
        result = invoke("runs", "--server", address)
        other.kill()
    assert (result.code, result.err) == (4, mentions(address, "404"))


def test_an_invalid_token_is_forbidden(server: Server) -> None:
    result = invoke("runs", "--server", server.address, "--token", "wrong")
    assert result.code == ExitCode.FORBIDDEN
    assert result.err == mentions("cairn: ")
    assert invoke("runs", "--server", server.address).code == ExitCode.FORBIDDEN


def test_the_token_is_read_from_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_TOKEN", TOKEN)
    monkeypatch.setenv("CAIRN_SERVER", server.address)
    assert invoke("status", "--json").json["address"] == server.address
    monkeypatch.setenv("CAIRN_TOKEN", "for another server")
    assert invoke("status", "--data-dir", str(server.data)).code == 0


def test_the_local_token_is_sent_to_its_own_server_only(server: Server, tmp_path: Path) -> None:
    """Naming another server together with --data-dir does not send it the token of that folder."""
    written = json.loads((server.data / "server.json").read_text())
    (tmp_path / "server.json").write_text(json.dumps({**written, "address": "http://127.0.0.1:1"}))
    result = invoke("runs", "--server", server.address, "--data-dir", str(tmp_path))
    assert result.code == ExitCode.FORBIDDEN


def test_a_conflict_is_reported_without_a_traceback(server_shell: Shell, notes: Path, name: str) -> None:
    server_shell("apply", str(notes))
    server_shell("run", name, "--detach")
    result = server_shell("resume", name, code=1)
    assert result.err.startswith("cairn: ")
    assert "Traceback" not in result.err


def test_invalid_answers_are_reported_per_field(server_shell: Shell, notes: Path, name: str) -> None:
    server_shell("apply", str(notes))
    server_shell("run", name, "--detach")
    result = server_shell("submit", name, "--answers", '{"count": "many", "txt": 1}', code=1)
    output = {line.strip().partition(":")[0] for line in result.err.splitlines()[1:]}
    assert output == {"/fields/text", "/fields/count", "/fields/txt"}
    missing = server_shell("submit", name, "--answers", '{"text": "x", "paper": "not-there.txt"}', code=2)
    assert missing.err == mentions("not-there.txt", os.strerror(ENOENT).lower())
    assert server_shell("submit", name, "--answers", "{", code=2).err == mentions("--answers", "JSON")
    assert server_shell("submit", name, "--answers", "[1]", code=2).err == mentions("--answers", "JSON")
    assert server_shell("submit", name, code=2).err == mentions("--answers", "--field")


def test_definition_errors_name_file_line_and_column(server_shell: Shell, tmp_path: Path) -> None:
    """Also for YAML that cannot be parsed. The format is one that editors can open."""
    file = tmp_path / "wrong.yaml"
    file.write_text("pipeline_name: Wrong\ncheckpoints:\n  - key: a\n    function: not.there\n    outputs: [a.json]\n")
    result = server_shell("validate", str(file), code=1)
    assert result.out.startswith(f"{file}:4:")
    applied = server_shell("apply", str(file), code=1)
    assert applied.err.splitlines()[1].strip().startswith(f"{file}:4:")
    file.write_text("pipeline_name: [\n")
    assert server_shell("validate", str(file), code=1).out.startswith(f"{file}:2:")
    assert server_shell("apply", str(file), code=1).err.splitlines()[1].strip().startswith(f"{file}:2:")
    assert server_shell("diff", str(file), code=1).err.splitlines()[1].strip().startswith(f"{file}:2:")
    assert server_shell("apply", str(tmp_path / "none.yaml"), code=2).err == mentions(os.strerror(ENOENT).lower())


def test_unknown_commands_and_missing_arguments_are_usage_errors(server_shell: Shell) -> None:
    assert server_shell("frobnicate", code=2).code == 2
    assert server_shell("run", code=2).code == 2
    assert server_shell("rollback", "x", code=3).code == 3


def test_reading_does_not_create_a_data_folder(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "nowhere")
    assert shell("runs", code=4).err == mentions(shell.data, "--data-dir", "--server")
    assert shell("doctor", code=4).code == 4
    assert not shell.data.exists()


def test_a_stale_server_file_is_ignored(local_shell: Shell, notes: Path) -> None:
    """The process that wrote the file has ended."""
    local_shell("apply", str(notes))
    dead = subprocess.Popen(["true"])
    dead.wait()
    file = local_shell.data / "server.json"
    token = json.loads(file.read_text())["token"]
    file.write_text(json.dumps({"address": "http://127.0.0.1:9", "token": token, "pid": dead.pid, "version": "0"}))
    assert len(local_shell.json("pipelines")["items"]) == 1
    assert json.loads(file.read_text()) == {"token": token}
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_locked_folder_names_the_process_that_holds_it(local_shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_server, "LOCK_TIMEOUT_SECONDS", 0.1)
    local_shell.data.mkdir(exist_ok=True)
    lock = FolderLock(local_shell.data)
    lock.acquire()
    try:
        result = local_shell("apply", "--template", "text-report", code=4)
    finally:
        lock.release()
    assert result.err == mentions(os.getpid())


def test_a_damaged_database_is_reported(local_shell: Shell) -> None:
    local_shell.data.mkdir(exist_ok=True)
    (local_shell.data / "cairn.db").write_bytes(b"not a database, but long enough to look at" * 100)
    assert local_shell("runs", code=4).err == mentions("file is not a database")
    (found,) = local_shell.json("doctor", code=1)["checks"]
    assert (found["name"], found["status"]) == ("database", "error")


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_the_location_of_invalid_text_is_named_once(server_shell: Shell, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"wrong.{suffix}"
    file.write_text('{"pipeline_name": "x",\n "checkpoints": [}\n')
    result = server_shell("apply", str(file), code=ExitCode.FAILED)
    first, second = result.err.splitlines()
    assert first.startswith("cairn: ")
    assert "line" not in first
    assert second == mentions(f"{file}:2:18: ")
    assert second.count(":2:") == 1
    assert "line" not in second.partition(": ")[2]
