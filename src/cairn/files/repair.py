"""Putting drift right: the database wins, and what it does not know is kept in `.archived/drift_{datetime}/`."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from cairn.files import layout, safe_folder, workspace
from cairn.files.drift import Drift
from cairn.files.errors import explain, shown
from cairn.files.pipeline_folder import PipelineFolder


@dataclass(frozen=True, slots=True)
class RepairResult:
    """What was done about a drift. Paths can be printed."""

    written: tuple[str, ...] = ()  # regenerated from the database
    kept: tuple[tuple[str, str], ...] = ()  # changed or unknown: where it was, where it is
    removed: tuple[str, ...] = ()  # Cairn's own leavings
    failed: tuple[tuple[str, str], ...] = ()  # what could not be put right, and why


def repair(
    room: PipelineFolder, drift: Drift, at: datetime, *, own: Container[str] = (), strict: bool = False
) -> RepairResult:
    """Put a drift right. `own` are checksums of contents that Cairn wrote there before: those need not be kept."""
    work = _Repair(room, drift, at, own, strict)
    work.each(drift.left, work.remove)
    work.each(drift.extra, work.clear)
    work.each((*drift.changed, *drift.missing), work.write)
    work.each(drift.missing_folders, work.make_folder)
    work.each([layout.LATEST] if drift.wrong_latest else [], work.update_latest_link)
    work.each(drift.missing_workspaces, work.create_workspace)
    return RepairResult(tuple(work.written), tuple(work.kept), tuple(work.removed), tuple(work.failed))


@dataclass(slots=True)
class _Repair:
    room: PipelineFolder
    drift: Drift
    at: datetime
    own: Container[str]
    strict: bool
    written: list[str] = field(default_factory=list[str])
    kept: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    removed: list[str] = field(default_factory=list[str])
    failed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def each(self, items: Iterable[str], put_right: Callable[[str], None]) -> None:
        """One that fails does not hold up the others, unless all or nothing is wanted."""
        for item in items:
            try:
                put_right(item)
            except OSError as error:
                if self.strict:
                    raise
                self.failed.append((shown(item), str(explain(error, Path(self.room.root, self.room.pipeline_id)))))

    def remove(self, path: str) -> None:
        folder, name = self.room.parent(path)
        with folder as fd:
            safe_folder.remove_tree(fd, name)
        self.removed.append(shown(path))

    def clear(self, path: str) -> None:
        folder, name = self.room.parent(path)
        with folder as fd:
            is_own = self._is_own(fd, name)
        if is_own:
            self.remove(path)
        else:
            self._keep(path, self.room.set_aside(path, self.at))

    def _is_own(self, fd: int, name: str) -> bool:
        """Whether it is a file of Cairn's own, or a folder with nothing else in it."""
        if safe_folder.kind(fd, name) != stat.S_IFDIR:
            return safe_folder.digest(fd, name) in self.own
        inner = safe_folder.open_inside(fd, name)
        try:
            names = safe_folder.names(inner)
            return bool(names) and all(self._is_own(inner, one) for one in names)
        finally:
            os.close(inner)

    def write(self, path: str) -> None:
        self._keep(path, self.room.restore(self.drift.expected.files[path], at=self.at, own=self.own))
        self.written.append(shown(path))

    def make_folder(self, path: str) -> None:
        with self.room.open(*layout.parts(path), make=True):
            self.written.append(shown(path))

    def update_latest_link(self, path: str) -> None:
        self.room.update_latest_link(self.drift.expected.latest)
        self.written.append(path)

    def create_workspace(self, execution_id: str) -> None:
        workspace.make(self.room, execution_id)
        self.written.append(layout.workspace_folder(execution_id))

    def _keep(self, path: str, place: str | None) -> None:
        if place is not None:
            self.kept.append((shown(path), shown(place)))
