"""Whether database, folders and trail agree."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from cairn.adapters.folder_lock import FolderHeld, FolderLock
from cairn.bootstrap import Cairn, build
from cairn.config import Settings
from cairn.files import Drift, shown


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    verdict: str  # ok, repaired or fault
    detail: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    findings: list[Finding] = field(default_factory=list[Finding])

    @property
    def is_well(self) -> bool:
        return all(finding.verdict != "fault" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        listed = [{"what": f.what, "verdict": f.verdict, "detail": f.detail, "remedy": f.remedy} for f in self.findings]
        return {"well": self.is_well, "findings": listed}

    def lines(self) -> list[str]:
        return [
            f"{f.verdict:<9}{f.what}" + (f": {f.detail}" if f.detail else "") + (f" — {f.remedy}" if f.remedy else "")
            for f in self.findings
        ]


async def examine(settings: Settings, *, repair: bool) -> Diagnosis:
    """Look at everything; with `repair`, which needs the folder for itself, put right what differs."""
    diagnosis = Diagnosis()
    lock = FolderLock(settings.data_dir.resolve())
    try:
        lock.acquire()
        alone = True
    except FolderHeld as held:
        if repair:
            diagnosis.findings.append(Finding("data folder", "fault", str(held), "stop the server to repair by hand"))
            return diagnosis
        alone = False
    cairn = build(settings)
    try:
        await _examine(cairn, diagnosis, repair=repair and alone)
    finally:
        cairn.close()
        lock.release()
    return diagnosis


async def _examine(cairn: Cairn, diagnosis: Diagnosis, *, repair: bool) -> None:
    if repair:
        await cairn.keeper.mend_unfinished()
        report = await cairn.keeper.mend_all()
        detail = f"{report.repaired} files written again, {report.moved_aside} moved aside"
        verdict = "fault" if report.failed else "ok" if report.is_clean else "repaired"
        diagnosis.findings.append(Finding("folders", verdict, "; ".join((detail, *report.failed))))
    else:
        await _look(cairn, diagnosis)
    trail = await asyncio.to_thread(cairn.reading.verify, None, None)
    broken = "; ".join(f"{link.chain} at {link.seq}: {link.reason}" for link in trail.broken)
    remedy = "" if trail.valid else "somebody has changed the database: compare with a backup"
    diagnosis.findings.append(
        Finding(
            "trail",
            "ok" if trail.valid else "fault",
            broken or f"{trail.events} events in {trail.chains} chains",
            remedy,
        )
    )


async def _look(cairn: Cairn, diagnosis: Diagnosis) -> None:
    for pipeline_id in await cairn.keeper.pipelines():
        drift = await asyncio.to_thread(cairn.keeper.look, pipeline_id)
        if drift.is_clean:
            continue
        remedy = "start the server, or run cairn doctor --repair"
        diagnosis.findings.append(Finding(f"folder of pipeline {pipeline_id}", "fault", _told(drift), remedy))
    if not diagnosis.findings:
        diagnosis.findings.append(Finding("folders", "ok", "equal to the database"))


def _told(drift: Drift) -> str:
    kinds = {"missing": drift.missing, "changed": drift.changed, "extra": drift.extra, "left over": drift.left}
    return (
        "; ".join(f"{kind}: {', '.join(map(shown, paths[:5]))}" for kind, paths in kinds.items() if paths) or "latest"
    )
