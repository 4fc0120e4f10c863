"""Names and files from users and models cannot escape their folders; a full or read-only disk loses nothing."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cairn.files import (
    DiskFull,
    ExpectedTree,
    FileContent,
    FileMove,
    FilesError,
    NotWritable,
    Obstructed,
    OtherDisk,
    Tree,
    UnsafePath,
)
from tests.files.disk import AT, EXECUTION, FOLDER, OLDER, PERMANENT, PIPELINE, STAGED, artifact, files, picture

OUTPUT = f"{FOLDER}/outputs/{PERMANENT}"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that no operation may touch."""
    path = tmp_path / "outside"
    (path / "workspace").mkdir(parents=True)
    (path / "precious").write_text("untouched")
    return path


UNTOUCHED = {"workspace": "/", "precious": "untouched"}


@pytest.mark.parametrize("path", ["", "runs", "runs/v1", FOLDER, f"{FOLDER}/outputs"])
def test_a_promotion_never_follows_a_link(tree: Tree, home: Path, outside: Path, path: str) -> None:
    tree.create_workspace(PIPELINE, EXECUTION)
    spot = home / path
    shutil.rmtree(spot, ignore_errors=True)
    spot.parent.mkdir(parents=True, exist_ok=True)
    spot.symlink_to(outside)
    with pytest.raises(Obstructed):
        tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    assert picture(outside) == UNTOUCHED


@pytest.mark.parametrize("path", ["", "/workspace", "/artifacts_staging"])
def test_a_link_instead_of_a_workspace_is_replaced(tree: Tree, home: Path, outside: Path, path: str) -> None:
    spot = home / f".temp/exec_{EXECUTION}{path}"
    tree.create_workspace(PIPELINE, EXECUTION)
    shutil.rmtree(spot)
    spot.symlink_to(outside)
    tree.create_workspace(PIPELINE, EXECUTION)
    tree.stage(PIPELINE, EXECUTION, [artifact(b"one")])
    assert files(home / ".temp") == {f"exec_{EXECUTION}/artifacts_staging/{STAGED}": "one"}
    assert picture(outside) == UNTOUCHED


def test_a_link_in_staging_is_neither_followed_nor_promoted(tree: Tree, home: Path, outside: Path) -> None:
    work = tree.create_workspace(PIPELINE, EXECUTION)
    (work / "artifacts_staging" / STAGED).symlink_to(outside / "precious")
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"untouched")])
    assert files(home / "runs") == {OUTPUT.removeprefix("runs/"): "untouched"}
    tree.stage(PIPELINE, EXECUTION, [artifact(b"one")])
    assert not (work / "artifacts_staging" / STAGED).is_symlink()
    assert picture(outside) == UNTOUCHED


def test_deleting_a_workspace_removes_links_but_not_their_targets(tree: Tree, home: Path, outside: Path) -> None:
    work = tree.create_workspace(PIPELINE, EXECUTION)
    (work / "workspace/link").symlink_to(outside)
    (work / "artifacts_staging/link").symlink_to(outside / "precious")
    tree.delete_workspace(PIPELINE, EXECUTION)
    (home / f".temp/exec_{OLDER}").symlink_to(outside)
    tree.delete_workspace(PIPELINE, OLDER, is_reusable=True)
    assert picture(home / ".temp") == {}
    assert picture(outside) == UNTOUCHED


@pytest.mark.parametrize("path", [".archived", "runs/v1"])
def test_archiving_never_follows_a_link(tree: Tree, home: Path, outside: Path, path: str) -> None:
    shutil.rmtree(home / path, ignore_errors=True)
    (home / path).symlink_to(outside)
    move = FileMove("runs/v1/workspace", ".archived/rollback_1/archived_data/v1_checkpoint_0")
    try:
        tree.archive_rollback(PIPELINE, ".archived/rollback_1", b"{}", [move])
        tree.restore_rollback(PIPELINE, ".archived/rollback_1", [move])
    except Obstructed:
        assert path == ".archived"
    assert picture(outside) == UNTOUCHED


