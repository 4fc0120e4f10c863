"""The approval queue shows the title, who can decide, and what happens after the deadline."""

from __future__ import annotations

import pytest

from cairn.core.states import OnExpiry
from cairn.services.actors import ADMIN, Actor
from cairn.services.approvals.queries.lists import ApprovalFilter
from cairn.services.approvals.views import Approval
from tests.mentions import mentions
from tests.services.actions.test_actions import REFUND, mail_action, pending_approval, proposing
from tests.services.app import App, form, step
from tests.services.approvals.test_terms import person
from tests.services.rule_files import rule, second_approver

pytestmark = pytest.mark.asyncio(loop_scope="package")

VIEWER, EDITOR = Actor("viewer", frozenset({"viewer"})), Actor("editor", frozenset({"editor"}))
APPROVER = person("approver")
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
    assigned_to = actor.all_names if mine and not actor.is_admin else None
    own = ApprovalFilter(run_id=run, assigned_to=assigned_to, not_excluding=actor.name if mine else None)
    return app.cairn.approval_queries.list_approvals(own, 50, None, actor).items


async def test_every_approval_has_a_title(app: App) -> None:
    """The queue, the approval, its run and its execution show the same."""
    pipeline = await app.pipeline(form("goals", approve="both"))
    run = await app.start(pipeline)
    titles: list[str] = []
    for _ in range(3):
        [approval] = await app.wait_until(lambda: app.run(run).pending_approvals or None)
        titles.append(approval.title)
        [listed] = queue(app, run, ADMIN)
        detail = app.cairn.approval_queries.get_approval(approval.approval_id, ADMIN)
        assert dict(listed) == {name: getattr(detail, name) for name in dict(listed)}
        assert app.cairn.run_queries.get_run(run, ADMIN).pending_approvals == [listed]
        assert app.cairn.execution_queries.get_execution(approval.execution_id, ADMIN).approval == listed
        if approval.kind == "input":
            await app.submit_form(run, "goals", goals="grow")
        else:
            await app.decide(run, "goals", "approve")
    assert titles == ["Start Goals", "Fill in Goals", "Approve Goals"]


async def test_the_queue_shows_parameters_that_one_of_several_approvers_modified(app: App) -> None:
    """The proposed parameters are stored, too."""
    await second_approver(app)
    pipeline = await app.pipeline(proposing(app, mail_action()))
    await rule(app, FOUR_EYES, pipeline)
    run = await app.start(pipeline)
    detail = await pending_approval(app, run)
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
    changed = await pending_approval(app, run)
    assert changed.action is not None
    assert (changed.action.parameters, changed.action.approved_parameters) == (REFUND, None)
    assert changed.action.current_parameters == {**REFUND, "subject": "Sorry"}

    await app.decide(run, "act", "approve", actor=person("bob"))
    await app.wait_for_run(run, "completed")
    decided = app.cairn.approval_queries.get_approval(detail.approval_id, ADMIN).action
    assert decided is not None
    assert decided.approved_parameters == decided.current_parameters == {**REFUND, "subject": "Sorry"}


async def test_the_queue_shows_whether_you_can_decide(app: App) -> None:
    """By role, scope and assignment. Editors can submit forms."""
    run = await app.start(await app.pipeline(form("goals", approve="complete")))
    read_only = Actor("approver", frozenset({"approver"}), scopes=frozenset({"read"}))

    def can_decide() -> list[bool]:
        return [queue(app, run, actor)[0].can_decide for actor in (VIEWER, EDITOR, APPROVER, ADMIN, read_only)]

    assert can_decide() == [False, True, True, True, False]
    await app.submit_form(run, "goals", goals="grow")
    await app.wait_for_execution(run, "goals", "waiting_approval_to_complete")
    assert can_decide() == [False, False, True, True, False]
    [approval] = app.run(run).pending_approvals
    assert approval.can_decide is False  # read without an actor
    await app.cairn.approvals.assign(approval.approval_id, ["somebody"], "", actor=ADMIN)
    assert can_decide() == [False, False, False, True, False]
    await app.decide(run, "goals", "approve")


async def test_your_queue_leaves_out_your_own_runs_if_the_rule_excludes_the_starter(app: App) -> None:
    """For admins, too."""
    pipeline = await app.pipeline(*(step(key, approve="complete", stage="all") for key in ("goals", "other")))
    trigger = "{kind: completion, custom_field: {field: checkpoint.key, value: goals}}"
    action = "{not_by_starter: true, approvers: [approver]}"
    await rule(app, f"checkpoints: [{{name: others, trigger: {trigger}, action: {action}}}]", pipeline)
    run = await app.start(pipeline)
    await app.wait_until(lambda: len(app.run(run).pending_approvals) == 2 or None)
    both = [("Approve Goals", False), ("Approve Other", True)]
    assert sorted((a.title, a.can_decide) for a in queue(app, run, ADMIN)) == both
    assert [a.title for a in queue(app, run, ADMIN, mine=True)] == ["Approve Other"]
    assert sorted(a.title for a in queue(app, run, APPROVER, mine=True)) == ["Approve Goals", "Approve Other"]
    await app.cairn.runs.cancel(run, actor=ADMIN)
