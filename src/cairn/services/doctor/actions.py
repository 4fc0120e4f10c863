"""Check whether actions can start, and where their journal is."""

from __future__ import annotations

import os
from pathlib import Path

from cairn.services.doctor.machine import Machine
from cairn.services.doctor.views import HealthCheck
from cairn.store import Database
from cairn.store.actions import gate_state

MOVE = "set CAIRN_JOURNAL_DIR to a folder that backups of the data folder don't include"


def check_gate(database: Database) -> list[HealthCheck]:
    status = database.read(gate_state.read_status)
    if status.held:
        hint = "settle the unknown actions that `cairn actions list --unsettled` shows, then run cairn actions release"
        return [HealthCheck(name="actions", status="error", detail=f"held: {status.explanation}", hint=hint)]
    if status.stops_actions:
        hint = "run cairn rules lift-stop"
        return [HealthCheck(name="actions", status="warning", detail="stopped: no action can start", hint=hint)]
    return [HealthCheck(name="actions", status="ok", detail="can start", hint="")]


def check_journal(machine: Machine, folder: Path) -> list[HealthCheck]:
    """Without a journal no action starts. One that is restored with the database doesn't show what was lost."""
    if not _is_writable(folder):
        hint = f"make {folder} writable, or choose another folder with CAIRN_JOURNAL_DIR: until then, no action starts"
        return [HealthCheck(name="journal", status="error", detail=f"{folder} is not writable", hint=hint)]
    if folder.resolve().is_relative_to(machine.folder):
        detail = f"{folder} is in the data folder, so a restored backup hides which actions were executed since"
        return [HealthCheck(name="journal", status="warning", detail=detail, hint=MOVE)]
    shares_volume = _existing(folder).stat().st_dev == machine.folder.stat().st_dev
    note = ", on the same volume as the data folder" if shares_volume else ""
    return [HealthCheck(name="journal", status="ok", detail=f"{folder}{note}", hint="")]


def _is_writable(folder: Path) -> bool:
    """Whether files can be created in the folder, or the folder itself if it doesn't exist yet."""
    existing = _existing(folder)
    files = folder.glob("*.jsonl") if existing == folder and folder.is_dir() else ()
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK) and all(os.access(f, os.W_OK) for f in files)


def _existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())
