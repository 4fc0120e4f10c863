"""Check the database: schema, integrity, references, blobs, jobs and event chains."""

from __future__ import annotations

from datetime import datetime, timedelta

from cairn.ports import JobEngine
from cairn.services.dispatch.queries import working_executions
from cairn.services.doctor.views import HealthCheck
from cairn.services.events.queries import EventQueries
from cairn.store import Connection, Database, integrity
from cairn.store.database import schema_version

MAX_ITEMS = 5  # listed in one detail
SWEPT = timedelta(days=2)  # unreferenced blobs of this age should have been deleted by the daily sweep


def check_schema(database: Database) -> list[HealthCheck]:
    version, newest = database.schema_version, schema_version.newest()
    if version == newest:
        return [_ok("schema", f"version {version} is current")]
    detail = f"version {version or 'none'}, but this version of Cairn requires {newest}"
    return [HealthCheck(name="schema", status="error", detail=detail, hint="start this version of the server")]


def check_integrity(database: Database) -> list[HealthCheck]:
    errors = database.read(integrity.database_errors)
    if not errors:
        return [_ok("database", f"{database.kind}, no errors")]
    hint = "stop the server, copy the data folder, and restore a backup"
    return [HealthCheck(name="database", status="error", detail=_join(errors), hint=hint)]


def check_references(database: Database) -> list[HealthCheck]:
    errors = database.read(integrity.inconsistent_rows)
    if not errors:
        return [_ok("rows", "all references are valid")]
    hint = "the database was changed outside Cairn; compare it with a backup"
    return [HealthCheck(name="rows", status="error", detail=_join(errors), hint=hint)]


def check_blobs(database: Database, now: datetime) -> list[HealthCheck]:
    unused = database.read(lambda c: integrity.unused(c, now - SWEPT))
    if not unused.count:
        return [_ok("contents", "no unreferenced content")]
    detail = f"{unused.count} unreferenced, {unused.size / 1_000_000:.1f} MB"
    return [
        HealthCheck(name="contents", status="warning", detail=detail, hint="run cairn doctor --repair to delete them")
    ]


def check_jobs(database: Database, jobs: JobEngine) -> list[HealthCheck]:
    """Check that each working execution has a job that drives it."""

    def read(connection: Connection) -> tuple[int, list[str]]:
        rows = working_executions(connection)
        drivers = tuple({row.driver for row in rows if row.driver is not None})
        ended = jobs.finished_jobs(connection, drivers)
        return len(rows), [row.execution_id for row in rows if row.driver is None or row.driver in ended]

    count, orphans = database.read(read)
    if not orphans:
        return [_ok("jobs", f"{count} executions in progress, each with a job")]
    hint = "a running server resumes them within 15 seconds; otherwise restart it"
    return [HealthCheck(name="jobs", status="warning", detail=f"executions without a job: {_join(orphans)}", hint=hint)]


def check_event_chains(events: EventQueries) -> list[HealthCheck]:
    result = events.verify_chains()
    if result.is_valid:
        return [_ok("events", f"{result.events} events in {result.chains} chains")]
    broken = _join([f"{link.chain} at {link.seq}: {link.reason}" for link in result.broken])
    hint = "the database was changed outside Cairn; compare it with a backup"
    return [HealthCheck(name="events", status="error", detail=broken, hint=hint)]


def _ok(name: str, detail: str) -> HealthCheck:
    return HealthCheck(name=name, status="ok", detail=detail, hint="")


def _join(items: list[str]) -> str:
    more = f"; and {len(items) - MAX_ITEMS} more" if len(items) > MAX_ITEMS else ""
    return "; ".join(items[:MAX_ITEMS]) + more
