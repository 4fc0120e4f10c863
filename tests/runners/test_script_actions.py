"""Actions that a script carries out: each is handed over once, at its call, and its outcome is recorded."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from cairn.core.execution import Failure
from cairn.documents import decode_json
from cairn.ports import Errored, Outcome, Produced, ProposesAction, RecordedCall
from cairn.runners.agents.policy import AgentPolicy
from cairn.runners.agents.resources import AgentResources
from cairn.runners.hand_overs import DoorError
from cairn.runners.scripts.runner import ScriptRunner
from tests.mentions import mentions
from tests.runners.action_samples import APPROVED, REFUND, MemoryDoor, recorded, refund_call
from tests.runners.agent_samples import FakeModels
from tests.runners.script_samples import Bench, function, wait_until

pytestmark = pytest.mark.asyncio
PROPOSES = 'a = ctx.propose_action("refund", {"account": "42", "amount": 5})\n'
CARRIES_OUT = (
    PROPOSES + "(ctx.workspace / 'paid').write_text(str(a.parameters['amount']))\n"
    "return [a.parameters, a['idempotency_key'], a.modified, a.state]"
)
PERFORMS = """
def pay(parameters, key):
    with (ctx.workspace / "paid").open("a") as file:
        file.write(f"{key}: {parameters['amount']}\\n")
    return {"receipt": (key, parameters["amount"])}
