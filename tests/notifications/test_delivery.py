"""The content of notifications and the channels they go to, with real receivers."""

from __future__ import annotations

import asyncio
import hmac
import time
from hashlib import sha256
from typing import Any

import pytest

from cairn.core.rule_verdict import ApprovalTerms, ConditionResult, EvaluatedRule, RuleVerdict
from cairn.core.states import ApprovalKind, WaitingOn
from cairn.ports import NeedsInput, Outcome, RecordedCall, WorkOrder
from cairn.ports.conversation import Conversation
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.notifications.channels import ChannelSpec
from cairn.services.notifications.views import DeliveryAttempt
from cairn.store.tables.notifications import ChannelKind, NotificationKind
from tests.isolation import limit
from tests.mentions import mentions
from tests.notifications.receivers import PUBLIC, Receivers, card, checked, facts, texts
from tests.services.app import retries, step
from tests.services.conversing import scripted_conversations

pytestmark = pytest.mark.asyncio(loop_scope="package")

REFUND: dict[str, Any] = {
    "to": "customer@example.com",
    "subject": "Refund Confirmation - Order #12345",
    "amount": 99.99,
    "api_key": "sk-abcdefghijklmnopqrstuvwxyz",
}


async def test_a_failure_notification_has_error_facts_and_links(receivers: Receivers) -> None:
    await receivers.channel("ops", "teams")

    @receivers.app.function("query")
    async def query(ctx: Ctx) -> None:
        raise TimeoutError("Connection timeout to SQL Server (10.0.0.50:1433) as sa, password=hunter2 " + "x" * 300)

    pipeline = await receivers.app.pipeline(
        step("ticket"), step("database", "query", execution=retries(0)), step("end"), pipeline_name="IT: Server Health"
    )
    run = await receivers.app.start(pipeline)
    (sent,) = await receivers.payloads("ops")
    shown = facts(sent)
    assert card(sent)["body"][0]["style"] == "attention"
    assert card(sent)["body"][0]["items"][0]["text"] == mentions("Database")
    assert texts(sent)[0] == mentions("Ticket")
    assert {name: shown[name] for name in ("Pipeline", "Run", "Checkpoint", "Step")} == {
        "Pipeline": "IT: Server Health",
        "Run": f"v1 \\({run}\\)",
        "Checkpoint": "Database",
        "Step": "2 of 3",
    }
    assert shown["Error"].startswith("Connection timeout to SQL Server \\(10.0.0.50:1433\\) as sa, password=\\*\\*\\*")
    assert shown["Error"].endswith("…")
    assert len(shown["Error"].replace("\\", "")) == 200
    assert shown["Time"].endswith(" UTC")
    checkpoint = receivers.app.execution(run, "database").checkpoint_id
    assert card(sent)["actions"] == [
        {"type": "Action.OpenUrl", "title": mentions(), "url": f"{PUBLIC}/runs/{run}?checkpoint={checkpoint}{tab}"}
        for tab in ("", "", "&tab=log")
    ]
    (delivery,) = await receivers.ended_deliveries(run)
    assert (delivery.kind, delivery.status, delivery.attempt_count, delivery.response) == (
        "execution_failed",
        "sent",
        1,
        "200 ok",
    )


