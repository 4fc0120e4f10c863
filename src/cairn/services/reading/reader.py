"""The one door for reading: each method is one snapshot of the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from threading import Semaphore
from typing import TYPE_CHECKING, Literal, TypeVar

from cairn.definitions import PipelineDefinition
from cairn.services.actors import Actor
from cairn.services.approvals.queries import detail as approval_detail
from cairn.services.approvals.queries import lists as approvals
from cairn.services.approvals.queries.lists import ApprovalFilter
from cairn.services.approvals.views import ApprovalDetail, ApprovalPage
from cairn.services.artifacts import queries as artifacts
from cairn.services.artifacts.queries import ArtifactFilter
from cairn.services.artifacts.views import Artifact, ArtifactPage
from cairn.services.conversations import queries as conversations
from cairn.services.conversations.queries import MessageFilter
from cairn.services.conversations.views import MessagePage
from cairn.services.costs import queries as costs
from cairn.services.costs.views import Costs, PipelineCosts, RunCosts
from cairn.services.dispatch import contexts
from cairn.services.engine import plans as engine_plans
from cairn.services.engine.event_bus import ChangeHint
from cairn.services.engine.plans import DefinitionCache
from cairn.services.events import queries as events
from cairn.services.events.queries import EventFilter
from cairn.services.events.views import ChainVerification, EventPage
from cairn.services.logs import queries as logs
from cairn.services.logs.queries import LogFilter
from cairn.services.logs.views import LogPage
from cairn.services.notifications import queries as notices
from cairn.services.notifications.queries import DeliveryFilter
from cairn.services.notifications.views import Channel, ChannelPage, DeliveryDetail, DeliveryPage, Preferences
from cairn.services.pipelines import definition_texts
from cairn.services.pipelines import queries as pipelines
from cairn.services.pipelines.views import (
    Checkpoint,
    DefinitionDiff,
    DefinitionFinding,
    Pipeline,
    PipelinePage,
    RevisionDetail,
    RevisionPage,
    TemplatePage,
)
from cairn.services.rework.queries import lineage, reworks
from cairn.services.rework.views import Lineage, ReworkPreview
from cairn.services.rollbacks import queries as rollbacks
from cairn.services.rollbacks.views import Rollback, RollbackPage, RollbackPreview
from cairn.services.runs.execution_views import Context, Execution, ExecutionPage
from cairn.services.runs.queries import detail as run_detail
from cairn.services.runs.queries import executions, progress
from cairn.services.runs.queries import lists as runs
from cairn.services.runs.queries.lists import RunFilter
from cairn.services.runs.stream import StreamBatch, StreamPosition
from cairn.services.runs.views import Run, RunPage
from cairn.store import Connection, Database, LoadedRun, blobs
from cairn.store import tables as t
from cairn.store.runs.run_rows import execution_row

if TYPE_CHECKING:
    from cairn.services.costs.budgets import Budgets
    from cairn.services.dispatch.work_orders import WorkOrders
    from cairn.services.engine.engine import Engine
    from cairn.services.rework.service import ReworkService
    from cairn.services.rework.service import ReworkSpec as ReworkRequest
    from cairn.services.rollbacks.service import RollbackService, RollbackSpec

T = TypeVar("T")
SETTLED = timedelta(seconds=1)


class Reading:
    def __init__(
        self, database: Database, plans: DefinitionCache, engine: Engine, budgets: Budgets, briefing: WorkOrders
    ) -> None:
        self._database = database
        self._plans = plans
        self._engine = engine
        self._budgets = budgets
        self._briefing = briefing
        self._previews = Semaphore(2)  # a preview reads while it reads: more would wait for each other's connections

    def _read(self, query: Callable[[Connection], T]) -> T:
        return self._database.read(query)

    # ---- pipelines -----------------------------------------------------------------------------
    def pipelines(self, deleted: bool, search: str, limit: int, cursor: str | None) -> PipelinePage:
        return self._read(
            lambda c: pipelines.list_pipelines(c, deleted=deleted, search=search, limit=limit, cursor=cursor)
        )

    def pipeline(self, pipeline_id: str, warnings: list[DefinitionFinding] | None = None) -> Pipeline:
        return self._read(lambda c: pipelines.get_pipeline(c, pipeline_id, warnings or []))

    def checkpoint(self, checkpoint_id: str) -> Checkpoint:
        return self._read(lambda c: pipelines.get_checkpoint(c, checkpoint_id))

    def revisions(self, pipeline_id: str, limit: int, cursor: str | None) -> RevisionPage:
        return self._read(lambda c: pipelines.list_revisions(c, pipeline_id, limit, cursor))

    def revision(self, pipeline_id: str, revision: int) -> RevisionDetail:
        return self._read(lambda c: pipelines.get_revision(c, pipeline_id, revision))

    def definition_text(self, pipeline_id: str, format: Literal["yaml", "json"]) -> tuple[str, int]:
        return self._read(lambda c: definition_texts.definition_text(c, self._plans, pipeline_id, format))

    def diff(self, pipeline_id: str, before: int, after: int) -> DefinitionDiff:
        return self._read(lambda c: definition_texts.compare(c, self._plans, pipeline_id, before, after))

    def compare(self, pipeline_id: str, definition: PipelineDefinition) -> DefinitionDiff:
        """The newest definition with one that is not saved."""
        return self._read(lambda c: definition_texts.compare_with(c, self._plans, pipeline_id, definition))

    def templates(self) -> TemplatePage:
        return definition_texts.list_templates()

    # ---- runs ------------------------------------------------------------------------------------
    def runs(self, wanted: RunFilter, limit: int, cursor: str | None) -> RunPage:
        return self._read(lambda c: runs.list_runs(c, wanted, limit, cursor))

    def pipeline_runs(self, pipeline_id: str, wanted: RunFilter, limit: int, cursor: str | None) -> RunPage:
        return self._read(lambda c: runs.list_of_pipeline(c, pipeline_id, wanted, limit, cursor))

    def run(self, run_id: str, by: Actor | None = None) -> Run:
        """`by` is whoever looks at it, here and below."""
        now = self._engine.clock.now()

        def read(connection: Connection) -> Run:
            loaded = self._load(connection)(run_id)
            return run_detail.get_run(connection, self._plans, self._budgets, loaded, now, by)

        return self._read(read)

    def run_input(self, run_id: str) -> bytes:
        """As it was given: numbers keep every digit."""

        def read(connection: Connection) -> bytes:
            checksum = self._engine.load(connection, run_id, lock=False).facts.input_checksum
            return blobs.read(connection, checksum) if checksum is not None else b"null"

        return self._read(read)

    # ---- executions --------------------------------------------------------------------------------
    def executions(
        self, run_id: str, include_archived: bool, limit: int, cursor: str | None, by: Actor | None = None
    ) -> ExecutionPage:
        now = self._engine.clock.now()

        def read(connection: Connection) -> ExecutionPage:
            loaded = self._load(connection)(run_id)
            return executions.list_executions(
                connection, self._plans, loaded, now, by, include_archived=include_archived, limit=limit, cursor=cursor
            )

        return self._read(read)

    def execution(self, execution_id: str, by: Actor | None = None) -> Execution:
        now = self._engine.clock.now()

        def read(connection: Connection) -> Execution:
            row = execution_row(connection, execution_id)
            loaded = self._engine.load(connection, row.run_id, lock=False)
            return executions.get_execution(connection, self._plans, loaded, row, now, by)

        return self._read(read)

    def context(self, execution_id: str) -> Context:
        def read(connection: Connection) -> Context:
            row = execution_row(connection, execution_id)
            loaded = self._load(connection)(row.run_id)
            checkpoint = engine_plans.definition_of(connection, self._plans, loaded.facts.pipeline_id, row)
            return contexts.get_context(connection, self._briefing, loaded, row, checkpoint)

        with self._previews:
            return self._read(read)

    def logs(self, execution_id: str, wanted: LogFilter, limit: int, cursor: str | None) -> LogPage:
        return self._read(lambda c: logs.list_logs(c, execution_id, wanted, limit, cursor))

    def log_text(self, execution_id: str) -> Iterator[bytes]:
        """The whole log as text; NotFound is told before the first line is read."""
        self._read(lambda c: execution_row(c, execution_id))
        return logs.whole_text(self._database, execution_id)

    def messages(
        self, execution_id: str, wanted: MessageFilter, by: Actor, limit: int, cursor: str | None
    ) -> MessagePage:
        return self._read(
            lambda c: conversations.list_messages(c, self._plans, execution_id, wanted, by, limit, cursor)
        )

    # ---- costs -------------------------------------------------------------------------------------
    def run_costs(self, run_id: str, query: costs.CostQuery) -> RunCosts:
        return self._read(lambda c: costs.of_run(c, self._budgets, run_id, query))

    def pipeline_costs(self, pipeline_id: str, query: costs.CostQuery) -> PipelineCosts:
        return self._read(lambda c: costs.of_pipeline(c, self._budgets, pipeline_id, query))

    def costs(self, query: costs.CostQuery) -> Costs:
        return self._read(lambda c: costs.of_all(c, query))

    # ---- approvals ---------------------------------------------------------------------------------
    def approvals(
        self, wanted: ApprovalFilter, limit: int, cursor: str | None, by: Actor | None = None
    ) -> ApprovalPage:
        seen = approvals.ApprovalViewer(self._engine.clock.now(), by)
        return self._read(lambda c: approvals.list_approvals(c, wanted, limit, cursor, seen))

    def approval(self, approval_id: str, by: Actor | None = None) -> ApprovalDetail:
        now = self._engine.clock.now()

        def read(connection: Connection) -> ApprovalDetail:
            loaded = self._engine.load(connection, approvals.run_of(connection, approval_id), lock=False)
            return approval_detail.get_detail(connection, self._plans, loaded, approval_id, by, now)

        return self._read(read)

    # ---- notifications -------------------------------------------------------------------------------
    def channels(self, limit: int, cursor: str | None) -> ChannelPage:
        return self._read(lambda c: notices.list_channels(c, limit, cursor))

    def channel(self, channel_id: str) -> Channel:
        return self._read(lambda c: notices.get_channel(c, channel_id))

    def deliveries(self, wanted: DeliveryFilter, limit: int, cursor: str | None) -> DeliveryPage:
        return self._read(lambda c: notices.list_deliveries(c, wanted, limit, cursor))

    def delivery(self, delivery_id: str) -> DeliveryDetail:
        return self._read(lambda c: notices.get_delivery(c, delivery_id))

    def preferences(self, user: str) -> Preferences:
        return self._read(lambda c: notices.get_preferences(c, user))

    # ---- lineage -----------------------------------------------------------------------------------
    def lineage(self, run_id: str) -> Lineage:
        return self._read(lambda c: lineage.get_lineage(c, self._load(c)(run_id)))

    def rework_preview(self, foreseen_by: ReworkService, request: ReworkRequest, by: Actor) -> ReworkPreview:
        return self._read(lambda c: reworks.preview(c, foreseen_by.preview(c, request, by)))

    # ---- rollbacks ---------------------------------------------------------------------------------
    def rollbacks(self, pipeline_id: str | None, run_id: str | None, limit: int, cursor: str | None) -> RollbackPage:
        def read(connection: Connection) -> RollbackPage:
            return rollbacks.list_rollbacks(connection, self._load(connection), pipeline_id, run_id, limit, cursor)

        return self._read(read)

    def rollback(self, rollback_id: str) -> Rollback:
        return self._read(lambda c: rollbacks.get_rollback(c, self._load(c), rollback_id))

    def rollback_preview(self, foreseen_by: RollbackService, request: RollbackSpec, by: Actor) -> RollbackPreview:
        return self._read(lambda c: rollbacks.preview(c, request, foreseen_by.preview(c, request, by)))

    def _load(self, connection: Connection) -> Callable[[str], LoadedRun]:
        return lambda run_id: self._engine.load(connection, run_id, lock=False)

    # ---- artifacts and the trail -------------------------------------------------------------------
    def artifacts(self, wanted: ArtifactFilter, limit: int, cursor: str | None) -> ArtifactPage:
        return self._read(lambda c: artifacts.list_artifacts(c, wanted, limit, cursor))

    def artifact(self, record_id: str) -> Artifact:
        return self._read(lambda c: artifacts.get_artifact(c, record_id))

    def content(self, checksum: str) -> Iterator[bytes]:
        return blobs.stream(self._database, checksum)

    def events(self, wanted: EventFilter, limit: int, cursor: str | None) -> EventPage:
        return self._read(lambda c: events.list_events(c, wanted, limit, cursor))

    def verify(self, pipeline_id: str | None, run_id: str | None) -> ChainVerification:
        return self._read(lambda c: events.verify_events(c, pipeline_id, run_id))

    # ---- streams -------------------------------------------------------------------------------------
    def check_run(self, run_id: str) -> None:
        """NotFound if there is no such run."""
        self._read(lambda c: events.known(c, t.pipeline_runs.c.run_id, "run", run_id))

    def after(self, run_id: str, place: StreamPosition, limit: int) -> StreamBatch:
        """Events, log lines and messages that come after these, each in order, and how far the work is."""
        until = self._settled()
        return self._read(
            lambda c: StreamBatch(
                events.events_after(c, run_id, place.seq, limit),
                logs.logs_after(c, run_id, place.log_id, limit, until),
                conversations.messages_after(c, run_id, place.message_id, limit, until),
                progress.progress_of_run(c, run_id),
            )
        )

    def last_place(self, run_id: str) -> StreamPosition:
        """Where the run's newest event, log line and message stand."""
        until = self._settled()
        return self._read(
            lambda c: StreamPosition(
                events.last_of_run(c, run_id),
                logs.last_log(c, run_id, until),
                conversations.last_message(c, run_id, until),
            )
        )

    def hidden_in(self, run_id: str, by: Actor) -> frozenset[str]:
        """Executions of the run whose conversation is not for this one to see."""
        if by.may(conversations.AUDIT):
            return frozenset()
        return self._read(lambda c: conversations.hidden_in(c, self._plans, run_id))

    def _settled(self) -> datetime | None:
        """Where several processes write, a line may be committed after one with a higher number: none is shown before
        those that were written with it are there."""
        return self._engine.clock.now() - SETTLED if self._database.kind == "postgresql" else None

    def last_event(self) -> int:
        return self._read(events.last_event)

    def changes_after(self, last: int, limit: int) -> tuple[int, list[ChangeHint]]:
        return self._read(lambda c: events.changes_after(c, last, limit))
