"""The machine: settings, versions, disk, permissions, sandbox, clock."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from cairn.ports import SandboxLevel, SandboxStatus
from cairn.services.doctor.views import HealthCheck
from cairn.store import Database, integrity

MEGABYTE = 1_000_000
LITTLE, NONE = 1000 * MEGABYTE, 100 * MEGABYTE  # free bytes: a warning, a fault
LATE = timedelta(seconds=5)
EARLIEST = 2024  # no clock that is right says less
OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class Machine:
    """What the settings say of it."""

    folder: Path
    doubts: tuple[tuple[str, str], ...]  # of the settings: what is doubtful, and what to do
    asked: SandboxLevel  # of the sandbox
    probe: Callable[[], SandboxStatus]


def settings(machine: Machine) -> list[HealthCheck]:
    if not machine.doubts:
        return [HealthCheck(name="settings", status="ok", detail="nothing doubtful", hint="")]
    return [HealthCheck(name="settings", status="warning", detail=detail, hint=hint) for detail, hint in machine.doubts]


def versions(database: Database) -> list[HealthCheck]:
    """What Cairn runs on. It does not start on a version that is too old."""
    found = [HealthCheck(name="python", status="ok", detail=platform.python_version(), hint="")]
    if database.kind == "sqlite":
        found.append(HealthCheck(name="sqlite", status="ok", detail=sqlite3.sqlite_version, hint=""))
    return found


def disk(machine: Machine) -> list[HealthCheck]:
    free = shutil.disk_usage(machine.folder).free
    status = "error" if free < NONE else "warning" if free < LITTLE else "ok"
    hint = "" if status == "ok" else "make room: nothing can be saved on a full disk"
    return [HealthCheck(name="disk", status=status, detail=f"{free / 1e9:.1f} GB free", hint=hint)]


def permissions(machine: Machine) -> list[HealthCheck]:
    if not os.access(machine.folder, os.W_OK | os.X_OK):
        hint = f"give it to the user that runs Cairn: chown {machine.folder}"
        return [HealthCheck(name="permissions", status="error", detail="the folder is not writable", hint=hint)]
    if not machine.folder.stat().st_mode & OTHERS:  # then nobody else reaches what is in it
        return [HealthCheck(name="permissions", status="ok", detail="for its owner alone", hint="")]
    others = [path for path in _private(machine.folder) if path.exists() and path.stat().st_mode & OTHERS]
    lets_in = {machine.folder / name for name in ("server.json", "secret.key")}
    status = "warning" if lets_in.isdisjoint(others) else "error"
    detail = f"others may use {', '.join(path.name for path in others)}"
    return [HealthCheck(name="permissions", status=status, detail=detail, hint="cairn doctor --repair")]


def close_to_others(machine: Machine) -> list[HealthCheck]:
    """Take the rights of others away."""
    closed: list[str] = []
    for path in _private(machine.folder):
        if path.exists() and not path.is_symlink() and path.stat().st_mode & OTHERS:
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~OTHERS)
            closed.append(path.name)
    if not closed:
        return []
    detail = f"others may no longer use {', '.join(closed)}"
    return [HealthCheck(name="permissions", status="repaired", detail=detail, hint="")]


def _private(folder: Path) -> tuple[Path, ...]:
    names = ("cairn.db", "cairn.db-wal", "cairn.db-shm", "server.json", "settings.toml", "secret.key")
    return (folder, *(folder / name for name in names))


def sandbox(machine: Machine) -> list[HealthCheck]:
    reached = machine.probe()
    detail = f"{reached.level.value}: {reached.reason}" if reached.reason else reached.level.value
    if not reached.level.is_weaker(machine.asked):
        return [HealthCheck(name="sandbox", status="ok", detail=detail, hint="")]
    hint = f"scripts are refused: install {machine.asked.value}, or allow less with CAIRN_SCRIPT_SANDBOX"
    return [HealthCheck(name="sandbox", status="warning", detail=detail, hint=hint)]


def clock(database: Database, now: datetime) -> list[HealthCheck]:
    newest, there = database.read(lambda c: (integrity.newest_event(c), integrity.database_time(c)))
    hint = "let the machine take its time from the network"
    if now.year < EARLIEST:
        told = f"the clock says {now.isoformat(timespec='seconds')}"
        return [HealthCheck(name="clock", status="error", detail=told, hint=hint)]
    ahead = newest - now if newest is not None else timedelta()
    if ahead > LATE:
        told = f"the last event is {ahead.total_seconds():.0f} s in the future: the clock was put back"
        return [HealthCheck(name="clock", status="warning", detail=told, hint=hint)]
    if there is not None and abs(there - now) > LATE:
        told = f"the database's clock differs by {abs(there - now).total_seconds():.0f} s"
        return [HealthCheck(name="clock", status="warning", detail=told, hint=hint)]
    return [HealthCheck(name="clock", status="ok", detail=now.isoformat(timespec="seconds"), hint="")]
