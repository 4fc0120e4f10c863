"""Plans and policies, compiled from stored definitions and cached."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import sqlalchemy as sa

from cairn.core.plan import Plan
from cairn.store.column_types import Text
from cairn.store.prepared_statements import PreparedQuery
from cairn.store.tables import definition_revisions

K = TypeVar("K")
V = TypeVar("V")

Document: TypeAlias = Mapping[str, Any]
# Arguments: the graph's definition, the newest definition, and the revision of the newest.
CompilePlan: TypeAlias = Callable[[Document, Document, int], Plan]

_MAX_ENTRIES = 500
_PlanKey: TypeAlias = tuple[str, str, int]  # digest of the graph's definition; digest and revision of the newest


class FolderLayout(Protocol):
    """Names of folders, relative to the pipeline's folder."""

    def run_folder(self, run_version: int | None, run_id: str) -> str: ...

    def checkpoint_folder(self, position: int, name: str) -> str: ...

    def workspace_folder(self, execution_id: str) -> str: ...


@dataclass(frozen=True, slots=True)
class CheckpointPlace:
    """The name and folder of a checkpoint."""

    checkpoint_id: str
    name: str
    folder: str


PlanWithPlaces: TypeAlias = tuple[Plan, Mapping[str, CheckpointPlace]]  # places by checkpoint key


class PlanSource(Protocol):
    """The source of plans for runs: `PlanCache`, or a substitute in tests."""

    @property
    def layout(self) -> FolderLayout: ...

    def plan(self, connection: sa.Connection, pipeline_id: str, graph: int, newest: int) -> Plan: ...

    def plan_with_places(
        self, connection: sa.Connection, pipeline_id: str, graph: int, newest: int
    ) -> PlanWithPlaces: ...


class PlanCache:
    """Compiles each definition once.

    Definitions are identified by their digest, because a revision number can be reused after a failed transaction.
    """

    def __init__(self, compile_plan: CompilePlan, layout: FolderLayout) -> None:
        self.layout = layout
        self._compile_plan = compile_plan
        self._plans = BoundedCache[_PlanKey, Plan]()
        self._places = BoundedCache[_PlanKey, Mapping[str, CheckpointPlace]]()

    def plan(self, connection: sa.Connection, pipeline_id: str, graph: int, newest: int) -> Plan:
        """Return the graph of one revision with the policies of another."""
        return self._compiled(connection, pipeline_id, _key(connection, pipeline_id, graph, newest), graph)

    def plan_with_places(self, connection: sa.Connection, pipeline_id: str, graph: int, newest: int) -> PlanWithPlaces:
        """Return the plan and the places, with names from the newest revision and positions from the graph's."""
        key = _key(connection, pipeline_id, graph, newest)

        def build() -> Mapping[str, CheckpointPlace]:
            names = {each["checkpoint_id"]: each["checkpoint_name"] for each in checkpoints(newest)}
            return {
                each["key"]: self._place(each, position, names.get(each["checkpoint_id"]))
                for position, each in enumerate(checkpoints(graph))
            }

        def checkpoints(revision: int) -> Sequence[Document]:
            return document(connection, pipeline_id, revision).get("checkpoints", ())

        return self._compiled(connection, pipeline_id, key, graph), self._places.get(key, build)

    def _compiled(self, connection: sa.Connection, pipeline_id: str, key: _PlanKey, graph: int) -> Plan:
        newest = key[2]

        def build() -> Plan:
            definition = document(connection, pipeline_id, graph)
            latest = definition if newest == graph else document(connection, pipeline_id, newest)
            return self._compile_plan(definition, latest, newest)

        return self._plans.get(key, build)

    def _place(self, checkpoint: Document, position: int, newest_name: str | None) -> CheckpointPlace:
        name = newest_name or checkpoint["checkpoint_name"]
        return CheckpointPlace(checkpoint["checkpoint_id"], name, self.layout.checkpoint_folder(position, name))


_c = definition_revisions.c
_OF_PIPELINE = _c.pipeline_id == sa.bindparam("pipeline_id", type_=Text())
_DIGESTS = PreparedQuery(
    sa.select(_c.revision, _c.digest).where(
        _OF_PIPELINE,
        sa.or_(
            _c.revision == sa.bindparam("graph", type_=sa.Integer()),
            _c.revision == sa.bindparam("newest", type_=sa.Integer()),
        ),
    )
)
_NEWEST = PreparedQuery(
    sa.select(sa.func.max(_c.revision).label("revision")).where(
        _OF_PIPELINE, _c.pipeline_definition_version == sa.bindparam("version", type_=sa.Integer())
    )
)


def _key(connection: sa.Connection, pipeline_id: str, graph: int, newest: int) -> _PlanKey:
    rows = _DIGESTS.all(connection, {"pipeline_id": pipeline_id, "graph": graph, "newest": newest})
    digests = {row.revision: row.digest for row in rows}
    return digests[graph], digests[newest], newest


def document(connection: sa.Connection, pipeline_id: str, revision: int) -> Document:
    """Return a definition in its full form."""
    c = definition_revisions.c
    query = sa.select(c.document).where(c.pipeline_id == pipeline_id, c.revision == revision)
    return connection.execute(query).scalar_one()


def newest_revision(connection: sa.Connection, pipeline_id: str, definition_version: int) -> int:
    """Return the newest revision with the same checkpoints in the same order."""
    return _NEWEST.all(connection, {"pipeline_id": pipeline_id, "version": definition_version})[0].revision


class BoundedCache(Generic[K, V]):
    """A thread-safe cache of limited size that drops the oldest entries first."""

    def __init__(self) -> None:
        self._results: dict[K, V] = {}
        self._lock = threading.Lock()

    def find(self, key: K) -> V | None:
        return self._results.get(key)

    def get(self, key: K, build: Callable[[], V]) -> V:
        found = self._results.get(key)
        if found is None:
            found = build()
            with self._lock:
                while len(self._results) >= _MAX_ENTRIES:
                    del self._results[next(iter(self._results))]
                self._results[key] = found
        return found
