"""Errors are reported in one readable line, and by the exit code."""

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


def test_exit_codes_are_told() -> None:
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
def test_what_is_not_there(served: Shell, words: tuple[str, ...]) -> None:
    said = served(*words, code=ExitCode.NOT_FOUND)
    assert said.out == ""
    assert said.err.startswith("cairn: ")
    assert said.err == mentions(words[-1].partition("@")[0].partition("/")[0])
    assert said.err.count("\n") == 1


def test_a_name_that_fits_several_lists_them(served: Shell, notes: Path, name: str) -> None:
    for number in ("one", "two"):
        text = notes.read_text().replace(name, f"{name} {number}")
        notes.write_text(text)
        served("apply", str(notes))
        notes.write_text(text.replace(f"{name} {number}", name))
    said = served("run", name, code=ExitCode.NOT_FOUND)
    first, *candidates = said.err.splitlines()
    assert first == mentions("cairn: ", f"{name!r}")
    assert sorted(line.split("  ")[-1] for line in candidates) == [f"{name} one", f"{name} two"]


def test_a_checkpoint_that_is_not_there_names_those_that_are(served: Shell, notes: Path, name: str) -> None:
    served("apply", str(notes))
    served("run", name, "--detach")
    said = served("show", f"{name}/wrong", code=ExitCode.NOT_FOUND)
    assert said.err == mentions(f"{name}@v1", "'wrong'", "write, echo")
    assert served("show", f"{name}/echo", code=3).err == mentions("Say it again", f"{name}@v1")


def test_nobody_answers() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    said = invoke("runs", "--server", address)
    assert (said.code, said.err) == (4, mentions("cairn: ", address))


def test_somebody_else_answers(tmp_path: Path) -> None:
    """A web server that is not Cairn."""
    script = "import http.server; s = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)"
    script += "; print(s.server_port, flush=True); s.serve_forever()"
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as other:
        assert other.stdout is not None
        address = f"http://127.0.0.1:{other.stdout.readline().strip()}"
        said = invoke("runs", "--server", address)
        other.kill()
    assert (said.code, said.err) == (4, mentions(address, "404"))


def test_a_wrong_token(server: Server) -> None:
    said = invoke("runs", "--server", server.address, "--token", "wrong")
    assert said.code == ExitCode.FORBIDDEN
    assert said.err == mentions("cairn: ")
    assert invoke("runs", "--server", server.address).code == ExitCode.FORBIDDEN


def test_a_token_from_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_TOKEN", TOKEN)
    monkeypatch.setenv("CAIRN_SERVER", server.address)
    assert invoke("status", "--json").json["address"] == server.address
    monkeypatch.setenv("CAIRN_TOKEN", "for another server")
    assert invoke("status", "--data-dir", str(server.data)).code == 0


def test_the_local_token_goes_to_its_own_server_alone(server: Server, tmp_path: Path) -> None:
    """Naming another server together with --data-dir does not send it the token of that folder."""
    written = json.loads((server.data / "server.json").read_text())
    (tmp_path / "server.json").write_text(json.dumps({**written, "address": "http://127.0.0.1:1"}))
    said = invoke("runs", "--server", server.address, "--data-dir", str(tmp_path))
    assert said.code == ExitCode.FORBIDDEN


def test_a_refusal_says_what_is_possible(served: Shell, notes: Path, name: str) -> None:
    served("apply", str(notes))
    served("run", name, "--detach")
    said = served("resume", name, code=1)
    assert said.err.startswith("cairn: ")
    assert "Traceback" not in said.err


def test_wrong_answers_are_told_per_field(served: Shell, notes: Path, name: str) -> None:
    served("apply", str(notes))
    served("run", name, "--detach")
    said = served("submit", name, "--answers", '{"count": "many", "txt": 1}', code=1)
    told = {line.strip().partition(":")[0] for line in said.err.splitlines()[1:]}
    assert told == {"/fields/text", "/fields/count", "/fields/txt"}
    missing = served("submit", name, "--answers", '{"text": "x", "paper": "not-there.txt"}', code=2)
    assert missing.err == mentions("not-there.txt", os.strerror(ENOENT).lower())
    assert served("submit", name, "--answers", "{", code=2).err == mentions("--answers", "JSON")
    assert served("submit", name, "--answers", "[1]", code=2).err == mentions("--answers", "JSON")
    assert served("submit", name, code=2).err == mentions("--answers", "--field")


def test_faults_of_a_definition_have_their_place(served: Shell, tmp_path: Path) -> None:
    """File, line and column, in the form that editors take; also for YAML that cannot be read."""
    file = tmp_path / "wrong.yaml"
    file.write_text("pipeline_name: Wrong\ncheckpoints:\n  - key: a\n    function: not.there\n    outputs: [a.json]\n")
    said = served("validate", str(file), code=1)
    assert said.out.startswith(f"{file}:4:")
    applied = served("apply", str(file), code=1)
    assert applied.err.splitlines()[1].strip().startswith(f"{file}:4:")
    file.write_text("pipeline_name: [\n")
    assert served("validate", str(file), code=1).out.startswith(f"{file}:2:")
    assert served("apply", str(file), code=1).err.splitlines()[1].strip().startswith(f"{file}:2:")
    assert served("diff", str(file), code=1).err.splitlines()[1].strip().startswith(f"{file}:2:")
    assert served("apply", str(tmp_path / "none.yaml"), code=2).err == mentions(os.strerror(ENOENT).lower())


def test_wrong_words_are_a_usage_error(served: Shell) -> None:
    assert served("frobnicate", code=2).code == 2
    assert served("run", code=2).code == 2
    assert served("rollback", "x", code=3).code == 3


def test_a_folder_without_data_is_not_made_by_looking(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "nowhere")
    assert shell("runs", code=4).err == mentions(shell.data, "--data-dir", "--server")
    assert shell("doctor", code=4).code == 4
    assert not shell.data.exists()


def test_a_stale_server_file_is_recognised(alone: Shell, notes: Path) -> None:
    """The process that wrote it is dead."""
    alone("apply", str(notes))
    dead = subprocess.Popen(["true"])
    dead.wait()
    file = alone.data / "server.json"
    token = json.loads(file.read_text())["token"]
    file.write_text(json.dumps({"address": "http://127.0.0.1:9", "token": token, "pid": dead.pid, "version": "0"}))
    assert len(alone.json("pipelines")["items"]) == 1
    assert json.loads(file.read_text()) == {"token": token}
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_held_folder_names_its_holder(alone: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_server, "LOCK_SECONDS", 0.1)
    alone.data.mkdir(exist_ok=True)
    lock = FolderLock(alone.data)
    lock.acquire()
    try:
        said = alone("apply", "--template", "text-report", code=4)
    finally:
        lock.release()
    assert said.err == mentions(os.getpid())


def test_a_damaged_or_newer_database(alone: Shell) -> None:
    alone.data.mkdir(exist_ok=True)
    (alone.data / "cairn.db").write_bytes(b"not a database, but long enough to look at" * 100)
    assert alone("runs", code=4).err == mentions("file is not a database")
    (found,) = alone.json("doctor", code=1)["findings"]
    assert (found["what"], found["verdict"]) == ("database", "fault")
