"""A tree on the real file system, with one pipeline in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cairn.files import Tree
from tests.files.disk import AT, PIPELINE


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path / "pipelines", lambda: AT)
    tree.create_pipeline(PIPELINE)
    return tree


@pytest.fixture
def home(tree: Tree) -> Path:
    """The pipeline's folder."""
    return tree.root / PIPELINE
