"""Queries of approvals: each method reads one snapshot of the database."""

from __future__ import annotations

from cairn.ports import Clock
from cairn.services.actions.action_views import ActionViews
from cairn.services.actors import Actor
from cairn.services.approvals.queries import detail, lists
from cairn.services.approvals.queries.lists import ApprovalFilter, ApprovalViewer
from cairn.services.approvals.views import ApprovalDetail, ApprovalPage
from cairn.services.engine.engine import Engine
from cairn.store import Connection


class ApprovalQueries:
    def __init__(self, engine: Engine, clock: Clock, actions: ActionViews) -> None:
        self._engine = engine
        self._actions = actions
        self._database = engine.database
        self._clock = clock

    def list_approvals(
        self, approval_filter: ApprovalFilter, limit: int, cursor: str | None, actor: Actor | None = None
    ) -> ApprovalPage:
        """Approvals as `actor` sees them."""
        viewer = ApprovalViewer(self._clock.now(), actor)
        return self._database.read(lambda c: lists.list_approvals(c, approval_filter, limit, cursor, viewer))

    def get_approval(self, approval_id: str, actor: Actor | None = None) -> ApprovalDetail:
        now = self._clock.now()

        def read(connection: Connection) -> ApprovalDetail:
            loaded = self._engine.load(connection, lists.run_of_approval(connection, approval_id), lock=False)
            return detail.get_detail(connection, self._actions, loaded, approval_id, actor, now)

        return self._database.read(read)
