"""What is past its time and goes for good."""

from __future__ import annotations

import re
from datetime import datetime

from cairn.files import layout, safe_folder
from cairn.files.errors import UnsafePath
from cairn.files.pipeline_folder import PipelineFolder

_DISCARDABLE = re.compile(r"(\.archived/|\.errored/|runs/test_)[^/]+")
_STAMP = re.compile(r"_(\d{8}T\d{6}Z)(~\d+)?$")


def expired(room: PipelineFolder, before: datetime, within: str) -> tuple[str, ...]:
    """What bears an earlier time in its name. What bears none is a user's."""
    try:
        folder = room.open(*layout.parts(within))
    except FileNotFoundError:
        return ()
    with folder as fd:
        stamps = [(name, _STAMP.search(name)) for name in sorted(safe_folder.names(fd))]
    limit = layout.stamp(before)
    return tuple(f"{within}/{name}" for name, stamp in stamps if stamp is not None and stamp[1] < limit)


def discard(room: PipelineFolder, path: str) -> None:
    layout.parts(path)
    if not _DISCARDABLE.fullmatch(path):
        raise UnsafePath(f"{path!r} is not kept for a time only")
    try:
        folder, name = room.parent(path)
    except FileNotFoundError:
        return
    with folder as fd:
        safe_folder.remove_tree(fd, name)
