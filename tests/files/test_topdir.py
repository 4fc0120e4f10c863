"""The pipelines' folder is marked as a top directory where the file system knows the flag."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cairn.files import Tree, topdir
from tests.files.disk import PIPELINE

pytestmark = pytest.mark.skipif(sys.platform != "linux" or struct.calcsize("l") != 8, reason="for 64-bit Linux")

GET_FLAGS, SET_FLAGS, TOPDIR = 0x80086601, 0x40086602, 0x00020000  # from <linux/fs.h>
OTHER_FLAG = 0x00080000  # ext4 sets it itself


class FileSystem:
    """A file system that stores flags of folders, as ext4 does, or refuses to."""

    def __init__(self, *, has_flags: bool) -> None:
        self.has_flags = has_flags
        self.flags: dict[int, int] = {}
        self.writes = 0

    def ioctl(self, fd: int, request: int, value: bytes) -> bytes:
        if not self.has_flags:
            raise OSError(25, "Inappropriate ioctl for device")
        inode = os.fstat(fd).st_ino
        assert len(value) == struct.calcsize("l")
        if request == GET_FLAGS:
            return struct.pack("i", self.flags.get(inode, OTHER_FLAG)).ljust(len(value), b"\0")
        assert request == SET_FLAGS
        self.writes += 1
        self.flags[inode] = struct.unpack_from("i", value)[0]
        return value


@pytest.fixture
def file_system(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> FileSystem:
    file_system = FileSystem(has_flags=request.param)
    monkeypatch.setattr(fcntl, "ioctl", file_system.ioctl)
    return file_system


@pytest.mark.parametrize("file_system", [True], indirect=True)
def test_only_the_pipelines_folder_is_marked_and_only_once(file_system: FileSystem, tmp_path: Path) -> None:
    tree = Tree(tmp_path / "data" / "pipelines")
    tree.create_pipeline(PIPELINE)
    assert file_system.flags == {tree.root.stat().st_ino: OTHER_FLAG | TOPDIR}
    tree.create_pipeline(PIPELINE)
    assert file_system.writes == 1


@pytest.mark.parametrize("file_system", [False], indirect=True)
def test_a_file_system_without_flags_is_used_as_it_is(file_system: FileSystem, tmp_path: Path) -> None:
    tree = Tree(tmp_path / "pipelines")
    assert tree.create_pipeline(PIPELINE).is_dir()
    topdir.mark_top_directory(str(tmp_path / "missing"))


def test_a_real_file_system_stores_the_flag() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # other tests may write to memory
        topdir.mark_top_directory(folder)
        stat = subprocess.run(["stat", "--file-system", "--format=%t", folder], capture_output=True, check=True)
        fd = os.open(folder, os.O_RDONLY)
        try:
            if stat.stdout.strip() == b"ef53":  # ext4
                (flags,) = struct.unpack_from("i", fcntl.ioctl(fd, GET_FLAGS, bytes(8)))
                assert flags & TOPDIR
        finally:
            os.close(fd)
        Path(folder, "inside").mkdir()
