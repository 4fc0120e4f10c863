"""Only one of several concurrent decisions counts."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from cairn.core.errors import CommandRefused
from cairn.core.states import ApprovalKind
from cairn.runners import Ctx
from cairn.services.actors import ADMIN, Actor
from cairn.services.errors import InvalidInput
from cairn.store.errors import NotFound
from tests.isolation import limit
from tests.mentions import mentions
from tests.services.app import App, form, step

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_one_of_two_hundred_concurrent_decisions_counts_and_the_others_are_rejected(app: App) -> None:
    pipeline = await app.pipeline(step("goals", approve="complete"), step("design"))
    run = await app.start(pipeline)
    approval = await app.wait_until(lambda: app.execution(run, "goals").approval)
    users = [Actor(f"user {n}", frozenset({"approver"})) for n in range(200)]
    decisions = ["approve", "revise", "reject"]

    async def decide(n: int) -> str:
        try:
            await app.cairn.approvals.decide(
                approval.approval_id, decisions[n % 3], digest=approval.digest, feedback="why", actor=users[n]
            )
        except CommandRefused as error:
            return error.message
        return "counted"

    answers = await asyncio.gather(*(decide(n) for n in range(200)))
    assert answers.count("counted") == 1
    winner = users[answers.index("counted")].name
    status = {"approve": "approved", "revise": "revision_requested", "reject": "rejected"}[
        decisions[answers.index("counted") % 3]
    ]
    assert [answer for answer in answers if answer != "counted"] == [mentions(status, winner)] * 199
    decided = app.cairn.approval_queries.get_approval(approval.approval_id)
    assert ([d.by for d in decided.decisions], str(decided.status)) == ([winner], status)
    assert app.event_types(run).count(f"approval_{status}") == 1
    await app.wait_until_idle()
    if status == "revision_requested":
        await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_fifty_runs_approved_at_once_all_continue(app: App) -> None:
    pipeline = await app.pipeline(step("goals", approve="complete"), step("design"))
    runs = await asyncio.gather(*(app.start(pipeline) for _ in range(50)))
    approvals = [await app.wait_until(lambda run=run: app.execution(run, "goals").approval) for run in runs]
    await asyncio.gather(*(app.cairn.approvals.decide(a.approval_id, "approve", actor=ADMIN) for a in approvals))
    for run in runs:
        await app.wait_for_run(run, "completed")
    assert {len(app.artifacts(run)) for run in runs} == {2}


async def test_a_hundred_concurrent_functions_do_not_delay_decisions(app: App) -> None:
    """Neither the event loop nor the writer is blocked."""

    @app.function("busy")
    async def busy(ctx: Ctx) -> dict[str, int]:
        for n in range(20):
            ctx.progress(n / 20, "at work")
            await asyncio.sleep(0.02)
        return {"done": 1}

    waiting_run = await app.start(await app.pipeline(step("waits", approve="complete")))
    approval = await app.wait_until(lambda: app.execution(waiting_run, "waits").approval)
    pipeline = await app.pipeline(*(step(f"s{n}", "busy", stage="all") for n in range(100)))
    run = await app.start(pipeline)
    started = asyncio.get_running_loop().time()
    await app.cairn.approvals.decide(approval.approval_id, "approve", actor=ADMIN)
    assert asyncio.get_running_loop().time() - started < limit(5.0)  # a blocked loop or writer would take much longer
    await app.wait_for_run(run, "completed", seconds=40)
    assert len(app.artifacts(run)) == 100


async def test_executions_and_approvals_can_both_be_used_to_decide(app: App) -> None:
    """Deciding an execution decides its pending approval."""
    pipeline = await app.pipeline(step("goals", approve="both"))
    run = await app.start(pipeline)
    execution = app.execution(run, "goals").execution_id
    start = app.execution(run, "goals").approval
    assert start is not None
    await app.cairn.approvals.decide(start.approval_id, "reject", actor=ADMIN)
    assert app.statuses(run) == {"goals": "pending"}
    await app.cairn.executions.start(execution, actor=ADMIN)
    with pytest.raises(CommandRefused, match="waiting_approval_to_start") as error:
        await app.cairn.approvals.decide_pending(
            execution, "approve", kinds=frozenset({ApprovalKind.COMPLETION}), actor=ADMIN
        )
    assert error.value.suggestions == ("approve-start", "reject")
    await app.cairn.approvals.decide_pending(execution, "approve", actor=ADMIN)
    await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")
    await app.cairn.approvals.decide_pending(execution, "approve", actor=ADMIN)
    await app.wait_for_run(run, "completed")
    with pytest.raises(CommandRefused, match="completed"):
        await app.cairn.approvals.decide_pending(execution, "approve", actor=ADMIN)
    with pytest.raises(NotFound):
        await app.cairn.approvals.decide(str(uuid4()), "approve", actor=ADMIN)
    with pytest.raises(NotFound):
        await app.cairn.approvals.decide_pending(str(uuid4()), "approve", actor=ADMIN)


async def test_a_rollback_withdraws_pending_approvals(app: App) -> None:
    pipeline = await app.pipeline(step("first"), step("goals", approve="complete"))
    run = await app.start(pipeline)
    approval = (await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")).approval
    assert approval is not None
    await app.roll_back(run, -1)
    assert app.cairn.approval_queries.get_approval(approval.approval_id).status == "withdrawn"
    with pytest.raises(CommandRefused, match="withdrawn"):
        await app.cairn.approvals.decide(approval.approval_id, "approve", actor=ADMIN)
    await app.decide(run, "goals", "approve")
    await app.wait_for_run(run, "completed")


async def test_one_of_ten_concurrent_form_submissions_counts(app: App) -> None:
    pipeline = await app.pipeline(form("goals"))
    run = await app.start(pipeline)
    execution = app.execution(run, "goals").execution_id
    answers = await asyncio.gather(
        *(app.cairn.executions.submit(execution, {"goals": f"goal {n}"}, actor=ADMIN) for n in range(10)),
        return_exceptions=True,
    )
    counted = [n for n, answer in enumerate(answers) if not isinstance(answer, BaseException)]
    assert len(counted) == 1
    assert all(isinstance(a, CommandRefused) for n, a in enumerate(answers) if n not in counted)
    await app.wait_for_run(run, "completed")
    assert app.output(run, "goals") == {"goals": f"goal {counted[0]}"}


async def test_an_approval_without_a_form_rejects_an_answer(app: App) -> None:
    pipeline = await app.pipeline(step("goals", approve="start"))
    run = await app.start(pipeline)
    approval = app.execution(run, "goals").approval
    assert approval is not None
    with pytest.raises(InvalidInput) as error:
        await app.cairn.approvals.decide(approval.approval_id, "answer", fields={"x": 1}, actor=ADMIN)
    assert error.value.errors == (("/fields", mentions("'Goals'")),)
    await app.cairn.runs.cancel(run, actor=ADMIN)