async def test_an_action_notification_has_parameters_reasons_and_conditions_without_personal_data(
    receivers: Receivers,
) -> None:
    await receivers.channel("refunds", "teams")
    conditions = (
        ConditionResult("risk_level", "high or critical", "high", matched=True),
        ConditionResult("amount", "> 50", "99.99", matched=True),
    )
    evaluated_rules = (EvaluatedRule("High-Value", "global", "checkpoints", "requires approval", conditions),)
    terms = ApprovalTerms(timeout=3600)
    verdict = RuleVerdict(
        requires_approval=True, rule="High-Value", scope="global", terms=terms, evaluated_rules=evaluated_rules
    )
    receivers.use_verdict(verdict, ApprovalKind.ACTION)

    @receivers.app.function("refund")
    def refund(ctx: Ctx) -> Any:
        return dict(ctx.propose_action("financial_transaction", REFUND, "Customer customer@example.com asked.", 0.87))

    pipeline = await receivers.app.pipeline(step("send_email", "refund"))
    run = await receivers.app.start(pipeline)
    (sent,) = await receivers.payloads("refunds")
    shown = facts(sent)
    assert {name: shown[name] for name in ("Operation", "Risk", "Confidence")} == {
        "Operation": "financial\\_transaction",
        "Risk": "HIGH",
        "Confidence": "87%",
    }
    assert sum(value.endswith(" UTC") for value in shown.values()) == 2  # the deadline and the time of the request
    plain = [text.replace("\\", "") for text in texts(sent)]
    approval = next(a for a in receivers.app.run(run).pending_approvals if a.kind == "action")
    assert card(sent)["body"][0]["items"][0]["text"].replace("\\", "") == approval.title
    assert sum("doesn't declare" in text for text in plain) == 1  # each reason once
    start = plain.index("to: c***@example.com")
    assert plain[start : start + 6] == [
        "to: c***@example.com",
        "subject: Refund Confirmation - Order #12345",
        "amount: 99.99",
        "api_key: ***",
        mentions(),
        "Customer c***@example.com asked.",
    ]
    assert plain[-3:] == [
        mentions("High-Value"),
        "Risk level: high ✓ (high or critical)",
        "Amount: 99.99 ✓ (> 50)",
    ]
    assert card(sent)["actions"][0] == {
        "type": "Action.OpenUrl",
        "title": mentions(),
        "url": f"{PUBLIC}/approvals/{approval.approval_id}",
    }
    assert "customer@" not in str(sent)
    assert "sk-abc" not in str(sent)
    await receivers.app.cairn.runs.cancel(run, actor=ADMIN)


async def test_an_automatic_approval_is_reported_if_the_rule_notifies(receivers: Receivers) -> None:
    await receivers.channel("audit", "teams")
    conditions = (
        ConditionResult("risk_level", "low or medium", "low", matched=True),
        ConditionResult("amount", "<= 50", "35.00", matched=True),
        ConditionResult("confidence", ">= 0.9", "0.92", matched=True),
    )
    evaluated_rules = (EvaluatedRule("Auto-Approve Small Refunds", "global", "auto_approval", "approves", conditions),)
    verdict = RuleVerdict(
        requires_approval=False,
        rule="Auto-Approve Small Refunds",
        scope="global",
        evaluated_rules=evaluated_rules,
        notify=True,
    )
    receivers.use_verdict(verdict)
    pipeline = await receivers.app.pipeline(step("refund", approve="complete"), pipeline_name="CS - Send Refund Email")
    run = await receivers.app.run_to_completion(pipeline)
    (sent,) = await receivers.payloads("audit")
    assert card(sent)["body"][0]["style"] == "good"
    assert card(sent)["body"][0]["items"][0]["text"] == mentions("Refund")
    plain = [text.replace("\\", "") for text in texts(sent)]
    assert plain[0] == mentions('"Auto-Approve Small Refunds"')
    assert plain[-4:] == [
        mentions("Auto-Approve Small Refunds"),
        "Risk level: low ✓ (low or medium)",
        "Amount: 35.00 ✓ (<= 50)",
        "Confidence: 0.92 ✓ (>= 0.9)",
    ]
    assert [action["url"] for action in card(sent)["actions"]] == [mentions(f"{PUBLIC}/approvals/"), f"{PUBLIC}/rules"]
    await receivers.ended_deliveries(run)

    receivers.use_verdict(RuleVerdict(requires_approval=False, rule="Auto-Approve Safe Reads", scope="global"))
    quiet = await receivers.app.run_to_completion(pipeline)
    assert receivers.deliveries(run_id=quiet) == []


async def test_a_question_is_the_title_and_the_content_of_its_notification(receivers: Receivers) -> None:
    await receivers.channel("ops", "webhook")
    await receivers.channel("outside", "webhook", include_details=False)
    asked = {"question": "Which market,\nand for whom?"}

    async def ask(_: WorkOrder, __: Conversation) -> Outcome:
        return NeedsInput(WaitingOn.QUESTION, asked, RecordedCall(1, "question", {"request": asked}, None))

    with scripted_conversations(receivers.app.cairn, ask):
        run = await receivers.app.start(await receivers.app.pipeline(step("talk")))
        (sent,) = await receivers.payloads("ops")
    (approval,) = receivers.app.run(run).pending_approvals
    assert (approval.title, approval.reason) == ("Talk asks: Which market, and for whom?", asked["question"])
    assert sent["title"] == approval.title
    assert [section["lines"] for section in sent["sections"]] == [["Which market, and for whom?"]]
    (brief,) = await receivers.payloads("outside")
    assert (brief["title"], "market" in str(brief)) == ("Fill in Talk", False)
    await receivers.app.cairn.runs.cancel(run, actor=ADMIN)


