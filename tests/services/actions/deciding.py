"""Read and decide actions in tests."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from cairn.services.actions.action_views import ActionFilter
from cairn.services.actions.views import ActionSummary
from cairn.services.actors import ADMIN, Actor
from cairn.services.approvals.views import ApprovalDetail
from cairn.services.engine.commit import Commit
from cairn.store import tables as t
from tests.services.app import App
from tests.services.rule_files import approvals

PEOPLE = frozenset({"action", "outcome"})  # kinds of approvals


async def question(app: App, run: str, *seen: str, kind: str = "action") -> ApprovalDetail:
    """Wait for an approval of an action that people have to decide, other than those that they have seen."""

    def find() -> str | None:
        found = [a for a in app.run(run).pending_approvals if a.kind == kind and a.approval_id not in seen]
        if not found:
            failed = [e.error_details for e in app.executions(run) if e.status == "failed"]
            assert not failed, failed
        return found[0].approval_id if found else None

    return app.cairn.approval_queries.get_approval(await app.wait_until(find, 20), ADMIN)


async def decide(
    app: App, detail: ApprovalDetail, decision: str = "approve", actor: Actor = ADMIN, **more: Any
) -> Commit:
    """Decide on what the approval shows."""
    return await app.cairn.approvals.decide(
        detail.approval_id, decision, digest=detail.digest, actor=actor, **{"feedback": "Because.", **more}
    )


def actions(app: App, run: str) -> list[ActionSummary]:
    """The actions of a run, oldest first."""
    return app.cairn.actions.queries.list_actions(ActionFilter(run_id=run), 200, None).items[::-1]


def states(app: App, run: str) -> list[str]:
    return [action.state.value for action in actions(app, run)]


def questions(app: App, run: str, kinds: Collection[str] = PEOPLE) -> int:
    """How many approvals of actions people got."""
    return sum(a.kind in kinds and a.status != "auto_approved" for a in approvals(app, run))


def column(app: App, action_id: str, name: str) -> Any:
    query = sa.select(t.actions.c[name]).where(t.actions.c.action_id == action_id)
    return app.cairn.database.read(lambda c: c.execute(query).scalar_one())


def requests(app: App, path: str) -> list[Any]:
    return [request for request in app.web.requests if request.path == path]


async def stop(app: App) -> None:
    """Let no action start."""
    await app.cairn.rules.stop(True, "a test", ADMIN, "actions")


async def lift(app: App) -> None:
    await app.cairn.rules.stop(False, "", ADMIN)
