"""Rules choose channels and recipients, from the YAML to the card and the email."""

from __future__ import annotations

from contextlib import suppress
from textwrap import dedent
from typing import Any

import pytest

from cairn.definitions import DefinitionError
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from cairn.services.errors import InvalidInput
from cairn.services.identity.users import UserSpec
from tests.adapters.servers import answer
from tests.mentions import mentions
from tests.notifications.receivers import Receivers, card, facts, texts
from tests.services.app import step

pytestmark = pytest.mark.asyncio(loop_scope="package")

RULES = """\
version: "1.0"
checkpoints:
  - name: "High-Value Financial Operations"
    priority: 1
    trigger:
      risk_level: ["high", "critical"]
      operation_type: ["financial_transaction", "refund"]
      data_threshold: {field: "amount", operator: ">", value: 1000}
    action:
      auto_approve: false
      timeout_seconds: 3600
      escalation:
        enabled: true
        after_seconds: 1
        escalate_to: ["manager@example.com"]
      notification:
        channels: ["teams", "email"]
        recipients: ["finance-team@example.com"]
auto_approval:
  enabled: true
  rules:
    - name: "Auto-Approve Small Refunds"
      conditions:
        risk_level: ["low", "medium"]
        operation_type: "financial_transaction"
        data_threshold: {field: "amount", operator: "<=", value: 50}
        confidence: ">= 0.9"
      action:
        auto_approve: true
        log_decision: true
        notify: true
        notification_channels: ["teams"]
"""
DECLARED = {"financial_transaction": {"risk_level": "medium", "schema": {"type": "object"}}}


async def propose_refund(receivers: Receivers, amount: float, risk: str, confidence: float) -> str:
    @receivers.app.function("refund")
    def refund(ctx: Ctx) -> Any:
        answer = ctx.propose_action("financial_transaction", {"amount": amount}, "As asked.", confidence, risk)
        return {"decision": answer["decision"]}

    with suppress(InvalidInput):  # another test may have created the user
        manager = UserSpec("manager", email="manager@example.com", roles=("approver",))
        await receivers.app.cairn.identity.users.create(manager, actor=ADMIN)
    pipeline = await receivers.app.pipeline(step("refund", "refund"), actions=DECLARED)
    await receivers.app.cairn.rules.save(pipeline, dedent(RULES), actor=ADMIN)
    return await receivers.app.start(pipeline)


async def test_a_large_refund_notifies_the_finance_team_and_then_escalates_to_the_manager(
    receivers: Receivers,
) -> None:
    for name, kind in (("room", "teams"), ("mail", "email"), ("other", "slack")):
        await receivers.channel(name, kind)
    run = await propose_refund(receivers, 2500, "high", 0.87)
    (sent,) = await receivers.payloads("room")
    shown = facts(sent)
    assert (shown["Operation"], shown["Risk"], shown["Confidence"]) == ("financial\\_transaction", "HIGH", "87%")
    plain = [text.replace("\\", "") for text in texts(sent)]
    heading, *rule = plain[-4:]
    assert heading == mentions("High-Value Financial Operations")
    assert all("✓" in line for line in rule)
    found = await receivers.ended_deliveries(run, 4)
    assert {
        (delivery.kind.value, delivery.channel, delivery.recipient, delivery.status.value) for delivery in found
    } == {
        ("approval_requested", "room", "", "sent"),
        ("approval_requested", "mail", "finance-team@example.com", "sent"),
        ("approval_escalated", "room", "", "sent"),
        ("approval_escalated", "mail", "manager@example.com", "sent"),
    }
    assert receivers.requests("other") == []
    await receivers.app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_small_refund_is_auto_approved_and_reported_in_teams_with_its_conditions(receivers: Receivers) -> None:
    for name, kind in (("room", "teams"), ("mail", "email")):
        await receivers.channel(name, kind)
    run = await propose_refund(receivers, 35, "low", 0.92)
    await receivers.app.wait_for_run(run, "completed")
    (sent,) = await receivers.payloads("room")
    assert card(sent)["body"][0]["items"][0]["text"] == mentions("35")
    plain = [text.replace("\\", "") for text in texts(sent)]
    assert plain[0] == mentions('"Auto-Approve Small Refunds"')
    heading, *conditions = plain[-5:]
    assert heading == mentions("Auto-Approve Small Refunds")
    assert all("✓" in line for line in conditions)
    (only,) = await receivers.ended_deliveries(run)
    assert (only.channel, only.kind) == ("room", "approval_auto_approved")


ONE_ROOM = """\
checkpoints:
  - name: One room
    trigger: { kind: completion }
    action: { notification: { channels: [Finance Room, webhook] } }
"""


async def test_a_rule_names_one_channel_of_a_kind(receivers: Receivers) -> None:
    for name, kind in (("finance room", "slack"), ("other", "slack"), ("hook", "webhook"), ("hook-2", "webhook")):
        await receivers.channel(name, kind, url=receivers.web.url(f"/{name.split()[0]}"))
        receivers.web.handlers[f"/{name.split()[0]}"] = answer(200, b"ok")
    pipeline = await receivers.app.pipeline(step("goals"))
    await receivers.app.cairn.rules.save(pipeline, ONE_ROOM, actor=ADMIN)
    run = await receivers.app.start(pipeline)
    found = await receivers.ended_deliveries(run, 3)
    assert sorted((delivery.channel, delivery.status.value) for delivery in found) == [
        ("finance room", "sent"),
        ("hook", "sent"),
        ("hook-2", "sent"),
    ]
    await receivers.app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_channel_that_does_not_exist_is_refused_on_save(receivers: Receivers) -> None:
    pipeline = await receivers.app.pipeline(step("goals"))
    with pytest.raises(DefinitionError) as error:
        await receivers.app.cairn.rules.save(pipeline, ONE_ROOM, actor=ADMIN)
    assert [str(finding) for finding in error.value.findings] == [mentions("line 4", "Finance Room")]


async def test_a_notification_warns_that_too_few_people_can_decide(receivers: Receivers) -> None:
    await receivers.channel("room", "teams")
    receivers.require_approval(required_approvals=5, approvers=("finance@example.com",))
    run = await receivers.app.start(await receivers.app.pipeline(step("goals", approve="complete")))
    (sent,) = await receivers.payloads("room")
    assert texts(sent)[0].replace("\\", "") == mentions("5", "f***@example.com", "approver")
    await receivers.app.cairn.runs.cancel(run, actor=ADMIN)