APPROVED = RuleVerdict(requires_approval=False, rule="Small refunds", scope="global", notify=True)


async def test_an_automatic_approval_of_an_action_is_reported_once_with_its_outcome(receivers: Receivers) -> None:
    await receivers.channel("audit", "webhook")
    receivers.use_verdict(APPROVED, ApprovalKind.ACTION)

    @receivers.app.function("refund")
    def refund(ctx: Ctx) -> Any:
        return dict(ctx.propose_action("financial_transaction", {"amount": 35}))

    run = await receivers.app.run_to_completion(await receivers.app.pipeline(step("refund", "refund")))
    (sent,) = await receivers.payloads("audit")
    assert (sent["kind"], sent["title"]) == ("approval_auto_approved", mentions("35"))
    assert {fact["name"]: fact["value"] for fact in sent["facts"]}["Outcome"] == "Returned to the proposer"
    assert len(await receivers.ended_deliveries(run)) == 1


async def test_an_automatic_approval_that_lapses_is_reported_as_not_executed(receivers: Receivers) -> None:
    await receivers.channel("audit", "webhook")
    receivers.use_verdict(APPROVED, ApprovalKind.ACTION)
    started, paused = asyncio.Event(), asyncio.Event()

    @receivers.app.function("refund")
    async def refund(ctx: Ctx) -> Any:
        started.set()
        await paused.wait()
        return dict(await asyncio.to_thread(ctx.propose_action, "financial_transaction", {"amount": 35}))

    run = await receivers.app.start(await receivers.app.pipeline(step("refund", "refund")))
    await started.wait()
    await receivers.app.cairn.runs.pause(run, actor=ADMIN)
    paused.set()
    await receivers.app.wait_for_run(run, "paused")
    assert receivers.deliveries(run_id=run) == []
    await receivers.app.cairn.runs.cancel(run, actor=ADMIN)
    (sent,) = await receivers.payloads("audit")
    assert {fact["name"]: fact["value"] for fact in sent["facts"]}["Outcome"] == "Not executed"


async def test_slack_and_webhooks_have_their_own_formats_and_webhooks_are_signed(receivers: Receivers) -> None:
    await receivers.channel("room", "slack")
    spec = ChannelSpec(name="hook", kind=ChannelKind.WEBHOOK, url=receivers.web.url("/hook"))
    receivers.web.handlers["/hook"] = receivers.web.handlers["/room"]
    _, key = await receivers.app.cairn.notifications.channels.create(spec, ADMIN)
    assert key is not None
    pipeline = await receivers.app.pipeline(step("goals", approve="complete"))
    run = await receivers.app.start(pipeline)
    (blocks,) = await receivers.payloads("room")
    assert checked("slack", blocks)["text"] == mentions("Goals")
    (hook,) = await receivers.payloads("hook")
    assert checked("webhook", hook)["kind"] == "approval_requested"
    approval = receivers.app.run(run).pending_approvals[0]
    assert hook["subject"]["approval_id"] == approval.approval_id
    (request,) = receivers.requests("hook")
    moment, signature = (part.partition("=")[2] for part in request.headers["cairn-signature"].split(","))
    signed = hmac.new(key.encode(), f"{moment}.".encode() + request.body, sha256).hexdigest()
    assert signature == signed
    assert abs(time.time() - int(moment)) < 60
    found = {delivery.channel: delivery for delivery in await receivers.ended_deliveries(run, 2)}
    assert {request.headers["cairn-delivery"], request.headers["idempotency-key"], hook["id"]} == {
        found["hook"].delivery_id
    }
    await receivers.app.decide(run, "goals", "reject", "No")
    rejected = (await receivers.payloads("hook", 2))[1]
    assert (rejected["kind"], rejected["subject"]["run_status"]) == ("approval_rejected", "failed")
    assert {"name": "Reason", "value": "No"} in rejected["facts"]
    assert [delivery.kind for delivery in await receivers.ended_deliveries(run, 4)][2:] == ["approval_rejected"] * 2


async def test_a_notification_is_sent_within_a_second_of_the_commit(receivers: Receivers) -> None:
    """The job queue is polled far less often."""
    await receivers.channel("fast", "webhook")
    pipeline = await receivers.app.pipeline(step("goals", approve="complete"))
    since = time.monotonic()
    run = await receivers.app.start(pipeline)
    await receivers.payloads("fast")
    assert time.monotonic() - since < limit(1.0)
    (delivery,) = await receivers.ended_deliveries(run)
    (attempt,) = receivers.detail(delivery).attempts
    requested_at = receivers.app.run(run).pending_approvals[0].requested_at
    assert (attempt.started_at - requested_at).total_seconds() < 1.0
    assert receivers.detail(delivery).attempts == [
        DeliveryAttempt(
            number=1,
            started_at=attempt.started_at,
            ended_at=attempt.ended_at,
            outcome=attempt.outcome,
            response="200 ok",
        )
    ]
    await receivers.app.cairn.runs.cancel(run, actor=ADMIN)


