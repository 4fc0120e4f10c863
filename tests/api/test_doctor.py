"""The doctor over HTTP: its checks, findings and repairs."""

from __future__ import annotations

import asyncio
import platform
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from cairn.services.doctor import machine
from cairn.store import tables as t
from tests.api.app import App, form
from tests.mentions import mentions

LOOKED_AT = [
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


def by_name(diagnosis: Any) -> dict[str, Any]:
    return {found["name"]: found for found in diagnosis["checks"]}


def mode(folder: Path, wanted: int | None = None) -> int:
    if wanted is not None:
        folder.chmod(wanted)
    return folder.stat().st_mode & 0o777


async def test_a_new_server_is_well(app: App) -> None:
    mode(app.cairn.settings.data_dir, 0o700)
    await app.pipeline(form("goals"))
    diagnosis = await app.get("/api/doctor")
    looked_at = [found["name"] for found in diagnosis["checks"]]
    if app.cairn.database.kind == "sqlite":
        looked_at.remove("sqlite")
    assert looked_at == LOOKED_AT
    assert diagnosis["healthy"] is True
    unwell = [found for found in diagnosis["checks"] if found["status"] != "ok"]
    assert [found for found in unwell if found["name"] not in ("settings", "sandbox")] == []


async def test_the_versions_in_use(app: App) -> None:
    found = by_name(await app.get("/api/doctor"))
    assert found["python"]["detail"] == platform.python_version()
    if app.cairn.database.kind == "sqlite":
        assert found["sqlite"]["detail"] == sqlite3.sqlite_version
    else:
        assert "sqlite" not in found


async def test_what_is_missing_is_told_and_written_again(app: App) -> None:
    pipeline = await app.pipeline(form("goals"))
    folder = app.cairn.settings.data_dir / "pipelines" / pipeline["pipeline_id"]
    definition = next((folder / ".pipeline_system" / "definitions").rglob("*.json"))
    definition.unlink()
    found = by_name(await app.get("/api/doctor"))[f"folder of pipeline {pipeline['pipeline_id']}"]
    assert (found["status"], definition.name in found["detail"], bool(found["hint"])) == ("error", True, True)
    repaired = await app.post("/api/doctor/repair")
    assert by_name(repaired)["folders"]["status"] == "repaired"
    assert definition.exists()
    assert (await app.get("/api/doctor"))["healthy"] is True


async def test_rows_that_deny_one_another_are_told(app: App) -> None:
    """An execution that waits for an approval that nobody was asked for; a pipeline without its text."""
    pipeline = await app.pipeline(form("goals") | {"approve": "start"})
    run = await app.post("/api/runs", {"pipeline_id": pipeline["pipeline_id"]}, 201)
    execution_id = run["checkpoints"][0]["execution_id"]
    await app.cairn.database.transact(lambda c: c.execute(sa.update(t.approvals).values(status="withdrawn")))
    found = by_name(await app.get("/api/doctor"))["rows"]
    assert found["detail"] == mentions(execution_id)
    assert found["status"] == "error"


async def test_a_changed_event_is_told(app: App) -> None:
    await app.pipeline(form("goals"))

    def tamper(connection: sa.Connection) -> None:
        guard = "DROP TRIGGER events_not_updated"
        if app.cairn.database.kind == "postgresql":
            guard = "ALTER TABLE events DISABLE TRIGGER USER"
        connection.execute(sa.text(guard))
        connection.execute(sa.update(t.events).values(actor="somebody else"))

    await app.cairn.database.transact(tamper)
    found = by_name(await app.get("/api/doctor"))["events"]
    assert (found["status"], found["detail"]) == ("error", mentions("1"))
    assert (await app.get("/api/events/verify"))["valid"] is False


async def test_strange_folders_and_open_doors(app: App) -> None:
    folder: Path = app.cairn.settings.data_dir
    await app.pipeline(form("goals"))
    (folder / "pipelines" / "stranger").mkdir()
    mode(folder, 0o755)
    found = by_name(await app.get("/api/doctor"))
    assert (found["other files"]["status"], found["other files"]["detail"]) == ("warning", "stranger")
    assert found["permissions"]["status"] == "warning"
    repaired = by_name(await app.post("/api/doctor/repair"))
    assert repaired["permissions"]["status"] == "repaired"
    assert mode(folder) == 0o700
    assert (folder / "pipelines" / "stranger").is_dir()


async def test_a_clock_that_was_put_back_is_told(app: App) -> None:
    await app.pipeline(form("goals"))
    earlier = app.cairn.clock.now() - timedelta(minutes=10)
    (found,) = await asyncio.to_thread(machine.clock, app.cairn.database, earlier)
    assert (found.name, found.status) == ("clock", "warning")


async def test_a_secret_whose_key_is_lost_is_a_fault(app: App) -> None:
    await app.put("/api/secrets/door", {"value": "sesame"})
    file = app.cairn.settings.data_dir / "secret.key"
    key = file.read_text()
    file.unlink()
    app.cairn.secrets._clear_cache()  # pyright: ignore[reportPrivateUsage]
    found = by_name(await app.get("/api/doctor"))["secrets"]
    assert (found["status"], found["detail"]) == ("error", mentions("door"))
    file.write_text(key)
    mode(file, 0o644)
    mode(app.cairn.settings.data_dir, 0o755)
    app.cairn.secrets._clear_cache()  # pyright: ignore[reportPrivateUsage]
    found = by_name(await app.get("/api/doctor"))
    assert found["secrets"]["status"] == "ok"
    assert (found["permissions"]["status"], "secret.key" in found["permissions"]["detail"]) == ("error", True)
    await app.post("/api/doctor/repair")
    assert mode(file) == 0o600
    assert (await app.client.delete("/api/secrets/door")).status_code == 204
