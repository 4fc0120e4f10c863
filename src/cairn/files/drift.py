"""What the disk has otherwise than the database, found and put right. Nothing of a user's is deleted."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from cairn.files import layout, workspace
from cairn.files import safe_folder as folders
from cairn.files.content import FileContent
from cairn.files.pipeline_folder import PipelineFolder


@dataclass(frozen=True, slots=True)
class Workspaces:
    """The executions whose workspaces should be there, and all that the database knows of."""

    open: Collection[str]
    known: Container[str]


@dataclass(frozen=True, slots=True)
class ExpectedTree:
    """What the database says should stand in a pipeline's folder."""

    files: Mapping[str, FileContent]
    folders: Collection[str] = ()  # that should be there even if they are empty
    latest: str | None = None  # the run's folder that `runs/latest` leads to; looked at with the whole of `runs`
    workspaces: Workspaces | None = None  # None: they are not looked at
    as_of: datetime | None = None  # when the database was read: what has changed on disk since is not judged


@dataclass(frozen=True, slots=True)
class Drift:
    """How a pipeline's folder differs. Paths are as on disk; print them with `shown`."""

    pipeline_id: str
    expected: ExpectedTree
    missing: tuple[str, ...] = ()  # files
    missing_folders: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()  # files, links and whole folders that the database does not know
    wrong_latest: bool = False
    missing_workspaces: tuple[str, ...] = ()  # of these executions
    left: tuple[str, ...] = ()  # Cairn's own leavings: half-made files, workspaces that are no longer needed

    @property
    def is_clean(self) -> bool:
        found = (self.missing, self.missing_folders, self.changed, self.extra, self.missing_workspaces, self.left)
        return not (self.wrong_latest or any(found))


@dataclass(slots=True)
class _Walk:
    expected: ExpectedTree
    under: Sequence[str]
    files: dict[str, FileContent]
    folders: set[str]
    seen: set[str] = field(default_factory=set[str])
    changed: list[str] = field(default_factory=list[str])
    extra: list[str] = field(default_factory=list[str])
    left: list[str] = field(default_factory=list[str])

    def note(self, found: list[str], entry: os.DirEntry[str], place: str) -> None:
        as_of = self.expected.as_of
        try:
            if as_of is None or entry.stat(follow_symlinks=False).st_ctime <= as_of.timestamp():
                found.append(place)
        except FileNotFoundError:
            return  # gone since it was listed


def scan(room: PipelineFolder, expected: ExpectedTree, under: Sequence[str]) -> Drift:
    """Compare what lies under these folders with what should; contents by size, then by checksum."""
    files = {path: file for path, file in expected.files.items() if _is_under(path, under)}
    wanted = [path for path in (*layout.SKELETON, *expected.folders) if _is_under(path, under)]
    for path in (*files, *wanted):
        layout.parts(path)
    walk = _Walk(expected, under, files, _with_parents(files, wanted, under))
    absent: tuple[str, ...] = ()
    try:
        folder = room.open()
    except FileNotFoundError:
        absent = tuple(expected.workspaces.open) if expected.workspaces is not None else ()
    else:
        with folder as top:
            _look(walk, top, "")
            if expected.workspaces is not None:
                absent = _look_at_workspaces(walk, top, expected.workspaces)
    return Drift(
        room.pipeline_id,
        expected,
        missing=tuple(path for path in files if path not in walk.seen),
        missing_folders=tuple(path for path in wanted if path not in walk.seen),
        changed=tuple(sorted(walk.changed)),
        extra=tuple(sorted(walk.extra)),
        wrong_latest=layout.RUNS in under and _latest(room) != expected.latest,
        missing_workspaces=absent,
        left=tuple(sorted(walk.left)),
    )


def _look(walk: _Walk, fd: int, path: str) -> None:
    """Compare one folder. Where only some folders below are looked at, the rest is passed over."""
    inside = _is_under(path, walk.under)
    with os.scandir(fd) as entries:
        for entry in entries:
            place = f"{path}/{entry.name}" if path else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if not inside and place not in walk.folders:
                continue
            if entry.name.startswith(layout.UNFINISHED):
                walk.note(walk.left, entry, place)
            elif is_folder and place in walk.folders:
                _look_inside(walk, fd, entry.name, place)
            elif place in walk.files and entry.is_file(follow_symlinks=False):
                walk.seen.add(place)
                file = walk.files[place]
                if not folders.holds(fd, entry.name, file.size, file.checksum):
                    walk.note(walk.changed, entry, place)
            elif place != layout.LATEST or not entry.is_symlink():
                walk.note(walk.extra, entry, place)


def _look_inside(walk: _Walk, fd: int, name: str, place: str) -> None:
    try:
        inner = folders.open_inside(fd, name)
    except FileNotFoundError:
        return  # gone since it was listed
    walk.seen.add(place)
    try:
        _look(walk, inner, place)
    finally:
        os.close(inner)


def _look_at_workspaces(walk: _Walk, top: int, workspaces: Workspaces) -> tuple[str, ...]:
    """Sort what lies in `.temp`; the answer is whose workspaces are missing."""
    if (kind := folders.kind(top, layout.TEMP)) != stat.S_IFDIR:
        walk.extra.extend([] if kind is None else [layout.TEMP])
        return tuple(workspaces.open)
    found: set[str] = set()
    temp = folders.open_inside(top, layout.TEMP)
    try:
        with os.scandir(temp) as entries:
            for entry in entries:
                execution = entry.name.removeprefix("exec_")
                place = f"{layout.TEMP}/{entry.name}"
                if entry.name.startswith(layout.UNFINISHED):
                    walk.note(walk.left, entry, place)
                elif execution == entry.name or execution not in workspaces.known:
                    walk.note(walk.extra, entry, place)
                elif execution not in workspaces.open:
                    walk.note(walk.left, entry, place)
                elif not entry.is_dir(follow_symlinks=False):
                    walk.note(walk.extra, entry, place)
                elif workspace.is_whole(temp, entry.name):
                    found.add(execution)
    finally:
        os.close(temp)
    return tuple(execution for execution in workspaces.open if execution not in found)


def _latest(room: PipelineFolder) -> str | None:
    try:
        with room.open(layout.RUNS) as runs:
            target = folders.link_target(runs, layout.LATEST.rpartition("/")[2])
    except OSError:
        return None
    return None if target is None else f"{layout.RUNS}/{target}"


def _with_parents(files: Iterable[str], wanted: Iterable[str], under: Iterable[str]) -> set[str]:
    """All folders that belong there: those asked for, and those on the way to a file."""
    found: set[str] = set()
    paths = [*wanted, *under, *(path.rpartition("/")[0] for path in files)]
    for path in paths:
        folder = path
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _is_under(path: str, under: Iterable[str]) -> bool:
    return any(path == base or path.startswith(f"{base}/") for base in under)
