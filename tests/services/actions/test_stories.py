"""Whole stories, each with the number of questions that people get."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from cairn import ActionFailed
from cairn.runners import Ctx
from cairn.services.actors import ADMIN
from tests.adapters.servers import answer
from tests.runners.agent_samples import ReceivedRequest, Reply, ToolCall
from tests.services.actions.deciding import actions, decide, lift, question, questions, requests, states, stop
from tests.services.app import App, retries, step
from tests.services.rule_files import rule
from tests.services.runs.test_agents import agent, use_models

pytestmark = pytest.mark.asyncio(loop_scope="package")
Json = dict[str, Any]

PAY: Json = {
    "pay": {
        "risk_level": "high",
        "identity": ["amount", "account"],
        "amount": "amount",
        "schema": {
            "type": "object",
            "required": ["amount", "account"],
            "properties": {
                "amount": {"type": "number"},
                "account": {"type": "string"},
                "memo": {"type": "string"},
            },
        },
    }
}
APPROVE = """
auto_approval:
  enabled: true
  rules:
    - name: Payments
      conditions: {kind: action, operation_type: %s}
      action: {auto_approve: true%s}
"""
APPROVE_FIVE = APPROVE % ("pay", ", limit: {count: 5}")


class Bank:
    """Receives payments, and counts what is paid twice."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, float]] = []
        self.keys: list[str] = []

    def pay(self, parameters: Json, key: str) -> Json:
        self.paid.append((parameters["account"], parameters["amount"]))
        self.keys.append(key)
        return {"number": len(self.paid)}


def paying(app: App, bank: Bank, accounts: Sequence[str], *, fails_after: int | None = None, **more: Any) -> Json:
    """A checkpoint that pays 5 to each account. It fails once after this number of payments."""
    failures = [True]

    @app.function("pay")
    async def pay(ctx: Ctx) -> Json:
        for number, account in enumerate(accounts):
            if number == fails_after and failures:
                failures.clear()
                raise RuntimeError("in the middle")
            await ctx.perform("pay", {"amount": 5, "account": account}, bank.pay)
        return {"paid": len(accounts)}

    return step("pay", "pay", **more)


async def test_a_refund_by_an_agent_with_one_revision_asks_twice(app: App) -> None:
    app.web.handlers["/refund"] = answer(200, b"{}", Content_Type="application/json")
    refund = {
        "operation_type": "http_request",
        "parameters": {"url": app.web.url("/refund"), "json": {"amount": 5}},
        "reasoning": "Broken.",
        "confidence": 0.9,
        "risk_level": "high",
    }

    def respond(request: ReceivedRequest) -> Reply:
        return "Refunded." if '"state": "done"' in request.last else ToolCall("propose_action", refund)

    use_models(app, respond)
    before = len(requests(app, "/refund"))
    run = await app.start(await app.pipeline(agent("refund", "note.md", agent={"tools": ["propose_action"]})))
    first = await question(app, run)
    await decide(app, first, "revise")
    second = await question(app, run, first.approval_id)
    await decide(app, second)
    await app.wait_for_run(run, "completed")
    assert (questions(app, run), len(requests(app, "/refund")) - before) == (2, 1)
    assert states(app, run) == ["refused", "done"]


@pytest.mark.parametrize(("limit", "asked"), [(", limit: {count: 5}", 0), ("", 4)])
async def test_a_rule_approves_as_many_payments_as_its_limit_says(app: App, limit: str, asked: int) -> None:
    """Without a limit, a rule approves an operation once per checkpoint."""
    bank = Bank()
    pipeline = await app.pipeline(paying(app, bank, "ABCDE"), actions=PAY)
    await rule(app, APPROVE % ("pay", limit), pipeline)
    run = await app.start(pipeline)
    seen: list[str] = []
    for _ in range(asked):
        detail = await question(app, run, *seen)
        seen.append(detail.approval_id)
        await decide(app, detail)
    await app.wait_for_run(run, "completed")
    assert (questions(app, run), [account for account, _ in bank.paid]) == (asked, list("ABCDE"))
    assert len(set(bank.keys)) == 5


async def test_a_retry_after_the_third_payment_asks_nothing_and_pays_the_rest(app: App) -> None:
    """The retried function gets the outcomes of what it did before."""
    bank = Bank()
    act = paying(app, bank, "ABCDE", fails_after=3, execution=retries(1))
    pipeline = await app.pipeline(act, actions=PAY)
    await rule(app, APPROVE_FIVE, pipeline)
    run = await app.start(pipeline)
    await app.wait_for_run(run, "completed")
    assert (questions(app, run), [account for account, _ in bank.paid]) == (0, list("ABCDE"))
    assert (app.execution(run, "pay").attempt_number, states(app, run)) == (2, ["done"] * 5)