@pytest.mark.parametrize("id", ["..", ".archived", "a/b", "", "a\0b"])
def test_ids_cannot_be_paths(tree: Tree, id: str) -> None:
    before = picture(tree.root)
    operations: list[Callable[[], object]] = [
        lambda: tree.create_pipeline(id),
        lambda: tree.create_workspace(PIPELINE, id),
        lambda: tree.delete_workspace(PIPELINE, id),
        lambda: tree.delete_workspace(id, EXECUTION),
        lambda: tree.promote(PIPELINE, id, FOLDER, []),
        lambda: tree.move_to_errored(PIPELINE, id, AT, b"", b""),
        lambda: tree.stage(PIPELINE, EXECUTION, [artifact(b"", staged_as=id or "..")]),
        lambda: tree.write_definition(PIPELINE, b"", {id: b""}),
        lambda: tree.archive_pipeline(id, AT),
    ]
    for operation in operations:
        with pytest.raises(UnsafePath):
            operation()
    assert picture(tree.root) == before


def test_a_workspace_of_any_depth_and_kind_is_removed(tree: Tree, home: Path) -> None:
    """Deeper than the recursion limit and the limit of open files."""
    work = tree.create_workspace(PIPELINE, EXECUTION)
    os.mkfifo(work / "workspace/pipe")
    (work / "workspace" / os.fsdecode(b"\xff\xfe")).write_text("x")
    fd = os.open(work / "workspace", os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=fd)
        fd, outer = os.open("d", os.O_RDONLY, dir_fd=fd), fd
        os.close(outer)
    os.close(fd)
    tree.delete_workspace(PIPELINE, EXECUTION)
    assert picture(home / ".temp") == {}


def test_a_named_pipe_does_not_block(tree: Tree, home: Path) -> None:
    work = tree.create_workspace(PIPELINE, EXECUTION)
    os.mkfifo(work / "artifacts_staging" / STAGED)
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    (home / OUTPUT).unlink()
    os.mkfifo(home / OUTPUT)
    expected = ExpectedTree({OUTPUT: artifact(b"one")})
    tree.repair(tree.scan(PIPELINE, expected), AT)
    assert (home / OUTPUT).read_text() == "one"


def test_errors_are_kept_whatever_files_a_script_leaves(tree: Tree, home: Path, outside: Path) -> None:
    work = tree.create_workspace(PIPELINE, EXECUTION)
    (work / "error_info.json").mkdir()
    (work / "error_logs.txt").symlink_to(outside / "precious")
    (work / "failed_artifacts").write_text("x")
    (work / "workspace").rmdir()
    (work / "workspace").symlink_to(outside)
    path = tree.move_to_errored(PIPELINE, EXECUTION, AT, b"{}", b"log")
    assert files(home / path) == {"error_info.json": "{}", "error_logs.txt": "log", "failed_artifacts": "x"}
    assert picture(outside) == UNTOUCHED


# ---- full and read-only disks


