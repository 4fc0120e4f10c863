"""Actions pass one gate: they are judged, approved, started once and remembered."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.services.actors import ADMIN
from cairn.services.approvals.views import ApprovalDetail
from cairn.services.rollbacks.service import RollbackSpec
from tests.adapters.servers import answer
from tests.services.app import App, step
from tests.services.runs.test_scripts import script

pytestmark = pytest.mark.asyncio(loop_scope="package")
Json = dict[str, Any]

PAY = {
    "pay": {
        "risk_level": "high",
        "schema": {
            "type": "object",
            "required": ["amount", "account"],
            "properties": {"amount": {"type": "number"}, "account": {"type": "string"}},
        },
    }
}
PERFORM = """
def main(ctx):
    paid = []
    result = ctx.perform("pay", {"amount": 5, "account": "A"}, lambda parameters, key: paid.append(key) or {"paid": 5})
    return {"result": result, "paid": paid}
"""
POST = """
def main(ctx):
    result = ctx.propose_action("http_request", {"url": "%s", "json": {"amount": 5}})
    return dict(result)
"""


async def pending(app: App, run: str) -> ApprovalDetail:
    def found_or_failed() -> Any:
        failed = [e.model_dump() for e in app.executions(run) if e.status == "failed"]
        assert not failed, failed[0]["error_details"]
        return next(iter(app.run(run).pending_approvals), None)

    found = await app.wait_until(found_or_failed, 15)
    return app.cairn.approval_queries.get_approval(found.approval_id, ADMIN)


def states(app: App, run: str) -> list[str]:
    page = app.cairn.actions.queries.list_actions(_of(run), 50, None)
    return [action.state.value for action in reversed(page.items)]


def _of(run: str) -> Any:
    from cairn.services.actions.action_views import ActionFilter

    return ActionFilter(run_id=run)


async def test_a_script_performs_an_approved_action_once(app: App) -> None:
    pipeline = await app.pipeline(script("pay", source=PERFORM), actions=PAY)
    run = await app.start(pipeline)
    detail = await pending(app, run)
    assert detail.action is not None
    assert (detail.action.state, detail.action.request) == ("waiting", {"amount": 5, "account": "A"})
    await app.cairn.approvals.decide(detail.approval_id, "approve", digest=detail.digest, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    assert states(app, run) == ["done"]


async def test_a_request_is_sent_once(app: App) -> None:
    app.web.handlers["/pay"] = answer(200, b"{}")
    pipeline = await app.pipeline(script("pay", source=POST % app.web.url("/pay")))
    run = await app.start(pipeline)
    detail = await pending(app, run)
    await app.cairn.approvals.decide(detail.approval_id, "approve", digest=detail.digest, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    assert states(app, run) == ["done"]
    assert len([request for request in app.web.requests if request.path == "/pay"]) == 1


async def test_a_retried_run_shows_the_payment_as_a_repeat(app: App) -> None:
    pipeline = await app.pipeline(script("pay", source=PERFORM), step("after", "give_back"), actions=PAY)
    run = await app.start(pipeline)
    detail = await pending(app, run)
    await app.cairn.approvals.decide(detail.approval_id, "approve", digest=detail.digest, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    again = (await app.cairn.runs.retry(run, actor=ADMIN)).run_id
    repeat = await pending(app, again)
    assert repeat.action is not None
    assert [action.state for action in repeat.action.repeats] == ["done"]
    await app.cairn.approvals.decide(
        repeat.approval_id, "approve", digest=repeat.digest, on_repeat="use_earlier", actor=ADMIN
    )
    await app.wait_for_run(again, "completed")
    assert states(app, again) == ["reused"]


async def test_a_rollback_lists_the_payment_and_holds_the_run(app: App) -> None:
    pipeline = await app.pipeline(script("pay", source=PERFORM), step("after", "give_back"), actions=PAY)
    run = await app.start(pipeline)
    detail = await pending(app, run)
    await app.cairn.approvals.decide(detail.approval_id, "approve", digest=detail.digest, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    spec = RollbackSpec("checkpoint_level", run, target_checkpoint_position=-1)
    preview = app.cairn.rollback_queries.preview(spec, ADMIN)
    assert ([action.state for action in preview.executed_actions], preview.hold) == (["done"], True)
    await app.cairn.rollbacks.roll_back(spec, actor=ADMIN)
    assert app.run(run).status == "paused"
    await app.cairn.runs.resume(run, actor=ADMIN)
    repeat = await pending(app, run)
    assert repeat.action is not None
    assert [action.state for action in repeat.action.repeats] == ["done"]
