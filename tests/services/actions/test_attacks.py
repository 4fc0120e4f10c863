"""Ways to execute an action that no one allowed, or to execute it twice. Each one fails."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from email import message_from_bytes, policy
from typing import Any

import pytest
import sqlalchemy as sa

from cairn import ActionFailed
from cairn.core.action_votes import EXECUTE_AGAIN
from cairn.core.errors import CommandRefused, NotAllowed, StaleCommand
from cairn.runners import Ctx
from cairn.services.actions.decisions import RepeatUndecided
from cairn.services.actors import ADMIN, Actor
from cairn.services.errors import InvalidInput
from cairn.services.identity.delegations import DelegationSpec
from cairn.services.identity.users import UserUpdate
from cairn.store import tables as t
from tests.adapters.servers import ReceivedRequest, answer, break_midway
from tests.services.actions.deciding import actions, column, decide, lift, question, questions, requests, states, stop
from tests.services.actions.test_stories import APPROVE, APPROVE_FIVE, PAY, Bank, paying
from tests.services.app import App, retries, step
from tests.services.rule_files import add_users, rule

pytestmark = pytest.mark.asyncio(loop_scope="package")
Json = dict[str, Any]
ANN, BOB, CAT = [Actor(name, frozenset({"approver"})) for name in ("ann", "bob", "cat")]
LARGE = """
checkpoints:
  - name: Large payments
    trigger: {operation_type: pay, data_threshold: {field: action.amount, operator: ">", value: 1000}}
    action: {approvers: [ann, bob], require_approval_count: 2}
"""
TWO = """
checkpoints:
  - name: Two people
    trigger: {operation_type: %s}
    action: {approvers: [ann, bob], require_approval_count: 2, not_by_starter: true}
