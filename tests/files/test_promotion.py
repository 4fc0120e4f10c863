"""Promotion."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cairn.files import FileContent, FileMove, Tree, UnsafePath
from tests.files.disk import (
    EXECUTION,
    FOLDER,
    OLDER,
    PERMANENT,
    PIPELINE,
    STAGED,
    STAMP,
    artifact,
    files,
    picture,
    unread,
)

OUTPUT = f"{FOLDER}/outputs/{PERMANENT}"
SUPERSEDED = f"{FOLDER}/superseded/{OLDER}/{PERMANENT}"


def replaced(data: bytes) -> FileMove:
    return FileMove(OUTPUT, SUPERSEDED, FileContent.of(SUPERSEDED, data))


def test_artifacts_have_their_permanent_names(tree: Tree, home: Path) -> None:
    second = artifact(b"# two", name="two_00000000_v1.md", staged_as=None)
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one"), second])
    assert picture(home / "runs") == {
        "v1": "/",
        "v1/checkpoint_0_goals": "/",
        "v1/checkpoint_0_goals/outputs": "/",
        f"v1/checkpoint_0_goals/outputs/{PERMANENT}": "one",
        "v1/checkpoint_0_goals/outputs/two_00000000_v1.md": "# two",
    }


def test_the_staged_file_itself_is_promoted(tree: Tree, home: Path) -> None:
    tree.stage(PIPELINE, EXECUTION, [artifact(b"one")])
    number = (home / ".temp" / f"exec_{EXECUTION}/artifacts_staging" / STAGED).stat().st_ino
    tree.promote(PIPELINE, EXECUTION, FOLDER, [unread(artifact(b"one"))])
    assert files(home) == {OUTPUT: "one"}
    assert (home / OUTPUT).stat().st_ino == number


@pytest.mark.parametrize("found", [b"other bytes", b"two", b""])
def test_a_staged_file_that_was_changed_is_not_promoted(tree: Tree, home: Path, found: bytes) -> None:
    tree.stage(PIPELINE, EXECUTION, [artifact(b"one")])
    (home / ".temp" / f"exec_{EXECUTION}/artifacts_staging" / STAGED).write_bytes(found)
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    assert files(home / "runs") == {OUTPUT.removeprefix("runs/"): "one"}


def test_a_staged_file_with_a_second_hard_link_is_not_promoted(tree: Tree, home: Path) -> None:
    tree.stage(PIPELINE, EXECUTION, [artifact(b"one")])
    work = home / ".temp" / f"exec_{EXECUTION}"
    os.link(work / "artifacts_staging" / STAGED, work / "workspace/mine")
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    (work / "workspace/mine").write_text("ONE")
    assert (home / OUTPUT).read_text() == "one"


def test_a_checkpoint_without_artifacts_gets_its_folder(tree: Tree, home: Path) -> None:
    tree.promote(PIPELINE, EXECUTION, FOLDER, [])
    assert picture(home / FOLDER) == {"outputs": "/"}


def test_a_repeated_promotion_reads_nothing(tree: Tree, home: Path) -> None:
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    before = picture(home)
    tree.promote(PIPELINE, EXECUTION, FOLDER, [unread(artifact(b"one"))])
    assert picture(home) == before


def test_a_promotion_restores_removed_files(tree: Tree, home: Path) -> None:
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    (home / OUTPUT).unlink()
    (home / FOLDER / "outputs").rmdir()
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    assert files(home) == {OUTPUT: "one"}


def test_rework_reuses_the_names_and_keeps_the_replaced_files(tree: Tree, home: Path) -> None:
    removed = f"{FOLDER}/outputs/gone_00000000_v1.md"
    kept = f"{FOLDER}/superseded/{OLDER}/gone_00000000_v1.md"
    tree.promote(PIPELINE, OLDER, FOLDER, [artifact(b"one"), FileContent.of(removed, b"# old")])
    moves = [replaced(b"one"), FileMove(removed, kept, FileContent.of(kept, b"# old"))]
    for _ in range(2):
        tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"two")], moves)
        assert files(home) == {OUTPUT: "two", SUPERSEDED: "one", kept: "# old"}
    assert (home / SUPERSEDED).stat().st_nlink == 1


def test_rework_with_equal_bytes_keeps_both(tree: Tree, home: Path) -> None:
    tree.promote(PIPELINE, OLDER, FOLDER, [artifact(b"one")])
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")], [replaced(b"one")])
    assert files(home) == {OUTPUT: "one", SUPERSEDED: "one"}


def test_a_missing_replaced_file_is_written_again(tree: Tree, home: Path) -> None:
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"two")], [replaced(b"one")])
    assert files(home) == {OUTPUT: "two", SUPERSEDED: "one"}


def test_replaced_files_are_moved_where_hard_links_are_impossible(
    tree: Tree, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.promote(PIPELINE, OLDER, FOLDER, [artifact(b"one")])

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"two")], [replaced(b"one")])
    assert files(home) == {OUTPUT: "two", SUPERSEDED: "one"}


def test_an_edited_file_is_kept_when_another_takes_its_name(tree: Tree, home: Path) -> None:
    tree.promote(PIPELINE, OLDER, FOLDER, [artifact(b"one")])
    (home / OUTPUT).write_text("edited by hand")
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"two")])
    assert files(home) == {OUTPUT: "two", f".archived/drift_{STAMP}/{OUTPUT}": "edited by hand"}


def test_a_folder_instead_of_a_file_is_kept(tree: Tree, home: Path) -> None:
    (home / OUTPUT).mkdir(parents=True)
    (home / OUTPUT / "mine").write_text("x")
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    assert files(home) == {OUTPUT: "one", f".archived/drift_{STAMP}/{OUTPUT}/mine": "x"}


def test_files_set_aside_at_the_same_time_do_not_collide(tree: Tree, home: Path) -> None:
    for edit in ("first", "second", "third"):
        tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
        (home / OUTPUT).write_text(edit)
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    kept = f".archived/drift_{STAMP}/{OUTPUT}"
    assert files(home) == {OUTPUT: "one", kept: "first", f"{kept}~1": "second", f"{kept}~2": "third"}


def test_files_with_the_longest_names_can_be_set_aside(tree: Tree, home: Path) -> None:
    long = "ä" * 125 + ".json"
    for edit in ("first", "second"):
        file = artifact(b"one", name=long, staged_as=None)
        tree.promote(PIPELINE, EXECUTION, FOLDER, [file])
        (home / file.path).write_text(edit)
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one", name=long)])
    assert sorted(files(home).values()) == ["first", "one", "second"]


def test_a_users_file_beside_the_outputs_stays(tree: Tree, home: Path) -> None:
    (home / FOLDER / "outputs").mkdir(parents=True)
    (home / FOLDER / "outputs/notes.txt").write_text("mine")
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    assert files(home) == {OUTPUT: "one", f"{FOLDER}/outputs/notes.txt": "mine"}


def test_a_folder_created_meanwhile_is_reused(tree: Tree, home: Path) -> None:
    file = artifact(b"one")

    def read() -> bytes:
        (home / FOLDER / "outputs").mkdir(parents=True, exist_ok=True)
        (home / FOLDER / "outputs/notes.txt").write_text("mine")
        return b"one"

    tree.promote(PIPELINE, EXECUTION, FOLDER, [FileContent(file.path, file.checksum, file.size, read)])
    assert files(home) == {OUTPUT: "one", f"{FOLDER}/outputs/notes.txt": "mine"}


@pytest.mark.parametrize("path", [f"{FOLDER}/{PERMANENT}", f"{FOLDER}/outputs/a/b", f"{FOLDER}/outputs/..", "../x"])
def test_a_path_outside_the_checkpoint_folder_is_refused(tree: Tree, home: Path, path: str) -> None:
    before = picture(home)
    with pytest.raises(UnsafePath):
        tree.promote(PIPELINE, EXECUTION, FOLDER, [FileContent.of(path, b"x")])
    assert picture(home) == before
