"""Pipelines' folders lie apart on a disk that can tell them so, and where they come to lie on others."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cairn.files import Tree, apart
from tests.files.disk import PIPELINE

pytestmark = pytest.mark.skipif(sys.platform != "linux" or struct.calcsize("l") != 8, reason="for Linux on 64 bits")

GET_FLAGS, SET_FLAGS, TOP = 0x80086601, 0x40086602, 0x00020000  # as <linux/fs.h> has them for 64 bits
KEPT = 0x00080000  # a flag of ext4's own


class Disk:
    """A file system that keeps flags of folders, as ext4 does, or refuses to."""

    def __init__(self, *, knows: bool) -> None:
        self.knows = knows
        self.flags: dict[int, int] = {}
        self.written = 0

    def ioctl(self, fd: int, request: int, value: bytes) -> bytes:
        if not self.knows:
            raise OSError(25, "Inappropriate ioctl for device")
        folder = os.fstat(fd).st_ino
        assert len(value) == struct.calcsize("l")
        if request == GET_FLAGS:
            return struct.pack("i", self.flags.get(folder, KEPT)).ljust(len(value), b"\0")
        assert request == SET_FLAGS
        self.written += 1
        self.flags[folder] = struct.unpack_from("i", value)[0]
        return value


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Disk:
    made = Disk(knows=request.param)
    monkeypatch.setattr(fcntl, "ioctl", made.ioctl)
    return made


@pytest.mark.parametrize("disk", [True], indirect=True)
def test_what_is_made_among_the_pipelines_lies_apart(disk: Disk, tmp_path: Path) -> None:
    tree = Tree(tmp_path / "data" / "pipelines")
    tree.make_pipeline(PIPELINE)
    assert disk.flags == {
        tree.root.stat().st_ino: KEPT | TOP
    }  # what else was set stays, and inside a pipeline all lies together
    tree.make_pipeline(PIPELINE)
    assert disk.written == 1


@pytest.mark.parametrize("disk", [False], indirect=True)
def test_a_disk_that_knows_no_such_thing_is_as_good(disk: Disk, tmp_path: Path) -> None:
    tree = Tree(tmp_path / "pipelines")
    assert tree.make_pipeline(PIPELINE).is_dir()
    apart.lay_apart(str(tmp_path / "nothing"))  # nor is one that is not there


def test_a_real_disk_has_taken_it() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # the others of these tests may lie in memory
        apart.lay_apart(folder)
        of = subprocess.run(["stat", "--file-system", "--format=%t", folder], capture_output=True, check=True)
        fd = os.open(folder, os.O_RDONLY)
        try:
            if of.stdout.strip() == b"ef53":  # ext4
                (flags,) = struct.unpack_from("i", fcntl.ioctl(fd, GET_FLAGS, bytes(8)))
                assert flags & TOP
        finally:
            os.close(fd)
        Path(folder, "inside").mkdir()