return ctx.perform("refund", {"account": "42", "amount": 5}, pay)
"""
HAND_OVER, ASSUMED = ("hand_over", 1), ("assume_done",)


async def run(bench: Bench, body: str, door: MemoryDoor, *calls: RecordedCall, **more: Any) -> Outcome:
    work = bench.work(function(body), name="payer", calls=calls, **more)
    return await bench.runner.run(replace(work, actions=door))


async def value(bench: Bench, body: str, door: MemoryDoor, *calls: RecordedCall) -> Any:
    outcome = await run(bench, body, door, *calls)
    assert isinstance(outcome, Produced), outcome
    return decode_json(outcome.artifacts[0].read())


async def failure(bench: Bench, body: str, door: MemoryDoor, *calls: RecordedCall) -> Failure:
    outcome = await run(bench, body, door, *calls)
    assert isinstance(outcome, Errored), outcome
    return outcome.error


def paid(bench: Bench) -> str | None:
    file = bench.folder / "payer" / "workspace" / "paid"
    return file.read_text() if file.exists() else None


# ---- handing over ----------------------------------------------------------------------------------
async def test_a_new_action_is_proposed_with_its_instance_and_not_handed_over(bench: Bench) -> None:
    door = MemoryDoor()
    outcome = await run(bench, PROPOSES.replace("})", '}, instance="second")'), door)
    assert isinstance(outcome, ProposesAction)
    assert outcome.call is not None
    assert (outcome.operation_type, outcome.parameters, outcome.instance) == ("refund", REFUND, "second")
    assert outcome.call.arguments == refund_call(1, None, instance="second").arguments
    assert (outcome.is_held, door.log) == (False, [])


async def test_an_approved_action_is_handed_over_at_its_call(bench: Bench) -> None:
    door = MemoryDoor(approved={**REFUND, "amount": 4}, modified=True)
    result = await value(bench, CARRIES_OUT, door, refund_call(1, APPROVED))
    assert result == [{"account": "42", "amount": 4}, "key-1", True, "handed_over"]
    assert door.log == [HAND_OVER, ASSUMED]


async def test_a_held_action_stays_pending_under_its_number(bench: Bench) -> None:
    door = MemoryDoor(held=frozenset({1}))
    outcome = await run(bench, CARRIES_OUT, door, refund_call(1, APPROVED))
    assert isinstance(outcome, ProposesAction)
    assert outcome.call is not None
    assert (outcome.is_held, outcome.call.number, outcome.call.arguments) == (
        True,
        1,
        dict(refund_call(1, None).arguments),
    )
    assert (door.log, paid(bench)) == ([("held", 1)], None)


async def test_without_a_door_an_approved_action_stays_pending(bench: Bench) -> None:
    outcome = await bench.run(function(CARRIES_OUT), calls=(refund_call(1, APPROVED),))
    assert isinstance(outcome, ProposesAction)
    assert outcome.is_held


async def test_an_action_that_has_to_be_proposed_again_keeps_its_number(bench: Bench) -> None:
    body = PROPOSES + 'b = ctx.propose_action("refund", {"account": "42", "amount": 5}, instance="b")\nreturn 1'
    calls = (refund_call(1, None), refund_call(2, recorded("done"), instance="b"))
    outcome = await run(bench, body, MemoryDoor(), *calls)
    assert isinstance(outcome, ProposesAction)
    assert outcome.call is not None
    assert (outcome.is_held, outcome.call.number) == (False, 1)


async def test_numbers_count_the_questions_for_parameters(bench: Bench) -> None:
    door = MemoryDoor()
    form = RecordedCall(1, "question", {"request": {"form": "plain"}}, {"fields": {}})
    config: dict[str, Any] = {"requires_user_input": True, "parameters_schema": {"type": "object", "properties": {}}}
    work = bench.work(function(CARRIES_OUT), calls=(form, refund_call(2, APPROVED)), config=config)
    resources = AgentResources(FakeModels.replying(), bench.limits, AgentPolicy())
    runner = ScriptRunner(bench.sandbox, bench.policy, bench.limits, resources)
    assert isinstance(await runner.run(replace(work, actions=door)), Produced)
    assert door.log == [("hand_over", 2), ASSUMED]
    door.held = frozenset({2})
    outcome = await runner.run(replace(work, actions=door))
    assert isinstance(outcome, ProposesAction)
    assert outcome.call is not None
    assert (outcome.is_held, outcome.call.number) == (True, 2)


# ---- outcomes --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("report", "logged"),
    [
        ('ctx.report_outcome("done", {"receipt": 7})', ("report", 1, "done", {"receipt": 7})),
        ('ctx.report_outcome("failed", "no account")', ("report", 1, "failed", "no account")),
        ('ctx.report_outcome("done")', ("report", 1, "done", None)),
    ],
)
async def test_a_script_reports_the_outcome(bench: Bench, report: str, logged: Any) -> None:
    door = MemoryDoor()
    await value(bench, f"{PROPOSES}a.parameters\n{report}\nreturn 1", door, refund_call(1, APPROVED))
    assert door.log == [HAND_OVER, logged]


@pytest.mark.parametrize(
    ("report", "type"),
    [
        ('ctx.report_outcome("unknown")', "ValueError"),
        ('ctx.report_outcome("done", {1})', "TypeError"),
        ('ctx.report_outcome("done", "x" * 300_000)', "ValueError"),
        ('ctx.report_outcome("done")\nctx.report_outcome("failed")', "RuntimeError"),
    ],
)
async def test_an_invalid_report_is_refused(bench: Bench, report: str, type: str) -> None:
    door = MemoryDoor()
    assert (await failure(bench, f"{PROPOSES}{report}\nreturn 1", door, refund_call(1, APPROVED))).type == type
    assert ASSUMED not in door.log


async def test_a_report_without_a_hand_over_is_refused(bench: Bench) -> None:
    door = MemoryDoor()
    body = f'{PROPOSES}ctx.report_outcome("done")\nreturn 1'
    assert (await failure(bench, body, door, refund_call(1, recorded("done")))).type == "RuntimeError"
    assert door.log == []


@pytest.mark.parametrize(
    "end",
    [
        'ctx.request_rework("dev", "again")',
        'ctx.propose_action("other", {})',
        "return 1",
        "return {1}",
    ],
)
async def test_without_a_report_the_next_call_or_a_normal_end_counts_as_done(bench: Bench, end: str) -> None:
    door = MemoryDoor()
    await run(bench, f"{PROPOSES}a.parameters\n{end}", door, refund_call(1, APPROVED))
    assert door.log == [HAND_OVER, ASSUMED]


async def test_a_recorded_call_after_the_hand_over_counts_as_done(bench: Bench) -> None:
    door = MemoryDoor()
    body = PROPOSES + 'ctx.propose_action("refund", {"account": "42", "amount": 5}, instance="b")\nraise OSError'
    calls = (refund_call(1, APPROVED), refund_call(2, recorded("done"), instance="b"))
    assert (await failure(bench, body, door, *calls)).type == "OSError"
    assert door.log == [HAND_OVER, ASSUMED]


async def test_each_of_two_actions_is_handed_over_at_its_own_call(bench: Bench) -> None:
    door = MemoryDoor()
    body = PROPOSES + 'b = ctx.propose_action("refund", {"account": "42", "amount": 5}, instance="b")\nraise OSError'
    calls = (refund_call(1, APPROVED), refund_call(2, APPROVED, instance="b"))
    assert (await failure(bench, body, door, *calls)).type == "OSError"
    assert door.log == [HAND_OVER, ASSUMED, ("hand_over", 2)]


@pytest.mark.parametrize(
    "end",
    [
        "raise RuntimeError",
        "sys.exit(0)",
        "os._exit(0)",
        "os.kill(os.getpid(), 9)",
        'ctx.request_rework("dev", {1}, reason=1 / 0)',
    ],
)
async def test_any_other_end_reports_nothing(bench: Bench, end: str) -> None:
    door = MemoryDoor()
    await failure(bench, f"{PROPOSES}a.parameters\n{end}", door, refund_call(1, APPROVED))
    assert door.log == [HAND_OVER]


async def test_a_stopped_script_reports_nothing(bench: Bench) -> None:
    door = MemoryDoor()
    body = f"{PROPOSES}open(ctx.workspace / 'paid', 'w').close()\ntime.sleep(60)"
    running = asyncio.ensure_future(run(bench, body, door, refund_call(1, APPROVED)))
    await asyncio.to_thread(wait_until, lambda: paid(bench) is not None)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert door.log == [HAND_OVER]


async def test_a_hand_over_is_completed_before_a_stopped_script_ends(bench: Bench) -> None:
    door = MemoryDoor(delay=0.5)
    began = asyncio.Event()
    hand_over = door.hand_over

    async def beginning(number: int) -> Any:
        began.set()
        return await hand_over(number)

    door.hand_over = beginning
    running = asyncio.ensure_future(run(bench, CARRIES_OUT, door, refund_call(1, APPROVED)))
    await began.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (door.log, paid(bench)) == ([HAND_OVER], None)


async def test_an_error_of_the_door_is_not_an_error_of_the_script(bench: Bench) -> None:
    with pytest.raises(DoorError) as raised:
        await run(bench, CARRIES_OUT, MemoryDoor(error=OSError("disk full")), refund_call(1, APPROVED))
    assert str(raised.value) == "disk full"


# ---- earlier outcomes ------------------------------------------------------------------------------
@pytest.mark.parametrize("state", ["done", "reused", "test", "unknown"])
@pytest.mark.parametrize("reads", ["a.parameters", 'a["parameters"]', 'a.get("parameters")'])
async def test_an_earlier_outcome_has_no_parameters(bench: Bench, state: str, reads: str) -> None:
    door = MemoryDoor()
    body = f"{PROPOSES}assert 'parameters' not in a\nassert a.result == {{'receipt': 7}}\n{reads}"
    error = await failure(bench, body, door, refund_call(1, recorded(state, result={"receipt": 7})))
    assert (error.type, error.message) == ("ActionNotHandedOver", mentions("refund", state, '{"receipt": 7}'))
    assert door.log == []


@pytest.mark.parametrize("state", ["failed", "refused", "expired"])
async def test_an_action_that_was_not_done_raises_an_exception(bench: Bench, state: str) -> None:
    name = "ActionFailed" if state == "failed" else "ActionRefused"
    result = recorded(state, result={"code": 402}, reason="no money")
    error = await failure(bench, PROPOSES, MemoryDoor(), refund_call(1, result))
    assert (error.type, error.message) == (name, mentions("refund", "no money"))
    body = "try:\n    " + PROPOSES + f"except ctx.{name} as e:\n    return [e.reason, e.result, e.action_id]"
    assert await value(bench, body, MemoryDoor(), refund_call(1, result)) == ["no money", {"code": 402}, "a1"]


async def test_a_result_without_a_state_has_its_parameters(bench: Bench) -> None:
    result = {"decision": "approved", "parameters": REFUND, "outcome": "returned"}
    body = PROPOSES + "return [a.parameters, a.outcome]"
    assert await value(bench, body, MemoryDoor(), refund_call(1, result)) == [REFUND, "returned"]


# ---- perform ---------------------------------------------------------------------------------------
async def test_perform_carries_out_an_action_once(bench: Bench) -> None:
    door, receipt = MemoryDoor(), {"receipt": ["key-1", 5]}
    assert await value(bench, PERFORMS, door, refund_call(1, APPROVED)) == receipt
    assert door.log == [HAND_OVER, ("report", 1, "done", receipt)]
    assert await value(bench, PERFORMS, door, refund_call(1, recorded("done", result=receipt))) == receipt
    assert (len(door.log), paid(bench)) == (2, "key-1: 5\n")


@pytest.mark.parametrize("state", ["done", "reused", "test"])
async def test_perform_returns_an_earlier_result(bench: Bench, state: str) -> None:
    assert await value(bench, PERFORMS, MemoryDoor(), refund_call(1, recorded(state, result=[7]))) == [7]
    assert paid(bench) is None


@pytest.mark.parametrize(
    ("state", "error"),
    [("failed", "ActionFailed"), ("refused", "ActionRefused"), ("unknown", "ActionNotHandedOver")],
)
async def test_perform_raises_if_the_action_was_not_done(bench: Bench, state: str, error: str) -> None:
    assert (await failure(bench, PERFORMS, MemoryDoor(), refund_call(1, recorded(state)))).type == error
    assert paid(bench) is None


@pytest.mark.parametrize(
    ("raised", "result"),
    [('ctx.ActionFailed("no money")', {"reason": "no money"}), ('ctx.ActionFailed("x", result=[4])', [4])],
)
async def test_perform_reports_a_failure(bench: Bench, raised: str, result: Any) -> None:
    door = MemoryDoor()
    body = f"""
