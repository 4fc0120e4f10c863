"""After files were changed, deleted or added while Cairn was stopped, the next start loses nothing."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from cairn.services.actors import ADMIN
from cairn.services.folders.folder_repair import RepairReport
from tests.mentions import mentions
from tests.services.app import App, form, plain, step


async def prepared(app: App) -> tuple[str, str]:
    """Two completed runs and one waiting for approval."""
    pipeline = await app.pipeline(step("goals"), step("design", parameters={"value": 2}), form("end"))
    for _ in range(2):
        run = await app.start(pipeline)
        await app.submit_form(run, "end", end="yes")
        await app.wait_for_run(run, "completed")
    waiting = await app.start(pipeline)
    await app.wait_for_execution(waiting, "end", "in_progress")
    await app.wait_until_idle()
    return pipeline, waiting


async def restarted(app: App) -> RepairReport:
    """Repair the folders as the server does, with results in health, log and trail."""
    await app.open()
    report = await app.cairn.folder_repair.repair_all()
    assert app.cairn.folder_repair.last_report == report
    return report


def kept(root: Path) -> dict[str, bytes]:
    """The files that were moved aside, by their original path."""
    found: dict[str, bytes] = {}
    for folder in root.glob(".archived/drift_*"):
        found |= {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    return found


async def test_every_change_is_repaired_and_nothing_is_lost(app: App, caplog: pytest.LogCaptureFixture) -> None:
    pipeline, waiting = await prepared(app)
    before = app.folder_contents(pipeline)
    await app.close()
    root = app.root(pipeline)
    outputs = sorted(path for path in root.glob("runs/v*/checkpoint_*/outputs/*"))
    assert len(outputs) == 8
    outputs[0].write_bytes(b"tampered with")
    outputs[1].unlink()
    shutil.rmtree(outputs[2].parents[1])
    shutil.rmtree(root / "runs/v2/checkpoint_1_design")
    (root / "runs/v1/run_info.json").write_text("{}")
    (root / "runs/v2/run_info.json").unlink()
    (root / "runs/latest").unlink()
    (root / "runs/latest").symlink_to("v1")
    (root / "runs/mine").mkdir()
    (root / "runs/mine/notes.txt").write_text("mine")
    (root / "runs/v1/checkpoint_0_goals/outputs/added.txt").write_text("added")
    (root / "runs/v3/escape").symlink_to("/etc")
    (root / ".pipeline_system/definitions/pipeline.json").write_text("not even JSON")
    next((root / ".pipeline_system/definitions/checkpoints").iterdir()).unlink()
    (root / ".pipeline_system/definitions/checkpoints/other.json").write_text("{}")
    for workspace in (root / ".temp").glob("exec_*"):
        shutil.rmtree(workspace)
    (root / ".temp/exec_mine").mkdir()
    (root / ".temp/exec_mine/work.txt").write_text("work")
    caplog.clear()
    report = await restarted(app)
    assert (report.is_clean, report.failed) == (False, ())
    assert report.rewritten >= 9
    assert report.moved_aside >= 7
    assert app.folder_contents(pipeline).keys() - before.keys() == {
        path for path in app.folder_contents(pipeline) if path.startswith(".archived/drift_")
    }
    assert {path: app.folder_contents(pipeline)[path] for path in before if path != ".archived/"} == {
        path: content for path, content in before.items() if path != ".archived/"
    }
    aside = kept(root)
    assert aside["runs/mine/notes.txt"] == b"mine"
    assert aside["runs/v1/checkpoint_0_goals/outputs/added.txt"] == b"added"
    assert aside[str(outputs[0].relative_to(root))] == b"tampered with"
    assert aside["runs/v1/run_info.json"] == b"{}"
    assert aside[".pipeline_system/definitions/pipeline.json"] == b"not even JSON"
    assert aside[".pipeline_system/definitions/checkpoints/other.json"] == b"{}"
    assert aside[".temp/exec_mine/work.txt"] == b"work"
    links = [path for path in root.glob(".archived/drift_*/**/escape") if path.is_symlink()]
    assert [str(link.readlink()) for link in links] == ["/etc"]
    repairs = [event for event in app.events(pipeline_id=pipeline) if event.event_type == "drift_repaired"]
    assert len(repairs) == 1
    assert repairs[0].metadata["counts"] == {"rewritten": report.rewritten, "moved_aside": report.moved_aside}
    assert {plain(move["to"]) for move in repairs[0].metadata["moved_aside"]} >= {".archived/drift_TIME/runs/mine"}
    counts = mentions(report.rewritten, report.moved_aside)
    assert any(record.getMessage() == counts for record in caplog.records)
    again = await app.cairn.folder_repair.repair_all()
    assert again.is_clean
    await app.submit_form(waiting, "end", end="yes")
    await app.wait_for_run(waiting, "completed")


async def test_a_clean_start_reports_nothing(app: App) -> None:
    pipeline, waiting = await prepared(app)
    before = app.folder_contents(pipeline)
    await app.close()
    report = await restarted(app)
    assert report == RepairReport(report.checked_at, 1)
    assert app.folder_contents(pipeline) == before
    await app.cairn.runs.cancel(waiting, actor=ADMIN)


async def test_a_deleted_folder_is_restored(app: App) -> None:
    pipeline, waiting = await prepared(app)
    before = app.folder_contents(pipeline)
    await app.close()
    shutil.rmtree(app.root(pipeline))
    report = await restarted(app)
    assert report.moved_aside == 0
    assert app.folder_contents(pipeline) == before
    await app.submit_form(waiting, "end", end="yes")
    await app.wait_for_run(waiting, "completed")


async def test_a_file_instead_of_a_folder_is_moved_aside(app: App) -> None:
    pipeline, waiting = await prepared(app)
    before = app.folder_contents(pipeline)
    await app.close()
    root = app.root(pipeline)
    shutil.rmtree(root / "runs/v1/checkpoint_0_goals/outputs")
    (root / "runs/v1/checkpoint_0_goals/outputs").write_text("a file")
    shutil.rmtree(root / "runs/v2")
    (root / "runs/v2").symlink_to("v1")
    report = await restarted(app)
    assert report.failed == ()
    now = app.folder_contents(pipeline)
    assert {path: now[path] for path in before if path != ".archived/"} == {
        path: content for path, content in before.items() if path != ".archived/"
    }
    assert kept(root)["runs/v1/checkpoint_0_goals/outputs"] == b"a file"
    await app.cairn.runs.cancel(waiting, actor=ADMIN)


async def test_archives_and_other_folders_are_left_alone(app: App) -> None:
    """Only undo reads archives; files that users keep beside the runs are left alone."""
    pipeline, waiting = await prepared(app)
    await app.roll_back(waiting, 0)
    await app.wait_until_idle()
    await app.close()
    root = app.root(pipeline)
    (root / "notes.txt").write_text("mine")
    (root / ".archived/notes.txt").write_text("mine")
    archived = next(root.glob(".archived/rollback_*/archived_data/*/outputs/*"))
    archived.write_bytes(b"tampered with")
    report = await restarted(app)
    assert report.is_clean
    assert (root / "notes.txt").read_text() == (root / ".archived/notes.txt").read_text() == "mine"
    assert archived.read_bytes() == b"tampered with"
    await app.cairn.runs.cancel(waiting, actor=ADMIN)


async def test_the_trail_records_what_could_not_be_repaired(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline, waiting = await prepared(app)
    lost = next(app.root(pipeline).glob("runs/v1/checkpoint_0_goals/outputs/*"))
    lost.unlink()
    tree = app.cairn.folder_repair._tree  # pyright: ignore[reportPrivateUsage]

    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(tree, "repair", denied)
        report = await app.cairn.folder_repair.repair_all()
    assert (report.rewritten, len(report.failed)) == (0, 1)
    assert "Permission denied" in report.failed[0]
    assert (await app.cairn.folder_repair.repair_all()).rewritten == 1
    assert lost.exists()
    await app.cairn.runs.cancel(waiting, actor=ADMIN)


async def test_changes_during_the_scan_are_not_drift(app: App) -> None:
    """The scan at startup runs while runs, rollbacks and edits continue."""
    pipeline = await app.pipeline(*(step(f"s{n}") for n in range(4)), form("end"))
    looking = asyncio.Event()

    async def look() -> list[RepairReport]:
        reports: list[RepairReport] = []
        while not looking.is_set():
            reports.append(await app.cairn.folder_repair.repair_all())
            await asyncio.sleep(0)
        return reports

    scans = asyncio.create_task(look())
    for number in range(6):
        runs = await asyncio.gather(*(app.start(pipeline) for _ in range(3)))
        for run in runs:
            await app.wait_for_execution(run, "end", "in_progress")
        await app.roll_back(runs[0], 1)
        await app.wait_for_execution(runs[0], "end", "in_progress")
        await app.cairn.runs.restart(runs[1], actor=ADMIN)
        await app.cairn.pipelines.update(pipeline, {"pipeline_description": f"{number}"}, actor=ADMIN)
        for run in runs:
            await app.wait_for_execution(run, "end", "in_progress")
            await app.cairn.runs.cancel(run, actor=ADMIN)
    looking.set()
    reports = await scans
    assert reports
    assert [report for report in reports if not report.is_clean] == []
    assert kept(app.root(pipeline)) == {}


async def test_an_outdated_run_info_after_a_crash_is_not_drift(app: App) -> None:
    """While a lane is running, `run_info.json` is outdated. After a kill, it doesn't count as edited by a user."""
    pipeline, waiting = await prepared(app)
    info = app.root(pipeline) / "runs/v3/run_info.json"
    old = info.read_bytes()
    await app.submit_form(waiting, "end", end="yes")
    await app.wait_for_run(waiting, "completed")
    await app.wait_until_idle()
    await app.close()
    info.write_bytes(old)
    report = await restarted(app)
    assert report.is_clean
    assert json.loads(info.read_text())["status"] == "completed"
    assert kept(app.root(pipeline)) == {}
    await app.close()
    changed = json.loads(old)
    changed["status"] = "invented"
    info.write_text(json.dumps(changed))
    report = await restarted(app)
    assert (report.rewritten, report.moved_aside) == (1, 1)
    assert json.loads(kept(app.root(pipeline))["runs/v3/run_info.json"])["status"] == "invented"
