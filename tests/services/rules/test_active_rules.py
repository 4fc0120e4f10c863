"""Rules for starts and results require approval, or approve automatically, in place of the checkpoint's settings."""

from __future__ import annotations

import pytest

from cairn.core.errors import CommandRefused
from cairn.services.actors import ADMIN
from cairn.store import rules
from cairn.store.rules import ActiveRuleVersion
from tests.mentions import mentions
from tests.services.app import App, Json, form, step
from tests.services.rule_files import approvals, globally, rule, second_approver, why

pytestmark = pytest.mark.asyncio(loop_scope="package")

ASK_BIG = """
    checkpoints:
      - name: Big numbers
        trigger: { kind: completion, data_threshold: { field: %s, operator: ">", value: 10 } }
        action: { require_approval_count: 2, approvers: [approver, admin], timeout_seconds: 600, on_timeout: cancel }
    """


@pytest.mark.parametrize("field", ["value", "result.value"])
async def test_a_rule_requires_approval_where_the_settings_do_not(app: App, field: str) -> None:
    """In a rule about results, a name without a root is a field of the result."""
    await second_approver(app)
    pipeline = await app.pipeline(step("count", parameters={"value": 11}), step("next"))
    revision = await rule(app, ASK_BIG % field, pipeline)
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "count", "waiting_approval_to_complete")
    approval = app.run(run).pending_approvals[0]
    assert (approval.kind, approval.required_approvals) == ("completion", 2)
    explanation = why(app, approval.approval_id)
    assert (explanation.rule, explanation.rule_scope, explanation.rules_revision) == ("Big numbers", pipeline, revision)
    assert explanation.reason == mentions("'Big numbers'", revision)
    assert [
        (evaluated.outcome, [c.actual for c in evaluated.conditions]) for evaluated in explanation.evaluated_rules
    ] == [("requires approval", ["completion", "11"])]


async def test_a_result_below_the_threshold_needs_no_approval(app: App) -> None:
    await second_approver(app)
    pipeline = await app.pipeline(step("count", parameters={"value": 10}))
    await rule(app, ASK_BIG % "result.value", pipeline)
    run = await app.run_to_completion(pipeline)
    assert approvals(app, run) == []


async def test_a_rule_approves_where_the_settings_require_approval(app: App) -> None:
    """The event has every condition and its value."""
    pipeline = await app.pipeline(step("count", parameters={"value": 3}, approve="both"))
    text = """
        checkpoints:
          - name: Starts are fine
            trigger: { kind: start }
            action: { auto_approve: true }
        auto_approval:
          enabled: true
          rules:
            - name: Small numbers
              conditions: { kind: completion, custom_field: { field: result.value, operator: "<=", value: 5 } }
              action: { auto_approve: true, audit_sample_percentage: 100 }
        """
    revision = await rule(app, text, pipeline)
    run = await app.run_to_completion(pipeline)
    start, result = approvals(app, run)
    assert [(a.kind, a.status, [v.by for v in a.decisions]) for a in (start, result)] == [
        ("start", "auto_approved", ["rule:Starts are fine"]),
        ("completion", "auto_approved", ["rule:Small numbers"]),
    ]
    explanation = why(app, result.approval_id)
    assert explanation.reason == mentions("'Small numbers'", revision)
    assert [(evaluated.rule, evaluated.outcome) for evaluated in explanation.evaluated_rules] == [
        ("Starts are fine", mentions()),
        ("Small numbers", "approves"),
    ]
    event = next(e for e in app.events(run) if e.approval_id == result.approval_id)
    assert event.metadata["conditions"] == [
        {"field": "kind", "expected": "completion", "actual": "completion"},
        {"field": "result.value", "expected": ">= 0 and <= 5", "actual": "3"},
    ]


FIELDS: dict[str, tuple[str, Json, str]] = {
    "the run's input": ("input.customer.tier", {"customer": {"tier": "gold"}}, "gold"),
    "an earlier form": ("outputs.name.name", {}, "gold"),
    "the pipeline": ("pipeline.name", {}, "Test"),
    "the checkpoint": ("checkpoint.key", {}, "count"),
    "the run": ("run.is_test", {}, "false"),
    "nothing in the input": ("input.nowhere.at.all", {}, "missing"),
    "a checkpoint that has not run": ("outputs.count.value", {}, "missing"),
    "no checkpoint": ("outputs.nowhere.value", {}, "missing"),
}


