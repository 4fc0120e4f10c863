"""Find and delete expired folders."""

from __future__ import annotations

import re
from datetime import datetime

from cairn.files import layout, safe_folder
from cairn.files.errors import UnsafePath
from cairn.files.pipeline_folder import PipelineFolder

_DELETABLE = re.compile(r"(\.archived/|\.errored/|runs/test_)[^/]+")
_STAMP = re.compile(r"_(\d{8}T\d{6}Z)(~\d+)?$")


def expired(pipeline: PipelineFolder, before: datetime, within: str) -> tuple[str, ...]:
    """Folders whose name contains an earlier time. Folders without a time belong to users."""
    try:
        folder = pipeline.open(*layout.split_path(within))
    except FileNotFoundError:
        return ()
    with folder as fd:
        stamps = [(name, _STAMP.search(name)) for name in sorted(safe_folder.list_names(fd))]
    limit = layout.stamp(before)
    return tuple(f"{within}/{name}" for name, stamp in stamps if stamp is not None and stamp[1] < limit)


def delete(pipeline: PipelineFolder, path: str) -> None:
    layout.split_path(path)
    if not _DELETABLE.fullmatch(path):
        raise UnsafePath(f"{path!r} never expires")
    try:
        folder, name = pipeline.parent(path)
    except FileNotFoundError:
        return
    with folder as fd:
        safe_folder.remove_tree(fd, name)
