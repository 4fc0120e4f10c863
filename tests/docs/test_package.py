"""What `import cairn` gives to those who write functions."""

from __future__ import annotations

import subprocess
import sys

import pytest

import cairn
from cairn.runners import Ctx, function


def test_functions_are_registered_with_the_package() -> None:
    assert (cairn.function, cairn.Ctx) == (function, Ctx)


@pytest.mark.parametrize("name", ["functions", "run"])
def test_other_names_are_not_there(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'cairn' has no attribute '{name}'"):
        getattr(cairn, name)


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    """`cairn version` and editors need not wait for what runs pipelines."""
    code = "import cairn, sys; print(sorted(name for name in sys.modules if name.startswith('cairn')))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "['cairn']"