"""


def proposing(app: App, operation: str, parameters: Json, key: str = "act") -> Json:
    """A checkpoint that proposes an action which Cairn carries out."""

    @app.function(key)
    async def propose(ctx: Ctx) -> Json:
        try:
            return dict(await ctx.propose_action(operation, parameters))
        except ActionFailed as error:
            return {"failed": error.result}

    return step(key, key)


def mail(**more: Any) -> Json:
    return {"to": "a@example.com", "subject": "Hello", "body": "Text", **more}


def approve_rule(operation: str) -> str:
    return APPROVE % (operation, ", limit: {count: 5}")


# ---- retries ---------------------------------------------------------------------------------------------
async def test_a_retry_does_not_get_the_parameters_of_a_payment_again(app: App) -> None:
    """A function that pays without reporting and fails: people say what happened, and it is not paid again."""
    paid: list[float] = []

    @app.function("naive")
    async def naive(ctx: Ctx) -> Json:
        approved = await ctx.propose_action("pay", {"amount": 5, "account": "A"})
        paid.append(approved.parameters["amount"])
        raise RuntimeError("after the payment")

    pipeline = await app.pipeline(step("pay", "naive", execution=retries(2)), actions=PAY)
    run = await app.start(pipeline)
    await decide(app, await question(app, run))
    doubt = await question(app, run, kind="outcome")
    await decide(app, doubt, "happened")
    await app.wait_for_run(run, "paused")
    assert (paid, states(app, run), questions(app, run)) == ([5], ["done"], 2)
    error = app.execution(run, "pay").error_details.last_error
    assert error is not None
    assert error.error_type == "ActionNotHandedOver"
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_another_memo_does_not_get_a_rule_to_pay_again_after_a_rollback(app: App) -> None:
    bank = Bank()

    @app.function("pay")
    async def pay(ctx: Ctx) -> Json:
        memo = "for one chair" if bank.paid else "for the chair"
        return await ctx.perform("pay", {"amount": 50, "account": "A", "memo": memo}, bank.pay)

    everything = {"pay": {**PAY["pay"], "identity": ["amount", "account", "memo"]}}
    pipeline = await app.pipeline(step("first"), step("pay", "pay"), step("last", approve="start"), actions=everything)
    await rule(app, APPROVE_FIVE, pipeline)
    run = await app.start(pipeline)
    await app.wait_for_execution(run, "last", "waiting_approval_to_start")
    assert (len(bank.paid), questions(app, run)) == (1, 0)
    await app.roll_back(run, 0)
    await app.cairn.runs.resume(run, actor=ADMIN)
    detail = await question(app, run)
    assert detail.action is not None
    assert [repeat.state for repeat in detail.action.repeats] == ["done"]
    with pytest.raises(RepeatUndecided):
        await decide(app, detail)
    await decide(app, detail, "reject")
    await app.wait_for_run(run, "failed")
    assert (len(bank.paid), questions(app, run)) == (1, 1)


async def test_a_revised_result_does_not_repeat_its_email(app: App) -> None:
    pipeline = await app.pipeline({**proposing(app, "send_email", mail()), "approve": "complete"})
    await rule(app, approve_rule("send_email"), pipeline)
    run = await app.start(pipeline)
    for revision in range(1, 4):
        await app.wait_for_execution(run, "act", "waiting_approval_to_complete")
        await app.decide(run, "act", "revise", "again")
        await app.wait_until(lambda revision=revision: app.execution(run, "act").revision_iteration == revision)
    await app.decide(run, "act", "approve")
    await app.wait_for_run(run, "completed")
    assert (len(app.mail.mails), questions(app, run)) == (1, 0)


async def test_a_retried_run_does_not_forget_a_persons_no(app: App) -> None:
    bank = Bank()
    pipeline = await app.pipeline(paying(app, bank, "A"), actions=PAY)
    run = await app.start(pipeline)
    await decide(app, await question(app, run), "reject")
    await app.wait_for_run(run, "failed")
    await rule(app, APPROVE_FIVE, pipeline)
    again = (await app.cairn.runs.retry(run, actor=ADMIN)).run_id
    detail = await question(app, again)
    assert detail.rule is None
    await app.cairn.runs.cancel(again, actor=ADMIN)
    assert (bank.paid, states(app, again)) == ([], ["withdrawn"])
    other = await app.start(pipeline)  # another family
    await app.wait_for_run(other, "completed")
    assert (questions(app, other), len(bank.paid)) == (0, 1)


async def test_rules_do_not_approve_what_a_person_has_sent_back(app: App) -> None:
    pipeline = await app.pipeline(proposing(app, "send_email", mail()))
    run = await app.start(pipeline)
    seen: list[str] = []
    for number in range(2):
        detail = await question(app, run, *seen)
        seen.append(detail.approval_id)
        await decide(app, detail, "revise")
        if number == 0:
            await rule(app, approve_rule("send_email"), pipeline)
    await question(app, run, *seen)
    await app.cairn.runs.cancel(run, actor=ADMIN)
    assert (app.mail.mails, questions(app, run)) == ([], 3)


# ---- people ----------------------------------------------------------------------------------------------
async def test_a_modification_needs_the_seats_of_the_rules_for_the_new_amount(app: App) -> None:
    bank = Bank()

    @app.function("pay")
    async def pay(ctx: Ctx) -> Json:
        return await ctx.perform("pay", {"amount": 900, "account": "A"}, bank.pay)

    await add_users(app, ANN, BOB)
    pipeline = await app.pipeline(step("pay", "pay"), actions=PAY)
    await rule(app, LARGE, pipeline)
    run = await app.start(pipeline)
    detail = await question(app, run)
    assert detail.required_approvals == 1
    await decide(app, detail, actor=ANN, modified_params={"amount": 90_000})
    assert states(app, run) == ["waiting"]
    changed = await question(app, run)
    assert (changed.received_approvals, changed.required_approvals) == (1, 2)
    with pytest.raises((NotAllowed, CommandRefused)):
        await decide(app, changed, actor=ANN)
    assert bank.paid == []
    modified = next(event for event in app.events(run) if event.event_type == "action_modified")
    assert [(c["path"], c["original"], c["modified"]) for c in modified.metadata["changes"]] == [
        ("/amount", 900, 90_000)
    ]
    await decide(app, changed, actor=BOB)
    await app.wait_for_run(run, "completed")
    assert bank.paid == [("A", 90_000)]


async def test_a_stale_page_decides_nothing(app: App) -> None:
    await add_users(app, ANN, BOB)
    pipeline = await app.pipeline(proposing(app, "send_email", mail()))
    await rule(app, TWO % "send_email", pipeline)
    run = await app.start(pipeline)
    detail = await question(app, run)
    await decide(app, detail, actor=ANN, modified_params={"body": "Another text"})
    with pytest.raises(StaleCommand):
        await decide(app, detail, actor=BOB)
    await app.cairn.runs.cancel(run, actor=ADMIN)
    assert app.mail.mails == []


async def test_an_unknown_outcome_needs_the_seats_of_the_action(app: App) -> None:
    app.web.handlers["/transfer"] = break_midway
    await add_users(app, ANN, BOB, CAT)
    pipeline = await app.pipeline(proposing(app, "http_request", {"url": app.web.url("/transfer")}))
    await rule(app, TWO % "http_request", pipeline)
    run = await app.start(pipeline)
    detail = await question(app, run)
    for person in (ANN, BOB):
        await decide(app, await question(app, run), actor=person)
    doubt = await question(app, run, detail.approval_id, kind="outcome")
    for person in (CAT, ADMIN):  # no seat; the starter
        for choice in ("happened", "send_again"):
            with pytest.raises(NotAllowed):
                await decide(app, doubt, choice, actor=person)
    await decide(app, doubt, "happened", actor=ANN)
    assert states(app, run) == ["unknown"]
    app.web.handlers["/transfer"] = answer(200)
    await decide(app, doubt, "send_again", actor=BOB)  # disagrees: neither choice has two votes
    assert states(app, run) == ["unknown"]
    await decide(app, doubt, "happened", actor=BOB)
    await app.wait_for_run(run, "completed")
    assert (states(app, run), len(requests(app, "/transfer"))) == (["done"], 1)
    app.web.requests.clear()


async def test_a_delegate_and_the_delegator_are_one_person(app: App) -> None:
    """Their votes record whom they represent, and a delegation can't start in the past."""
    await add_users(app, ANN, BOB, CAT)
    now, delegations = app.cairn.clock.now(), app.cairn.identity.delegations
    until = now + timedelta(hours=1)
    with pytest.raises(InvalidInput):
        await delegations.create(DelegationSpec("ann", "cat", until, now - timedelta(days=1)), actor=ANN)
    delegation = await delegations.create(DelegationSpec("ann", "cat", until), actor=ANN)
    pipeline = await app.pipeline(proposing(app, "send_email", mail()))
    await rule(app, TWO % "send_email", pipeline)
    run = await app.start(pipeline)
    detail = await question(app, run)
    try:
        await decide(app, detail, actor=CAT)
        with pytest.raises((NotAllowed, CommandRefused)):
            await decide(app, detail, actor=CAT)
        await decide(app, detail, actor=ANN)
        await app.wait_until_idle()
        assert (states(app, run), app.mail.mails) == (["waiting"], [])
        v = t.action_votes.c
        votes = app.cairn.database.read(lambda c: c.execute(sa.select(v.actor, v.capacities)).all())
        (found,) = [row.capacities for row in votes if row.actor == "cat"][-1:]
        assert any(delegation in capacity for capacity in found)
        await decide(app, detail, actor=BOB)
        await app.wait_for_run(run, "completed")
    finally:
        await delegations.end(delegation, actor=ANN)
    assert len(app.mail.mails) == 1


