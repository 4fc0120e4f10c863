"""Approvers, deadlines and concurrent decisions."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from cairn.core.errors import CommandRefused, NotAllowed
from cairn.core.states import RunStatus
from cairn.runners import Ctx
from cairn.services.actors import ADMIN, Actor
from cairn.services.approvals.batches import BatchDecision
from cairn.services.approvals.queries.lists import ApprovalFilter
from cairn.services.approvals.views import Approval
from cairn.services.errors import InvalidInput
from cairn.services.identity.users import UserSpec
from tests.mentions import mentions
from tests.services.app import App, step
from tests.services.rule_files import approvals, rule, second_approver

pytestmark = pytest.mark.asyncio(loop_scope="package")
Json = dict[str, Any]


def person(name: str, *groups: str, email: str = "") -> Actor:
    return Actor(name, frozenset({"approver"}), email, frozenset(groups))


CAREFUL = """
checkpoints:
  - name: careful
    trigger: {{kind: completion, custom_field: {{field: checkpoint.key, value: goals}}}}
    action: {action}
"""


async def pipeline_with_rule(app: App, action: str) -> str:
    """A pipeline whose first checkpoint requires approval to complete, on these terms."""
    await create_approvers(app)
    pipeline = await app.pipeline(step("goals"), step("design"))
    await rule(app, CAREFUL.format(action=action), pipeline)
    return pipeline


async def create_approvers(app: App) -> None:
    """The user and groups that rules name."""
    with suppress(InvalidInput, CommandRefused):  # another test may have created them
        manager = UserSpec("manager", email="manager@example.com", roles=("approver",))
        await app.cairn.identity.users.create(manager, actor=ADMIN)
        for group in ("finance", "legal"):
            await app.cairn.identity.groups.create(group, "", ["manager"], actor=ADMIN)


async def pending_approval(app: App, run: str) -> Approval:
    return await app.wait_until(lambda: next(iter(app.run(run).pending_approvals), None))


# Approvers
async def test_only_users_named_by_the_rule_can_decide(app: App) -> None:
    pipeline = await pipeline_with_rule(app, "{approvers: [finance, manager@example.com]}")
    run = await app.start(pipeline)
    approval = await pending_approval(app, run)
    assert approval.assigned_to == ["finance", "manager@example.com"]
    with pytest.raises(NotAllowed) as error:
        await app.cairn.approvals.decide(approval.approval_id, "approve", actor=person("bob"))
    assert error.value.message == mentions("finance, manager@example.com")
    shown = app.cairn.approval_queries.get_approval
    assert shown(approval.approval_id, person("bob")).can_decide is False
    assert shown(approval.approval_id, person("bob", "finance")).can_decide is True
    await app.cairn.approvals.decide(approval.approval_id, "approve", actor=person("bob", email="Manager@Example.com"))
    await app.wait_for_run(run, "completed")


async def test_the_queue_can_show_only_own_approvals(app: App) -> None:
    pipeline = await pipeline_with_rule(app, "{approvers: [finance]}")
    run = await app.start(pipeline)
    approval = await pending_approval(app, run)

    def queue(actor: Actor) -> list[str]:
        assigned = ApprovalFilter(run_id=run, assigned_to=actor.all_names)
        return [a.approval_id for a in app.cairn.approval_queries.list_approvals(assigned, 50, None).items]

    assert (queue(person("bob")), queue(person("bob", "Finance"))) == ([], [approval.approval_id])
    await app.cairn.approvals.assign(approval.approval_id, ["legal"], "a contract", actor=person("x", "finance"))
    assert (queue(person("bob", "finance")), queue(person("bob", "legal"))) == ([], [approval.approval_id])
    assert app.event_types(run)[-1] == "approval_assigned"
    with pytest.raises(NotAllowed):
        await app.cairn.approvals.assign(approval.approval_id, ["me"], "", actor=person("me"))
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_rule_can_exclude_the_user_who_started_the_run(app: App) -> None:
    pipeline = await pipeline_with_rule(app, "{not_by_starter: true}")
    starter = Actor("starter", frozenset({"editor", "approver", "admin"}))
    run = (await app.cairn.runs.create(pipeline, actor=starter)).run_id
    approval = await pending_approval(app, run)
    with pytest.raises(NotAllowed):
        await app.cairn.approvals.decide(approval.approval_id, "approve", actor=starter)
    await app.cairn.approvals.decide(approval.approval_id, "approve", actor=person("another"))
    await app.wait_for_run(run, "completed")


async def test_two_different_users_must_approve(app: App) -> None:
    await second_approver(app)
    pipeline = await pipeline_with_rule(app, "{require_approval_count: 2}")
    run = await app.start(pipeline)
    approval = await pending_approval(app, run)
    await app.cairn.approvals.decide(approval.approval_id, "approve", actor=person("ann"))
    assert (app.cairn.approval_queries.get_approval(approval.approval_id).received_approvals, app.run(run).status) == (
        1,
        "in_progress",
    )
    with pytest.raises(CommandRefused):
        await app.cairn.approvals.decide(approval.approval_id, "approve", actor=person("ann"))
    await app.cairn.approvals.decide(approval.approval_id, "approve", actor=person("bob"))
    await app.wait_for_run(run, "completed")


# Deadlines
@pytest.mark.parametrize(("on_timeout", "status"), [("fail", RunStatus.FAILED), ("cancel", RunStatus.CANCELLED)])
async def test_an_approval_deadline_is_enforced(app: App, on_timeout: str, status: RunStatus) -> None:
    pipeline = await pipeline_with_rule(app, f"{{timeout_seconds: 1, on_timeout: {on_timeout}}}")
    run = await app.start(pipeline)
    approval = await pending_approval(app, run)
    assert approval.expires_at == approval.requested_at + timedelta(seconds=1)
    await app.wait_for_run(run, status)
    events = app.event_types(run)
    assert (events.count("approval_reminder_due"), events.count("approval_timeout")) == (1, 1)
    closed = app.cairn.approval_queries.get_approval(approval.approval_id)
    assert str(closed.status) == "timeout"
    with pytest.raises(CommandRefused, match="timeout"):
        await app.cairn.approvals.decide(approval.approval_id, "approve", actor=ADMIN)


async def test_an_escalation_adds_approvers_and_one_more_period(app: App) -> None:
    action = (
        "{approvers: [finance], timeout_seconds: 2, on_timeout: escalate,"
        " escalation: {after_seconds: 1, escalate_to: [manager@example.com]}}"
    )
    pipeline = await pipeline_with_rule(app, action)
    run = await app.start(pipeline)
    approval = await pending_approval(app, run)
    await app.wait_until(lambda: app.cairn.approval_queries.get_approval(approval.approval_id).escalated)
    escalated = app.cairn.approval_queries.get_approval(approval.approval_id)
    assert escalated.assigned_to == ["finance", "manager@example.com"]
    await app.wait_until(lambda: app.event_types(run).count("approval_escalated") == 2)
    extended = app.cairn.approval_queries.get_approval(approval.approval_id)
    assert extended.expires_at is not None
    assert escalated.expires_at is not None
    assert extended.expires_at > escalated.expires_at
    manager = person("manager", email="manager@example.com")
    await app.cairn.approvals.decide(approval.approval_id, "approve", actor=manager)
    await app.wait_for_run(run, "completed")


async def test_deadlines_during_downtime_fire_once_after_the_start(app: App) -> None:
    action = "{timeout_seconds: 2, on_timeout: cancel, escalation: {after_seconds: 1, escalate_to: [manager]}}"
    pipeline = await pipeline_with_rule(app, action)
    runs = [await app.start(pipeline) for _ in range(3)]
    for run in runs:
        await pending_approval(app, run)
    await app.close()
    await asyncio.sleep(2.5)
    await app.open()
    for run in runs:
        await app.wait_for_run(run, "cancelled", seconds=10)
    for run in runs:
        events = app.event_types(run)
        assert (events.count("approval_escalated"), events.count("approval_timeout")) == (1, 1)


# Races
async def test_either_an_approval_or_its_deadline_counts(app: App) -> None:
    pipeline = await pipeline_with_rule(app, "{timeout_seconds: 3, on_timeout: fail}")

    async def race(delay: float) -> tuple[str, Approval, str]:
        run = await app.start(pipeline)
        approval = await pending_approval(app, run)
        return run, approval, await decide(approval, delay)

    async def decide(approval: Approval, delay: float) -> str:
        assert approval.expires_at is not None
        wait = (approval.expires_at - app.cairn.clock.now()).total_seconds() + delay
        await asyncio.sleep(max(0.0, wait))
        try:
            await app.cairn.approvals.decide(approval.approval_id, "approve", actor=ADMIN)
        except CommandRefused as error:
            return error.message
        return "counted"

    for run, approval, answer in await asyncio.gather(*(race((n - 5) * 0.004) for n in range(10))):
        run_now = await app.wait_until(
            lambda run=run: r if (r := app.run(run)).status in ("completed", "failed") else None
        )
        status = str(app.cairn.approval_queries.get_approval(approval.approval_id).status)
        if answer == "counted":
            assert (status, run_now.status) == ("approved", "completed")
        else:
            assert answer == mentions("timeout")
            assert (status, run_now.status) == ("timeout", "failed")


async def test_either_an_approval_or_a_rollback_counts(app: App) -> None:
    pipeline = await app.pipeline(step("goals"), step("design", approve="complete"))
    for _ in range(5):
        run = await app.start(pipeline)
        approval = await pending_approval(app, run)

        async def approve(approval: Approval = approval) -> str:
            try:
                await app.cairn.approvals.decide(approval.approval_id, "approve", actor=ADMIN)
            except CommandRefused as error:
                return error.message
            return "counted"

        result, _ = await asyncio.gather(approve(), app.roll_back(run, 0))
        status = str(app.cairn.approval_queries.get_approval(approval.approval_id).status)
        assert (result == "counted") == (status == "approved")
        if result != "counted":
            assert status == "withdrawn"
        again = await pending_approval(app, run)
        await app.cairn.approvals.decide(again.approval_id, "approve", actor=ADMIN)
        await app.wait_for_run(run, "completed")


async def test_an_emergency_stop_applies_as_soon_as_it_is_committed(app: App) -> None:
    """Proposals before the stop may be approved by the rule. All later ones need approval."""

    @app.function("propose")
    async def propose(ctx: Ctx) -> Json:
        return dict(ctx.propose_action("refund", {"amount": 5}, confidence=0.99, risk_level="low"))

    pipeline = await app.pipeline(step("act", "propose"), actions={"refund": {"risk_level": "low"}})
    text = """
    auto_approval:
      enabled: true
      rules:
        - name: small
          conditions: {operation_type: refund, data_threshold: {field: amount, operator: "<=", value: 50}}
          action: {auto_approve: true}
    """
    await rule(app, text, pipeline)
    try:
        starting = asyncio.gather(*(app.start(pipeline) for _ in range(30)))
        await asyncio.sleep(0.02)
        await app.cairn.rules.stop(True, "something is wrong", ADMIN)
        stopped_at = app.cairn.clock.now()
        runs = [*await starting, *[await app.start(pipeline) for _ in range(3)]]
        found = [(await app.wait_until(lambda run=run: approvals(app, run) or None))[0] for run in runs]
    finally:
        await app.cairn.rules.stop(False, "", ADMIN)
    assert {str(a.status) for a in found[-3:]} == {"pending"}
    assert all(str(a.status) == "pending" for a in found if a.requested_at > stopped_at)
    for a in found:
        assert str(a.status) in ("pending", "auto_approved")
        if str(a.status) == "pending":
            await app.cairn.approvals.decide(a.approval_id, "approve", actor=ADMIN)
    for run in runs:
        await app.wait_for_run(run, "completed")


# Batches and comments
async def test_a_batch_decides_each_approval_separately(app: App) -> None:
    pipeline = await app.pipeline(step("goals", approve="complete"), step("design"))
    runs = [await app.start(pipeline) for _ in range(3)]
    pending = [await pending_approval(app, run) for run in runs]
    items = [(a.approval_id, a.digest) for a in pending]
    items[1] = (items[1][0], "0" * 64)  # another digest than that of the current content
    done = await app.cairn.batches.decide([*items, ("unknown", None)], BatchDecision("approve"), actor=ADMIN)
    assert (done.decided, done.failed) == (2, 2)
    assert [(i.status, i.error_message is None) for i in done.items] == [
        ("approved", True),
        (None, False),
        ("approved", True),
        (None, False),
    ]
    await app.wait_for_run(runs[0], "completed")
    await app.cairn.runs.cancel(runs[1], actor=ADMIN)
    await app.wait_for_run(runs[2], "completed")


async def test_a_comment_is_stored_and_recorded_as_an_event(app: App) -> None:
    pipeline = await app.pipeline(step("goals", approve="complete"))
    run = await app.start(pipeline)
    approval = await pending_approval(app, run)
    await app.cairn.comments.add(approval.approval_id, "Verified with <b>the policy</b>", actor=person("ann"))
    (comment,) = app.cairn.approval_queries.get_approval(approval.approval_id).comments
    assert (comment.by, comment.text) == ("ann", "Verified with <b>the policy</b>")
    assert app.event_types(run)[-1] == "approval_comment_added"
    with pytest.raises(InvalidInput):
        await app.cairn.comments.add(approval.approval_id, "  ", actor=ADMIN)
    await app.cairn.approvals.decide(approval.approval_id, "approve", actor=ADMIN)
    await app.wait_for_run(run, "completed")
