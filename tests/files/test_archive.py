"""Archives."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from cairn.files import FileContent, FileMove, Tree, UnsafePath, layout
from tests.files.disk import AT, EXECUTION, OLDER, PIPELINE, ROLLBACK, RUN, STAMP, artifact, files, picture

ARCHIVE = f".archived/rollback_{ROLLBACK}_{STAMP}"
METADATA = f"{ARCHIVE}/rollback_metadata.json"
DATA = f"{ARCHIVE}/archived_data"


def promoted(tree: Tree, version: int, position: int, text: str) -> FileContent:
    folder = f"runs/v{version}/checkpoint_{position}_step"
    file = artifact(text.encode(), folder=folder, name=f"a_00000000_v{version}.json", staged_as=None)
    tree.promote(PIPELINE, EXECUTION, folder, [file])
    return file


def moves_of(file: FileContent, version: int, position: int) -> list[FileMove]:
    folder = f"runs/v{version}/checkpoint_{position}_step"
    goal = f"{ARCHIVE}/{layout.archived_execution(version, RUN, position)}"
    return [FileMove(file.path, file.path.replace(folder, goal), file), FileMove(folder, goal)]


def test_a_rolled_back_checkpoint_is_moved_to_the_archive(tree: Tree, home: Path) -> None:
    kept = promoted(tree, 1, 0, "zero")
    moves = moves_of(promoted(tree, 1, 1, "one"), 1, 1)
    (home / "runs/v1/checkpoint_1_step/notes.txt").write_text("mine")
    for _ in range(2):
        tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", moves)
        assert files(home) == {
            kept.path: "zero",
            METADATA: "{}",
            f"{DATA}/v1_checkpoint_1/outputs/a_00000000_v1.json": "one",
            f"{DATA}/v1_checkpoint_1/notes.txt": "mine",
        }
        assert not (home / "runs/v1/checkpoint_1_step").exists()


def test_a_rolled_back_run_is_moved_completely(tree: Tree, home: Path) -> None:
    promoted(tree, 2, 0, "two")
    tree.write_run_info(PIPELINE, "runs/v2", b'{"v": 2}')
    tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", [FileMove("runs/v2", f"{ARCHIVE}/{layout.archived_run(2, RUN)}")])
    assert files(home) == {
        METADATA: "{}",
        f"{DATA}/v2/run_info.json": '{"v": 2}',
        f"{DATA}/v2/checkpoint_0_step/outputs/a_00000000_v2.json": "two",
    }
    assert picture(home / "runs") == {}


def test_a_missing_file_is_archived_from_its_stored_content(tree: Tree, home: Path) -> None:
    file = promoted(tree, 1, 1, "one")
    (home / file.path).unlink()
    tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", moves_of(file, 1, 1))
    assert files(home) == {METADATA: "{}", f"{DATA}/v1_checkpoint_1/outputs/a_00000000_v1.json": "one"}


def test_an_edited_file_is_archived_as_it_is(tree: Tree, home: Path) -> None:
    file = promoted(tree, 1, 1, "one")
    (home / file.path).write_text("edited by hand")
    tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", moves_of(file, 1, 1))
    assert files(home) == {METADATA: "{}", f"{DATA}/v1_checkpoint_1/outputs/a_00000000_v1.json": "edited by hand"}


def test_several_executions_of_one_position_do_not_collide(tree: Tree, home: Path) -> None:
    goal = f"{ARCHIVE}/{layout.archived_execution(1, RUN, 1)}"
    aside = f"{ARCHIVE}/{layout.archived_execution(1, RUN, 1, OLDER)}"
    for folder, text in (("runs/v1/checkpoint_1_old_name", "old"), ("runs/v1/checkpoint_1_new_name", "new")):
        tree.promote(PIPELINE, EXECUTION, folder, [artifact(text.encode(), folder=folder, name="a", staged_as=None)])
    moves = [FileMove("runs/v1/checkpoint_1_old_name", aside), FileMove("runs/v1/checkpoint_1_new_name", goal)]
    tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", moves)
    assert files(home) == {
        METADATA: "{}",
        f"{DATA}/v1_checkpoint_1/outputs/a": "new",
        f"{DATA}/v1_checkpoint_1/superseded/{OLDER}/outputs/a": "old",
    }


def test_archiving_again_does_not_touch_newer_work(tree: Tree, home: Path) -> None:
    moves = moves_of(promoted(tree, 1, 1, "one"), 1, 1)
    tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", moves)
    redo = promoted(tree, 1, 1, "one again")
    tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", moves)
    assert files(home) == {
        redo.path: "one again",
        METADATA: "{}",
        f"{DATA}/v1_checkpoint_1/outputs/a_00000000_v1.json": "one",
    }


def test_undo_restores_every_file(tree: Tree, home: Path) -> None:
    file = promoted(tree, 1, 1, "one")
    (home / "runs/v1/checkpoint_1_step/notes.txt").write_text("mine")
    before = picture(home)
    moves = moves_of(file, 1, 1)
    tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", moves)
    for _ in range(2):
        tree.restore_rollback(PIPELINE, ARCHIVE, moves)
        assert picture(home) == before | {ARCHIVE: "/", METADATA: "{}"}


def test_undo_writes_files_lost_from_the_archive(tree: Tree, home: Path) -> None:
    file = promoted(tree, 1, 1, "one")
    moves = moves_of(file, 1, 1)
    tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", moves)
    (home / DATA).rename(home / "elsewhere")
    tree.restore_rollback(PIPELINE, ARCHIVE, moves)
    assert (home / file.path).read_text() == "one"


def test_undo_keeps_newer_files_in_the_same_place(tree: Tree, home: Path) -> None:
    file = promoted(tree, 1, 1, "one")
    moves = moves_of(file, 1, 1)
    tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", moves)
    promoted(tree, 1, 1, "something newer")
    (home / "runs/v1/checkpoint_1_step/notes.txt").write_text("mine")
    tree.restore_rollback(PIPELINE, ARCHIVE, moves)
    assert files(home) == {
        file.path: "one",
        "runs/v1/checkpoint_1_step/notes.txt": "mine",
        METADATA: "{}",
        f".archived/drift_{STAMP}/{file.path}": "something newer",
    }


def test_undo_keeps_files_that_users_put_into_the_archive(tree: Tree, home: Path) -> None:
    file = promoted(tree, 1, 1, "one")
    tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", moves_of(file, 1, 1))
    (home / DATA / "readme.txt").write_text("mine")
    tree.restore_rollback(PIPELINE, ARCHIVE, moves_of(file, 1, 1))
    assert files(home) == {file.path: "one", METADATA: "{}", f"{DATA}/readme.txt": "mine"}


@pytest.mark.parametrize("path", ["runs/v1", ".archived", f"{ARCHIVE}/../x", ".errored/x"])
def test_an_archive_path_must_be_in_the_archive(tree: Tree, path: str) -> None:
    with pytest.raises(UnsafePath):
        tree.archive_rollback(PIPELINE, path, b"{}", [])
    with pytest.raises(UnsafePath):
        tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", [FileMove("runs/v1", path)])


def test_an_ended_pass_is_archived(tree: Tree, home: Path) -> None:
    promoted(tree, 1, 0, "first pass")
    tree.write_run_info(PIPELINE, "runs/v1", b"{}")
    folders = ["checkpoint_0_step", "checkpoint_1_never_done"]
    tree.archive_pass(PIPELINE, "runs/v1", 1, folders)
    promoted(tree, 1, 0, "second pass")
    tree.archive_pass(PIPELINE, "runs/v1", 1, folders)
    assert files(home / "runs/v1") == {
        "run_info.json": "{}",
        "checkpoint_0_step/outputs/a_00000000_v1.json": "second pass",
        "passes/1/checkpoint_0_step/outputs/a_00000000_v1.json": "first pass",
    }


def test_runs_of_an_earlier_definition_are_archived(tree: Tree, home: Path) -> None:
    promoted(tree, 1, 0, "one")
    tree.update_latest_link(PIPELINE, "runs/v1")
    goal = f".archived/definition_v4_{STAMP}/runs"
    for _ in range(2):
        assert tree.archive_definition_runs(PIPELINE, 4, AT) == goal
        assert files(home) == {
            f"{goal}/latest": "-> v1",
            f"{goal}/v1/checkpoint_0_step/outputs/a_00000000_v1.json": "one",
        }
        assert picture(home / "runs") == {}
    promoted(tree, 1, 0, "of the new definition")
    assert tree.archive_definition_runs(PIPELINE, 4, AT) == goal
    assert (home / "runs/v1").is_dir()


def test_a_definition_without_runs_leaves_no_archive(tree: Tree, home: Path) -> None:
    assert tree.archive_definition_runs(PIPELINE, 4, AT) is None
    assert picture(home / ".archived") == {}


def test_a_deleted_pipeline_is_archived_and_restored(tree: Tree, home: Path) -> None:
    promoted(tree, 1, 0, "one")
    before = picture(home)
    path = f".archived/{PIPELINE}_{STAMP}"
    for _ in range(2):
        assert tree.archive_pipeline(PIPELINE, AT) == path
        assert not home.exists()
        assert picture(tree.root / path) == before
    for _ in range(2):
        tree.restore_pipeline(PIPELINE, path)
        assert picture(home) == before
        assert picture(tree.root / ".archived") == {}


def test_restoring_a_pipeline_keeps_newer_files(tree: Tree, home: Path) -> None:
    file = promoted(tree, 1, 0, "one")
    path = tree.archive_pipeline(PIPELINE, AT)
    home.mkdir()
    (home / "notes.txt").write_text("mine")
    tree.restore_pipeline(PIPELINE, path)
    assert files(tree.root) == {
        f"{PIPELINE}/{file.path}": "one",
        f"{PIPELINE}/.archived/drift_{STAMP}/notes.txt": "mine",
    }


@pytest.mark.parametrize("path", ["..", ".archived/..", ".archived/../x", "elsewhere/x", f".archived/{PIPELINE}/runs"])
def test_a_pipeline_is_restored_from_the_archive_only(tree: Tree, path: str) -> None:
    with pytest.raises(UnsafePath):
        tree.restore_pipeline(PIPELINE, path)


def test_expired_archives_are_removed(tree: Tree, home: Path) -> None:
    tree.move_to_errored(PIPELINE, OLDER, AT - timedelta(days=91), b"{}", b"")
    young = tree.move_to_errored(PIPELINE, EXECUTION, AT - timedelta(days=89), b"{}", b"")
    (home / ".errored/mine").mkdir()
    old = tree.expired_folders(PIPELINE, AT - timedelta(days=90))
    assert old == (layout.errored_folder(OLDER, AT - timedelta(days=91)),)
    for _ in range(2):
        for path in old:
            tree.delete_expired(PIPELINE, path)
        assert sorted(f".errored/{path.name}" for path in (home / ".errored").iterdir()) == [young, ".errored/mine"]
    assert tree.expired_folders("unknown", AT) == ()


def test_a_test_run_is_removed_after_its_retention(tree: Tree, home: Path) -> None:
    folder = f"{layout.run_folder(None, RUN)}/checkpoint_0_step"
    tree.promote(PIPELINE, EXECUTION, folder, [artifact(b"one", folder=folder)])
    tree.delete_expired(PIPELINE, layout.run_folder(None, RUN))
    assert picture(home / "runs") == {}


@pytest.mark.parametrize(
    "path", ["runs/v1", "runs", ".temp/x", ".archived", ".archived/a/b", "runs/test_a/b", ".archived/.."]
)
def test_only_archives_can_be_deleted(tree: Tree, path: str) -> None:
    with pytest.raises(UnsafePath):
        tree.delete_expired(PIPELINE, path)


def test_latest_links_to_the_run_with_the_highest_version(tree: Tree, home: Path) -> None:
    for target in ("runs/v1", "runs/v2", "runs/v2"):
        tree.update_latest_link(PIPELINE, target)
        assert picture(home / "runs") == {"latest": f"-> {target.removeprefix('runs/')}"}
    for _ in range(2):
        tree.update_latest_link(PIPELINE, None)
        assert picture(home / "runs") == {}


def test_a_folder_called_latest_is_kept(tree: Tree, home: Path) -> None:
    (home / "runs/latest").mkdir()
    (home / "runs/latest/notes.txt").write_text("mine")
    tree.update_latest_link(PIPELINE, "runs/v1")
    assert files(home) == {"runs/latest": "-> v1", f".archived/drift_{STAMP}/runs/latest/notes.txt": "mine"}


def test_run_info_is_replaced(tree: Tree, home: Path) -> None:
    for content in (b"{}", b'{"status": "completed"}'):
        tree.write_run_info(PIPELINE, "runs/v1", content)
        assert files(home) == {"runs/v1/run_info.json": content.decode()}
