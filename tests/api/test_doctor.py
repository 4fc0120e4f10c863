"""Health checks and repairs over HTTP."""

from __future__ import annotations

import asyncio
import platform
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from cairn.services.doctor.machine import check_clock
from cairn.store import tables as t
from tests.api.app import App, form
from tests.mentions import mentions

CHECKS = [
    "settings",
    "python",
    "disk",
    "permissions",
    "sandbox",
    "rules",
    "secrets",
    "models",
    "clock",
    "schema",
    "database",
    "rows",
    "contents",
    "jobs",
    "events",
    "notifications",
    "other files",
    "folders",
]


def by_name(report: Any) -> dict[str, Any]:
    return {check["name"]: check for check in report["checks"]}


def mode(path: Path, new_mode: int | None = None) -> int:
    """The permissions of a path, after setting them if `new_mode` is given."""
    if new_mode is not None:
        path.chmod(new_mode)
    return path.stat().st_mode & 0o777


async def test_a_new_server_is_healthy(app: App) -> None:
    mode(app.cairn.settings.data_dir, 0o700)
    await app.pipeline(form("goals"))
    report = await app.get("/api/doctor")
    names = [check["name"] for check in report["checks"]]
    if app.cairn.database.kind == "sqlite":
        names.remove("sqlite")
    assert names == CHECKS
    assert report["healthy"] is True
    problems = [check["name"] for check in report["checks"] if check["status"] != "ok"]
    assert set(problems) <= {"settings", "sandbox"}


async def test_the_report_contains_the_versions_in_use(app: App) -> None:
    checks = by_name(await app.get("/api/doctor"))
    assert checks["python"]["detail"] == platform.python_version()
    if app.cairn.database.kind == "sqlite":
        assert checks["sqlite"]["detail"] == sqlite3.sqlite_version
    else:
        assert "sqlite" not in checks


async def test_a_missing_file_is_reported_and_rewritten(app: App) -> None:
    pipeline = await app.pipeline(form("goals"))
    folder = app.cairn.settings.data_dir / "pipelines" / pipeline["pipeline_id"]
    definition = next((folder / ".pipeline_system" / "definitions").rglob("*.json"))
    definition.unlink()
    check = by_name(await app.get("/api/doctor"))[f"folder of pipeline {pipeline['pipeline_id']}"]
    assert (check["status"], definition.name in check["detail"], bool(check["hint"])) == ("error", True, True)
    repaired = await app.post("/api/doctor/repair")
    assert by_name(repaired)["folders"]["status"] == "repaired"
    assert definition.exists()
    assert (await app.get("/api/doctor"))["healthy"] is True


async def test_inconsistent_rows_are_reported(app: App) -> None:
    """An execution waits for an approval that is not pending."""
    pipeline = await app.pipeline(form("goals") | {"approve": "start"})
    run = await app.post("/api/runs", {"pipeline_id": pipeline["pipeline_id"]}, 201)
    execution_id = run["checkpoints"][0]["execution_id"]
    await app.cairn.database.transact(lambda c: c.execute(sa.update(t.approvals).values(status="withdrawn")))
    check = by_name(await app.get("/api/doctor"))["rows"]
    assert check["detail"] == mentions(execution_id)
    assert check["status"] == "error"


async def test_a_changed_event_is_reported(app: App) -> None:
    await app.pipeline(form("goals"))

    def tamper(connection: sa.Connection) -> None:
        guard = "DROP TRIGGER events_not_updated"
        if app.cairn.database.kind == "postgresql":
            guard = "ALTER TABLE events DISABLE TRIGGER USER"
        connection.execute(sa.text(guard))
        connection.execute(sa.update(t.events).values(actor="somebody else"))

    await app.cairn.database.transact(tamper)
    check = by_name(await app.get("/api/doctor"))["events"]
    assert (check["status"], check["detail"]) == ("error", mentions("1"))
    assert (await app.get("/api/events/verify"))["is_valid"] is False


async def test_unknown_folders_and_open_permissions_are_reported(app: App) -> None:
    folder: Path = app.cairn.settings.data_dir
    await app.pipeline(form("goals"))
    (folder / "pipelines" / "unknown").mkdir()
    mode(folder, 0o755)
    checks = by_name(await app.get("/api/doctor"))
    assert (checks["other files"]["status"], checks["other files"]["detail"]) == ("warning", "unknown")
    assert checks["permissions"]["status"] == "warning"
    repaired = by_name(await app.post("/api/doctor/repair"))
    assert repaired["permissions"]["status"] == "repaired"
    assert mode(folder) == 0o700
    assert (folder / "pipelines" / "unknown").is_dir()


async def test_a_clock_that_was_set_back_is_reported(app: App) -> None:
    await app.pipeline(form("goals"))
    earlier = app.cairn.clock.now() - timedelta(minutes=10)
    (check,) = await asyncio.to_thread(check_clock, app.cairn.database, earlier)
    assert (check.name, check.status) == ("clock", "warning")


async def test_a_secret_without_its_key_is_an_error(app: App) -> None:
    await app.put("/api/secrets/door", {"value": "sesame"})
    file = app.cairn.settings.data_dir / "secret.key"
    key = file.read_text()
    file.unlink()
    app.cairn.secrets._forget()  # pyright: ignore[reportPrivateUsage]
    check = by_name(await app.get("/api/doctor"))["secrets"]
    assert (check["status"], check["detail"]) == ("error", mentions("door"))
    file.write_text(key)
    mode(file, 0o644)
    mode(app.cairn.settings.data_dir, 0o755)
    app.cairn.secrets._forget()  # pyright: ignore[reportPrivateUsage]
    checks = by_name(await app.get("/api/doctor"))
    assert checks["secrets"]["status"] == "ok"
    assert (checks["permissions"]["status"], "secret.key" in checks["permissions"]["detail"]) == ("error", True)
    await app.post("/api/doctor/repair")
    assert mode(file) == 0o600
    assert (await app.client.delete("/api/secrets/door")).status_code == 204