@pytest.mark.parametrize("case", FIELDS)
async def test_rules_read_fields_of_the_run(app: App, case: str) -> None:
    field, run_input, actual = FIELDS[case]
    pipeline = await app.pipeline(form("name"), step("count", approve="start"))
    text = """
        checkpoints:
          - name: Looks
            trigger: { kind: start, custom_field: { field: %s, operator: "!=", value: nothing } }
            action: {}
        """
    await rule(app, text % field, pipeline)
    run = await app.start(pipeline, input=run_input)
    await app.decide(run, "name", "approve")
    await app.submit_form(run, "name", name="gold")
    await app.wait_for_execution(run, "count", "waiting_approval_to_start")
    explanation = why(app, app.run(run).pending_approvals[0].approval_id)
    assert [c.actual for c in explanation.evaluated_rules[0].conditions] == ["start", actual]


async def test_known_secrets_are_masked_in_explanations(app: App) -> None:
    await app.cairn.secrets.save("mail", "correct horse battery", actor=ADMIN)
    pipeline = await app.pipeline(step("count", approve="start"))
    text = """
        checkpoints:
          - name: Looks
            trigger: { custom_field: { field: input.note, operator: contains, value: horse } }
            action: {}
        """
    await rule(app, text, pipeline)
    run = await app.start(pipeline, input={"note": "it is correct horse battery!"})
    explanation = why(app, app.run(run).pending_approvals[0].approval_id)
    [condition] = explanation.evaluated_rules[0].conditions
    assert (condition.matched, "horse" in condition.actual, "it is" in condition.actual) == (True, False, True)
    await app.cairn.secrets.remove("mail", actor=ADMIN)


async def test_a_rule_reads_the_output_of_the_previous_checkpoint(app: App) -> None:
    """In the transaction that completes it."""
    pipeline = await app.pipeline(step("count", parameters={"value": 7}, approve="complete"), step("next"))
    text = """
        checkpoints:
          - name: Sevens
            trigger:
              kind: start
              all: [{ field: checkpoint.key, value: next }, { field: outputs.count.value, value: 7 }]
            action: {}
        """
    await rule(app, text, pipeline)
    run = await app.start(pipeline)
    await app.decide(run, "count", "approve")
    assert app.statuses(run)["next"] == "waiting_approval_to_start"


async def test_a_rule_reads_an_output_that_completes_without_approval(app: App) -> None:
    pipeline = await app.pipeline(step("count", parameters={"value": 7}), step("next"))
    text = """
        checkpoints:
          - name: Sevens
            trigger: { kind: start, custom_field: { field: outputs.count.value, operator: ">", value: 7 } }
            action: {}
        """
    await rule(app, text, pipeline)
    run = await app.start(pipeline)
    # The first start has no such output, which is unknown. The second one has it, and it is not more than 7.
    await app.decide(run, "count", "approve")
    await app.wait_for_run(run, "completed")
    assert [a.kind for a in approvals(app, run)] == ["start"]


async def test_a_result_cannot_speak_for_itself_as_an_output(app: App) -> None:
    """`outputs` are completed results of other checkpoints."""
    pipeline = await app.pipeline(step("count", parameters={"value": 7}, approve="complete"))
    text = """
        checkpoints:
          - name: Sevens
            trigger: { kind: completion, custom_field: { field: outputs.count.value, value: 7 } }
            action: { auto_approve: true }
        """
    await rule(app, text, pipeline)
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "count", "waiting_approval_to_complete")
    explanation = why(app, app.run(run).pending_approvals[0].approval_id)
    assert [(c.actual, c.matched) for c in explanation.evaluated_rules[0].conditions] == [
        ("completion", True),
        ("missing", None),
    ]


async def test_a_pipeline_rule_cannot_override_a_global_rule_that_requires_approval(app: App) -> None:
    pipeline = await app.pipeline(step("count", approve="complete"))
    await rule(
        app, "checkpoints: [{ name: Own, trigger: { kind: completion }, action: { auto_approve: true } }]", pipeline
    )
    everywhere = """
        checkpoints:
          - name: Everywhere
            trigger: { kind: completion, custom_field: { field: pipeline.id, value: %s } }
            action: {}
        """
    async with globally(app, everywhere % pipeline):
        run = await app.start(pipeline)
        await app.wait_for_execution(run, "count", "waiting_approval_to_complete")
    explanation = why(app, app.run(run).pending_approvals[0].approval_id)
    assert (explanation.rule, explanation.rule_scope) == ("Everywhere", "global")
    assert {evaluated.rule: evaluated.outcome for evaluated in explanation.evaluated_rules} == {
        "Everywhere": "requires approval",
        "Own": "outranked by Everywhere",
    }
    assert await app.run_to_completion(pipeline)


async def test_rules_apply_as_soon_as_they_are_saved(app: App) -> None:
    pipeline = await app.pipeline(step("count"))
    await rule(app, "checkpoints: [{ name: Ask, trigger: { kind: start }, action: {} }]", pipeline)
    first = await app.start(pipeline)
    assert app.run(first).pending_approvals[0].kind == "start"
    await rule(app, "", pipeline)
    await app.run_to_completion(pipeline)
    await app.cairn.runs.cancel(first, actor=ADMIN)