# ---- limits ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("limit", "paid"), [("{count: 2}", 2), ("{sum: action.amount, max: 12}", 2), ("{count: 9, per: day}", 4)]
)
async def test_many_small_payments_reach_the_limit_of_a_rule(app: App, limit: str, paid: int) -> None:
    bank = Bank()
    pipeline = await app.pipeline(paying(app, bank, "ABCD"), actions=PAY)
    await rule(app, APPROVE % ("pay", f", limit: {limit}"), pipeline)
    run = await app.start(pipeline)
    if paid < 4:
        await question(app, run)
        assert (len(bank.paid), states(app, run)) == (paid, ["done"] * paid + ["waiting"])
        await app.cairn.runs.cancel(run, actor=ADMIN)
    else:
        await app.wait_for_run(run, "completed")
        assert (len(bank.paid), questions(app, run)) == (4, 0)


# ---- content ---------------------------------------------------------------------------------------------
async def test_the_attached_content_that_people_saw_is_sent(app: App) -> None:
    """Another artifact of the same name is made after the proposal."""
    asked = asyncio.Event()

    @app.function("later")
    async def later(ctx: Ctx) -> Json:
        await asked.wait()
        return {"value": "another"}

    act = proposing(app, "send_email", mail(attachments=["report.json"]))
    other = step("other", "later", outputs=["report.json"])
    pipeline = await app.pipeline(step("report"), {**act, "stage": "all"}, {**other, "stage": "all"})
    run = await app.start(pipeline)
    detail = await question(app, run)
    asked.set()
    await app.wait_for_execution(run, "other", "completed")
    assert app.output(run, "other") == {"value": "another"}
    await decide(app, detail)
    await app.wait_for_run(run, "completed")
    (envelope,) = app.mail.mails
    assert isinstance(envelope.content, bytes)
    (attached,) = message_from_bytes(envelope.content, policy=policy.default).iter_attachments()
    assert attached.get_payload(decode=True) == b'{"value":1}'


