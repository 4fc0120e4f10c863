"""The content of a folder as one comparable value."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from cairn.files import FileContent, layout

PIPELINE = "0f3c1a52-5b9e-4a3c-9a53-2f6f4b1d7e01"
RUN = "7d0b8f0e-93f6-4f5b-8b1d-0c5a1c8d2a02"
EXECUTION = "3b9d5c1e-2a44-4c59-8e53-6a7f0e9b1c03"
OLDER = "a1b2c3d4-0000-4000-8000-000000000004"
ROLLBACK = "c0ffee00-0000-4000-8000-000000000005"
AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
STAMP = "20260304T050607Z"

FOLDER = "runs/v1/checkpoint_0_goals"
STAGED = "goals_a1b2c3d4.json"
PERMANENT = "goals_a1b2c3d4_v1.json"


def picture(top: Path) -> dict[str, str]:
    """Every file, link and folder below `top`: its path, and its content, target or a slash."""
    found: dict[str, str] = {}
    for folder, inner, files in os.walk(top):
        for name in [*inner, *files]:
            path = Path(folder, name)
            relative = path.relative_to(top).as_posix()
            if path.is_symlink():
                found[relative] = f"-> {path.readlink()}"
            else:
                found[relative] = "/" if path.is_dir() else path.read_bytes().decode("utf-8", "replace")
    return found


def files(top: Path) -> dict[str, str]:
    """The same without folders."""
    return {path: content for path, content in picture(top).items() if content != "/"}


def artifact(
    data: bytes, *, folder: str = FOLDER, name: str = PERMANENT, staged_as: str | None = STAGED
) -> FileContent:
    return FileContent.of(f"{folder}/{layout.OUTPUTS}/{name}", data, staged_as)


def unread(file: FileContent) -> FileContent:
    """The same file; the test fails if its content is read."""

    def read() -> bytes:
        raise AssertionError(f"{file.path} was read")

    return FileContent(file.path, file.checksum, file.size, read, file.staged_as)
