"""Definitions on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.files import FileContent, Tree, UnsafePath
from tests.files.disk import PIPELINE, STAMP, files, picture

ASIDE = f".archived/drift_{STAMP}"


def test_exactly_the_given_definitions_are_written(tree: Tree, home: Path) -> None:
    system = ".pipeline_system/definitions"
    tree.write_definition(PIPELINE, b'{"p": 1}', {"c1": b"{}", "c2": b"{}"}, {"tools/a.py": b"pass"})
    former = {FileContent.of("", data).checksum for data in (b'{"p": 1}', b"{}", b"pass")}
    (home / system / "checkpoints/c2.json").write_text("edited by hand")
    for _ in range(2):
        tree.write_definition(PIPELINE, b'{"p": 2}', {"c1": b"{}"}, {"tools/b.py": b"pass"}, former)
        assert files(home) == {
            f"{system}/pipeline.json": '{"p": 2}',
            f"{system}/checkpoints/c1.json": "{}",
            f"{system}/scripts/tools/b.py": "pass",
            f"{ASIDE}/{system}/checkpoints/c2.json": "edited by hand",
        }


def test_definitions_edited_by_hand_are_kept(tree: Tree, home: Path) -> None:
    tree.write_definition(PIPELINE, b'{"p": 1}', {})
    tree.write_definition(PIPELINE, b'{"p": 2}', {})
    assert files(home) == {
        ".pipeline_system/definitions/pipeline.json": '{"p": 2}',
        f"{ASIDE}/.pipeline_system/definitions/pipeline.json": '{"p": 1}',
    }


@pytest.mark.parametrize("path", ["../../x.py", "/etc/x.py", "a//b.py", ""])
def test_scripts_stay_in_their_folder(tree: Tree, home: Path, path: str) -> None:
    before = picture(home)
    with pytest.raises(UnsafePath):
        tree.write_definition(PIPELINE, b"{}", {}, {path: b"pass"})
    assert picture(home) == before
