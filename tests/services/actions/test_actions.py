"""Actions are proposed, approved or modified, and executed once."""

from __future__ import annotations

import asyncio
from email import message_from_bytes, policy
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.core.errors import CommandRefused
from cairn.core.rule_verdict import RiskLevel
from cairn.runners import Ctx
from cairn.services.actions.views import ParameterChange
from cairn.services.actors import ADMIN
from cairn.services.approvals.views import ApprovalDetail
from cairn.services.errors import InvalidInput
from cairn.store import tables as t
from tests.adapters.servers import answer, break_midway
from tests.mentions import mentions
from tests.services.app import App, step
from tests.services.rule_files import approvals, rule
from tests.services.runs.test_scripts import script

pytestmark = pytest.mark.asyncio(loop_scope="package")
Json = dict[str, Any]

REFUND = {
    "to": "customer@example.com",
    "subject": "Refund Confirmation - Order #12345",
    "amount": 99.99,
    "currency": "USD",
    "body": "Your refund of ${{ amount }} has been processed.",
}
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
      data_threshold: {field: amount, operator: ">", value: 50}
    action: {timeout_seconds: 3600, on_timeout: cancel}
"""


def proposing(app: App, *actions: Json, then: Any = None) -> Json:
    """Return a checkpoint whose function proposes these actions in sequence and outputs the answers."""

    @app.function("propose")
    async def propose(ctx: Ctx) -> Json:
        answers = [dict(ctx.propose_action(**action)) for action in actions]
        if then is not None:
            then()
        return {"answers": answers}

    return step("act", "propose")


def mail_action(**more: Any) -> Json:
    return {"operation_type": "send_email", "parameters": {**REFUND, **more}, "risk_level": "high"}


async def pending_approval(app: App, run: str) -> ApprovalDetail:
    """Wait for the pending approval of a run and return it."""
    found = await app.wait_until(lambda: next(iter(app.run(run).pending_approvals), None))
    return app.cairn.approval_queries.get_approval(found.approval_id, ADMIN)


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

    detail = await pending_approval(app, run)
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
        mentions("send_email", "medium"),
        mentions("high"),
        mentions(),
    ]
    assert detail.action.supporting_data == {"customer": {"orders": 15, "refunds": 0}}
    assert [(s.checkpoint_name, str(s.status)) for s in detail.prior_executions] == [
        ("Analyse", "completed"),
        ("Refund", "in_progress"),
    ]
    assert detail.available_decisions == ["approve", "modify", "revise", "reject"]

    preview = app.cairn.action_modifications.preview(detail.approval_id, {"amount": 89.99})
    change = ParameterChange(
        field="amount", path="/amount", original=99.99, modified=89.99, change_type="updated", difference=-10.0
    )
    assert (preview.diff, preview.validation.passed) == ([change], True)

    await app.cairn.approvals.decide(
        detail.approval_id,
        "approve",
        digest=detail.digest,
        feedback="Reduced by policy",
        modified_params={"amount": 89.99},
        actor=ADMIN,
    )
    await app.wait_for_run(run, "completed")
    assert texts(app) == [
        ("customer@example.com", "Refund Confirmation - Order #12345", "Your refund of $89.99 has been processed.")
    ]
    output = app.output(run, "refund")
    assert (output["decision"], output["modified"], output["outcome"]) == ("approved", True, "done")
    assert output["parameters"] == {**REFUND, "amount": 89.99}

    (case,) = app.cairn.correction_queries.cases("send_email", pipeline, 10, None).items
    assert (case.original, case.modified, case.changes) == (REFUND, {**REFUND, "amount": 89.99}, [change])
    assert (case.by, case.feedback, case.approval_id) == ("admin", "Reduced by policy", detail.approval_id)

    recorded = [event for event in app.events(run) if event.approval_id == detail.approval_id]
    assert [event.event_type for event in recorded] == ["approval_requested", "approval_approved", "action_done"]
    assert recorded[0].metadata["rule"] == "High-risk mail"
    assert recorded[1].metadata["decision"] == "modify"
    after = app.cairn.approval_queries.get_approval(detail.approval_id, ADMIN)
    assert after.action is not None
    assert (after.action.parameters, after.action.approved_parameters) == (REFUND, {**REFUND, "amount": 89.99})
    assert after.action.result["to"] == ["customer@example.com"]


async def test_similar_corrections_are_found(app: App) -> None:
    for order, amount in ((1, 10), (2, 20)):
        pipeline = await app.pipeline(proposing(app, mail_action(order=order)))
        run = await app.start(pipeline)
        detail = await pending_approval(app, run)
        await app.cairn.approvals.decide(detail.approval_id, "approve", modified_params={"amount": amount}, actor=ADMIN)
        await app.wait_for_run(run, "completed")
    found = app.cairn.correction_queries.similar("send_email", {**REFUND, "order": 1}, 1)
    assert [(case.original["order"], case.modified["amount"]) for case in found] == [(1, 10)]
    rates = {rate.operation_type: rate for rate in app.cairn.correction_queries.rates().items}
    assert rates["send_email"].modified >= 2
    assert 0 < rates["send_email"].rate <= 1


# ---- decisions -----------------------------------------------------------------------------------------
async def test_a_low_risk_action_is_approved_automatically_and_recorded(app: App) -> None:
    action = {"operation_type": "note", "parameters": {"text": "hello"}}
    pipeline = await app.pipeline(proposing(app, action), actions={"note": {"risk_level": "low"}})
    run = await app.run_to_completion(pipeline)
    (answered,) = app.output(run, "act")["answers"]
    (approval,) = approvals(app, run)
    assert (approval.status, approval.decisions[0].by) == ("auto_approved", "rule:low risk")
    assert answered == {
        "decision": "approved",
        "parameters": {"text": "hello"},
        "modified": False,
        "approval_id": approval.approval_id,
        "outcome": "returned",
        "result": None,
    }


async def test_several_actions_are_proposed_in_sequence(app: App) -> None:
    pipeline = await app.pipeline(proposing(app, mail_action(amount=1), mail_action(amount=2)))
    run = await app.start(pipeline)
    for _ in range(2):
        detail = await pending_approval(app, run)
        await app.cairn.approvals.decide(detail.approval_id, "approve", actor=ADMIN)
    await app.wait_for_run(run, "completed")
    assert [text for _, _, text in texts(app)] == [
        "Your refund of $1 has been processed.",
        "Your refund of $2 has been processed.",
    ]


async def test_a_revision_proposes_the_action_again_and_a_rejection_ends_it(app: App) -> None:
    @app.function("propose")
    async def propose(ctx: Ctx) -> Json:
        amount = 6 if ctx.feedback else 5
        return dict(ctx.propose_action(**mail_action(amount=amount)))

    pipeline = await app.pipeline(step("act", "propose"))
    run = await app.start(pipeline)
    first = await pending_approval(app, run)
    await app.cairn.approvals.decide(first.approval_id, "revise", feedback="More.", actor=ADMIN)
    second = await app.wait_until(
        lambda: next((a for a in app.run(run).pending_approvals if a.approval_id != first.approval_id), None)
    )
    detail = app.cairn.approval_queries.get_approval(second.approval_id, ADMIN)
    assert detail.action is not None
    assert detail.action.parameters["amount"] == 6
    await app.cairn.approvals.decide(second.approval_id, "reject", feedback="No.", actor=ADMIN)
    await app.wait_for_run(run, "failed")
    assert texts(app) == []


async def test_invalid_parameters_are_reported_to_the_proposer(app: App) -> None:
    pipeline = await app.pipeline(proposing(app, mail_action(to="nobody", body="{{ missing }}")))
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "act", "failed")
    error = app.execution(run, "act").error_details.last_error
    assert error is not None
    assert error.error_type == "invalid_action"
    assert "/to: " in error.error_message
    assert error.error_message == mentions("/body: ", "{{ missing }}")


async def test_an_invalid_modification_decides_nothing(app: App) -> None:
    pipeline = await app.pipeline(proposing(app, mail_action()))
    run = await app.start(pipeline)
    detail = await pending_approval(app, run)
    with pytest.raises(InvalidInput) as wrong:
        await app.cairn.approvals.decide(
            detail.approval_id, "approve", modified_params={"amount": 0, "to": "nobody"}, actor=ADMIN
        )
    assert sorted(path for path, _ in wrong.value.errors) == ["/modified_params/amount", "/modified_params/to"]
    preview = app.cairn.action_modifications.preview(detail.approval_id, {"amount": 0})
    assert (preview.validation.passed, [p.path for p in preview.validation.errors]) == (False, ["/amount"])
    with pytest.raises(InvalidInput):  # only actions have parameters, and only an approval can modify them
        await app.cairn.approvals.decide(
            detail.approval_id, "reject", feedback="x", modified_params={"amount": 1}, actor=ADMIN
        )
    assert app.cairn.approval_queries.get_approval(detail.approval_id).status == "pending"
    await app.cairn.approvals.decide(detail.approval_id, "approve", modified_params={"amount": 99.99}, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    assert app.output(run, "act")["answers"][0]["modified"] is False  # nothing was modified
    with pytest.raises(CommandRefused):
        await app.cairn.approvals.decide(detail.approval_id, "approve", modified_params={"amount": 1}, actor=ADMIN)


# ---- execution -----------------------------------------------------------------------------------------
async def test_an_action_that_was_certainly_not_executed_is_reported_to_the_proposer(app: App) -> None:
    app.mail.data_response = "550 no such mailbox"
    pipeline = await app.pipeline(proposing(app, mail_action()))
    run = await app.start(pipeline)
    await app.cairn.approvals.decide((await pending_approval(app, run)).approval_id, "approve", actor=ADMIN)
    await app.wait_for_run(run, "completed")
    (answered,) = app.output(run, "act")["answers"]
    assert answered["outcome"] == "failed"
    assert "no such mailbox" in answered["result"]["error"]
    assert "action_failed" in app.event_types(run)


@pytest.mark.parametrize("said", ["accept", "retry"])
async def test_an_unknown_action_outcome_is_escalated_and_resolved(app: App, said: str) -> None:
    app.mail.data_response = "close"
    pipeline = await app.pipeline(proposing(app, mail_action()))
    run = await app.start(pipeline)
    await app.cairn.approvals.decide((await pending_approval(app, run)).approval_id, "approve", actor=ADMIN)
    doubt = await app.wait_until(
        lambda: next((a for a in app.run(run).pending_approvals if a.kind == "escalation"), None)
    )
    assert doubt.reason == mentions("send_email")
    assert "action_unknown" in app.event_types(run)
    app.mail.data_response = None
    await app.cairn.approvals.decide(doubt.approval_id, said, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    (answered,) = app.output(run, "act")["answers"]
    assert answered["outcome"] == "done"
    assert len(app.mail.mails) == (2 if said == "retry" else 1)  # the first email did arrive
    if said == "accept":
        assert answered["result"] == {"confirmed_by": "admin"}


async def test_an_http_request_is_sent_once_with_its_idempotency_key(app: App) -> None:
    app.web.handlers["/refunds"] = answer(201, b'{"id": 7}', Content_Type="application/json")
    url = f"http://127.0.0.1:{app.web.port}/refunds"
    action = {
        "operation_type": "http_request",
        "parameters": {"url": url, "json": {"amount": 12}, "headers": {"X-Team": "support"}},
    }
    pipeline = await app.pipeline(proposing(app, action))
    run = await app.start(pipeline)
    detail = await pending_approval(app, run)
    await app.cairn.approvals.decide(
        detail.approval_id, "approve", modified_params={"json": {"amount": 9}}, actor=ADMIN
    )
    await app.wait_for_run(run, "completed")
    request = next(seen for seen in reversed(app.web.requests) if seen.path == "/refunds")
    assert (request.method, request.body, request.headers["x-team"]) == ("POST", b'{"amount":9}', "support")
    key = app.cairn.database.read(
        lambda c: c.execute(
            sa.select(t.actions.c.idempotency_key).where(t.actions.c.approval_id == detail.approval_id)
        ).scalar_one()
    )
    assert request.headers["idempotency-key"] == key
    assert app.output(run, "act")["answers"][0]["result"] == {"status": 201, "body": {"id": 7}}


async def test_an_interrupted_http_request_has_an_unknown_outcome_and_can_be_failed(app: App) -> None:
    app.web.handlers["/gone"] = break_midway
    action = {"operation_type": "http_request", "parameters": {"url": f"http://127.0.0.1:{app.web.port}/gone"}}
    pipeline = await app.pipeline(proposing(app, action))
    run = await app.start(pipeline)
    await app.cairn.approvals.decide((await pending_approval(app, run)).approval_id, "approve", actor=ADMIN)
    doubt = await app.wait_until(
        lambda: next((a for a in app.run(run).pending_approvals if a.kind == "escalation"), None)
    )
    await app.cairn.approvals.decide(doubt.approval_id, "fail", actor=ADMIN)
    await app.wait_for_run(run, "paused")
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_test_run_executes_no_actions(app: App) -> None:
    pipeline = await app.pipeline(proposing(app, mail_action()))
    run = await app.start(pipeline, test=True)
    await app.cairn.approvals.decide((await pending_approval(app, run)).approval_id, "approve", actor=ADMIN)
    await app.wait_for_run(run, "completed")
    (answered,) = app.output(run, "act")["answers"]
    assert (answered["outcome"], answered["result"]) == ("test", {"test": True})
    assert texts(app) == []


async def test_a_retry_does_not_repeat_an_executed_action(app: App) -> None:
    fails = [True]

    def then() -> None:
        if fails.pop() if fails else False:
            raise RuntimeError("after the mail")

    act = proposing(app, mail_action(), then=then)
    act["execution"]["retry_config"] = {"max_auto_retries": 1, "retry_delay_seconds": 0}
    pipeline = await app.pipeline(act)
    run = await app.start(pipeline)
    await app.cairn.approvals.decide((await pending_approval(app, run)).approval_id, "approve", actor=ADMIN)
    await app.wait_for_run(run, "completed")
    assert len(app.mail.mails) == 1
    assert app.execution(run, "act").attempt_number == 2


async def test_attachments_are_artifacts_of_the_run(app: App) -> None:
    pipeline = await app.pipeline(step("report"), proposing(app, mail_action(attachments=["report.json"])))
    run = await app.start(pipeline)
    await app.cairn.approvals.decide((await pending_approval(app, run)).approval_id, "approve", actor=ADMIN)
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
    detail = await pending_approval(app, run)

    async def modify(amount: int) -> str:
        try:
            await app.cairn.approvals.decide(
                detail.approval_id, "approve", digest=detail.digest, modified_params={"amount": amount}, actor=ADMIN
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
