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
from tests.runners.script_samples import alive, make_sandbox, until

ROOT = Path(__file__).parents[2]
LEVELS = ["bubblewrap", "process"]


@pytest.fixture(params=LEVELS)
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    return make_sandbox(request.param, tmp_path)


def job(folder: Path, name: str) -> ProcessSpec:
    for room in ("workspace", "scripts"):
        (folder / name / room).mkdir(parents=True, exist_ok=True)
    return ProcessSpec(
        name, sys.executable, CHILD, folder / name / "workspace", folder / name / "scripts", ProcessLimits()
    )


@pytest.mark.asyncio
async def test_a_process_waits_on_its_line_until_it_is_killed(sandbox: Sandbox, tmp_path: Path) -> None:
    process = await sandbox.start(job(tmp_path, "one"))
    until(lambda: len(alive(":one\0")) >= 2)
    await process.kill()
    assert alive(":one\0") == []
    assert await process.wait() != 0
    await process.kill()  # once more does no harm
    process.close()


@pytest.mark.asyncio
async def test_a_process_whose_line_is_closed_ends_by_itself(sandbox: Sandbox, tmp_path: Path) -> None:
    process = await sandbox.start(job(tmp_path, "closed"))
    process.close()
    await process.wait()
    assert alive(":closed\0") == []


@pytest.mark.asyncio
async def test_many_start_and_end_at_the_same_time(sandbox: Sandbox, tmp_path: Path) -> None:
    processes = await asyncio.gather(*(sandbox.start(job(tmp_path, f"many-{n}")) for n in range(12)))
    await asyncio.gather(*(process.kill() for process in processes))
    assert alive(":many-") == []
    for process in processes:
        process.close()


@pytest.mark.asyncio
async def test_no_file_of_this_process_is_handed_on(sandbox: Sandbox, tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w") as held:
        os.set_inheritable(held.fileno(), True)
        process = await sandbox.start(job(tmp_path, "files"))
        try:
            assert str(tmp_path / "secret") not in _opened(":files\0")
        finally:
            await process.kill()
            process.close()


SERVER = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.adapters.test_sandbox import job
from tests.runners.script_samples import make_sandbox

async def main():
    folder = Path({folder!r})
    held = [await make_sandbox({level!r}, folder).start(job(folder, f"left-{{n}}")) for n in range(3)]
    print("ready", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_outlives_a_server_that_is_killed(level: str, tmp_path: Path) -> None:
    source = SERVER.format(root=str(ROOT), folder=str(tmp_path), level=level)
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        pid = server.pid
        until(lambda: len(alive("", pid)) >= 6)
        server.send_signal(signal.SIGKILL)
    until(lambda: not [line for line in alive("", pid) if not line.startswith("bwrap")])
    # Killed in the very moment in which bubblewrap starts, its own process may stay; the next server ends it.
    make_sandbox(level, tmp_path).kill_orphans()
    assert alive("", pid) == []


def test_what_got_away_is_found_by_its_mark_once_its_server_is_gone(tmp_path: Path) -> None:
    """As when even the one who watches was killed."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    own = leftover_processes.mark(tmp_path, "got-away").split(":")
    gone = ":".join((own[0], str(dead.pid), own[2], "got-away"))
    elsewhere = leftover_processes.mark(tmp_path / "other", "got-away")
    started = [
        subprocess.Popen(["sleep", "600"], env={leftover_processes.MARK: mark}, start_new_session=True)
        for mark in (gone, ":".join(own), elsewhere)
    ]
    try:
        assert PlainSandbox(tmp_path).kill_orphans() == 1
        assert [process.poll() for process in started] == [started[0].poll(), None, None]
        assert started[0].wait() == -signal.SIGKILL
    finally:
        for process in started:
            process.kill()
            process.wait()


# ---- which one ------------------------------------------------------------------------------------------
def test_the_best_that_the_machine_has_is_taken(tmp_path: Path) -> None:
    """In CI, and wherever these tests run, that is bubblewrap."""
    assert BestSandbox(tmp_path).probe() == BubblewrapSandbox(tmp_path).probe()
    assert BestSandbox(tmp_path).probe().level is SandboxLevel.BUBBLEWRAP


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("program", "is_missing"),
    [("no-such-program", True), ("false", False)],
)
async def test_without_bubblewrap_level_and_reason_are_given(tmp_path: Path, program: str, is_missing: bool) -> None:
    reached = BubblewrapSandbox(tmp_path, program).probe()
    assert (reached.level, reached.reason) == (SandboxLevel.PROCESS, mentions("bubblewrap"))
    assert ("apt-get install bubblewrap" in reached.reason) is is_missing
    with pytest.raises(OSError, match="bubblewrap"):
        await BubblewrapSandbox(tmp_path, program).start(job(tmp_path, "none"))


@pytest.mark.asyncio
async def test_a_machine_without_bubblewrap_falls_back_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    best = BestSandbox(tmp_path)
    assert (best.probe().level, best.probe().reason) == (SandboxLevel.PROCESS, mentions("apt-get install bubblewrap"))
    process = await best.start(job(tmp_path, "fallen"))
    await process.kill()
    process.close()
    assert alive(":fallen\0") == []


def test_each_piece_of_work_has_a_user_of_its_own(tmp_path: Path) -> None:
    users = {script_user(tmp_path, f"execution-{n}") for n in range(1000)}
    assert len(users) == 1000
    assert min(users) >= 1_000_000_000
    assert max(users) < 2**31
    assert script_user(tmp_path, "a") == script_user(tmp_path, "a") != script_user(tmp_path / "other", "a")


def _opened(marks: str) -> set[str]:
    """What the children with this mark hold open."""
    inside = until(lambda: [pid for pid in _pids(marks) if _is_child(pid)])
    found: set[str] = set()
    for fd in [fd for pid in inside for fd in Path(f"/proc/{pid}/fd").iterdir()]:
        with contextlib.suppress(FileNotFoundError):  # closed since
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
