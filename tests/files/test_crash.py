"""An operation killed after any step leaves complete files and can be repeated."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from cairn.files import ExpectedTree, FileContent, FileMove, Tree, Workspaces, layout
from tests.files.disk import AT, EXECUTION, FOLDER, OLDER, PERMANENT, PIPELINE, STAMP, artifact, files, picture

OUTPUT = f"{FOLDER}/outputs/{PERMANENT}"
SUPERSEDED = f"{FOLDER}/superseded/{OLDER}/{PERMANENT}"
SECOND = FileContent.of(f"{FOLDER}/outputs/two_00000000_v1.md", b"# two")
INFO = FileContent.of("runs/v1/run_info.json", b"{}")
ARCHIVE = ".archived/rollback_r_1"
ARCHIVED = f"{ARCHIVE}/archived_data/v1_checkpoint_0"
MOVES = [FileMove(FOLDER, ARCHIVED), FileMove(OUTPUT, f"{ARCHIVED}/outputs/{PERMANENT}", artifact(b"one"))]
EXPECTED = ExpectedTree(
    {file.path: file for file in (artifact(b"one"), SECOND, INFO)},
    latest="runs/v1",
    workspaces=Workspaces(open=[EXECUTION], known={EXECUTION, OLDER}),
)
COMPLETE = {"one", "two", "# two", "{}", '{"p": 1}', '{"p": 2}', "edited", "log", "-> v1", "-> v2", "x"}

Step = Callable[[Tree], object]


def nothing(tree: Tree) -> None:
    pass


def worked_in(tree: Tree) -> None:
    tree.stage(PIPELINE, EXECUTION, [artifact(b"one")])
    (tree.root / PIPELINE / f".temp/exec_{EXECUTION}/workspace/a/b").mkdir(parents=True)
    (tree.root / PIPELINE / f".temp/exec_{EXECUTION}/workspace/a/b/c").write_text("x")


def promoted(tree: Tree) -> None:
    tree.promote(PIPELINE, OLDER, FOLDER, [artifact(b"one"), SECOND])


def archived(tree: Tree) -> None:
    promoted(tree)
    tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", MOVES)


def returned(tree: Tree) -> None:
    """Something is at the path that an archived checkpoint returns to."""
    archived(tree)
    tree.promote(PIPELINE, OLDER, FOLDER, [artifact(b"two")])


def deleted(tree: Tree) -> None:
    promoted(tree)
    tree.archive_pipeline(PIPELINE, AT)


def spare(tree: Tree) -> None:
    tree.create_workspace(PIPELINE, OLDER)
    tree.delete_workspace(PIPELINE, OLDER, is_reusable=True)


def drifted(tree: Tree) -> None:
    promoted(tree)
    home = tree.root / PIPELINE
    (home / OUTPUT).write_text("edited")
    (home / SECOND.path).unlink()
    (home / "runs/extra").mkdir()
    (home / "runs/extra/file").write_text("x")
    (home / "runs/latest").symlink_to("v2")
    tree.create_workspace(PIPELINE, OLDER)


def rework(tree: Tree) -> None:
    superseding = FileMove(SECOND.path, f"{FOLDER}/superseded/{OLDER}/two_00000000_v1.md", SECOND)
    moves = [FileMove(OUTPUT, SUPERSEDED, FileContent.of(SUPERSEDED, b"one")), superseding]
    tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"two")], moves)


def defined(tree: Tree) -> None:
    tree.write_definition(PIPELINE, b'{"p": 1}', {"c1": b"{}", "c2": b"{}"})


CASES: dict[str, tuple[Step, Step]] = {
    "make a pipeline": (nothing, lambda tree: tree.create_pipeline("another")),
    "make a workspace": (nothing, lambda tree: tree.create_workspace(PIPELINE, EXECUTION)),
    "reuse a workspace": (spare, lambda tree: tree.create_workspace(PIPELINE, EXECUTION)),
    "keep a workspace": (
        lambda tree: tree.create_workspace(PIPELINE, EXECUTION),
        lambda tree: tree.delete_workspace(PIPELINE, EXECUTION, is_reusable=True),
    ),
    "drop a workspace": (worked_in, lambda tree: tree.delete_workspace(PIPELINE, EXECUTION)),
    "stage": (worked_in, lambda tree: tree.stage(PIPELINE, EXECUTION, [artifact(b"two", staged_as="two_00000000.md")])),
    "promote": (nothing, lambda tree: tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one"), SECOND])),
    "promote what is staged": (worked_in, lambda tree: tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one")])),
    "promote over something else": (
        promoted,
        lambda tree: tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"two")]),
    ),
    "rework": (promoted, rework),
    "move to errored": (worked_in, lambda tree: tree.move_to_errored(PIPELINE, EXECUTION, AT, b"{}", b"log")),
    "write run info": (promoted, lambda tree: tree.write_run_info(PIPELINE, "runs/v1", b"{}")),
    "point latest": (
        lambda tree: tree.update_latest_link(PIPELINE, "runs/v1"),
        lambda tree: tree.update_latest_link(PIPELINE, "runs/v2"),
    ),
    "archive": (promoted, lambda tree: tree.archive_rollback(PIPELINE, ARCHIVE, b"{}", MOVES)),
    "undo": (archived, lambda tree: tree.restore_rollback(PIPELINE, ARCHIVE, MOVES)),
    "undo over something newer": (returned, lambda tree: tree.restore_rollback(PIPELINE, ARCHIVE, MOVES)),
    "set a pass aside": (
        promoted,
        lambda tree: tree.archive_pass(PIPELINE, "runs/v1", 1, [FOLDER.rpartition("/")[2]]),
    ),
    "end a definition": (promoted, lambda tree: tree.archive_definition_runs(PIPELINE, 1, AT)),
    "write a definition": (defined, lambda tree: tree.write_definition(PIPELINE, b'{"p": 2}', {"c1": b"{}"})),
    "delete a pipeline": (promoted, lambda tree: tree.archive_pipeline(PIPELINE, AT)),
    "restore a pipeline": (deleted, lambda tree: tree.restore_pipeline(PIPELINE, f".archived/{PIPELINE}_{STAMP}")),
    "discard": (archived, lambda tree: tree.delete_expired(PIPELINE, ARCHIVE)),
    "repair": (drifted, lambda tree: tree.repair(tree.scan(PIPELINE, EXPECTED), AT)),
}


class Killed(BaseException):
    """Not caught by any handler of the product."""


@contextmanager
def killed_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> Generator[list[str]]:
    """Allow this many changes of the disk, then raise. The last write is cut in half."""
    done: list[str] = []

    def counted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def carry_out(*args: Any, **named: Any) -> Any:
            if name == "open" and not args[1] & os.O_CREAT:
                return call(*args, **named)
            if len(done) + 1 == steps and name == "write":
                call(args[0], args[1][: len(args[1]) // 2])
                raise Killed
            answer = call(*args, **named)
            done.append(name)
            if len(done) == steps:
                if name == "open":
                    os.close(answer)
                raise Killed
            return answer

        return carry_out

    with monkeypatch.context() as patch:
        for name in ("mkdir", "rename", "write", "open", "unlink", "rmdir", "symlink", "link"):
            patch.setattr(os, name, counted(name, getattr(os, name)))
        yield done


def finished(top: Path) -> dict[str, str]:
    """The picture without temporary files, which a repair removes, and without spare folders."""
    ignored = (layout.TEMPORARY_PREFIX, ".spare")
    return {path: at for path, at in picture(top).items() if not any(part in path for part in ignored)}


@pytest.mark.parametrize("name", CASES)
def test_repeating_an_operation_finishes_it_after_a_kill_at_any_step(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, operation = CASES[name]

    def prepared(folder: str) -> Tree:
        tree = Tree(tmp_path / folder, lambda: AT)
        tree.create_pipeline(PIPELINE)
        before(tree)
        return tree

    uninterrupted = prepared("uninterrupted")
    with killed_after(-1, monkeypatch) as steps:
        operation(uninterrupted)
    expected = finished(uninterrupted.root)
    assert steps, "the operation changes something"
    for step in range(1, len(steps) + 1):
        tree = prepared(f"killed-{step}")
        with killed_after(step, monkeypatch), pytest.raises(Killed):
            operation(tree)
        assert {text for text in finished(tree.root).values() if text != "/"} <= COMPLETE
        operation(Tree(tree.root, lambda: AT))
        assert finished(tree.root) == expected, f"killed after step {step} of {steps}"


def test_a_promotion_is_atomic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several artifacts of one checkpoint appear together."""
    seen: set[tuple[str, ...]] = set()
    for step in range(1, 9):
        tree = Tree(tmp_path / str(step))
        tree.create_pipeline(PIPELINE)
        with killed_after(step, monkeypatch), suppress(Killed):
            tree.promote(PIPELINE, EXECUTION, FOLDER, [artifact(b"one"), SECOND])
        seen.add(tuple(sorted(path for path in files(tree.root / PIPELINE) if layout.TEMPORARY_PREFIX not in path)))
    assert seen == {(), (OUTPUT, SECOND.path)}


