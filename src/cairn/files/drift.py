"""Find where a pipeline's folder differs from the database."""

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
    """Executions whose workspaces should exist, and all executions in the database."""

    open: Collection[str]
    known: Container[str]


@dataclass(frozen=True, slots=True)
class ExpectedTree:
    """The expected content of a pipeline's folder, according to the database."""

    files: Mapping[str, FileContent]
    folders: Collection[str] = ()  # expected even if they are empty
    latest: str | None = None  # target of `runs/latest`; compared only if all of `runs` is scanned
    workspaces: Workspaces | None = None  # None: not compared
    as_of: datetime | None = None  # when the database was read; later changes on disk are ignored


@dataclass(frozen=True, slots=True)
class Drift:
    """The differences in a pipeline's folder. Paths are as on disk, so print them with `printable`."""

    pipeline_id: str
    expected: ExpectedTree
    missing: tuple[str, ...] = ()  # files
    missing_folders: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()  # files, links and whole folders that are not in the database
    wrong_latest: bool = False
    missing_workspaces: tuple[str, ...] = ()  # of these executions
    leftovers: tuple[str, ...] = ()  # Cairn's own: temporary files, workspaces that are no longer needed

    @property
    def is_clean(self) -> bool:
        found = (self.missing, self.missing_folders, self.changed, self.extra, self.missing_workspaces, self.leftovers)
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
    leftovers: list[str] = field(default_factory=list[str])

    def add(self, paths: list[str], entry: os.DirEntry[str], path: str) -> None:
        as_of = self.expected.as_of
        try:
            if as_of is None or entry.stat(follow_symlinks=False).st_ctime <= as_of.timestamp():
                paths.append(path)
        except FileNotFoundError:
            return  # deleted since it was listed


def scan(pipeline: PipelineFolder, expected: ExpectedTree, under: Sequence[str]) -> Drift:
    """Compare these folders with what is expected; contents by size, then by checksum."""
    files = {path: file for path, file in expected.files.items() if _is_under(path, under)}
    expected_paths = [path for path in (*layout.SKELETON, *expected.folders) if _is_under(path, under)]
    for path in (*files, *expected_paths):
        layout.split_path(path)
    walk = _Walk(expected, under, files, _with_parents(files, expected_paths, under))
    absent: tuple[str, ...] = ()
    try:
        folder = pipeline.open()
    except FileNotFoundError:
        absent = tuple(expected.workspaces.open) if expected.workspaces is not None else ()
    else:
        with folder as top:
            _scan_folder(walk, top, "")
            if expected.workspaces is not None:
                absent = _scan_workspaces(walk, top, expected.workspaces)
    return Drift(
        pipeline.pipeline_id,
        expected,
        missing=tuple(path for path in files if path not in walk.seen),
        missing_folders=tuple(path for path in expected_paths if path not in walk.seen),
        changed=tuple(sorted(walk.changed)),
        extra=tuple(sorted(walk.extra)),
        wrong_latest=layout.RUNS in under and _latest(pipeline) != expected.latest,
        missing_workspaces=absent,
        leftovers=tuple(sorted(walk.leftovers)),
    )


def _scan_folder(walk: _Walk, fd: int, path: str) -> None:
    """Compare one folder. Outside of the scanned folders only their parents are entered."""
    inside = _is_under(path, walk.under)
    with os.scandir(fd) as entries:
        for entry in entries:
            inner = f"{path}/{entry.name}" if path else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if not inside and inner not in walk.folders:
                continue
            if entry.name.startswith(layout.TEMPORARY_PREFIX):
                walk.add(walk.leftovers, entry, inner)
            elif is_folder and inner in walk.folders:
                _scan_inner(walk, fd, entry.name, inner)
            elif inner in walk.files and entry.is_file(follow_symlinks=False):
                walk.seen.add(inner)
                file = walk.files[inner]
                if not folders.has_content(fd, entry.name, file.size, file.checksum):
                    walk.add(walk.changed, entry, inner)
            elif inner != layout.LATEST or not entry.is_symlink():
                walk.add(walk.extra, entry, inner)


def _scan_inner(walk: _Walk, fd: int, name: str, path: str) -> None:
    try:
        folder = folders.open_inside(fd, name)
    except FileNotFoundError:
        return  # deleted since it was listed
    walk.seen.add(path)
    try:
        _scan_folder(walk, folder, path)
    finally:
        os.close(folder)


def _scan_workspaces(walk: _Walk, top: int, workspaces: Workspaces) -> tuple[str, ...]:
    """Compare `.temp`; return the executions whose workspaces are missing."""
    if (file_type := folders.file_type(top, layout.TEMP)) != stat.S_IFDIR:
        walk.extra.extend([] if file_type is None else [layout.TEMP])
        return tuple(workspaces.open)
    found: set[str] = set()
    temp = folders.open_inside(top, layout.TEMP)
    try:
        with os.scandir(temp) as entries:
            for entry in entries:
                execution = entry.name.removeprefix("exec_")
                path = f"{layout.TEMP}/{entry.name}"
                if entry.name.startswith(layout.TEMPORARY_PREFIX):
                    walk.add(walk.leftovers, entry, path)
                elif execution == entry.name or execution not in workspaces.known:
                    walk.add(walk.extra, entry, path)
                elif execution not in workspaces.open:
                    walk.add(walk.leftovers, entry, path)
                elif not entry.is_dir(follow_symlinks=False):
                    walk.add(walk.extra, entry, path)
                elif workspace.is_complete(temp, entry.name):
                    found.add(execution)
    finally:
        os.close(temp)
    return tuple(execution for execution in workspaces.open if execution not in found)


def _latest(pipeline: PipelineFolder) -> str | None:
    try:
        with pipeline.open(layout.RUNS) as runs:
            target = folders.link_target(runs, layout.LATEST.rpartition("/")[2])
    except OSError:
        return None
    return None if target is None else f"{layout.RUNS}/{target}"


def _with_parents(files: Iterable[str], expected_paths: Iterable[str], under: Iterable[str]) -> set[str]:
    """All expected folders, with the parents of folders and files."""
    found: set[str] = set()
    paths = [*expected_paths, *under, *(path.rpartition("/")[0] for path in files)]
    for path in paths:
        folder = path
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _is_under(path: str, under: Iterable[str]) -> bool:
    return any(path == base or path.startswith(f"{base}/") for base in under)