async def test_an_emergency_stop_requires_approval_at_once(app: App) -> None:
    """Approvals that a rule would have given are required, on the default terms."""
    pipeline = await app.pipeline(step("count", approve="complete"))
    await rule(
        app, "checkpoints: [{ name: Yes, trigger: { kind: completion }, action: { auto_approve: true } }]", pipeline
    )
    await app.run_to_completion(pipeline)
    assert await app.cairn.rules.stop(True, "something is odd", actor=ADMIN)
    try:
        run = await app.start(pipeline)
        await app.wait_for_execution(run, "count", "waiting_approval_to_complete")
        approval = app.run(run).pending_approvals[0]
        explanation = why(app, approval.approval_id)
        assert explanation.reason == mentions(explanation.evaluated_rules[0].outcome)
        assert approval.expires_at is not None
        assert round((approval.expires_at - approval.requested_at).total_seconds()) == 3600
    finally:
        assert await app.cairn.rules.stop(False, "", actor=ADMIN)
    await app.run_to_completion(pipeline)
    await app.decide(run, "count", "approve")
    await app.wait_for_run(run, "completed")


async def test_an_emergency_stop_adds_no_approvals(app: App) -> None:
    """Without a setting that requires approval, there is nothing to hold back."""
    pipeline = await app.pipeline(step("count"))
    await rule(
        app, "checkpoints: [{ name: Yes, trigger: { kind: completion }, action: { auto_approve: true } }]", pipeline
    )
    assert await app.cairn.rules.stop(True, "something is odd", actor=ADMIN)
    try:
        assert approvals(app, await app.run_to_completion(pipeline)) == []
    finally:
        await app.cairn.rules.stop(False, "", actor=ADMIN)


async def test_without_rules_an_explanation_has_no_rules(app: App) -> None:
    pipeline = await app.pipeline(step("count", approve="complete"))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "count", "waiting_approval_to_complete")
    explanation = why(app, app.run(run).pending_approvals[0].approval_id)
    assert (explanation.rule, explanation.evaluated_rules) == (None, [])
    assert explanation.reason


async def test_nothing_is_approved_automatically_after_a_stop_returns(app: App) -> None:
    """Decisions made without the stop were committed before it, or are made again."""
    pipeline = await app.pipeline(*(step(f"step_{n}", approve="complete") for n in range(8)))
    await rule(
        app, "checkpoints: [{ name: Yes, trigger: { kind: completion }, action: { auto_approve: true } }]", pipeline
    )

    def approved(run_id: str) -> list[str]:
        return [a.approval_id for a in approvals(app, run_id) if a.status == "auto_approved"]

    runs = [await app.start(pipeline) for _ in range(4)]
    await app.wait_until(lambda: any(approved(run) for run in runs))
    await app.cairn.rules.stop(True, "now", actor=ADMIN)
    try:
        before = [approved(run) for run in runs]
        await app.wait_until_idle()
        assert [approved(run) for run in runs] == before
        completed = [app.run(run).status == "completed" for run in runs]
        pending = [len(app.run(run).pending_approvals) for run in runs]
        assert pending == [0 if is_completed else 1 for is_completed in completed]
    finally:
        await app.cairn.rules.stop(False, "", actor=ADMIN)
        for run in runs:
            if app.run(run).status == "in_progress":
                await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_unreadable_rules_approve_nothing(app: App, caplog: pytest.LogCaptureFixture) -> None:
    """Rules that an earlier version of Cairn saved may be invalid in a later one. Then users decide."""
    pipeline = await app.pipeline(step("count", approve="complete"))
    everywhere = "checkpoints: [{ name: Yes, trigger: { custom_field: { field: pipeline.id, value: %s } }, %s }]"
    async with globally(app, everywhere % (pipeline, "action: { auto_approve: true }")):
        await app.run_to_completion(pipeline)
        at = app.cairn.clock.now()
        await app.cairn.database.transact(
            lambda c: rules.save(c, ActiveRuleVersion(pipeline), "no: rules", "admin", at)
        )
        run = await app.start(pipeline)
        approval = app.run(run).pending_approvals[0]
        assert (approval.kind, approval.reason) == ("start", mentions("rules"))
        with pytest.raises(CommandRefused, match="rules"):
            await app.cairn.approvals.decide(approval.approval_id, "approve", actor=ADMIN)
        explanation = why(app, approval.approval_id)
        assert (explanation.rule, explanation.evaluated_rules[0].outcome) == ("Yes", mentions("read"))
        assert caplog.text == mentions("version 1", pipeline)
        await rule(app, "", pipeline)
        await app.decide(run, "count", "approve")
        await app.wait_for_run(run, "completed")
    assert [(a.kind, a.status) for a in approvals(app, run)] == [("start", "approved"), ("completion", "auto_approved")]