def test_rework_never_leaves_a_name_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    for step in range(1, 12):
        tree = Tree(tmp_path / str(step))
        tree.create_pipeline(PIPELINE)
        promoted(tree)
        with killed_after(step, monkeypatch), suppress(Killed):
            rework(tree)
        seen.append((tree.root / PIPELINE / OUTPUT).read_text())
    assert seen == sorted(seen)
    assert set(seen) == {"one", "two"}


CHILD = """
import sys
from pathlib import Path
from cairn.files import FileContent, Tree
tree = Tree(Path(sys.argv[1]))
for number in range(100_000):
    folder = f"runs/v1/checkpoint_{number}_x"
    tree.create_workspace("p", f"e{number}")
    data = b"y" * 50_000 + b"end"
    tree.promote("p", f"e{number}", folder, [FileContent.of(f"{folder}/outputs/a", data)])
    tree.promote("p", f"f{number}", folder, [FileContent.of(f"{folder}/outputs/a", data[::-1])])
    tree.delete_workspace("p", f"e{number}", is_reusable=number % 2 == 0)
    print(number, flush=True)
"""


@pytest.mark.chaos
@pytest.mark.parametrize("seconds", [0.01, 0.03, 0.06])
def test_a_killed_process_leaves_complete_files(tmp_path: Path, seconds: float) -> None:
    with subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(seconds)
        child.kill()
    data = b"y" * 50_000 + b"end"
    published = (tmp_path / "p/runs").glob(
        "v1/checkpoint_*/outputs/a"
    )  # a folder that is being filled has another name
    found = {path.read_bytes() for path in published}
    assert found
    assert found <= {data, data[::-1]}


def test_two_runs_of_one_pipeline_write_at_once(tree: Tree, home: Path) -> None:
    faults: list[BaseException] = []

    def run(version: int) -> None:
        try:
            for position in range(30):
                execution = f"e{version}-{position}"
                folder = f"runs/v{version}/checkpoint_{position}_x"
                tree.create_workspace(PIPELINE, execution)
                file = FileContent.of(f"{folder}/outputs/a", f"{version} {position}".encode(), "a")
                tree.stage(PIPELINE, execution, [file])
                tree.promote(PIPELINE, execution, folder, [file])
                tree.write_run_info(PIPELINE, f"runs/v{version}", b"{}")
                tree.update_latest_link(PIPELINE, f"runs/v{version}")
                tree.delete_workspace(PIPELINE, execution, is_reusable=True)
        except BaseException as fault:  # noqa: BLE001  checked below
            faults.append(fault)

    threads = [threading.Thread(target=run, args=(version,)) for version in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    (home / "runs/latest").unlink()
    assert files(home) == {
        f"runs/v{version}/checkpoint_{position}_x/outputs/a": f"{version} {position}"
        for version in range(1, 7)
        for position in range(30)
    } | {f"runs/v{version}/run_info.json": "{}" for version in range(1, 7)}
