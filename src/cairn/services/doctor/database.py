"""The database: schema, integrity, rows, contents, jobs, trail."""

from __future__ import annotations

from datetime import datetime, timedelta

from cairn.ports import JobEngine
from cairn.services.dispatch.queries import working_executions
from cairn.services.doctor.views import HealthCheck
from cairn.services.events.queries import EventQueries
from cairn.store import Connection, Database
from cairn.store import integrity as store
from cairn.store.database import schema_version

SHOWN = 5
SWEPT = timedelta(days=2)  # contents that nothing refers to are removed every day


def schema(database: Database) -> list[HealthCheck]:
    version, newest = database.schema_version, schema_version.newest()
    if version == newest:
        return [_ok("schema", f"version {version}, the newest")]
    detail = f"version {version or 'none'}, but this Cairn needs {newest}"
    return [HealthCheck(name="schema", status="error", detail=detail, hint="start this version of the server")]


def integrity(database: Database) -> list[HealthCheck]:
    faults = database.read(store.database_errors)
    if not faults:
        return [_ok("database", f"{database.kind}, sound")]
    hint = "stop the server, copy the folder, and go back to a backup"
    return [HealthCheck(name="database", status="error", detail=_some(faults), hint=hint)]


def rows(database: Database) -> list[HealthCheck]:
    found = database.read(store.inconsistent_rows)
    if not found:
        return [_ok("rows", "every one has what it refers to")]
    hint = "somebody has changed the database: compare with a backup"
    return [HealthCheck(name="rows", status="error", detail=_some(found), hint=hint)]


def contents(database: Database, now: datetime) -> list[HealthCheck]:
    left = database.read(lambda c: store.unused(c, now - SWEPT))
    if not left.count:
        return [_ok("contents", "nothing is left over")]
    detail = f"{left.count} that nothing refers to, {left.size / 1_000_000:.1f} MB"
    return [HealthCheck(name="contents", status="warning", detail=detail, hint="cairn doctor --repair removes them")]


def engine(database: Database, jobs: JobEngine) -> list[HealthCheck]:
    """Executions at work, and whether a job drives each."""

    def look(connection: Connection) -> tuple[int, list[str]]:
        rows = working_executions(connection)
        drivers = tuple({row.driver for row in rows if row.driver is not None})
        over = jobs.finished_jobs(connection, drivers)
        return len(rows), [row.execution_id for row in rows if row.driver is None or row.driver in over]

    at_work, left = database.read(look)
    if not left:
        return [_ok("jobs", f"{at_work} executions at work, each with its job")]
    hint = "a running server takes them up within 15 seconds; if it does not, start it again"
    detail = f"nobody drives {_some(left)}"
    return [HealthCheck(name="jobs", status="warning", detail=detail, hint=hint)]


def event_chains(events: EventQueries) -> list[HealthCheck]:
    verdict = events.verify_chains()
    if verdict.valid:
        return [_ok("events", f"{verdict.events} events in {verdict.chains} chains")]
    broken = _some([f"{link.chain} at {link.seq}: {link.reason}" for link in verdict.broken])
    hint = "somebody has changed the database: compare with a backup"
    return [HealthCheck(name="events", status="error", detail=broken, hint=hint)]


def _ok(name: str, detail: str) -> HealthCheck:
    return HealthCheck(name=name, status="ok", detail=detail, hint="")


def _some(found: list[str]) -> str:
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(found[:SHOWN]) + more
