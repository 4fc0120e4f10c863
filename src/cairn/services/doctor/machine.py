"""Check the machine: settings, versions, disk, permissions, sandbox and clock."""

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
LOW_DISK, FULL_DISK = 1000 * MEGABYTE, 100 * MEGABYTE  # free bytes: a warning, an error
MAX_CLOCK_DRIFT = timedelta(seconds=5)
EARLIEST_YEAR = 2024  # an earlier year means that the clock is wrong
GROUP_AND_OTHERS = stat.S_IRWXG | stat.S_IRWXO
SENSITIVE_FILES = ("server.json", "secret.key")


@dataclass(frozen=True, slots=True)
class Machine:
    folder: Path  # data folder
    configuration_warnings: tuple[tuple[str, str], ...]  # pairs of a warning and a hint
    required_sandbox: SandboxLevel
    probe_sandbox: Callable[[], SandboxStatus]


def check_settings(machine: Machine) -> list[HealthCheck]:
    if not machine.configuration_warnings:
        return [HealthCheck(name="settings", status="ok", detail="no warnings", hint="")]
    return [
        HealthCheck(name="settings", status="warning", detail=detail, hint=hint)
        for detail, hint in machine.configuration_warnings
    ]


def check_versions(database: Database) -> list[HealthCheck]:
    """Report the versions in use. Cairn doesn't start with versions that are too old."""
    checks = [HealthCheck(name="python", status="ok", detail=platform.python_version(), hint="")]
    if database.kind == "sqlite":
        checks.append(HealthCheck(name="sqlite", status="ok", detail=sqlite3.sqlite_version, hint=""))
    return checks


def check_disk(machine: Machine) -> list[HealthCheck]:
    free = shutil.disk_usage(machine.folder).free
    status = "error" if free < FULL_DISK else "warning" if free < LOW_DISK else "ok"
    hint = "" if status == "ok" else "free up disk space: Cairn can't save anything on a full disk"
    return [HealthCheck(name="disk", status=status, detail=f"{free / 1e9:.1f} GB free", hint=hint)]


def check_permissions(machine: Machine) -> list[HealthCheck]:
    if not os.access(machine.folder, os.W_OK | os.X_OK):
        hint = f"make the user that runs Cairn the owner: chown {machine.folder}"
        return [HealthCheck(name="permissions", status="error", detail="the data folder is not writable", hint=hint)]
    if not _is_open(machine.folder):  # then no other user can access the files in it
        return [HealthCheck(name="permissions", status="ok", detail="only the owner has access", hint="")]
    open_paths = [path for path in _private_paths(machine.folder) if path.exists() and _is_open(path)]
    sensitive = {machine.folder / name for name in SENSITIVE_FILES}
    status = "warning" if sensitive.isdisjoint(open_paths) else "error"
    detail = f"other users can access {', '.join(path.name for path in open_paths)}"
    return [HealthCheck(name="permissions", status=status, detail=detail, hint="run cairn doctor --repair")]


def repair_permissions(machine: Machine) -> list[HealthCheck]:
    """Remove the permissions of other users."""
    closed: list[str] = []
    for path in _private_paths(machine.folder):
        if path.exists() and not path.is_symlink() and _is_open(path):
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~GROUP_AND_OTHERS)
            closed.append(path.name)
    if not closed:
        return []
    detail = f"removed the access of other users to {', '.join(closed)}"
    return [HealthCheck(name="permissions", status="repaired", detail=detail, hint="")]


def _is_open(path: Path) -> bool:
    return bool(path.stat().st_mode & GROUP_AND_OTHERS)


def _private_paths(folder: Path) -> tuple[Path, ...]:
    names = ("cairn.db", "cairn.db-wal", "cairn.db-shm", "server.json", "settings.toml", "secret.key")
    return (folder, *(folder / name for name in names))


def check_sandbox(machine: Machine) -> list[HealthCheck]:
    sandbox = machine.probe_sandbox()
    detail = f"{sandbox.level.value}: {sandbox.reason}" if sandbox.reason else sandbox.level.value
    if not sandbox.level.is_weaker(machine.required_sandbox):
        return [HealthCheck(name="sandbox", status="ok", detail=detail, hint="")]
    required = machine.required_sandbox.value
    hint = f"scripts don't run: install {required}, or allow a weaker sandbox with CAIRN_SCRIPT_SANDBOX"
    return [HealthCheck(name="sandbox", status="warning", detail=detail, hint=hint)]


def check_clock(database: Database, now: datetime) -> list[HealthCheck]:
    newest_event, database_time = database.read(lambda c: (integrity.newest_event(c), integrity.database_time(c)))
    hint = "synchronize the clock over the network (NTP)"
    if now.year < EARLIEST_YEAR:
        detail = f"the clock shows {now.isoformat(timespec='seconds')}"
        return [HealthCheck(name="clock", status="error", detail=detail, hint=hint)]
    ahead = newest_event - now if newest_event is not None else timedelta()
    if ahead > MAX_CLOCK_DRIFT:
        detail = f"the last event is {ahead.total_seconds():.0f} s in the future: the clock was set back"
        return [HealthCheck(name="clock", status="warning", detail=detail, hint=hint)]
    if database_time is not None and abs(database_time - now) > MAX_CLOCK_DRIFT:
        detail = f"the database's clock differs by {abs(database_time - now).total_seconds():.0f} s"
        return [HealthCheck(name="clock", status="warning", detail=detail, hint=hint)]
    return [HealthCheck(name="clock", status="ok", detail=now.isoformat(timespec="seconds"), hint="")]
