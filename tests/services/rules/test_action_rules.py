"""Actions are judged by the rules of every pipeline on their path, and by nothing while rules can't be read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cairn.core.action_rules import ActionRules
from cairn.core.rule_verdict import ProposedAction, RuleQuestion
from cairn.core.states import ApprovalKind
from cairn.services.actors import ADMIN
from cairn.services.rules.active_rules import ActiveRules
from cairn.store import Connection, rules
from cairn.store.rules import ActiveRuleVersion
from tests.mentions import mentions
from tests.services.app import App, step
from tests.services.rule_files import globally, rule

pytestmark = pytest.mark.asyncio(loop_scope="package")

ASK = (
    "checkpoints: [{ name: %s, trigger: { operation_type: %s, custom_field: { field: %s, value: gold } }, action: {} }]"
)
APPROVE = "checkpoints: [{ name: %s, trigger: { operation_type: %s }, action: { auto_approve: true } }]"
REFUND = ProposedAction("refund", {"amount": 5, "host": "evil.example"}, facts={"host": "api.example.com"})


async def judged(app: App, run_id: str, *path: str, action: ProposedAction = REFUND) -> ActionRules:
    active = ActiveRules(app.cairn.database, app.cairn.engine.plans)

    def read(connection: Connection) -> ActionRules:
        loaded = app.cairn.engine.load(connection, run_id, lock=False)
        execution = next(iter(loaded.run.executions))
        question = RuleQuestion(ApprovalKind.ACTION, "", execution, "pay", app.cairn.clock.now(), action)
        return active.judge_action(connection, loaded, question, draw_key="draw", path=path)

    return await app.cairn.database.transact(read)


def names(found: ActionRules) -> tuple[Sequence[str], Sequence[str]]:
    return [rule.rule for rule in found.asking], [rule.rule for rule in found.approving if rule.can_approve]


async def test_the_rules_of_every_pipeline_on_the_path_count(app: App) -> None:
    parent, child, other = [await app.pipeline(step("pay", approve="start")) for _ in range(3)]
    run = await app.start(child, input={"tier": "gold"})
    await rule(app, ASK % ("Parent asks", "refund", "input.tier"), parent)
    await rule(app, APPROVE % ("Child approves", "refund"), child)
    await rule(app, ASK % ("Other asks", "refund", "input.tier"), other)
    async with globally(app, APPROVE % ("All approve", "[refund, other]")):
        own = await judged(app, run)
        assert names(own) == ([], ["Child approves", "All approve"])
        assert [rule.rule_id for rule in own.approving] == [f"{child}/child-approves", "global/all-approve"]
        on_path = await judged(app, run, parent, child)
        assert names(on_path)[0] == ["Parent asks"]
        assert (on_path.asking[0].rule_id, on_path.asking[0].scope) == (f"{parent}/parent-asks", parent)
        assert (on_path.is_readable, on_path.is_stopped) == (True, False)
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_facts_hide_parameters_and_secrets_are_masked(app: App) -> None:
    pipeline = await app.pipeline(step("pay", approve="start"))
    run = await app.start(pipeline, input={})
    await rule(app, ASK % ("Hosts", "refund", "action.host"), pipeline)
    found = await judged(app, run)
    assert [condition.actual for condition in found.evaluated[0].conditions] == ["refund", "api.example.com"]
    await app.cairn.runs.cancel(run, actor=ADMIN)


@pytest.mark.parametrize("text", ["no: rules", "checkpoints: [", None])
async def test_while_rules_in_force_cannot_be_read_nothing_is_approved(app: App, text: str | None) -> None:
    """Rules of other scopes still ask, but none approves. Pipelines outside of the scope are not affected."""
    broken, other = await app.pipeline(step("pay", approve="start")), await app.pipeline(step("pay", approve="start"))
    runs = [await app.start(pipeline, input={}) for pipeline in (broken, other)]
    at = app.cairn.clock.now()

    def damage(connection: Connection) -> None:
        rules.save(connection, ActiveRuleVersion(broken), text or "checkpoints: []", "admin", at)
        if text is None:
            connection.exec_driver_sql(f"DELETE FROM rule_versions WHERE scope = '{broken}'")

    await app.cairn.database.transact(damage)
    async with globally(app, APPROVE % ("All approve", "refund")):
        found = await judged(app, runs[0])
        assert (found.is_readable, found.is_stopped, names(found)) == (False, False, ([], []))
        assert [rule.outcome for rule in found.evaluated] == [mentions("read")]
        through_child = await judged(app, runs[1], broken, other)
        assert (through_child.is_readable, names(through_child)) == (False, ([], []))
        assert names(await judged(app, runs[1])) == ([], ["All approve"])
    for run in runs:
        await app.cairn.runs.cancel(run, actor=ADMIN)