# ---- between the approval and the start --------------------------------------------------------------------
async def held_approval(app: App, run: str, actor: Actor = ADMIN) -> str:
    """Approve an action while actions are stopped. Returns the id of the approval."""
    detail = await question(app, run)
    await stop(app)
    await decide(app, detail, actor=actor)
    await app.wait_until_idle()
    assert (states(app, run), app.mail.mails) == (["approved"], [])
    return detail.approval_id


async def test_nothing_starts_while_actions_are_stopped(app: App) -> None:
    run = await app.start(await app.pipeline(proposing(app, "send_email", mail())))
    try:
        await held_approval(app, run)
    finally:
        await lift(app)
    await app.wait_for_run(run, "completed")
    assert (len(app.mail.mails), questions(app, run)) == (1, 1)


async def test_a_rule_that_was_deleted_starts_nothing(app: App) -> None:
    pipeline = await app.pipeline(proposing(app, "send_email", mail()))
    await rule(app, approve_rule("send_email"), pipeline)
    await stop(app)
    try:
        run = await app.start(pipeline)
        await app.wait_until(lambda: states(app, run) == ["proposed"] or None)
        await app.wait_until_idle()
        await rule(app, "", pipeline)
    finally:
        await lift(app)
    await question(app, run)
    assert (states(app, run), app.mail.mails) == (["waiting"], [])
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_an_approval_by_a_rule_ends_with_the_rule(app: App) -> None:
    """The run is paused between the approval and the start."""
    pipeline = await app.pipeline(proposing(app, "send_email", mail()))
    await rule(app, approve_rule("send_email"), pipeline)
    sender = app.cairn.actions.sender
    prepare, approved = sender.prepare, asyncio.Event()

    async def stopped_first(loaded: Any, e: Any) -> Any:
        if e.has_actions and not approved.is_set():
            approved.set()
            await stop(app)
        return await prepare(loaded, e)

    sender.prepare = stopped_first  # type: ignore[method-assign]
    try:
        run = await app.start(pipeline)
        await asyncio.wait_for(approved.wait(), 20)
        await app.wait_until_idle()
        assert states(app, run) == ["approved"]
        await rule(app, "", pipeline)
    finally:
        del sender.prepare  # type: ignore[method-assign]
        await lift(app)
    await question(app, run)
    assert (states(app, run), app.mail.mails, questions(app, run)) == (["waiting"], [], 1)
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_the_approval_of_a_person_who_was_removed_starts_nothing(app: App) -> None:
    dan = Actor("dan", frozenset({"approver"}))
    await add_users(app, dan)
    run = await app.start(await app.pipeline(proposing(app, "send_email", mail())))
    try:
        first = await held_approval(app, run, dan)
        await app.cairn.identity.users.update("dan", UserUpdate(roles=("viewer",)), actor=ADMIN)
    finally:
        await lift(app)
    detail = await question(app, run, first)
    assert (states(app, run), app.mail.mails) == (["waiting"], [])
    await decide(app, detail)
    await app.wait_for_run(run, "completed")
    assert (len(app.mail.mails), questions(app, run)) == (1, 2)


async def test_an_approval_expires_after_a_day(app: App) -> None:
    run = await app.start(await app.pipeline(proposing(app, "send_email", mail())))
    try:
        first = await held_approval(app, run)
        (action,) = actions(app, run)
        until = column(app, action.action_id, "approved_until")
        assert until - action.proposed_at > timedelta(hours=23)
        a, yesterday = t.actions.c, app.cairn.clock.now() - timedelta(seconds=1)
        await app.cairn.database.transact(
            lambda c: c.execute(
                sa.update(t.actions).where(a.action_id == action.action_id).values(approved_until=yesterday)
            )
        )
    finally:
        await lift(app)
    detail = await question(app, run, first)
    assert (states(app, run), app.mail.mails, detail.received_approvals) == (["waiting"], [], 0)
    await app.cairn.runs.cancel(run, actor=ADMIN)


