"""Actions are proposed, approved or modified, and executed once."""

from __future__ import annotations

import asyncio
from email import message_from_bytes, policy
from typing import Any

import pytest

from cairn import ActionFailed
from cairn.core.errors import CommandRefused
from cairn.core.rule_verdict import RiskLevel
from cairn.runners import Ctx
from cairn.services.actions.action_type import ActionType
from cairn.services.actions.views import ParameterChange
from cairn.services.actors import ADMIN
from cairn.services.errors import InvalidInput
from cairn.store.actions.ledger import load_action
from tests.adapters.servers import answer, break_midway
from tests.mentions import mentions
from tests.services.actions.deciding import actions, column, decide, question, questions, states
from tests.services.app import App, step
from tests.services.rule_files import approvals, rule
from tests.services.runs.test_scripts import script

pytestmark = pytest.mark.asyncio(loop_scope="package")
Json = dict[str, Any]

REFUND = {
    "to": "customer@example.com",
    "subject": "Refund Confirmation - Order #12345",
    "body": "Your refund of ${{ amount }} has been processed.",
    "values": {"amount": 99.99, "currency": "USD"},
}
NOTE = ActionType("note", schema=None, risk=RiskLevel.LOW, source="settings")
SCRIPT = f"""
def main(ctx):
    answer = ctx.propose_action(
        "send_email",
        {REFUND!r},
        reasoning="The customer asked for a refund of a defective product.",
        confidence=0.87,
        risk_level="high",
        supporting_data={{"customer": {{"orders": 15, "refunds": 0}}}},
    )
    return dict(answer)
"""
HELD = """
version: "1.0"
checkpoints:
  - name: High-risk mail
    priority: 5
    trigger:
      operation_type: send_email
      risk_level: [high, critical]
      custom_field: {field: action.subject, operator: contains, value: Refund}
    action: {timeout_seconds: 3600, on_timeout: cancel}
"""


def proposing(app: App, *actions: Json, then: Any = None) -> Json:
    """Return a checkpoint whose function proposes these actions in sequence and outputs the answers."""

    @app.function("propose")
    async def propose(ctx: Ctx) -> Json:
        answers = [dict(await ctx.propose_action(**action)) for action in actions]
        if then is not None:
            then()
        return {"answers": answers}

    return step("act", "propose")


def mail_action(amount: float = 99.99, **more: Any) -> Json:
    values = {"amount": amount, "currency": "USD"}
    return {"operation_type": "send_email", "parameters": {**REFUND, "values": values, **more}, "risk_level": "high"}


def texts(app: App) -> list[tuple[str, str, str]]:
    """Return the recipient, subject and text of each delivered email."""
    found: list[tuple[str, str, str]] = []
    for envelope in app.mail.mails:
        content = envelope.content
        assert isinstance(content, bytes)
        mail = message_from_bytes(content, policy=policy.default)
        body = mail.get_body()
        assert body is not None
        found.append((str(mail["To"]), str(mail["Subject"]), body.get_content().strip()))
    return found