def pay(parameters, key):
    raise {raised}
try:
    ctx.perform("refund", {{"account": "42", "amount": 5}}, pay)
except ctx.ActionFailed as e:
    return [e.result, e.action_id]
"""
    assert await value(bench, body, door, refund_call(1, APPROVED)) == [result, "a1"]
    assert door.log == [HAND_OVER, ("report", 1, "failed", result)]
    again = recorded("failed", result=result)
    assert await value(bench, body, door, refund_call(1, again)) == [result, "a1"]


INTERRUPTED = """
def pay(parameters, key):
    raise TimeoutError("no answer")
try:
    ctx.perform("refund", {"account": "42", "amount": 5}, pay)
except TimeoutError:
    pass
"""


@pytest.mark.parametrize("then", ["return 1", 'ctx.propose_action("other", {})', "raise"])
async def test_after_any_other_exception_nothing_is_assumed(bench: Bench, then: str) -> None:
    door = MemoryDoor()
    body = INTERRUPTED.replace("pass", "raise") if then == "raise" else INTERRUPTED + then
    error = await failure(bench, body, door, refund_call(1, APPROVED))
    assert error.type == ("TimeoutError" if then == "raise" else "ActionOutcomeUnknown")
    assert door.log == [HAND_OVER]


async def test_a_script_can_find_out_the_outcome_itself(bench: Bench) -> None:
    door = MemoryDoor()
    body = f'{INTERRUPTED}ctx.report_outcome("done", "found")\nreturn 1'
    assert await value(bench, body, door, refund_call(1, APPROVED)) == 1
    assert door.log == [HAND_OVER, ("report", 1, "done", "found")]


@pytest.mark.parametrize(
    ("pay", "type"),
    [
        ("def pay(parameters, key):\n    return {1}", "TypeError"),
        ("def pay(parameters, key):\n    return 'x' * 300_000", "ValueError"),
    ],
)
async def test_an_action_with_an_unreadable_result_is_done(bench: Bench, pay: str, type: str) -> None:
    door = MemoryDoor()
    body = f'{pay}\nctx.perform("refund", {{"account": "42", "amount": 5}}, pay)'
    assert (await failure(bench, body, door, refund_call(1, APPROVED))).type == type
    assert door.log == [HAND_OVER, ("report", 1, "done", None)]


@pytest.mark.parametrize(
    ("pay", "type"),
    [
        ("async def pay(parameters, key):\n    return 1", "TypeError"),
        ("pay = None", "TypeError"),
    ],
)
async def test_perform_needs_a_plain_function(bench: Bench, pay: str, type: str) -> None:
    door = MemoryDoor()
    body = f'{pay}\nctx.perform("refund", {{"account": "42", "amount": 5}}, pay)'
    assert (await failure(bench, body, door, refund_call(1, APPROVED))).type == type
    assert door.log == []


@pytest.mark.parametrize("call", ['ctx.propose_action("other", {})', 'ctx.report_outcome("done")'])
async def test_other_calls_wait_until_the_action_is_carried_out(bench: Bench, call: str) -> None:
    door = MemoryDoor()
    body = f'ctx.perform("refund", {{"account": "42", "amount": 5}}, lambda parameters, key: {call})'
    assert (await failure(bench, body, door, refund_call(1, APPROVED))).type == "RuntimeError"
    assert door.log == [HAND_OVER]


# ---- hostile processes -----------------------------------------------------------------------------
ASKS = "ask = ctx._connection.request\n"
HAND = 'ask({{"kind": "hand_over", "number": {}}})\n'
INPUTS = 'ask({{"kind": "inputs", "number": {}}})\n'
REPORT = 'ask({"kind": "report", "outcome": "done"}, b"1")\n'
PENDING = 'ask({{"kind": "pending", "call": "{}", "number": {}}}, b"{{}}")\n'


@pytest.mark.parametrize(
    ("body", "log"),
    [
        (HAND.format(2), []),  # not the next call
        (INPUTS.format(1) + HAND.format(1), []),  # a call that has no result to return
        (INPUTS.format(1) + INPUTS.format(2) + INPUTS.format(3) + HAND.format(4), []),  # skips a hand-over
        (HAND.format(3), []),
        (HAND.format(0), []),
        (HAND.format(-1), []),
        (HAND.format('"1"'), []),
        (HAND.format(1) + HAND.format(1), [HAND_OVER]),  # twice
        ("while True:\n    " + HAND.format(1), [HAND_OVER]),
        (REPORT, []),
        (HAND.format(1) + REPORT + REPORT, [HAND_OVER, ("report", 1, "done", 1)]),
        (HAND.format(1) + 'ask({"kind": "report", "outcome": "lost"}, b"1")', [HAND_OVER]),
        (HAND.format(1) + 'ask({"kind": "report", "outcome": "done"}, b"{")', [HAND_OVER]),
        (HAND.format(1) + 'ask({"kind": "report", "outcome": "done"}, b" " * 300_000)', [HAND_OVER]),
        (HAND.format(1) + HAND.format(2), [HAND_OVER]),  # a call that has an outcome
        (HAND.format(1) + INPUTS.format(2) + HAND.format(3), [HAND_OVER, ASSUMED]),  # a rework
        (HAND.format(1) + INPUTS.format(4), [HAND_OVER]),  # skips calls
        (PENDING.format("action", 1), []),  # with other arguments
        (PENDING.format("action", 9), []),
        (PENDING.format("rework", 1), []),
    ],
)
async def test_a_process_gets_only_the_action_of_its_current_call(bench: Bench, body: str, log: list[Any]) -> None:
    rework = RecordedCall(3, "rework", {}, {"status": "completed"})
    calls = (refund_call(1, APPROVED), refund_call(2, recorded("done")), rework, refund_call(4, APPROVED))
    door = MemoryDoor()
    assert (await failure(bench, ASKS + body, door, *calls)).type == "protocol_error"
    assert door.log == log


@pytest.mark.parametrize("kind", ["action", "rework"])
async def test_a_process_cannot_change_a_pending_call(bench: Bench, kind: str) -> None:
    error = await failure(bench, ASKS + PENDING.format(kind, 1), MemoryDoor(), refund_call(1, None))
    assert error.type == "protocol_error"


async def test_a_process_cannot_ask_again_for_a_held_action(bench: Bench) -> None:
    door = MemoryDoor(held=frozenset({1}))
    error = await failure(bench, ASKS + HAND.format(1) + HAND.format(1), door, refund_call(1, APPROVED))
    assert (error.type, door.log) == ("protocol_error", [("held", 1)])
