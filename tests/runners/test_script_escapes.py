"""Escape attempts of scripts in bubblewrap."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from cairn.core.execution import Failure
from tests.mentions import mentions
from tests.runners.script_samples import Bench, function

pytestmark = pytest.mark.asyncio
TRIES = """
def tried(act):
    try:
        return act()
    except OSError as error:
        return type(error).__name__
"""


def trying(body: str) -> str:
    return TRIES + function(body)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/evil",
        "/usr/evil",
        "/scripts/evil.py",
        "/cairn/evil",
        "/evil",
        "../evil",
        "/proc/sys/kernel/hostname",
        "/dev/evil",
    ],
)
async def test_a_script_can_write_only_to_its_workspace(bubblewrap_bench: Bench, path: str) -> None:
    body = (
        f"try:\n    open({path!r}, 'w').write('x')\nexcept OSError as error:\n    return error.errno\nreturn 'written'"
    )
    assert await bubblewrap_bench.value(body) in {1, 2, 13, 30}


async def test_a_script_sees_its_own_folders_and_nothing_of_cairn_or_other_runs(bubblewrap_bench: Bench) -> None:
    other = bubblewrap_bench.folder / "another-run" / "workspace"
    other.mkdir(parents=True)
    (other / "secret.txt").write_text("secret")
    body = f"""
return {{
    "there": sorted(os.listdir("/")),
    "workspace": os.listdir("/workspace"),
    "other": os.path.exists({str(other)!r}),
    "climbed": sorted(os.listdir("..")),
    "home": os.path.expanduser("~"),
    "passwords": os.path.exists("/etc/shadow"),
    "environment": sorted(os.environ),
}}
"""
    os.environ["CAIRN_ADMIN_TOKEN"] = "secret"
    try:
        seen = await bubblewrap_bench.value(body)
    finally:
        del os.environ["CAIRN_ADMIN_TOKEN"]
    assert seen["climbed"] == seen["there"]
    assert not {"root", "home"} & set(seen.pop("there")) - {"root"}
    del seen["climbed"]
    assert seen == {
        "workspace": [],
        "other": False,
        "home": "/workspace",
        "passwords": False,
        "environment": ["CAIRN_SANDBOX", "HOME", "LANG", "LOGNAME", "PATH", "PWD", "TMPDIR", "USER"],
    }


async def test_a_script_cannot_see_or_signal_other_processes(bubblewrap_bench: Bench) -> None:
    body = f"""
pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
reached = []
for pid in (os.getppid(), 1, {os.getpid()}):
    try:
        os.kill(pid, 9)
        reached.append(pid)
    except OSError:
        pass
return {{"pids": pids, "own": os.getpid(), "parent": os.getppid(), "reached": reached,
        "theirs": os.path.exists("/proc/{os.getpid()}/environ")}}
"""
    seen = await bubblewrap_bench.value(body)
    assert seen == {"pids": [1, 2], "own": 2, "parent": 1, "reached": [], "theirs": False}


async def test_a_script_is_unprivileged_and_cannot_become_root(bubblewrap_bench: Bench) -> None:
    body = """
failed = []
for act in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.chroot("/workspace"), lambda: os.nice(-5)):
    try:
        act()
    except OSError:
        failed.append(True)
caps = [line.split()[1] for line in open("/proc/self/status") if line.startswith(("CapEff", "CapPrm", "NoNewPrivs"))]
return {"uid": os.getuid(), "groups": os.getgroups(), "failed": len(failed), "caps": caps}
"""
    seen = await bubblewrap_bench.value(body)
    assert seen["uid"] != 0
    assert (seen["groups"], seen["failed"], seen["caps"]) == ([], 4, ["0" * 16, "0" * 16, "1"])


async def test_each_execution_has_its_own_user_id(bubblewrap_bench: Bench) -> None:
    uids = [await bubblewrap_bench.value("return os.getuid()", name=name) for name in ("a", "a", "b")]
    assert uids[0] == uids[1] != uids[2]


@contextmanager
def listening() -> Generator[int]:
    """Run a server on loopback that answers every connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            try:
                caller, _ = server.accept()
            except OSError:
                return
            with caller:
                caller.sendall(b"hello")

        threading.Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1]


