"""Workspaces."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from cairn.files import Tree, Truncated
from cairn.files.content import FileContent
from cairn.files.workspace import is_complete
from tests.files.disk import AT, EXECUTION, OLDER, PIPELINE, STAGED, STAMP, artifact, files, picture, unread

EMPTY = {f"exec_{EXECUTION}": "/", f"exec_{EXECUTION}/workspace": "/", f"exec_{EXECUTION}/artifacts_staging": "/"}


def test_a_pipeline_has_its_documented_folders(home: Path) -> None:
    assert picture(home) == {
        ".pipeline_system": "/",
        ".pipeline_system/definitions": "/",
        ".pipeline_system/definitions/checkpoints": "/",
        ".pipeline_system/logs": "/",
        "runs": "/",
        ".temp": "/",
        ".archived": "/",
        ".errored": "/",
    }


def test_a_workspace_has_its_two_folders(tree: Tree, home: Path) -> None:
    workspace = tree.create_workspace(PIPELINE, EXECUTION)
    assert workspace == home / ".temp" / f"exec_{EXECUTION}"
    assert picture(home / ".temp") == EMPTY


def test_a_retry_keeps_the_files_of_the_workspace(tree: Tree, home: Path) -> None:
    workspace = tree.create_workspace(PIPELINE, EXECUTION)
    (workspace / "workspace/notes.txt").write_text("kept")
    tree.create_workspace(PIPELINE, EXECUTION)
    assert picture(home / ".temp") == EMPTY | {f"exec_{EXECUTION}/workspace/notes.txt": "kept"}


def test_missing_folders_are_created_again(tree: Tree, home: Path) -> None:
    home.rename(home.with_name("moved"))
    tree.create_workspace(PIPELINE, EXECUTION)
    (home / ".temp" / f"exec_{EXECUTION}/workspace").rmdir()
    tree.create_workspace(PIPELINE, EXECUTION)
    assert picture(home) == {".temp": "/"} | {f".temp/{path}": "/" for path in EMPTY}


def test_a_deleted_workspace_is_removed_with_its_content(tree: Tree, home: Path) -> None:
    workspace = tree.create_workspace(PIPELINE, EXECUTION)
    (workspace / "workspace/a/b").mkdir(parents=True)
    (workspace / "workspace/a/b/file").write_text("x")
    tree.delete_workspace(PIPELINE, EXECUTION)
    tree.delete_workspace(PIPELINE, EXECUTION)
    assert picture(home / ".temp") == {}


def test_deleting_a_missing_workspace_does_nothing(tmp_path: Path) -> None:
    Tree(tmp_path / "pipelines").delete_workspace(PIPELINE, EXECUTION)
    assert picture(tmp_path) == {}


def delete_reusable(tree: Tree, execution: str) -> None:
    tree.delete_workspace(PIPELINE, execution, is_reusable=True)


def test_an_empty_workspace_is_reused(tree: Tree, home: Path) -> None:
    inode = tree.create_workspace(PIPELINE, OLDER).stat().st_ino
    delete_reusable(tree, OLDER)
    assert picture(home / ".temp") == {}
    assert tree.create_workspace(PIPELINE, EXECUTION).stat().st_ino == inode
    assert picture(home / ".temp") == EMPTY


def test_spare_workspaces_outlive_the_process(tree: Tree) -> None:
    inode = tree.create_workspace(PIPELINE, OLDER).stat().st_ino
    delete_reusable(tree, OLDER)
    assert Tree(tree.root).create_workspace(PIPELINE, EXECUTION).stat().st_ino == inode


@pytest.mark.parametrize("path", ["workspace/file", "artifacts_staging/file", "file", "workspace/folder/file"])
def test_a_workspace_with_content_is_not_reused(tree: Tree, home: Path, path: str) -> None:
    workspace = tree.create_workspace(PIPELINE, OLDER)
    (workspace / path).parent.mkdir(exist_ok=True)
    (workspace / path).write_text("x")
    delete_reusable(tree, OLDER)
    assert picture(tree.root / ".spare") == {}
    tree.create_workspace(PIPELINE, EXECUTION)
    assert picture(home / ".temp") == EMPTY


def test_a_workspace_that_another_process_could_write_to_is_not_reused(tree: Tree) -> None:
    tree.create_workspace(PIPELINE, OLDER)
    tree.delete_workspace(PIPELINE, OLDER)
    assert not (tree.root / ".spare").exists()


def test_a_spare_workspace_never_replaces_an_existing_one(tree: Tree, home: Path) -> None:
    tree.create_workspace(PIPELINE, OLDER)
    workspace = tree.create_workspace(PIPELINE, EXECUTION)
    (workspace / "workspace/notes.txt").write_text("kept")
    delete_reusable(tree, OLDER)
    tree.create_workspace(PIPELINE, EXECUTION)
    assert files(home / ".temp") == {f"exec_{EXECUTION}/workspace/notes.txt": "kept"}
    assert len(list((tree.root / ".spare").iterdir())) == 1


def test_a_spare_workspace_that_somebody_removed_is_skipped(tree: Tree, home: Path) -> None:
    for execution in (OLDER, EXECUTION):
        tree.create_workspace(PIPELINE, execution)
        delete_reusable(tree, execution)
    for spare in (tree.root / ".spare").iterdir():
        spare.rename(spare.with_name(f"{spare.name}-taken"))
    tree.create_workspace(PIPELINE, EXECUTION)
    assert picture(home / ".temp") == EMPTY


def test_a_workspace_is_removed_if_it_cannot_be_kept(tree: Tree, home: Path, tmp_path: Path) -> None:
    (tree.root / ".spare").symlink_to(tmp_path)
    tree.create_workspace(PIPELINE, EXECUTION)
    delete_reusable(tree, EXECUTION)
    assert picture(home / ".temp") == {}


def test_the_number_of_spare_workspaces_is_limited(tree: Tree) -> None:
    executions = [f"{number:08x}-0000-4000-8000-000000000000" for number in range(70)]
    for execution in executions:
        tree.create_workspace(PIPELINE, execution)
    for execution in executions:
        delete_reusable(tree, execution)
    assert len(list((tree.root / ".spare").iterdir())) == 64


def test_exactly_the_given_files_are_staged(tree: Tree, home: Path) -> None:
    workspace = tree.create_workspace(PIPELINE, EXECUTION)
    (workspace / "artifacts_staging/leftover").mkdir()
    (workspace / "artifacts_staging/leftover/file").write_text("x")
    (workspace / f"artifacts_staging/{STAGED}").write_text("an earlier attempt")
    tree.stage(PIPELINE, EXECUTION, [artifact(b"new"), artifact(b"# second", staged_as="second_00000000.md")])
    assert files(home / ".temp") == {
        f"exec_{EXECUTION}/artifacts_staging/{STAGED}": "new",
        f"exec_{EXECUTION}/artifacts_staging/second_00000000.md": "# second",
    }


def test_a_staged_file_is_not_read_again(tree: Tree, home: Path) -> None:
    tree.stage(PIPELINE, EXECUTION, [artifact(b"same")])
    tree.stage(PIPELINE, EXECUTION, [unread(artifact(b"same"))])
    assert files(home / ".temp") == {f"exec_{EXECUTION}/artifacts_staging/{STAGED}": "same"}


def test_content_can_be_streamed_and_must_be_complete(tree: Tree, home: Path) -> None:
    complete = artifact(b"one two")
    tree.stage(
        PIPELINE, EXECUTION, [FileContent(complete.path, complete.checksum, 7, lambda: iter([b"one", b" two"]), STAGED)]
    )
    assert files(home / ".temp") == {f"exec_{EXECUTION}/artifacts_staging/{STAGED}": "one two"}
    short = FileContent(complete.path, "0" * 64, 7, lambda: iter([b"one"]), STAGED)
    with pytest.raises(Truncated, match=r"\b7\b.*\b3\b"):
        tree.stage(PIPELINE, EXECUTION, [short])
    assert files(home / ".temp") == {f"exec_{EXECUTION}/artifacts_staging/{STAGED}": "one two"}


def test_the_workspace_of_a_failed_execution_is_kept_with_its_error(tree: Tree, home: Path) -> None:
    workspace = tree.create_workspace(PIPELINE, EXECUTION)
    (workspace / "workspace/notes.txt").write_text("half done")
    tree.stage(PIPELINE, EXECUTION, [artifact(b"bad")])
    folder = tree.move_to_errored(PIPELINE, EXECUTION, AT, b'{"error": 1}', b"log\n")
    assert folder == f".errored/exec_{EXECUTION}_{STAMP}"
    assert picture(home / ".temp") == {}
    assert picture(home / folder) == {
        "error_info.json": '{"error": 1}',
        "error_logs.txt": "log\n",
        "failed_artifacts": "/",
        f"failed_artifacts/{STAGED}": "bad",
        "workspace": "/",
        "workspace/notes.txt": "half done",
    }


def test_a_manual_retry_starts_with_an_empty_workspace(tree: Tree, home: Path) -> None:
    tree.create_workspace(PIPELINE, EXECUTION)
    folder = tree.move_to_errored(PIPELINE, EXECUTION, AT, b"{}", b"")
    tree.create_workspace(PIPELINE, EXECUTION)
    assert tree.move_to_errored(PIPELINE, EXECUTION, AT, b"{}", b"") == folder
    assert picture(home / ".temp") == EMPTY
    assert files(home / ".errored") == {
        f"exec_{EXECUTION}_{STAMP}/error_info.json": "{}",
        f"exec_{EXECUTION}_{STAMP}/error_logs.txt": "",
    }


def test_two_failures_in_one_second_are_both_kept(tree: Tree, home: Path) -> None:
    for attempt in (b'{"attempt": 1}', b'{"attempt": 2}', b'{"attempt": 2}'):
        tree.create_workspace(PIPELINE, EXECUTION)
        tree.move_to_errored(PIPELINE, EXECUTION, AT, attempt, b"")
    first = f"exec_{EXECUTION}_{STAMP}"
    assert files(home / ".errored") == {
        f"{first}/error_info.json": '{"attempt": 1}',
        f"{first}/error_logs.txt": "",
        f"{first}~1/error_info.json": '{"attempt": 2}',
        f"{first}~1/error_logs.txt": "",
    }
    assert tree.expired_folders(PIPELINE, AT + timedelta(seconds=1)) == (f".errored/{first}", f".errored/{first}~1")


def test_an_error_is_recorded_even_if_the_workspace_is_gone(tree: Tree, home: Path) -> None:
    folder = tree.move_to_errored(PIPELINE, EXECUTION, AT, b"{}", b"log")
    assert picture(home / folder) == {
        "error_info.json": "{}",
        "error_logs.txt": "log",
        "failed_artifacts": "/",
        "workspace": "/",
    }
    assert picture(home / ".temp") == {}


def test_a_workspace_deleted_during_the_check_is_incomplete(tree: Tree, home: Path) -> None:
    """Drift is checked while executions are running."""
    tree.create_workspace(PIPELINE, EXECUTION)
    temp = os.open(home / ".temp", os.O_RDONLY)
    try:
        assert is_complete(temp, f"exec_{EXECUTION}")
        tree.delete_workspace(PIPELINE, EXECUTION)
        assert not is_complete(temp, f"exec_{EXECUTION}")
    finally:
        os.close(temp)