# ---- outcomes --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("status", "state"), [(200, "done"), (400, "failed"), (302, "unknown"), (429, "unknown"), (503, "unknown")]
)
async def test_only_a_certain_outcome_is_done_or_failed(app: App, status: int, state: str) -> None:
    app.web.handlers["/status"] = answer(status)
    pipeline = await app.pipeline(proposing(app, "http_request", {"url": app.web.url("/status")}))
    run = await app.start(pipeline)
    await decide(app, await question(app, run))
    await app.wait_until(lambda: states(app, run) == [state] or None)
    if state == "unknown":
        await decide(app, await question(app, run, kind="outcome"), "happened")
    await app.wait_for_run(run, "completed")
    assert questions(app, run) == (2 if state == "unknown" else 1)


async def test_a_proposer_cannot_choose_the_idempotency_key(app: App) -> None:
    parameters = {"url": app.web.url("/own"), "headers": {"Idempotency-Key": "mine"}}
    run = await app.start(await app.pipeline(proposing(app, "http_request", parameters)))
    await app.wait_for_execution(run, "act", "failed")
    assert (states(app, run), questions(app, run), requests(app, "/own")) == (["refused"], 0, [])


# ---- at the same time --------------------------------------------------------------------------------------
async def test_two_equal_proposals_are_not_both_executed(app: App) -> None:
    def both(key: str) -> Json:
        return {**proposing(app, "send_email", mail(), key), "stage": "all"}

    run = await app.start(await app.pipeline(both("one"), both("two")))
    await app.wait_until(lambda: states(app, run) == ["waiting", "waiting"] or None)
    details = [app.cairn.approval_queries.get_approval(a.approval_id, ADMIN) for a in app.run(run).pending_approvals]
    decided = await asyncio.gather(*(decide(app, detail) for detail in details), return_exceptions=True)
    assert sum(isinstance(each, CommandRefused) for each in decided) == 1, decided
    await app.wait_until(lambda: sorted(states(app, run)) == ["done", "waiting"] or None)
    repeat = await question(app, run)
    with pytest.raises((RepeatUndecided, StaleCommand)):
        await decide(app, repeat)
    await decide(app, await question(app, run), on_repeat=EXECUTE_AGAIN)
    await app.wait_for_run(run, "completed")
    assert len(app.mail.mails) == 2


async def test_a_rollback_does_not_lose_a_request_that_is_being_sent(app: App) -> None:
    """The request ends in the ledger. What repeats it waits for it, and is shown as a repeat."""
    released, arrived = asyncio.Event(), asyncio.Event()

    async def slow(request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await released.wait()
        await answer(200)(request, writer)

    app.web.handlers["/slow"] = slow
    act = proposing(app, "http_request", {"url": app.web.url("/slow")})
    run = await app.start(await app.pipeline(step("first"), act))
    first = await question(app, run)
    await decide(app, first)
    await asyncio.wait_for(arrived.wait(), 20)
    rolled_back = asyncio.create_task(app.roll_back(run, 0))
    await asyncio.sleep(0.2)
    released.set()
    await rolled_back
    await app.cairn.runs.resume(run, actor=ADMIN)
    await app.wait_until(lambda: states(app, run)[0] == "done" or None)
    detail = await question(app, run, first.approval_id)
    assert detail.action is not None
    assert [repeat.state for repeat in detail.action.repeats] == ["done"]
    await decide(app, detail, on_repeat="use_earlier")
    await app.wait_for_run(run, "completed")
    assert (states(app, run), len(requests(app, "/slow"))) == (["done", "reused"], 1)


# ---- learning --------------------------------------------------------------------------------------------
async def test_corrections_are_shown_only_in_their_own_pipeline(app: App) -> None:
    one, other = [await app.pipeline(proposing(app, "send_email", mail())) for _ in range(2)]
    run = await app.start(one)
    await decide(app, await question(app, run), modified_params={"body": "A secret text"}, learn=True)
    await app.wait_for_run(run, "completed")
    offers, plans = app.cairn.actions.offers, app.cairn.engine.plans

    def corrections(pipeline: str) -> int:
        def read(c: Any) -> int:
            offered = offers.of(c, plans.definition(c, pipeline, 1), pipeline)
            return sum(len(offer.corrections) for offer in offered)

        return app.cairn.database.read(read)

    assert (corrections(one), corrections(other)) == (1, 0)