# ---- a refund ------------------------------------------------------------------------------------------
async def test_a_refund_email_from_proposal_to_delivery(app: App) -> None:
    steps = [step("analyse"), script("refund", source=SCRIPT)]
    declared = {"send_email": {"risk_level": "medium"}}
    pipeline = await app.pipeline(*steps, actions=declared)
    revision = await rule(app, HELD, pipeline)
    run = await app.start(pipeline)

    detail = await question(app, run)
    assert detail.action is not None
    assert (detail.kind, detail.rule, detail.rules_revision, detail.rule_scope) == (
        "action",
        "High-risk mail",
        revision,
        pipeline,
    )
    assert (detail.risk_level, detail.confidence, detail.operation_type) == (RiskLevel.HIGH, 0.87, "send_email")
    assert detail.expires_at is not None
    assert (detail.expires_at - detail.requested_at).total_seconds() == 3600
    assert detail.action.parameters == REFUND
    assert detail.action.reasoning == "The customer asked for a refund of a defective product."
    assert detail.action.risk_reasons == [
        mentions("send_email", "high"),
        mentions("high"),
    ]
    assert detail.action.supporting_data == {"customer": {"orders": 15, "refunds": 0}}
    assert [(s.checkpoint_name, str(s.status)) for s in detail.prior_executions] == [
        ("Analyse", "completed"),
        ("Refund", "in_progress"),
    ]
    assert detail.available_decisions == ["approve", "modify", "revise", "reject"]

    preview = app.cairn.action_modifications.preview(
        detail.approval_id, {"values": {"amount": 89.99, "currency": "USD"}}
    )
    change = ParameterChange(
        field="values.amount",
        path="/values/amount",
        original=99.99,
        modified=89.99,
        change_type="updated",
        difference=-10.0,
    )
    assert (preview.diff, preview.validation.passed) == ([change], True)

    await app.cairn.approvals.decide(
        detail.approval_id,
        "approve",
        digest=detail.digest,
        feedback="Reduced by policy",
        modified_params={"values": {"amount": 89.99, "currency": "USD"}},
        learn=True,
        actor=ADMIN,
    )
    await app.wait_for_run(run, "completed")
    assert texts(app) == [
        ("customer@example.com", "Refund Confirmation - Order #12345", "Your refund of $89.99 has been processed.")
    ]
    output = app.output(run, "refund")
    assert (output["decision"], output["modified"], output["state"]) == ("modified", True, "done")
    assert output["executed"]["body"] == "Your refund of $89.99 has been processed."

    (case,) = app.cairn.correction_queries.cases("send_email", pipeline, 10, None).items
    modified = {**REFUND, "values": {"amount": 89.99, "currency": "USD"}}
    assert (case.original, case.modified, case.changes) == (REFUND, modified, [change])
    assert (case.by, case.feedback, case.approval_id) == ("admin", "Reduced by policy", detail.approval_id)

    recorded = [event for event in app.events(run) if event.approval_id == detail.approval_id]
    assert [event.event_type for event in recorded] == ["approval_requested", "approval_approved"]
    assert [name for name in app.event_types(run) if name.startswith("action_")] == [
        "action_proposed",
        "action_waiting",
        "action_modified",
        "action_approved",
        "action_started",
        "action_done",
    ]
    assert recorded[0].metadata["rule"] == "High-risk mail"
    assert recorded[1].metadata["decision"] == "modify"
    after = app.cairn.approval_queries.get_approval(detail.approval_id, ADMIN)
    assert after.action is not None
    assert (after.action.parameters, after.action.approved_parameters) == (REFUND, modified)
    assert after.action.result["to"] == ["customer@example.com"]


async def test_similar_corrections_are_found(app: App) -> None:
    for order, amount in ((1, 10), (2, 20)):
        pipeline = await app.pipeline(proposing(app, mail_action(subject=f"Order {order}")))
        run = await app.start(pipeline)
        detail = await question(app, run)
        await decide(app, detail, modified_params={"values": {"amount": amount}}, learn=True)
        await app.wait_for_run(run, "completed")
    found = app.cairn.correction_queries.similar("send_email", {**REFUND, "subject": "Order 1"}, 1)
    assert [(case.original["subject"], case.modified["values"]["amount"]) for case in found] == [("Order 1", 10)]
    rates = {rate.operation_type: rate for rate in app.cairn.correction_queries.rates().items}
    assert rates["send_email"].modified >= 2
    assert 0 < rates["send_email"].rate <= 1


