"""Lists are fast with 10,000 runs and model calls, with few statements per page."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any, TypeVar

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from cairn.services.actors import Actor
from cairn.services.approvals.queries import lists as approvals
from cairn.services.approvals.queries.lists import ApprovalFilter
from cairn.services.approvals.views import ApprovalPage
from cairn.services.artifacts import queries as artifacts
from cairn.services.artifacts.queries import ArtifactFilter
from cairn.services.costs import queries as costs
from cairn.services.costs.queries import CostQuery
from cairn.services.events import queries as events
from cairn.services.events.queries import EventFilter
from cairn.services.pipelines import queries as pipelines
from cairn.services.runs.queries import lists as runs
from cairn.services.runs.queries.lists import RunFilter
from cairn.store import Database, model_usage
from tests.databases import KINDS
from tests.services.runs.many_runs import BEGIN, insert_runs

T = TypeVar("T")
PIPELINES, RUNS_EACH = 100, 100
SECONDS = 0.1  # for the first page of the queue
ME = frozenset({"a reviewer", "reviewer@example.com", "approver", "finance"})
SEEN = approvals.ApprovalViewer(BEGIN, Actor("a reviewer", frozenset({"approver"})))


def queue(connection: sa.Connection, **filter: Any) -> ApprovalPage:
    return approvals.list_approvals(connection, ApprovalFilter(**filter), 50, None, SEEN)


LISTS: dict[str, tuple[int, Callable[[sa.Connection, str], Any]]] = {
    "runs": (4, lambda c, _: runs.list_runs(c, RunFilter(), 50, None)),
    "runs of a pipeline": (5, lambda c, own: runs.list_pipeline_runs(c, own, RunFilter(), 50, None)),
    "pipelines": (7, lambda c, _: pipelines.list_pipelines(c, deleted=False, search="", limit=50, cursor=None)),
    "queue by age": (5, lambda c, _: queue(c)),
    "queue by deadline": (5, lambda c, _: queue(c, sort="deadline")),
    "queue by risk": (5, lambda c, _: queue(c, sort="risk")),
    "queue by priority": (5, lambda c, _: queue(c, sort="priority")),
    "your queue": (5, lambda c, _: queue(c, assigned_to=ME)),
    "queue of a pipeline": (
        5,
        lambda c, own: approvals.list_approvals(c, ApprovalFilter(pipeline_id=own), 50, None, SEEN),
    ),
    "costs": (2, lambda c, _: costs.total_costs(c, CostQuery("day", 50, None))),
    "costs by pipeline": (3, lambda c, _: costs.total_costs(c, CostQuery("pipeline", 50, None))),
    "costs of a month": (1, lambda c, own: model_usage.monthly_usage(c, own, BEGIN)),
    "artifacts": (1, lambda c, own: artifacts.list_artifacts(c, ArtifactFilter(pipeline_id=own), 50, None)),
    "events": (1, lambda c, own: events.list_events(c, EventFilter(pipeline_id=own), 50, None)),
}


@contextmanager
def count_statements(database: Database) -> Generator[list[str], None, None]:
    statements: list[str] = []

    def note(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.lstrip().upper().startswith("SELECT"):
            statements.append(statement)

    event.listen(database.read_engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(database.read_engine, "before_cursor_execute", note)


@pytest.fixture(scope="module", params=KINDS)
def populated(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Database, str]]:
    with ExitStack() as stack:
        url = f"sqlite:///{tmp_path_factory.mktemp('populated')}/cairn.db"
        if request.param == "postgresql":
            url = stack.enter_context(request.getfixturevalue("postgres").new_database(migrated=True))
        database = stack.enter_context(closing(Database(url)))
        database.migrate()
        names = insert_runs(database, PIPELINES, RUNS_EACH)
        if database.kind == "postgresql":  # autovacuum would do it later
            with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(sa.text("ANALYZE"))
        yield database, names[0]


def test_pages_take_few_statements_and_little_time(populated: tuple[Database, str]) -> None:
    database, pipeline = populated
    slow: dict[str, float] = {}
    for name, (limit, read) in LISTS.items():
        with count_statements(database) as statements:
            database.read(lambda c, read=read: read(c, pipeline))
        assert len(statements) <= limit, (name, statements)
        duration = min(_time(database, lambda c, read=read: read(c, pipeline)) for _ in range(5))
        if duration > SECONDS:
            slow[name] = duration
    assert slow == {}


def _time(database: Database, read: Callable[[sa.Connection], Any]) -> float:
    """Return the CPU time of this thread, so that other processes don't count. SQLite works in this thread."""
    began = time.thread_time()
    database.read(read)
    return time.thread_time() - began


def test_every_run_is_on_exactly_one_page(populated: tuple[Database, str]) -> None:
    database, _ = populated
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = database.read(lambda c, cursor=cursor: runs.list_runs(c, RunFilter(), 500, cursor))
        seen += [run.run_id for run in page.items]
        if (cursor := page.next_cursor) is None:
            break
    assert len(seen) == len(set(seen)) == PIPELINES * RUNS_EACH


def test_the_queue_is_sorted_by_age_or_deadline(populated: tuple[Database, str]) -> None:
    database, _ = populated
    by_age = database.read(lambda c: approvals.list_approvals(c, ApprovalFilter(), 500, None, SEEN)).items
    assert [a.requested_at for a in by_age] == sorted(a.requested_at for a in by_age)
    seen: list[tuple[bool, Any, Any, str]] = []  # no deadline is last, then by age
    cursor: str | None = None
    while True:
        page = database.read(
            lambda c, cursor=cursor: approvals.list_approvals(c, ApprovalFilter(sort="deadline"), 499, cursor, SEEN)
        )
        seen += [
            (a.expires_at is None, a.expires_at or a.requested_at, a.requested_at, a.approval_id) for a in page.items
        ]
        if (cursor := page.next_cursor) is None:
            break
    assert len(seen) == len({approval_id for *_, approval_id in seen}) == PIPELINES * RUNS_EACH
    assert seen == sorted(seen)
    assert sum(lacks for lacks, *_ in seen) == PIPELINES * RUNS_EACH // 2
