"""The public names of the `cairn` package, for authors of functions."""

from __future__ import annotations

import subprocess
import sys

import pytest

import cairn
from cairn.runners import Ctx, function


def test_functions_are_registered_with_the_package() -> None:
    assert (cairn.function, cairn.Ctx) == (function, Ctx)


@pytest.mark.parametrize("name", ["functions", "run"])
def test_other_names_are_not_exported(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'cairn' has no attribute '{name}'"):
        getattr(cairn, name)


def test_importing_the_package_imports_no_other_module_of_it() -> None:
    """`cairn version` and editors don't have to wait for imports that only runs need."""
    code = "import cairn, sys; print(sorted(name for name in sys.modules if name.startswith('cairn')))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['cairn']"