# ---- decisions -----------------------------------------------------------------------------------------
async def test_a_low_risk_action_is_approved_automatically_and_recorded(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the catalogue can say that the risk is low. The function carries the action out at the call."""
    monkeypatch.setitem(app.cairn.actions.catalogue._settings, "note", NOTE)  # pyright: ignore[reportPrivateUsage]
    handed_over: list[Any] = []

    @app.function("note")
    async def note(ctx: Ctx) -> Json:
        answer = await ctx.propose_action("note", {"text": "hello"})
        handed_over.append(dict(answer))
        return {}

    run = await app.run_to_completion(await app.pipeline(step("act", "note")))
    (approval,) = approvals(app, run)
    assert (approval.status, approval.decisions[0].by) == ("auto_approved", "rule:low risk")
    (action,) = actions(app, run)
    key = handed_over[0].pop("idempotency_key")
    assert handed_over == [
        {
            "decision": "approved",
            "parameters": {"text": "hello"},
            "modified": False,
            "action_id": action.action_id,
            "state": "handed_over",
        }
    ]
    assert len(key) == 40
    assert (action.state, action.approved_by, column(app, action.action_id, "reported_by")) == (
        "done",
        "default",
        "assumed",
    )


async def test_a_type_that_no_one_declares_always_asks(app: App) -> None:
    action = {"operation_type": "note", "parameters": {"text": "hello"}, "risk_level": "low"}
    pipeline = await app.pipeline(proposing(app, action))
    await rule(app, "checkpoints: [{ name: All, trigger: { operation_type: note }, action: { auto_approve: true } }]")
    try:
        run = await app.start(pipeline)
        detail = await question(app, run)
        assert (detail.risk_level, detail.operation_type) == (RiskLevel.HIGH, "note")
        await decide(app, detail)
        await app.wait_for_run(run, "completed")
    finally:
        await rule(app, "")
    assert states(app, run) == ["done"]


async def test_a_type_of_the_pipeline_has_at_least_medium_risk(app: App) -> None:
    action = {"operation_type": "jot", "parameters": {"text": "hello"}}
    pipeline = await app.pipeline(proposing(app, action), actions={"jot": {"risk_level": "low"}})
    run = await app.start(pipeline)
    detail = await question(app, run)
    assert detail.risk_level is RiskLevel.MEDIUM
    await decide(app, detail)
    await app.wait_for_run(run, "completed")


async def test_several_actions_are_proposed_in_sequence(app: App) -> None:
    pipeline = await app.pipeline(
        proposing(app, mail_action(amount=1, subject="Order 1"), mail_action(amount=2, subject="Order 2"))
    )
    run = await app.start(pipeline)
    first = await question(app, run)
    await decide(app, first)
    await decide(app, await question(app, run, first.approval_id))
    await app.wait_for_run(run, "completed")
    assert [text for _, _, text in texts(app)] == [
        "Your refund of $1 has been processed.",
        "Your refund of $2 has been processed.",
    ]


async def test_a_revision_proposes_the_action_again_and_a_rejection_ends_it(app: App) -> None:
    @app.function("propose")
    async def propose(ctx: Ctx) -> Json:
        amount = 6 if ctx.feedback else 5
        return dict(await ctx.propose_action(**mail_action(amount=amount)))

    pipeline = await app.pipeline(step("act", "propose"))
    run = await app.start(pipeline)
    first = await question(app, run)
    await app.cairn.approvals.decide(first.approval_id, "revise", feedback="More.", actor=ADMIN)
    second = await question(app, run, first.approval_id)
    assert second.action is not None
    assert second.action.parameters["values"]["amount"] == 6
    assert second.action.repeats == []  # the first one was not executed
    await decide(app, second, "reject")
    await app.wait_for_run(run, "failed")
    assert (texts(app), states(app, run)) == ([], ["refused", "refused"])


async def test_invalid_parameters_are_reported_to_the_proposer(app: App) -> None:
    pipeline = await app.pipeline(proposing(app, mail_action(to="nobody", body="{{ missing }}", amounts=5)))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "act", "failed")
    error = app.execution(run, "act").error_details.last_error
    assert error is not None
    assert error.error_type == "ActionRefused"
    assert "/to: " in error.error_message
    assert error.error_message == mentions("amounts")  # schemas are closed


async def test_an_invalid_modification_decides_nothing(app: App) -> None:
    pipeline = await app.pipeline(proposing(app, mail_action()))
    run = await app.start(pipeline)
    detail = await question(app, run)
    with pytest.raises(InvalidInput) as wrong:
        await decide(app, detail, modified_params={"subject": "", "to": "nobody"})
    assert sorted(path for path, _ in wrong.value.errors) == ["/modified_params/subject", "/modified_params/to"]
    preview = app.cairn.action_modifications.preview(detail.approval_id, {"subject": ""})
    assert (preview.validation.passed, [p.path for p in preview.validation.errors]) == (False, ["/subject"])
    with pytest.raises(InvalidInput):  # only actions have parameters, and only an approval can modify them
        await app.cairn.approvals.decide(
            detail.approval_id, "reject", feedback="x", modified_params={"subject": "x"}, actor=ADMIN
        )
    assert app.cairn.approval_queries.get_approval(detail.approval_id).status == "pending"
    await decide(app, detail, modified_params={"subject": REFUND["subject"]})
    await app.wait_for_run(run, "completed")
    assert app.output(run, "act")["answers"][0]["modified"] is False  # nothing was modified
    with pytest.raises(CommandRefused):
        await decide(app, detail, modified_params={"subject": "Another"})


# ---- execution -----------------------------------------------------------------------------------------
async def test_an_action_that_was_certainly_not_executed_is_reported_to_the_proposer(app: App) -> None:
    app.mail.data_response = "550 no such mailbox"
    raised: list[ActionFailed] = []

    @app.function("propose")
    async def propose(ctx: Ctx) -> Json:
        try:
            await ctx.propose_action(**mail_action())
        except ActionFailed as error:
            raised.append(error)
        return {}

    run = await app.start(await app.pipeline(step("act", "propose")))
    await decide(app, await question(app, run))
    await app.wait_for_run(run, "completed")
    (error,) = raised
    assert "no such mailbox" in error.result["error"]
    assert "action_failed" in app.event_types(run)


@pytest.mark.parametrize("answered", ["happened", "send_again", "did_not_happen"])
async def test_people_decide_on_an_unknown_outcome(app: App, answered: str) -> None:
    app.mail.data_response = "close"
    pipeline = await app.pipeline(proposing(app, mail_action()))
    run = await app.start(pipeline)
    await decide(app, await question(app, run))
    doubt = await question(app, run, kind="outcome")
    assert (states(app, run), "action_unknown" in app.event_types(run)) == (["unknown"], True)
    (first,) = {mail.content for mail in app.mail.mails}
    app.mail.data_response = None
    await decide(app, doubt, answered)
    if answered == "did_not_happen":
        await app.wait_for_execution(run, "act", "failed")
        assert states(app, run) == ["failed"]
        await app.cairn.runs.cancel(run, actor=ADMIN)
        return
    await app.wait_for_run(run, "completed")
    assert (states(app, run), questions(app, run)) == (["done"], 2)
    assert len(app.mail.mails) == (2 if answered == "send_again" else 1)  # the first email did arrive
    (output,) = app.output(run, "act")["answers"]
    assert output["state"] == "done"
    if answered == "happened":
        assert output["result"] == {"confirmed_by": ["admin"], "comment": "Because."}
    else:
        ids = {message_from_bytes(m.content, policy=policy.default)["Message-ID"] for m in app.mail.mails}  # pyright: ignore[reportArgumentType]
        assert len(ids) == 1, "the receiver can recognize the repetition"
        assert first is not None


async def test_an_http_request_is_sent_once_with_its_idempotency_key(app: App) -> None:
    app.web.handlers["/refunds"] = answer(201, b'{"id": 7}', Content_Type="application/json")
    url = f"http://127.0.0.1:{app.web.port}/refunds"
    action = {
        "operation_type": "http_request",
        "parameters": {"url": url, "json": {"amount": 12}, "headers": {"X-Team": "support"}},
    }
    pipeline = await app.pipeline(proposing(app, action))
    run = await app.start(pipeline)
    detail = await question(app, run)
    await decide(app, detail, modified_params={"json": {"amount": 9}})
    await app.wait_for_run(run, "completed")
    request = next(seen for seen in reversed(app.web.requests) if seen.path == "/refunds")
    assert (request.method, request.body, request.headers["x-team"]) == ("POST", b'{"amount":9}', "support")
    (action,) = actions(app, run)
    key = app.cairn.database.read(lambda c: load_action(c, action.action_id))
    assert request.headers["idempotency-key"] == app.cairn.actions.sender._key.idempotency_key(key)  # pyright: ignore[reportPrivateUsage]
    assert app.output(run, "act")["answers"][0]["result"] == {"status": 201, "body": {"id": 7}}


async def test_an_interrupted_http_request_has_an_unknown_outcome_and_can_be_given_up(app: App) -> None:
    app.web.handlers["/gone"] = break_midway
    action = {"operation_type": "http_request", "parameters": {"url": f"http://127.0.0.1:{app.web.port}/gone"}}
    pipeline = await app.pipeline(proposing(app, action))
    run = await app.start(pipeline)
    await decide(app, await question(app, run))
    await decide(app, await question(app, run, kind="outcome"), "give_up")
    await app.wait_for_run(run, "paused")
    (given_up,) = actions(app, run)
    assert (given_up.state, given_up.settled) == ("unknown", True)
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_test_run_executes_no_actions_and_asks_no_one(app: App) -> None:
    pipeline = await app.pipeline(proposing(app, mail_action()))
    run = await app.start(pipeline, test=True)
    await app.wait_for_run(run, "completed")
    (answered,) = app.output(run, "act")["answers"]
    assert (answered["state"], answered["decision"], answered["result"]) == ("test", "test", {"test": True})
    assert (texts(app), states(app, run), questions(app, run)) == ([], ["test"], 0)


async def test_a_retry_does_not_repeat_an_executed_action(app: App) -> None:
    fails = [True]

    def then() -> None:
        if fails.pop() if fails else False:
            raise RuntimeError("after the mail")

    act = proposing(app, mail_action(), then=then)
    act["execution"]["retry_config"] = {"max_auto_retries": 1, "retry_delay_seconds": 0}
    pipeline = await app.pipeline(act)
    run = await app.start(pipeline)
    await decide(app, await question(app, run))
    await app.wait_for_run(run, "completed")
    assert (len(app.mail.mails), questions(app, run), states(app, run)) == (1, 1, ["done"])
    assert app.execution(run, "act").attempt_number == 2


async def test_attachments_are_artifacts_of_the_run(app: App) -> None:
    pipeline = await app.pipeline(step("report"), proposing(app, mail_action(attachments=["report.json"])))
    run = await app.start(pipeline)
    await decide(app, await question(app, run))
    await app.wait_for_run(run, "completed")
    (envelope,) = app.mail.mails
    assert isinstance(envelope.content, bytes)
    mail = message_from_bytes(envelope.content, policy=policy.default)
    (attached,) = mail.iter_attachments()
    assert attached.get_filename() == "report.json"
    assert b'"value"' in attached.get_payload(decode=True)  # pyright: ignore[reportOperatorIssue]


# ---- concurrency ---------------------------------------------------------------------------------------
async def test_one_of_many_concurrent_modifications_counts(app: App) -> None:
    pipeline = await app.pipeline(proposing(app, mail_action()))
    run = await app.start(pipeline)
    detail = await question(app, run)

    async def modify(amount: int) -> str:
        try:
            await app.cairn.approvals.decide(
                detail.approval_id,
                "approve",
                digest=detail.digest,
                modified_params={"values": {"amount": amount}},
                learn=True,
                actor=ADMIN,
            )
        except CommandRefused as refused:
            return refused.message
        return "counted"

    answers = await asyncio.gather(*(modify(amount) for amount in range(1, 21)))
    assert answers.count("counted") == 1
    await app.wait_for_run(run, "completed")
    assert len(app.mail.mails) == 1
    winner = answers.index("counted") + 1
    assert texts(app)[0][2] == f"Your refund of ${winner} has been processed."
    assert len(app.cairn.correction_queries.cases(None, pipeline, 10, None).items) == 1
