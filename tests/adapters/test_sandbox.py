"""The contract of every sandbox, and the choice of a sandbox for a machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cairn.adapters.sandbox import leftover_processes
from cairn.adapters.sandbox.best_available import BestSandbox
from cairn.adapters.sandbox.bubblewrap import BubblewrapSandbox
from cairn.adapters.sandbox.plain_process import PlainSandbox, script_user
from cairn.ports import ProcessLimits, ProcessSpec, Sandbox, SandboxLevel
from cairn.runners.scripts.runner import CHILD
from tests.mentions import mentions
from tests.runners.script_samples import alive, make_sandbox, wait_until

ROOT = Path(__file__).parents[2]
LEVELS = ["bubblewrap", "process"]


@pytest.fixture(params=LEVELS)
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    return make_sandbox(request.param, tmp_path)


def process_spec(folder: Path, name: str) -> ProcessSpec:
    for subfolder in ("workspace", "scripts"):
        (folder / name / subfolder).mkdir(parents=True, exist_ok=True)
    return ProcessSpec(
        name, sys.executable, CHILD, folder / name / "workspace", folder / name / "scripts", ProcessLimits()
    )


@pytest.mark.asyncio
async def test_a_process_waits_for_input_until_it_is_killed(sandbox: Sandbox, tmp_path: Path) -> None:
    process = await sandbox.start(process_spec(tmp_path, "one"))
    wait_until(lambda: len(alive(":one\0")) >= 2)
    await process.kill()
    assert alive(":one\0") == []
    assert await process.wait() != 0
    await process.kill()  # killing again has no effect
    process.close()


@pytest.mark.asyncio
async def test_a_process_ends_when_its_connection_closes(sandbox: Sandbox, tmp_path: Path) -> None:
    process = await sandbox.start(process_spec(tmp_path, "closed"))
    process.close()
    await process.wait()
    assert alive(":closed\0") == []


@pytest.mark.asyncio
async def test_many_processes_start_and_end_at_the_same_time(sandbox: Sandbox, tmp_path: Path) -> None:
    processes = await asyncio.gather(*(sandbox.start(process_spec(tmp_path, f"many-{n}")) for n in range(12)))
    await asyncio.gather(*(process.kill() for process in processes))
    assert alive(":many-") == []
    for process in processes:
        process.close()


@pytest.mark.asyncio
async def test_a_process_inherits_no_open_files(sandbox: Sandbox, tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        process = await sandbox.start(process_spec(tmp_path, "files"))
        try:
            assert str(tmp_path / "secret") not in _open_files(":files\0")
        finally:
            await process.kill()
            process.close()


SERVER = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.adapters.test_sandbox import process_spec
from tests.runners.script_samples import make_sandbox

async def main():
    folder = Path({folder!r})
    processes = [await make_sandbox({level!r}, folder).start(process_spec(folder, f"left-{{n}}")) for n in range(3)]
    print("ready", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("level", LEVELS)
def test_no_process_outlives_a_killed_server(level: str, tmp_path: Path) -> None:
    source = SERVER.format(root=str(ROOT), folder=str(tmp_path), level=level)
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        pid = server.pid
        wait_until(lambda: len(alive("", pid)) >= 6)
        server.send_signal(signal.SIGKILL)
    wait_until(lambda: not [line for line in alive("", pid) if not line.startswith("bwrap")])
    # A server killed while bubblewrap starts can leave the process of bubblewrap behind; the next server kills it.
    make_sandbox(level, tmp_path).kill_orphans()
    assert alive("", pid) == []


def test_orphaned_processes_are_found_by_their_mark(tmp_path: Path) -> None:
    """This works even if their watcher was killed as well."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    alive_mark = leftover_processes.mark(tmp_path, "orphan").split(":")
    orphaned_mark = ":".join((alive_mark[0], str(dead.pid), alive_mark[2], "orphan"))
    other_mark = leftover_processes.mark(tmp_path / "other", "orphan")
    processes = [
        subprocess.Popen(["sleep", "600"], env={leftover_processes.MARK: mark}, start_new_session=True)
        for mark in (orphaned_mark, ":".join(alive_mark), other_mark)
    ]
    try:
        assert PlainSandbox(tmp_path).kill_orphans() == 1
        assert [process.poll() for process in processes] == [processes[0].poll(), None, None]
        assert processes[0].wait() == -signal.SIGKILL
    finally:
        for process in processes:
            process.kill()
            process.wait()


# ---- selection -----------------------------------------------------------------------------------------
def test_the_strongest_sandbox_is_selected(tmp_path: Path) -> None:
    """Bubblewrap works on all machines that run these tests."""
    assert BestSandbox(tmp_path).probe() == BubblewrapSandbox(tmp_path).probe()
    assert BestSandbox(tmp_path).probe().level is SandboxLevel.BUBBLEWRAP


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("program", "is_missing"),
    [("no-such-program", True), ("false", False)],
)
async def test_the_probe_explains_why_bubblewrap_is_unavailable(tmp_path: Path, program: str, is_missing: bool) -> None:
    status = BubblewrapSandbox(tmp_path, program).probe()
    assert (status.level, status.reason) == (SandboxLevel.PROCESS, mentions("bubblewrap"))
    assert ("apt-get install bubblewrap" in status.reason) is is_missing
    with pytest.raises(OSError, match="bubblewrap"):
        await BubblewrapSandbox(tmp_path, program).start(process_spec(tmp_path, "none"))


@pytest.mark.asyncio
async def test_the_fallback_without_bubblewrap_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    best = BestSandbox(tmp_path)
    assert (best.probe().level, best.probe().reason) == (SandboxLevel.PROCESS, mentions("apt-get install bubblewrap"))
    process = await best.start(process_spec(tmp_path, "fallback"))
    await process.kill()
    process.close()
    assert alive(":fallback\0") == []


def test_each_execution_has_its_own_user(tmp_path: Path) -> None:
    users = {script_user(tmp_path, f"execution-{n}") for n in range(1000)}
    assert len(users) == 1000
    assert min(users) >= 1_000_000_000
    assert max(users) < 2**31
    assert script_user(tmp_path, "a") == script_user(tmp_path, "a") != script_user(tmp_path / "other", "a")


def _open_files(marks: str) -> set[str]:
    """Return the open files of child processes with this mark."""
    children = wait_until(lambda: [pid for pid in _pids(marks) if _is_child(pid)])
    found: set[str] = set()
    for fd in [fd for pid in children for fd in Path(f"/proc/{pid}/fd").iterdir()]:
        with contextlib.suppress(FileNotFoundError):  # it has been closed
            found.add(str(fd.readlink()))
    return found


def _pids(marks: str) -> list[int]:
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if marks.encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


def _is_child(pid: int) -> bool:
    try:
        return b"start.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