async def test_a_retried_run_asks_about_each_payment_that_it_repeats(app: App) -> None:
    bank = Bank()
    pipeline = await app.pipeline(paying(app, bank, "ABC", fails_after=2), actions=PAY)
    await rule(app, APPROVE_FIVE, pipeline)
    run = await app.start(pipeline)
    await app.wait_for_run(run, "paused")
    assert [account for account, _ in bank.paid] == ["A", "B"]
    await app.cairn.runs.cancel(run, actor=ADMIN)
    again = (await app.cairn.runs.retry(run, actor=ADMIN)).run_id
    seen: list[str] = []
    for _ in range(3):  # C was not paid, but rules approve nothing in work that is repeated
        detail = await question(app, again, *seen)
        seen.append(detail.approval_id)
        assert detail.action is not None
        on_repeat = "use_earlier" if detail.action.repeats and detail.action.parameters["account"] != "C" else None
        if detail.action.parameters["account"] == "C":
            on_repeat = "execute_again"
        await decide(app, detail, on_repeat=on_repeat)
    await app.wait_for_run(again, "completed")
    assert (questions(app, again), [account for account, _ in bank.paid]) == (3, ["A", "B", "C"])
    assert states(app, again) == ["reused", "reused", "done"]


@pytest.mark.parametrize(("method", "asked", "state"), [("POST", 1, "unknown"), ("GET", 0, "failed")])
async def test_an_error_of_the_receiver_asks_only_if_something_may_have_changed(
    app: App, method: str, asked: int, state: str
) -> None:
    app.web.handlers["/busy"] = answer(503)

    @app.function("call")
    async def call(ctx: Ctx) -> Json:
        try:
            await ctx.propose_action("http_request", {"method": method, "url": app.web.url("/busy")})
        except ActionFailed as error:
            return {"failed": error.result}
        return {}

    pipeline = await app.pipeline(step("call", "call"))
    await rule(app, APPROVE % ("http_request", ", limit: {count: 5}"), pipeline)
    run = await app.start(pipeline)
    if asked:
        doubt = await question(app, run, kind="outcome")
        assert states(app, run) == [state]
        await decide(app, doubt, "did_not_happen")
    await app.wait_for_run(run, "completed")
    assert (questions(app, run), states(app, run)) == (asked, ["failed"])
    assert app.output(run, "call")["failed"] is not None


async def test_a_rollback_asks_once_about_the_payment_that_is_repeated(app: App) -> None:
    bank = Bank()
    pipeline = await app.pipeline(step("first"), paying(app, bank, "A"), step("last", approve="start"), actions=PAY)
    await rule(app, APPROVE_FIVE, pipeline)
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "last", "waiting_approval_to_start")
    assert (questions(app, run), len(bank.paid)) == (0, 1)
    await app.roll_back(run, 0)
    await app.cairn.runs.resume(run, actor=ADMIN)
    detail = await question(app, run)
    assert detail.action is not None
    assert [repeat.state for repeat in detail.action.repeats] == ["done"]
    await decide(app, detail, on_repeat="use_earlier")
    await app.wait_for_execution(run, "last", "waiting_approval_to_start")
    assert (questions(app, run), len(bank.paid)) == (1, 1)
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_test_run_asks_nothing_and_pays_nothing(app: App) -> None:
    bank = Bank()
    pipeline = await app.pipeline(paying(app, bank, "AB"), actions=PAY)
    run = await app.start(pipeline, test=True)
    await app.wait_for_run(run, "completed")
    assert (questions(app, run), bank.paid, states(app, run)) == (0, [], ["test", "test"])


async def test_a_stop_in_the_middle_asks_nothing_and_the_rest_continues_afterwards(app: App) -> None:
    bank, stops = Bank(), [True]

    @app.function("pay")
    async def pay(ctx: Ctx) -> Json:
        for account in "ABCD":
            await ctx.perform("pay", {"amount": 5, "account": account}, bank.pay)
            if account == "B" and stops:
                stops.clear()
                await stop(app)
        return {}

    pipeline = await app.pipeline(step("pay", "pay"), actions=PAY)
    await rule(app, APPROVE_FIVE, pipeline)
    run = await app.start(pipeline)
    try:
        await app.wait_until(lambda: "proposed" in states(app, run) or None)
        await app.wait_until_idle()
        assert (states(app, run), questions(app, run)) == (["done", "done", "proposed"], 0)
        assert actions(app, run)[-1].state_reason
    finally:
        await lift(app)
    await app.wait_for_run(run, "completed")
    assert (questions(app, run), [account for account, _ in bank.paid]) == (0, list("ABCD"))
