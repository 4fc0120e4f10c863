"""Backtests on past decisions, shadow rules and audits of automatic approvals."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.core.errors import CommandRefused
from cairn.definitions.rules import load
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.rules.queries.autonomy import mode
from cairn.services.rules.views import Backtest, RuleAutonomy
from cairn.store.errors import NotFound
from tests.mentions import mentions
from tests.services.app import App, step
from tests.services.rule_files import REVIEWER, approvals, rule, second_approver, why

pytestmark = pytest.mark.asyncio(loop_scope="package")

SMALL = """
auto_approval:
  enabled: true
  rules:
    - name: Small refunds
      %s
      conditions: { operation_type: refund, data_threshold: { field: amount, operator: "<=", value: 50 } }
      action: { auto_approve: true, audit_sample_percentage: 100 }
"""
ACTIONS = {"refund": {"risk_level": "medium"}}


async def refund_pipeline(app: App) -> str:
    """A pipeline that proposes to refund the amount in the run input."""

    @app.function("refund")
    async def refund(ctx: Ctx) -> Any:
        answer = await ctx.propose_action("refund", {"amount": ctx.inputs["input"]["amount"]})
        return {"decision": answer.decision}

    return await app.pipeline(step("pay", "refund"), actions=ACTIONS)


async def decide_refund(app: App, pipeline: str, amount: float, decision: str, **fields: Any) -> str:
    """Start a run and decide on its refund. Returns the id of the approval."""
    await second_approver(app)
    run = await app.start(pipeline, input={"amount": amount})
    approval = await app.wait_until(lambda: next(iter(app.run(run).pending_approvals), None))
    await app.cairn.approvals.decide(approval.approval_id, decision, actor=REVIEWER, **fields)
    return approval.approval_id


async def backtest(app: App, text: str, pipeline: str | None = None, **more: Any) -> Backtest:
    outcome = await app.cairn.backtests.replay(load(text).rulebook, pipeline, **more)
    return app.cairn.rule_queries.backtest_result(outcome)


def autonomy_of(app: App, pipeline: str) -> RuleAutonomy:
    return next(rule for rule in app.cairn.rule_queries.get_autonomy(1).rules if rule.scope == pipeline)


async def test_a_backtest_lists_disagreements(app: App) -> None:
    pipeline = await refund_pipeline(app)
    for amount in (10, 20):
        await decide_refund(app, pipeline, amount, "approve")
    await decide_refund(app, pipeline, 2000, "approve")
    rejected = await decide_refund(app, pipeline, 30, "reject", feedback="not ours")
    changed = await decide_refund(app, pipeline, 40, "approve", modified_params={"amount": 35})
    found = await backtest(app, SMALL % "shadow: true", pipeline)
    assert (found.decisions, found.would_approve, found.would_require_approval, found.no_rule) == (5, 4, 0, 1)
    assert (found.agreed, found.disagreed, found.complete) == (2, 2, True)
    share = found.false_approval_rate
    assert (share.count, share.total, share.rate, round(share.low, 4), round(share.high, 4)) == (2, 4, 0.5, 0.15, 0.85)
    assert [(d.approval_id, d.decision, d.rule, d.by, d.feedback) for d in found.disagreements] == [
        (changed, "modified", "Small refunds", REVIEWER.name, ""),
        (rejected, "rejected", "Small refunds", REVIEWER.name, "not ours"),
    ]
    assert [(score.rule, score.approved, score.required_approval) for score in found.rules] == [("Small refunds", 4, 0)]
    newest = await backtest(app, SMALL % "", pipeline, limit=1)
    assert (newest.decisions, newest.complete) == (1, False)
    later = await backtest(app, SMALL % "", pipeline, since=app.cairn.clock.now())
    assert (later.decisions, later.since, later.false_approval_rate.rate) == (0, None, None)


async def test_a_backtest_includes_the_active_rules_of_the_other_scope(app: App) -> None:
    """A pipeline rule that requires approval beats a global one that approves."""
    pipeline = await refund_pipeline(app)
    await decide_refund(app, pipeline, 10, "approve")
    await decide_refund(app, pipeline, 20, "reject", feedback="no")
    requires_approval_at_20 = """
        checkpoints:
          - name: Twenty
            trigger: { custom_field: { field: input.amount, value: 20 } }
            action: {}
        """
    await rule(app, requires_approval_at_20, pipeline)
    everywhere = await app.cairn.backtests.replay(load(SMALL % "").rulebook, since=None)
    own = [disagreement for disagreement in everywhere.disagreements if disagreement[2].pipeline_id == pipeline]
    assert own == []
    assert everywhere.rules["Twenty"].required_approval >= 1
    alone = await backtest(app, SMALL % "", pipeline)  # replaces the rules of the pipeline
    assert (alone.agreed, alone.disagreed) == (1, 1)


async def test_a_backtest_uses_the_data_at_the_time_of_the_decision(app: App) -> None:
    """The result that was decided on, not the later revision."""
    values = iter((100, 1))

    @app.function("counts")
    async def counts(ctx: Ctx) -> Any:
        return {"value": next(values)}

    pipeline = await app.pipeline(step("count", "counts", approve="complete"), step("next"))
    run = await app.start(pipeline)
    await app.decide(run, "count", "revise", "too much")
    await app.decide(run, "count", "approve")
    await app.wait_for_run(run, "completed")
    text = """
        auto_approval:
          enabled: true
          rules:
            - name: Small
              conditions: { kind: completion, data_threshold: { field: result.value, operator: "<", value: 10 } }
              action: { auto_approve: true }
            - name: Large
              conditions: { kind: completion, data_threshold: { field: value, operator: ">", value: 10 } }
              action: { auto_approve: true }
        """
    found = await backtest(app, text, pipeline)
    assert {score.rule: (score.agreed, score.disagreed) for score in found.rules} == {"Small": (1, 0), "Large": (0, 1)}


async def test_undecided_approvals_are_left_out(app: App) -> None:
    pipeline = await refund_pipeline(app)
    run = await app.start(pipeline, input={"amount": 10})
    await app.wait_until(lambda: next(iter(app.run(run).pending_approvals), None))
    await app.cairn.runs.cancel(run, actor=ADMIN)
    assert (await backtest(app, SMALL % "", pipeline)).decisions == 0


async def test_a_shadow_rule_decides_nothing_and_is_scored(app: App) -> None:
    pipeline = await refund_pipeline(app)
    await rule(app, SMALL % "shadow: true", pipeline)
    first = await decide_refund(app, pipeline, 10, "approve")
    await decide_refund(app, pipeline, 20, "reject", feedback="no")
    await decide_refund(app, pipeline, 30, "approve", modified_params={"amount": 25})
    await decide_refund(app, pipeline, 500, "approve")
    assert [(evaluated.outcome, evaluated.shadow) for evaluated in why(app, first).evaluated_rules] == [
        (mentions("approves"), True)
    ]
    scored = autonomy_of(app, pipeline)
    assert (scored.mode, scored.approved, scored.shadow.count, scored.shadow.total) == ("shadow", 0, 2, 3)
    assert scored.pipeline_name == "Test"


async def test_sampled_approvals_are_reviewed_afterwards(app: App) -> None:
    """A review changes the score of the rule, never the run."""
    pipeline = await refund_pipeline(app)
    await rule(app, SMALL % "", pipeline)
    runs = [await app.run_to_completion(pipeline, input={"amount": amount}) for amount in (10, 20, 30)]
    [approval] = approvals(app, runs[0])
    assert (approval.status, [vote.by for vote in approval.decisions]) == ("auto_approved", ["rule:Small refunds"])
    read = app.cairn.rule_queries
    waiting = read.list_audits(False, pipeline, 2, None)
    assert [audit.run_id for audit in waiting.items] == [runs[2], runs[1]]
    assert [audit.run_id for audit in read.list_audits(False, pipeline, 2, waiting.next_cursor).items] == [runs[0]]
    before = app.run(runs[0])
    await app.cairn.rules.review(approval.approval_id, False, "hm", actor=REVIEWER)
    await app.cairn.rules.review(approval.approval_id, False, "too generous", actor=REVIEWER)
    await app.cairn.rules.review(waiting.items[0].approval_id, True, "", actor=ADMIN)
    reviews = {audit.approval_id: audit.review for audit in read.list_audits(True, pipeline, 10, None).items}
    assert {name: (r.agrees, r.comment, r.by) for name, r in reviews.items() if r} == {
        approval.approval_id: (False, "too generous", REVIEWER.name),
        waiting.items[0].approval_id: (True, "", "admin"),
    }
    scored = autonomy_of(app, pipeline)
    assert (scored.mode, scored.approved, scored.sampled, scored.reviewed) == ("full", 3, 3, 2)
    assert (scored.disagreement.count, scored.disagreement.total) == (1, 2)
    after = app.run(runs[0])
    assert (after.status, after.completed_at) == (before.status, before.completed_at)
    events = [e for e in app.events(runs[0]) if e.event_type == "auto_approval_reviewed"]
    assert [(e.actor, e.metadata["agrees"], e.description) for e in events][-1] == (
        REVIEWER.name,
        False,
        mentions("Pay"),
    )


async def test_only_sampled_approvals_can_be_reviewed(app: App) -> None:
    pipeline = await refund_pipeline(app)
    approval_id = await decide_refund(app, pipeline, 10, "approve")
    with pytest.raises(CommandRefused):
        await app.cairn.rules.review(approval_id, True, "", actor=REVIEWER)
    with pytest.raises(NotFound):
        await app.cairn.rules.review("00000000-0000-4000-8000-000000000000", True, "", actor=REVIEWER)


async def test_a_rule_is_scored_by_how_often_users_modify_its_actions(app: App) -> None:
    pipeline = await refund_pipeline(app)
    await rule(app, "checkpoints: [{ name: Ask, trigger: { operation_type: refund }, action: {} }]", pipeline)
    await decide_refund(app, pipeline, 10, "approve")
    await decide_refund(app, pipeline, 20, "approve", modified_params={"amount": 15})
    scored = autonomy_of(app, pipeline)
    assert (scored.mode, scored.required_approval, scored.modification.count, scored.modification.total) == (
        "requires_approval",
        2,
        1,
        2,
    )
    autonomy = app.cairn.rule_queries.get_autonomy(1)
    assert autonomy.decided >= autonomy.automatic.total >= 2


MODES = """
auto_approval:
  enabled: true
  rules:
    - { name: a, conditions: { kind: start }, action: { auto_approve: true } }
    - { name: b, conditions: { kind: start }, action: { auto_approve: true, rollout_percentage: 5 } }
    - { name: c, conditions: { kind: start }, action: { auto_approve: false } }
    - { name: d, shadow: true, conditions: { kind: start }, action: { auto_approve: true } }
    - { name: e, enabled: false, conditions: { kind: start }, action: { auto_approve: true } }
"""


async def test_the_mode_of_a_rule() -> None:
    assert [mode(rule) for rule in load(MODES).rulebook.rules] == [
        "full",
        "rollout",
        "requires_approval",
        "shadow",
        "disabled",
    ]
