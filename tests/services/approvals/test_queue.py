"""The queue shows the question, who can decide, and what happens after the deadline."""

from __future__ import annotations

import pytest

from cairn.core.states import OnExpiry
from cairn.services.actors import ADMIN, Actor
from cairn.services.approvals.queries.lists import ApprovalFilter
from cairn.services.approvals.views import Approval
from tests.mentions import mentions
from tests.services.actions.test_actions import REFUND, asked, mail_action, proposing
from tests.services.app import App, form, step
from tests.services.approvals.test_terms import person
from tests.services.rule_files import rule, second_approver

pytestmark = pytest.mark.asyncio(loop_scope="package")

VIEWER, EDITOR = Actor("looks", frozenset({"viewer"})), Actor("edits", frozenset({"editor"}))
APPROVER = person("decides")
SENT = "Send “Refund Confirmation - Order #12345” to customer@example.com"
FOUR_EYES = """
version: "1.0"
checkpoints:
  - name: Four eyes
    trigger: { operation_type: [send_email] }
    action:
      require_approval_count: 2
      timeout_seconds: 600
      on_timeout: escalate
      escalation: { after_seconds: 300, escalate_to: [admin] }
"""


def queue(app: App, run: str, actor: Actor, *, mine: bool = False) -> list[Approval]:
    answers_to = actor.all_names if mine and not actor.is_admin else None
    wanted = ApprovalFilter(run_id=run, answers_to=answers_to, decided_by=actor.name if mine else None)
    return app.cairn.approval_queries.list_approvals(wanted, 50, None, actor).items


async def test_every_question_has_a_title(app: App) -> None:
    """One line each, the same in the queue, on its page, in its run and with its execution."""
    pipeline = await app.pipeline(form("goals", approve="both"))
    run = await app.start(pipeline)
    titles: list[str] = []
    for _ in range(3):
        [one] = await app.until(lambda: app.run(run).pending_approvals or None)
        titles.append(one.title)
        [listed], detail = queue(app, run, ADMIN), app.cairn.approval_queries.get_approval(one.approval_id, ADMIN)
        assert dict(listed) == {name: getattr(detail, name) for name in dict(listed)}
        assert app.cairn.run_queries.get_run(run, ADMIN).pending_approvals == [listed]
        assert app.cairn.execution_queries.get_execution(one.execution_id, ADMIN).approval == listed
        if one.kind == "input":
            await app.fill(run, "goals", goals="grow")
        else:
            await app.decide(run, "goals", "approve")
    assert titles == ["Let Goals start", "Fill in Goals", "Approve Goals"]


async def test_what_one_of_several_changed_stands_in_the_queue(app: App) -> None:
    """The title and the current parameters; the proposed ones are stored."""
    await second_approver(app)
    pipeline = await app.pipeline(proposing(app, mail_action()))
    await rule(app, FOUR_EYES, pipeline)
    run = await app.start(pipeline)
    detail = await asked(app, run)
    assert (detail.title, detail.on_timeout, detail.escalate_to) == (SENT, OnExpiry.ESCALATE, ["admin"])
    assert detail.action is not None
    assert (detail.action.current_parameters, detail.action.approved_parameters) == (REFUND, None)
    assert [(s.checkpoint_id, s.checkpoint_name) for s in detail.prior_executions] == [(detail.checkpoint_id, "Act")]

    await app.cairn.approvals.decide(
        detail.approval_id, "approve", modified_params={"subject": "Sorry"}, actor=person("ann")
    )
    [listed] = queue(app, run, ADMIN)
    assert (listed.title, listed.received_approvals, listed.required_approvals) == (
        mentions("“Sorry”", "customer@example.com"),
        1,
        2,
    )
    changed = await asked(app, run)
    assert changed.action is not None
    assert (changed.action.parameters, changed.action.approved_parameters) == (REFUND, None)
    assert changed.action.current_parameters == {**REFUND, "subject": "Sorry"}

    await app.decide(run, "act", "approve", actor=person("bob"))
    await app.until_run(run, "completed")
    decided = app.cairn.approval_queries.get_approval(detail.approval_id, ADMIN).action
    assert decided is not None
    assert decided.approved_parameters == decided.current_parameters == {**REFUND, "subject": "Sorry"}


async def test_who_asks_is_told_whether_they_may_decide(app: App) -> None:
    """By role and assignment; forms are open to editors."""
    run = await app.start(await app.pipeline(form("goals", approve="complete")))
    narrow = Actor("decides", frozenset({"approver"}), scopes=frozenset({"read"}))

    def may() -> list[bool]:
        return [queue(app, run, by)[0].can_decide for by in (VIEWER, EDITOR, APPROVER, ADMIN, narrow)]

    assert may() == [False, True, True, True, False]
    await app.fill(run, "goals", goals="grow")
    await app.until_execution(run, "goals", "waiting_approval_to_complete")
    assert may() == [False, False, True, True, False]
    [one] = app.run(run).pending_approvals
    assert one.can_decide is False  # nobody has asked
    await app.cairn.approvals.assign(one.approval_id, ["somebody"], "", actor=ADMIN)
    assert may() == [False, False, False, True, False]
    await app.decide(run, "goals", "approve")


async def test_a_run_of_ones_own_is_not_in_ones_own_queue_where_the_rule_says_so(app: App) -> None:
    """Admins too."""
    pipeline = await app.pipeline(*(step(key, approve="complete", stage="all") for key in ("goals", "other")))
    ruled = "{kind: completion, custom_field: {field: checkpoint.key, value: goals}}"
    action = "{not_by_starter: true, approvers: [not_by_starter, approver]}"
    await rule(app, f"checkpoints: [{{name: others, trigger: {ruled}, action: {action}}}]", pipeline)
    run = await app.start(pipeline)
    await app.until(lambda: len(app.run(run).pending_approvals) == 2 or None)
    both = [("Approve Goals", False), ("Approve Other", True)]
    assert sorted((a.title, a.can_decide) for a in queue(app, run, ADMIN)) == both
    assert [a.title for a in queue(app, run, ADMIN, mine=True)] == ["Approve Other"]
    assert sorted(a.title for a in queue(app, run, APPROVER, mine=True)) == ["Approve Goals", "Approve Other"]
    await app.cairn.runs.cancel(run, actor=ADMIN)
