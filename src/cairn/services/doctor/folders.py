"""Check that the folders match the database, and find files that belong to no pipeline."""

from __future__ import annotations

from pathlib import Path

from cairn.files import Drift, layout, printable
from cairn.services.doctor import queries
from cairn.services.doctor.views import HealthCheck
from cairn.services.folders import queries as folder_queries
from cairn.services.folders.folder_repair import FolderRepair
from cairn.store import Database

MAX_ITEMS = 5  # listed in one detail


def check_folders(database: Database, folder_repair: FolderRepair) -> list[HealthCheck]:
    checks: list[HealthCheck] = []
    for pipeline_id in database.read(folder_queries.active_pipelines):
        drift = folder_repair.find_drift(pipeline_id)
        if not drift.is_clean:
            hint = "run cairn doctor --repair or restart the server"
            name = f"folder of pipeline {pipeline_id}"
            checks.append(HealthCheck(name=name, status="error", detail=_describe(drift), hint=hint))
    if not checks:
        checks.append(HealthCheck(name="folders", status="ok", detail="match the database", hint=""))
    return checks


def check_unknown_files(database: Database, folder_repair: FolderRepair) -> list[HealthCheck]:
    """Find files and folders next to the pipelines' folders that belong to no pipeline."""
    unknown = _unknown_files(folder_repair.root, database.read(queries.pipeline_ids))
    if not unknown:
        return [HealthCheck(name="other files", status="ok", detail="none", hint="")]
    more = f"; and {len(unknown) - MAX_ITEMS} more" if len(unknown) > MAX_ITEMS else ""
    hint = "they belong to no pipeline of this database; move them away if you don't need them"
    return [HealthCheck(name="other files", status="warning", detail="; ".join(unknown[:MAX_ITEMS]) + more, hint=hint)]


async def repair_folders(folder_repair: FolderRepair) -> list[HealthCheck]:
    """Rewrite missing and changed files. Files of users are moved aside, never deleted."""
    await folder_repair.repair_unfinished()
    report = await folder_repair.repair_all()
    detail = f"{report.rewritten} files rewritten, {report.moved_aside} moved aside"
    status = "error" if report.failed else "ok" if report.is_clean else "repaired"
    hint = "check the disk and its permissions, then repair again" if report.failed else ""
    return [HealthCheck(name="folders", status=status, detail="; ".join((detail, *report.failed)), hint=hint)]


def _unknown_files(root: Path, pipeline_ids: frozenset[str]) -> list[str]:
    active = [path.name for path in _list(root) if path.name not in pipeline_ids and not path.name.startswith(".")]
    archived = [path.name for path in _list(root / layout.ARCHIVED) if path.name.rpartition("_")[0] not in pipeline_ids]
    return [printable(name) for name in active] + [printable(f"{layout.ARCHIVED}/{name}") for name in archived]


def _list(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _describe(drift: Drift) -> str:
    kinds = {"missing": drift.missing, "changed": drift.changed, "extra": drift.extra, "left over": drift.leftovers}
    details = [f"{kind}: {', '.join(map(printable, paths[:MAX_ITEMS]))}" for kind, paths in kinds.items() if paths]
    return "; ".join(details) or "wrong link: latest"
