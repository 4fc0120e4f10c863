"""The folder that a script is read from: the files of its own definition, written anew for each dispatch."""

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
    """The path of the file that is run."""
    if config.script_source is not None:
        return INLINE
    path = normalize_path(config.script_path or "")
    if path in work.scripts:
        return path
    known = ", ".join(sorted(work.scripts)[:10]) or "none at all"
    return Failure("script_not_found", f"The pipeline has no script {path!r}. Its scripts: {known}.")


def furnish(config: ScriptConfig, work: WorkOrder) -> Path:
    """Write the files beside the workspace. Nothing in there is followed or kept from before."""
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
    place = folder
    *steps, name = path.split("/")
    for step in steps:
        place /= step
        place.mkdir(mode=0o755, exist_ok=True)
        place.chmod(0o755)
    (place / name).write_bytes(content)
    (place / name).chmod(0o644)
