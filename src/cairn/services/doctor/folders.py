"""The folders: equal to the database, and nothing in them that belongs to nobody."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from cairn.files import Drift, layout, printable
from cairn.services.doctor.views import HealthCheck
from cairn.services.folders.folder_repair import FolderRepair
from cairn.store import Connection, Database
from cairn.store import tables as t

SHOWN = 5


def folders(database: Database, folder_repair: FolderRepair) -> list[HealthCheck]:
    found: list[HealthCheck] = []
    for pipeline_id in database.read(_standing):
        drift = folder_repair.find_drift(pipeline_id)
        if not drift.is_clean:
            hint = "cairn doctor --repair puts it right; so does a start of the server"
            name = f"folder of pipeline {pipeline_id}"
            found.append(HealthCheck(name=name, status="error", detail=_told(drift), hint=hint))
    if not found:
        found.append(HealthCheck(name="folders", status="ok", detail="equal to the database", hint=""))
    return found


def strangers(database: Database, folder_repair: FolderRepair) -> list[HealthCheck]:
    """What lies among the pipelines' folders, and in their archive, and belongs to none."""
    known = frozenset(database.read(lambda c: c.execute(sa.select(t.pipelines.c.pipeline_id)).scalars().all()))
    found = _strangers(folder_repair.root, known)
    if not found:
        return [HealthCheck(name="other files", status="ok", detail="none among the folders", hint="")]
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    hint = "they belong to no pipeline of this database: move them away if you do not know them"
    detail = "; ".join(found[:SHOWN]) + more
    return [HealthCheck(name="other files", status="warning", detail=detail, hint=hint)]


async def mend(folder_repair: FolderRepair) -> list[HealthCheck]:
    """What was missing or changed is written again; what is a user's is moved aside, never deleted."""
    await folder_repair.repair_unfinished()
    report = await folder_repair.repair_all()
    detail = f"{report.rewritten} files written again, {report.moved_aside} moved aside"
    status = "error" if report.failed else "ok" if report.is_clean else "repaired"
    hint = "look at the disk and its permissions, then repair again" if report.failed else ""
    return [HealthCheck(name="folders", status=status, detail="; ".join((detail, *report.failed)), hint=hint)]


def _standing(connection: Connection) -> list[str]:
    p = t.pipelines.c
    return list(connection.execute(sa.select(p.pipeline_id).where(p.deleted_at.is_(None))).scalars())


def _strangers(root: Path, known: frozenset[str]) -> list[str]:
    """Entries of the pipelines' folder, and of its archive, that no pipeline has."""
    archive = root / layout.ARCHIVED
    standing = [entry.name for entry in _entries(root) if entry.name not in known and not entry.name.startswith(".")]
    archived = [entry.name for entry in _entries(archive) if entry.name.rpartition("_")[0] not in known]
    return [printable(name) for name in standing] + [printable(f"{layout.ARCHIVED}/{name}") for name in archived]


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _told(drift: Drift) -> str:
    kinds = {"missing": drift.missing, "changed": drift.changed, "extra": drift.extra, "left over": drift.leftovers}
    told = [f"{kind}: {', '.join(map(printable, paths[:SHOWN]))}" for kind, paths in kinds.items() if paths]
    return "; ".join(told) or "latest"