@pytest.fixture
def small_files() -> Iterator[None]:
    """The kernel limits files to 1000 bytes: writing fails as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


BIG = b"x" * 5000
BIG_OPERATIONS: dict[str, Callable[[Tree], object]] = {
    "promote": lambda tree: tree.promote(
        PIPELINE, EXECUTION, "runs/v2/checkpoint_0_x", [big("runs/v2/checkpoint_0_x")]
    ),
    "promote again": lambda tree: tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(BIG)]),
    "rework": lambda tree: tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(BIG)], [FileMove(OUTPUT, "superseded")]),
    "stage": lambda tree: tree.stage(PIPELINE, EXECUTION, [artifact(BIG)]),
    "run info": lambda tree: tree.write_run_info(PIPELINE, "runs/v1", BIG),
    "definition": lambda tree: tree.write_definition(PIPELINE, BIG, {}),
}


def big(folder: str) -> FileContent:
    return artifact(BIG, folder=folder)


@pytest.mark.parametrize("name", BIG_OPERATIONS)
@pytest.mark.usefixtures("small_files")
def test_a_full_disk_leaves_existing_files(tree: Tree, home: Path, name: str) -> None:
    tree.create_workspace(PIPELINE, EXECUTION)
    tree.promote(PIPELINE, OLDER, FOLDER, [artifact(b"one")])
    tree.write_run_info(PIPELINE, "runs/v1", b"{}")
    before = files(home)
    with pytest.raises(DiskFull):
        BIG_OPERATIONS[name](tree)
    after = files(home)
    after.pop("superseded", None)
    assert after == before


@pytest.fixture
def forbidden() -> Iterator[Tree]:
    """A tree used without root privileges: root could write everywhere."""
    top = Path(tempfile.mkdtemp())
    user = os.geteuid()
    if user == 0:
        os.chown(top, 65534, 65534)
        os.seteuid(65534)
    tree = Tree(top / "pipelines", lambda: AT)
    tree.create_pipeline(PIPELINE)
    yield tree
    os.seteuid(user)
    for folder, _, _ in os.walk(top):
        Path(folder).chmod(0o700)
    shutil.rmtree(top)


def test_a_read_only_folder_is_named(forbidden: Tree) -> None:
    home = forbidden.root / PIPELINE
    (home / "runs").chmod(0o500)
    with pytest.raises(NotWritable) as raised:
        forbidden.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    assert str(home) in str(raised.value)
    assert isinstance(raised.value, FilesError)
    (home / "runs").chmod(0o700)
    forbidden.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    assert files(home) == {OUTPUT: "one"}


def test_a_folder_without_execute_permission_is_named(forbidden: Tree) -> None:
    home = forbidden.root / PIPELINE
    forbidden.write_run_info(PIPELINE, "runs/test_1", b"{}")
    (home / "runs/test_1/run_info.json").rename(home / ".errored/file")
    (home / ".errored").chmod(0o500)
    with pytest.raises(NotWritable):
        forbidden.delete_expired(PIPELINE, ".errored/file")
    assert files(home) == {".errored/file": "{}"}


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EXDEV, OtherDisk),
        (errno.EROFS, NotWritable),
        (errno.EIO, FilesError),
    ],
)
def test_disk_errors_are_explained(
    tree: Tree, home: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[FilesError]
) -> None:
    def refuse(*names: str, **_: object) -> None:
        raise OSError(number, os.strerror(number), names[0], None, names[1])

    before = picture(home)
    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(kind) as raised:
        tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    assert (type(raised.value), raised.value.errno) == (kind, number)
    assert picture(home) == before | {"runs/v1": "/"}


def test_a_script_cannot_keep_its_workspace_by_removing_permissions(forbidden: Tree) -> None:
    work = forbidden.create_workspace(PIPELINE, EXECUTION)
    (work / "workspace/a/b").mkdir(parents=True)
    (work / "workspace/a/b/file").write_text("x")
    (work / "workspace/a/b").chmod(0o000)
    (work / "workspace/a").chmod(0o500)
    work.chmod(0o500)
    forbidden.delete_workspace(PIPELINE, EXECUTION)
    assert picture(forbidden.root / PIPELINE / ".temp") == {}


def test_an_unreadable_file_counts_as_changed(forbidden: Tree) -> None:
    home = forbidden.root / PIPELINE
    forbidden.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    (home / OUTPUT).chmod(0o000)
    found = forbidden.scan(PIPELINE, ExpectedTree({OUTPUT: artifact(b"one")}))
    assert found.changed == (OUTPUT,)
    forbidden.repair(found, AT)
    assert (home / OUTPUT).read_text() == "one"
