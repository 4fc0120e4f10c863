"""Repair drift: the database wins. What it doesn't know moves to `.archived/drift_{datetime}/`."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from cairn.files import layout, safe_folder, workspace
from cairn.files.drift import Drift
from cairn.files.errors import explain, printable
from cairn.files.pipeline_folder import PipelineFolder


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The result of a repair. Paths are printable."""

    written: tuple[str, ...] = ()  # regenerated from the database
    moved_aside: tuple[tuple[str, str], ...] = ()  # changed or unknown content: old path, new path
    removed: tuple[str, ...] = ()  # Cairn's own leftovers
    failed: tuple[tuple[str, str], ...] = ()  # path, reason


def repair(
    pipeline: PipelineFolder, drift: Drift, at: datetime, *, own: Container[str] = (), strict: bool = False
) -> RepairResult:
    """Repair a drift. `own` are checksums of contents that Cairn itself wrote before: those are not set aside."""
    steps = _Repair(pipeline, drift, at, own, strict)
    steps.apply(steps.remove, drift.leftovers)
    steps.apply(steps.clear, drift.extra)
    steps.apply(steps.write, (*drift.changed, *drift.missing))
    steps.apply(steps.create_folder, drift.missing_folders)
    steps.apply(steps.update_latest_link, [layout.LATEST] if drift.wrong_latest else [])
    steps.apply(steps.create_workspace, drift.missing_workspaces)
    return RepairResult(tuple(steps.written), tuple(steps.moved_aside), tuple(steps.removed), tuple(steps.failed))


@dataclass(slots=True)
class _Repair:
    pipeline: PipelineFolder
    drift: Drift
    at: datetime
    own: Container[str]
    strict: bool
    written: list[str] = field(default_factory=list[str])
    moved_aside: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    removed: list[str] = field(default_factory=list[str])
    failed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def apply(self, step: Callable[[str], None], items: Iterable[str]) -> None:
        """Apply a step to each item. An error doesn't stop the others unless `strict`."""
        for item in items:
            try:
                step(item)
            except OSError as error:
                if self.strict:
                    raise
                folder = Path(self.pipeline.root, self.pipeline.pipeline_id)
                self.failed.append((printable(item), str(explain(error, folder))))

    def remove(self, path: str) -> None:
        folder, name = self.pipeline.parent(path)
        with folder as fd:
            safe_folder.remove_tree(fd, name)
        self.removed.append(printable(path))

    def clear(self, path: str) -> None:
        folder, name = self.pipeline.parent(path)
        with folder as fd:
            is_own = self._is_own(fd, name)
        if is_own:
            self.remove(path)
        else:
            self._record_moved(path, self.pipeline.set_aside(path, self.at))

    def _is_own(self, fd: int, name: str) -> bool:
        """Whether it is a file that Cairn wrote, or a folder with only such files."""
        if safe_folder.file_type(fd, name) != stat.S_IFDIR:
            return safe_folder.digest(fd, name) in self.own
        inner = safe_folder.open_inside(fd, name)
        try:
            names = safe_folder.list_names(inner)
            return bool(names) and all(self._is_own(inner, entry) for entry in names)
        finally:
            os.close(inner)

    def write(self, path: str) -> None:
        self._record_moved(path, self.pipeline.restore_file(self.drift.expected.files[path], at=self.at, own=self.own))
        self.written.append(printable(path))

    def create_folder(self, path: str) -> None:
        with self.pipeline.open(*layout.split_path(path), create=True):
            self.written.append(printable(path))

    def update_latest_link(self, path: str) -> None:
        self.pipeline.update_latest_link(self.drift.expected.latest)
        self.written.append(path)

    def create_workspace(self, execution_id: str) -> None:
        workspace.create(self.pipeline, execution_id)
        self.written.append(layout.workspace_folder(execution_id))

    def _record_moved(self, path: str, new_path: str | None) -> None:
        if new_path is not None:
            self.moved_aside.append((printable(path), printable(new_path)))
