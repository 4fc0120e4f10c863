"""The folder with the scripts of the definition, rewritten for each dispatch."""

from __future__ import annotations

import shutil
from pathlib import Path

from cairn.core.execution import Failure
from cairn.definitions.execution_config import ScriptConfig
from cairn.definitions.script_files import normalize_path
from cairn.ports import WorkOrder

FOLDER = "scripts"
INLINE = "script_source.py"


def find_script(config: ScriptConfig, work: WorkOrder) -> str | Failure:
    """The path of the script's file, relative to the folder."""
    if config.script_source is not None:
        return INLINE
    path = normalize_path(config.script_path or "")
    if path in work.scripts:
        return path
    known = ", ".join(sorted(work.scripts)[:10]) or "none"
    return Failure("script_not_found", f"The pipeline has no script {path!r}. Its scripts are: {known}.")


def write_scripts(config: ScriptConfig, work: WorkOrder) -> Path:
    """Write the files next to the workspace. An existing folder is deleted, and links are not followed."""
    folder = work.workspace.parent / FOLDER
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    for path, stored in work.scripts.items():
        _write(folder, path, stored.read())
    if config.script_source is not None:
        _write(folder, INLINE, config.script_source.encode(errors="replace"))
    return folder


def _write(folder: Path, path: str, content: bytes) -> None:
    *steps, name = path.split("/")
    for step in steps:
        folder /= step
        folder.mkdir(mode=0o755, exist_ok=True)
        folder.chmod(0o755)
    (folder / name).write_bytes(content)
    (folder / name).chmod(0o644)