async def test_without_a_channel_no_notification_is_saved(receivers: Receivers) -> None:
    pipeline = await receivers.app.pipeline(step("goals", approve="complete"))
    before = len(receivers.deliveries())
    run = await receivers.app.start(pipeline)
    await receivers.app.decide(run, "goals", "approve")
    await receivers.app.wait_for_run(run, "completed")
    assert len(receivers.deliveries()) == before
    assert receivers.web.requests == []


async def test_a_channel_gets_only_its_kinds_and_pipelines(receivers: Receivers) -> None:
    pipeline = await receivers.app.pipeline(step("goals", approve="complete"))
    other = await receivers.app.pipeline(step("goals"))
    await receivers.channel("done", "webhook", notification_kinds=[NotificationKind.RUN_COMPLETED])
    await receivers.channel("other", "webhook", pipelines=[other], notification_kinds=list(NotificationKind))
    await receivers.channel("off", "webhook", is_enabled=False, notification_kinds=list(NotificationKind))
    run = await receivers.app.start(pipeline)
    await receivers.app.decide(run, "goals", "approve")
    await receivers.app.wait_for_run(run, "completed")
    (sent,) = await receivers.payloads("done")
    assert sent["kind"] == "run_completed"
    assert [delivery.channel for delivery in await receivers.ended_deliveries(run)] == ["done"]


async def test_a_channel_without_details_gets_only_key_facts_and_links(receivers: Receivers) -> None:
    await receivers.channel("outside", "webhook", include_details=False)

    @receivers.app.function("breaks")
    async def breaks(ctx: Ctx) -> None:
        raise ValueError("the customer's file is wrong")

    run = await receivers.app.start(await receivers.app.pipeline(step("bad", "breaks", execution=retries(0))))
    (sent,) = await receivers.payloads("outside")
    assert checked("webhook", sent)["sections"] == []
    shown = [fact["name"] for fact in sent["facts"] if fact["name"] != "Duration"]
    assert shown == ["Pipeline", "Run", "Checkpoint", "Step", "Time"]
    assert "customer" not in str(sent)
    await receivers.ended_deliveries(run)


async def test_html_and_markup_in_any_field_stay_text(receivers: Receivers) -> None:
    hostile = "<script>alert(1)</script> [x](https://evil.example) {{7*7}} ${x} <!channel>\r\nBcc: a@example.com"
    for kind in ("teams", "slack", "webhook"):
        await receivers.channel(f"{kind}-room", kind)
    await receivers.app.cairn.identity.users.create(_user("html", "html@example.com"), ADMIN)
    await receivers.channel("mail", "email", recipients=["html@example.com"])

    @receivers.app.function("hostile")
    def propose(ctx: Ctx) -> Any:
        return dict(ctx.propose_action("wire", {hostile[:40]: hostile}, hostile, 0.5))

    checkpoint = step("act", "hostile") | {"checkpoint_name": hostile.replace("\r\n", " ")}
    run = await receivers.app.start(
        await receivers.app.pipeline(checkpoint, pipeline_name=hostile.replace("\r\n", " "))
    )
    (teams_card,) = await receivers.payloads("teams-room")
    (blocks,) = await receivers.payloads("slack-room")
    (hook,) = await receivers.payloads("webhook-room")
    assert checked("slack", blocks)
    assert checked("webhook", hook)
    for text in texts(teams_card):
        assert "](https" not in text
        assert "{{" not in text
        assert "${" not in text
    assert "<!channel>" not in blocks["text"]
    (mail,) = [message for message in await receivers.emails(1) if message["To"] == "html@example.com"]
    html = mail.get_body(("html",))
    assert html is not None
    assert "<script" not in html.get_content()
    assert mail["Bcc"] is None
    assert "\n" not in mail["Subject"]
    await receivers.ended_deliveries(run, 4)
    await receivers.app.cairn.runs.cancel(run, actor=ADMIN)


def _user(name: str, address: str, *roles: str) -> Any:
    from cairn.services.identity.users import UserSpec

    return UserSpec(name, name, address, roles or ("viewer",), ())
