"""Drift."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cairn.files import Drift, ExpectedTree, FileContent, RepairResult, Tree, Workspaces
from tests.files.disk import AT, EXECUTION, FOLDER, OLDER, PERMANENT, PIPELINE, STAMP, artifact, files, picture, unread
from tests.isolation import limit
from tests.mentions import mentions

OUTPUT = f"{FOLDER}/outputs/{PERMANENT}"
INFO = "runs/v1/run_info.json"
SKELETON = (".pipeline_system/definitions", ".pipeline_system/definitions/checkpoints", "runs")
ASIDE = f".archived/drift_{STAMP}"


@pytest.fixture
def expected(tree: Tree) -> ExpectedTree:
    """A run with one artifact, equal in the database and on disk."""
    contents = [artifact(b"one"), FileContent.of(INFO, b"{}")]
    tree.promote(PIPELINE, EXECUTION, FOLDER, contents[:1])
    tree.write_run_info(PIPELINE, "runs/v1", b"{}")
    tree.update_latest_link(PIPELINE, "runs/v1")
    return ExpectedTree({file.path: file for file in contents}, folders=(f"{FOLDER}/outputs",), latest="runs/v1")


def drift(expected: ExpectedTree, **found: Sequence[str] | bool) -> Drift:
    values = {name: value if isinstance(value, bool) else tuple(value) for name, value in found.items()}
    return Drift(PIPELINE, expected, **values)  # pyright: ignore[reportArgumentType]


def test_no_drift_where_disk_and_database_agree(tree: Tree, home: Path, expected: ExpectedTree) -> None:
    before = picture(home)
    found = tree.scan(PIPELINE, expected)
    assert (found, found.is_clean) == (drift(expected), True)
    assert tree.repair(found, AT) == RepairResult()
    assert picture(home) == before


def test_missing_files_are_regenerated(tree: Tree, home: Path, expected: ExpectedTree) -> None:
    before = picture(home)
    (home / OUTPUT).unlink()
    (home / INFO).unlink()
    found = tree.scan(PIPELINE, expected)
    assert (found, found.is_clean) == (drift(expected, missing=[OUTPUT, INFO]), False)
    assert tree.repair(found, AT) == RepairResult(written=(OUTPUT, INFO))
    assert picture(home) == before


def test_a_missing_run_folder_is_regenerated(tree: Tree, home: Path, expected: ExpectedTree) -> None:
    before = picture(home)
    home.rename(home.with_name("moved"))
    found = tree.scan(PIPELINE, expected)
    folders = [*SKELETON, f"{FOLDER}/outputs"]
    assert found == drift(expected, missing=[OUTPUT, INFO], missing_folders=folders, wrong_latest=True)
    tree.repair(found, AT)
    tree.create_pipeline(PIPELINE)
    assert picture(home) == before


@pytest.mark.parametrize("content", ["longer than before", "ONE", ""])
def test_a_changed_file_is_kept_before_it_is_regenerated(
    tree: Tree, home: Path, expected: ExpectedTree, content: str
) -> None:
    before = files(home)
    (home / OUTPUT).write_text(content)
    found = tree.scan(PIPELINE, expected)
    assert found == drift(expected, changed=[OUTPUT])
    assert tree.repair(found, AT) == RepairResult(written=(OUTPUT,), moved_aside=((OUTPUT, f"{ASIDE}/{OUTPUT}"),))
    assert files(home) == before | {f"{ASIDE}/{OUTPUT}": content}
    assert tree.scan(PIPELINE, expected).is_clean


def test_extra_files_and_folders_are_moved_aside(tree: Tree, home: Path, expected: ExpectedTree) -> None:
    before = picture(home)
    (home / FOLDER / "outputs/notes.txt").write_text("mine")
    (home / "runs/v7/deep/er").mkdir(parents=True)
    (home / "runs/v7/deep/er/file").write_text("mine too")
    (home / "runs/v1/empty").mkdir()
    (home / ".pipeline_system/definitions/link").symlink_to("/etc")
    extra = (".pipeline_system/definitions/link", f"{FOLDER}/outputs/notes.txt", "runs/v1/empty", "runs/v7")
    found = tree.scan(PIPELINE, expected)
    assert found == drift(expected, extra=extra)
    assert tree.repair(found, AT) == RepairResult(moved_aside=tuple((path, f"{ASIDE}/{path}") for path in extra))
    after = picture(home)
    assert {path: after[path] for path in before} == before
    assert files(home / ASIDE) == {
        f"{FOLDER}/outputs/notes.txt": "mine",
        "runs/v7/deep/er/file": "mine too",
        ".pipeline_system/definitions/link": "-> /etc",
    }
    assert (home / ASIDE / "runs/v1/empty").is_dir()
    assert tree.scan(PIPELINE, expected).is_clean


def test_folders_outside_the_projection_are_not_touched(tree: Tree, home: Path, expected: ExpectedTree) -> None:
    for path in (".archived/mine", ".errored/mine", ".pipeline_system/logs/mine", "mine"):
        (home / path).write_text("x")
    assert tree.scan(PIPELINE, expected).is_clean


def test_a_file_instead_of_a_folder_is_moved_aside(tree: Tree, home: Path, expected: ExpectedTree) -> None:
    before = files(home)
    (home / FOLDER).rename(home / "moved")
    (home / FOLDER).write_text("not a folder")
    found = tree.scan(PIPELINE, expected)
    assert found == drift(expected, missing=[OUTPUT], missing_folders=[f"{FOLDER}/outputs"], extra=[FOLDER])
    tree.repair(found, AT)
    (home / "moved/outputs" / PERMANENT).unlink()
    assert files(home) == before | {f"{ASIDE}/{FOLDER}": "not a folder"}


def test_a_folder_instead_of_a_file_is_moved_aside(tree: Tree, home: Path, expected: ExpectedTree) -> None:
    before = files(home)
    (home / INFO).unlink()
    (home / INFO).mkdir()
    (home / INFO / "x").write_text("mine")
    found = tree.scan(PIPELINE, expected)
    assert found == drift(expected, missing=[INFO], extra=[INFO])
    tree.repair(found, AT)
    assert files(home) == before | {f"{ASIDE}/{INFO}/x": "mine"}


@pytest.mark.parametrize("path", ["runs", "runs/v1", FOLDER, f"{FOLDER}/outputs", OUTPUT])
def test_links_in_the_way_are_moved_and_never_followed(
    tree: Tree, home: Path, expected: ExpectedTree, tmp_path: Path, path: str
) -> None:
    outside = tmp_path / "outside"
    (home / path).rename(outside)
    (home / path).symlink_to(outside)
    untouched = picture(tmp_path / "outside") if outside.is_dir() else outside.read_text()
    found = tree.scan(PIPELINE, expected)
    assert path in found.extra
    tree.repair(found, AT)
    assert tree.scan(PIPELINE, expected).is_clean
    assert (home / OUTPUT).resolve() == home / OUTPUT
    assert (home / ASIDE / path).readlink() == outside
    assert (picture(outside) if outside.is_dir() else outside.read_text()) == untouched


@pytest.mark.parametrize("target", ["v2", "/etc", None])
def test_a_wrong_latest_link_is_repaired(tree: Tree, home: Path, expected: ExpectedTree, target: str | None) -> None:
    (home / "runs/latest").unlink()
    if target:
        (home / "runs/latest").symlink_to(target)
    found = tree.scan(PIPELINE, expected)
    assert found == drift(expected, wrong_latest=True)
    assert tree.repair(found, AT) == RepairResult(written=("runs/latest",))
    assert (home / "runs/latest").readlink() == Path("v1")


def test_latest_is_removed_when_no_run_is_left(tree: Tree, home: Path) -> None:
    tree.update_latest_link(PIPELINE, "runs/v1")
    tree.repair(tree.scan(PIPELINE, ExpectedTree({})), AT)
    assert picture(home / "runs") == {}


def test_a_single_run_can_be_scanned(tree: Tree, home: Path, expected: ExpectedTree) -> None:
    (home / "runs/v2").mkdir()
    (home / "runs/latest").unlink()
    (home / "runs/v1/extra").write_text("x")
    (home / INFO).unlink()
    assert tree.scan(PIPELINE, expected, under=("runs/v1",)) == drift(expected, missing=[INFO], extra=["runs/v1/extra"])
    assert tree.scan(PIPELINE, expected, under=("runs/v2",)) == drift(expected)


def test_changes_after_the_database_was_read_are_ignored(tree: Tree, home: Path) -> None:
    """A run may continue while its pipeline is scanned."""
    read = datetime.now(UTC) - timedelta(seconds=1)
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])
    tree.create_workspace(PIPELINE, EXECUTION)
    (home / "runs/v1/.cairn-new-0123").mkdir()
    known = {OUTPUT: artifact(b"two")}
    for files_then in ({}, known):
        early = ExpectedTree(files_then, workspaces=Workspaces((), ()), as_of=read)
        assert tree.scan(PIPELINE, early) == Drift(PIPELINE, early)
    late = ExpectedTree(known, workspaces=Workspaces((), ()), as_of=datetime.now(UTC) + timedelta(seconds=1))
    assert tree.scan(PIPELINE, late) == Drift(
        PIPELINE,
        late,
        changed=(OUTPUT,),
        extra=(f".temp/exec_{EXECUTION}",),
        leftovers=("runs/v1/.cairn-new-0123",),
    )


def test_temporary_files_are_removed(tree: Tree, home: Path, expected: ExpectedTree) -> None:
    before = picture(home)
    (home / "runs/v1/.cairn-new-0123").mkdir()
    (home / "runs/v1/.cairn-new-0123/file").write_text("ha")
    (home / FOLDER / "outputs/.cairn-new-4567").write_text("half")
    leftovers = ("runs/v1/.cairn-new-0123", f"{FOLDER}/outputs/.cairn-new-4567")
    found = tree.scan(PIPELINE, expected)
    assert found == drift(expected, leftovers=leftovers)
    assert tree.repair(found, AT) == RepairResult(removed=leftovers)
    assert picture(home) == before


def test_workspaces_follow_the_database(tree: Tree, home: Path) -> None:
    """Missing ones are created, unneeded ones deleted, unknown ones moved aside."""
    opened, left, unknown = "open", "left", "unknown"
    for execution in (left, unknown):
        tree.create_workspace(PIPELINE, execution)
    (home / ".temp/mine.txt").write_text("mine")
    expected = ExpectedTree({}, workspaces=Workspaces(open=[opened], known={opened, left}))
    found = tree.scan(PIPELINE, expected)
    assert found == drift(
        expected,
        extra=[".temp/exec_unknown", ".temp/mine.txt"],
        leftovers=[".temp/exec_left"],
        missing_workspaces=[opened],
    )
    tree.repair(found, AT)
    assert tree.scan(PIPELINE, expected).is_clean
    assert sorted(path.name for path in (home / ".temp").iterdir()) == ["exec_open"]
    assert sorted(path.name for path in (home / ASIDE / ".temp").iterdir()) == ["exec_unknown", "mine.txt"]


def test_a_file_instead_of_a_workspace_is_replaced(tree: Tree, home: Path) -> None:
    (home / f".temp/exec_{EXECUTION}").write_text("not a folder")
    (home / ".temp/.cairn-new-0123").mkdir()
    expected = ExpectedTree({}, workspaces=Workspaces(open=[EXECUTION], known={EXECUTION}))
    found = tree.scan(PIPELINE, expected)
    assert found == drift(
        expected,
        extra=[f".temp/exec_{EXECUTION}"],
        leftovers=[".temp/.cairn-new-0123"],
        missing_workspaces=[EXECUTION],
    )
    tree.repair(found, AT)
    assert tree.scan(PIPELINE, expected).is_clean


def test_workspaces_are_created_when_their_folder_is_missing(tree: Tree, home: Path, tmp_path: Path) -> None:
    expected = ExpectedTree({}, workspaces=Workspaces(open=[EXECUTION], known={EXECUTION}))
    (home / ".temp").rmdir()
    (home / ".temp").symlink_to(tmp_path)
    tree.repair(tree.scan(PIPELINE, expected), AT)
    assert tree.scan(PIPELINE, expected).is_clean
    home.rename(tmp_path / "gone")
    tree.repair(tree.scan(PIPELINE, expected), AT)
    assert tree.scan(PIPELINE, expected).is_clean


def test_names_that_are_not_utf_8_are_moved_and_printable(tree: Tree, home: Path, expected: ExpectedTree) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (home / "runs/v1" / name).write_text("mine")
    report = tree.repair(tree.scan(PIPELINE, expected), AT)
    assert report.moved_aside == (("runs/v1/caf\\xe9.txt", f"{ASIDE}/runs/v1/caf\\xe9.txt"),)
    assert (home / ASIDE / "runs/v1" / name).read_text() == "mine"


def test_a_failed_repair_is_reported_and_the_others_continue(tree: Tree, home: Path, expected: ExpectedTree) -> None:
    (home / OUTPUT).unlink()
    (home / INFO).unlink()

    def broken() -> bytes:
        raise OSError(28, "No space left on device")

    lost = FileContent(OUTPUT, expected.files[OUTPUT].checksum, 3, broken)
    report = tree.repair(tree.scan(PIPELINE, ExpectedTree({**expected.files, OUTPUT: lost}, latest="runs/v1")), AT)
    assert report.written == (INFO,)
    assert [path for path, _ in report.failed] == [OUTPUT]
    assert report.failed[0][1] == mentions("`cairn doctor --repair`")


def test_thousands_of_files_are_scanned_in_a_second(tree: Tree, home: Path) -> None:
    contents: dict[str, FileContent] = {}
    for run in range(1, 9):
        for position in range(25):
            folder = f"runs/v{run}/checkpoint_{position}_step"
            (home / folder / "outputs").mkdir(parents=True)
            for number in range(20):
                file = unread(artifact(b"x" * 200, folder=folder, name=f"a{number}", staged_as=None))
                (home / file.path).write_bytes(b"x" * 200)
                contents[file.path] = file
    started = time.perf_counter()
    assert tree.scan(PIPELINE, ExpectedTree(contents)).is_clean
    assert time.perf_counter() - started < limit(1.0)


def test_a_pipeline_without_a_folder_can_be_scanned(tree: Tree) -> None:
    expected = ExpectedTree({}, workspaces=Workspaces(open=[OLDER], known={OLDER}))
    found = tree.scan("unknown", expected)
    assert found == Drift("unknown", expected, missing_folders=SKELETON, missing_workspaces=(OLDER,))
    assert not (tree.root / "unknown").exists()