CALL = "return socket.create_connection(('127.0.0.1', {port}), 2).recv(9).decode()"


async def test_a_script_has_no_network_not_even_loopback(bubblewrap_bench: Bench) -> None:
    with listening() as port:
        failure = await bubblewrap_bench.failure(function(CALL.format(port=port)))
        assert failure.type == "ConnectionRefusedError"
        outside = function("return socket.create_connection(('192.0.2.1', 80), 2)")
        assert (await bubblewrap_bench.failure(outside)).type == "OSError"


async def test_a_script_has_network_access_if_requested_and_allowed(bubblewrap_bench: Bench) -> None:
    bubblewrap_bench.policy = replace(bubblewrap_bench.policy, network=True)
    with listening() as port:
        assert await bubblewrap_bench.value(CALL.format(port=port), config={"network": True}) == "hello"
        assert (await bubblewrap_bench.failure(function(CALL.format(port=port)))).type == "ConnectionRefusedError"


@pytest.mark.parametrize("leads", ["/etc/ld.so.cache", "/proc/self/environ", "../../..", "/nowhere"])
async def test_staging_does_not_follow_links_out_of_the_workspace(bench: Bench, leads: str) -> None:
    body = f"os.symlink({leads!r}, ctx.workspace / 'link')\nctx.stage('out.bin', ctx.workspace / 'link')"
    failure = await bench.failure(function(body), outputs=["out.bin"])
    assert failure.type == "ValueError"
    assert failure.message == mentions("link")


@pytest.mark.parametrize("path", ["../x", "/etc/hostname", "a/../../x"])
async def test_a_path_outside_the_workspace_cannot_be_staged(bench: Bench, path: str) -> None:
    failure = await bench.failure(function(f"ctx.stage('out.bin', path={path!r})"), outputs=["out.bin"])
    assert failure == Failure("ValueError", mentions(f"'{path}'"), failure.trace)


@pytest.mark.parametrize("thing", ["os.mkdir('thing')", "os.mkfifo('thing')"])
async def test_only_regular_files_can_be_staged(bench: Bench, thing: str) -> None:
    failure = await bench.failure(function(f"{thing}\nctx.stage('out.bin', path='thing')"), outputs=["out.bin"])
    assert (failure.type, failure.message) == ("ValueError", mentions("'thing'"))


async def test_an_existing_link_in_place_of_the_script_folder_is_not_followed(bubblewrap_bench: Bench) -> None:
    """The script folder is created again for each dispatch."""
    outside = bubblewrap_bench.folder / "outside"
    outside.mkdir()
    room = bubblewrap_bench.folder / "same"
    room.mkdir()
    (room / "scripts").symlink_to(outside)
    assert await bubblewrap_bench.value("return 1", name="same") == 1
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    "message",
    [
        "b'garbage\\n'",
        'b\'{"kind": "stage", "name": 1, "size": 0}\\n\'',
        'b\'{"kind": "log", "size": 99999999999}\\n\'',
        'b\'{"kind": "pending", "call": "rework", "number": -1, "size": 2}\\n{}\'',
        'b\'{"kind": "unknown", "size": 0}\\n\'',
        "b'x' * 1000000",
    ],
)
async def test_invalid_messages_on_the_connection_fail_only_the_execution(bench: Bench, message: str) -> None:
    failure = await bench.failure(function(f"os.write(ctx._connection._fd, {message})\ntime.sleep(60)"))
    assert failure.type == "protocol_error"


async def test_a_script_can_read_only_its_own_inputs(bench: Bench) -> None:
    body = "return ctx._connection.request({'kind': 'read', 'checksum': '0' * 64})[0]"
    assert await bench.value(body) == {"error": mentions(), "size": 0}
