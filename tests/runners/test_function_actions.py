"""Actions that a function carries out, in its own thread or as a coroutine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

import cairn
from cairn.core.execution import Failure
from cairn.core.states import ExecutionMode
from cairn.documents import decode_json
from cairn.ports import Errored, Outcome, Produced, ProposesAction, RecordedCall
from cairn.runners import Ctx, RunnerRegistry
from tests.mentions import mentions
from tests.runners.action_samples import APPROVED, REFUND, MemoryDoor, recorded, refund_call
from tests.runners.script_samples import wait_until
from tests.runners.work_orders import function_checkpoint, runner_of, work

Json = dict[str, Any]
Body = Callable[[Ctx], Coroutine[Any, Any, Any]]
HAND_OVER, ASSUMED = ("hand_over", 1), ("assume_done",)


class _Waiting:
    """A ctx whose calls can be awaited, as in a coroutine function."""

    def __init__(self, ctx: Ctx) -> None:
        self._ctx = ctx
        self.workspace = ctx.workspace

    async def propose_action(self, *args: Any, **more: Any) -> Any:
        return self._ctx.propose_action(*args, **more)

    async def perform(self, *args: Any, **more: Any) -> Any:
        return self._ctx.perform(*args, **more)

    async def report_outcome(self, *args: Any) -> None:
        self._ctx.report_outcome(*args)

    async def request_rework(self, *args: Any) -> Any:
        return self._ctx.request_rework(*args)


def in_thread(body: Body) -> Any:
    """The same body as a plain function."""

    def f(ctx: Ctx) -> Any:
        waiting: Any = _Waiting(ctx)
        return asyncio.run(body(waiting))

    return f


def as_coroutine(body: Body) -> Any:
    async def f(ctx: Ctx) -> Any:
        return await body(ctx)

    return f


def at_once(function: Callable[[Ctx], Any]) -> Any:
    """A plain function as a coroutine function that awaits nothing."""

    async def f(ctx: Ctx) -> Any:
        return function(ctx)

    return f


@pytest.fixture(params=[in_thread, as_coroutine])
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


async def run(function: Any, door: MemoryDoor | None, *calls: RecordedCall, **more: Any) -> Outcome:
    order = replace(work(function_checkpoint(), **more), calls=calls, actions=door)
    return await RunnerRegistry({ExecutionMode.FUNCTION: runner_of(function)}).run(order)


async def value(function: Any, door: MemoryDoor, *calls: RecordedCall) -> Any:
    outcome = await run(function, door, *calls)
    assert isinstance(outcome, Produced), outcome
    return decode_json(outcome.artifacts[0].read())


async def failure(function: Any, door: MemoryDoor, *calls: RecordedCall) -> Failure:
    outcome = await run(function, door, *calls)
    assert isinstance(outcome, Errored), outcome
    return outcome.error


async def carry_out(ctx: Ctx) -> Any:
    answer = await ctx.propose_action("refund", REFUND)
    return [answer.parameters, answer["idempotency_key"], answer.modified, answer.state]


# ---- handing over ----------------------------------------------------------------------------------
async def test_a_new_action_is_proposed_with_its_instance(kind: Any) -> None:
    async def body(ctx: Ctx) -> None:
        await ctx.propose_action("refund", REFUND, instance="second")

    door = MemoryDoor()
    outcome = await run(kind(body), door)
    assert isinstance(outcome, ProposesAction)
    assert outcome.call is not None
    assert (outcome.instance, outcome.is_held, outcome.call.number) == ("second", False, 1)
    assert outcome.call.arguments == refund_call(1, None, instance="second").arguments
    assert door.log == []


@pytest.mark.parametrize("instance", ["", "x" * 201, 7])
async def test_an_invalid_instance_is_refused(kind: Any, instance: Any) -> None:
    async def body(ctx: Ctx) -> None:
        await ctx.propose_action("refund", REFUND, instance=instance)

    assert (await failure(kind(body), MemoryDoor())).message == mentions("instance", "200")


async def test_an_approved_action_is_handed_over_at_its_call(kind: Any) -> None:
    door = MemoryDoor(approved={**REFUND, "amount": 4}, modified=True)
    result = await value(kind(carry_out), door, refund_call(1, APPROVED))
    assert result == [{"account": "42", "amount": 4}, "key-1", True, "handed_over"]
    assert door.log == [HAND_OVER, ASSUMED]


@pytest.mark.parametrize("door", [MemoryDoor(held=frozenset({1})), None])
async def test_a_held_action_stays_pending_under_its_number(kind: Any, door: MemoryDoor | None) -> None:
    outcome = await run(kind(carry_out), door, refund_call(1, APPROVED))
    assert isinstance(outcome, ProposesAction)
    assert outcome.call is not None
    assert (outcome.is_held, outcome.call.number, outcome.operation_type) == (True, 1, "refund")


async def test_a_coroutine_function_that_does_not_await_gets_nothing() -> None:
    async def f(ctx: Ctx) -> Any:
        return ctx.propose_action("refund", REFUND).parameters

    door = MemoryDoor()
    error = await failure(f, door, refund_call(1, APPROVED))
    assert (error.type, error.message) == ("RuntimeError", mentions("await ctx.propose_action"))
    assert door.log == []


async def test_awaiting_a_call_twice_hands_over_once() -> None:
    async def f(ctx: Ctx) -> Any:
        call = ctx.propose_action("refund", REFUND)
        return [(await call).parameters, (await call).parameters]

    door = MemoryDoor()
    assert await value(f, door, refund_call(1, APPROVED)) == [REFUND, REFUND]
    assert door.log == [HAND_OVER, ASSUMED]


async def test_a_coroutine_of_a_plain_function_has_to_be_registered_itself() -> None:
    async def body(ctx: Ctx) -> Any:
        return ctx.propose_action("refund", REFUND)

    def f(ctx: Ctx) -> Any:
        return body(ctx)

    door = MemoryDoor()
    error = await failure(f, door, refund_call(1, APPROVED))
    assert (error.type, door.log) == ("RuntimeError", [])


# ---- outcomes --------------------------------------------------------------------------------------
@pytest.mark.parametrize(("outcome", "result"), [("done", {"receipt": 7}), ("failed", "no account"), ("done", None)])
async def test_a_function_reports_the_outcome(kind: Any, outcome: Any, result: Any) -> None:
    async def body(ctx: Ctx) -> None:
        await ctx.propose_action("refund", REFUND)
        await ctx.report_outcome(outcome, result)

    door = MemoryDoor()
    await run(kind(body), door, refund_call(1, APPROVED))
    assert door.log == [HAND_OVER, ("report", 1, outcome, result)]


async def test_a_report_that_is_not_awaited_is_sent() -> None:
    async def f(ctx: Ctx) -> None:
        await ctx.propose_action("refund", REFUND)
        ctx.report_outcome("failed", 1)
        raise OSError

    door = MemoryDoor(delay=0.05)
    assert (await failure(f, door, refund_call(1, APPROVED))).type == "OSError"
    assert door.log == [HAND_OVER, ("report", 1, "failed", 1)]


@pytest.mark.parametrize("reports", [["unknown"], ["done", object()], ["done", None, "failed", None]])
async def test_an_invalid_report_is_refused(kind: Any, reports: list[Any]) -> None:
    async def body(ctx: Ctx) -> None:
        await ctx.propose_action("refund", REFUND)
        for at in range(0, len(reports), 2):
            await ctx.report_outcome(*reports[at : at + 2])

    door = MemoryDoor()
    assert (await failure(kind(body), door, refund_call(1, APPROVED))).type in (
        "ValueError",
        "TypeError",
        "RuntimeError",
    )
    assert ASSUMED not in door.log


@pytest.mark.parametrize("next_call", ["rework", "action", "none"])
async def test_without_a_report_the_next_call_or_a_normal_end_counts_as_done(kind: Any, next_call: str) -> None:
    async def body(ctx: Ctx) -> None:
        await ctx.propose_action("refund", REFUND)
        if next_call == "rework":
            await ctx.request_rework("dev", "again")
        elif next_call == "action":
            await ctx.propose_action("other", {})

    door = MemoryDoor()
    await run(kind(body), door, refund_call(1, APPROVED))
    assert door.log == [HAND_OVER, ASSUMED]


async def test_a_recorded_call_after_the_hand_over_counts_as_done(kind: Any) -> None:
    async def body(ctx: Ctx) -> None:
        await ctx.propose_action("refund", REFUND)
        await ctx.propose_action("refund", REFUND, instance="b")
        raise OSError

    for result, log in (
        (recorded("done"), [HAND_OVER, ASSUMED]),
        (APPROVED, [HAND_OVER, ASSUMED, ("hand_over", 2)]),
    ):
        door = MemoryDoor(delay=0.01)
        calls = (refund_call(1, APPROVED), refund_call(2, result, instance="b"))
        assert (await failure(kind(body), door, *calls)).type == "OSError"
        assert door.log == log


async def test_requests_to_the_door_keep_their_order() -> None:
    class SlowToAssume(MemoryDoor):
        async def assume_done(self) -> None:
            await asyncio.sleep(0.1)
            await super().assume_done()

    async def f(ctx: Ctx) -> None:
        await ctx.propose_action("refund", REFUND)
        await ctx.propose_action("refund", REFUND, instance="b")
        ctx.report_outcome("done")

    door = SlowToAssume()
    await run(f, door, refund_call(1, APPROVED), refund_call(2, APPROVED, instance="b"))
    assert door.log == [HAND_OVER, ASSUMED, ("hand_over", 2), ("report", 2, "done", None)]


@pytest.mark.parametrize("error", [RuntimeError("x"), SystemExit(0), asyncio.CancelledError()])
async def test_any_other_end_reports_nothing(kind: Any, error: BaseException) -> None:
    async def body(ctx: Ctx) -> None:
        await ctx.propose_action("refund", REFUND)
        raise error

    door = MemoryDoor()
    await failure(kind(body), door, refund_call(1, APPROVED))
    assert door.log == [HAND_OVER]


async def test_a_function_that_repeats_other_calls_reports_nothing(kind: Any) -> None:
    door = MemoryDoor()
    error = await failure(kind(carry_out), door, refund_call(1, APPROVED), refund_call(2, recorded("done")))
    assert (error.type, door.log) == ("nondeterministic_calls", [HAND_OVER])


async def test_a_stopped_function_completes_its_hand_over_and_gets_nothing(kind: Any) -> None:
    began, ended, received = threading.Event(), threading.Event(), list[Any]()

    async def body(ctx: Ctx) -> None:
        began.set()
        try:
            received.append(await ctx.propose_action("refund", REFUND))
        finally:
            ended.set()

    door = MemoryDoor(delay=0.3)
    running = asyncio.ensure_future(run(kind(body), door, refund_call(1, APPROVED)))
    await asyncio.to_thread(began.wait)
    await asyncio.sleep(0.1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.to_thread(ended.wait)
    assert (door.log, received) == ([HAND_OVER], [])


async def test_a_stopped_thread_gets_no_further_action() -> None:
    began, stopped, ended = threading.Event(), threading.Event(), list[str]()

    def f(ctx: Ctx) -> None:
        began.set()
        stopped.wait()
        try:
            ctx.propose_action("refund", REFUND)
        except Exception as error:  # noqa: BLE001 - any
            ended.append(type(error).__name__)

    door = MemoryDoor()
    running = asyncio.ensure_future(run(f, door, refund_call(1, APPROVED)))
    await asyncio.to_thread(began.wait)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    stopped.set()
    await asyncio.to_thread(wait_until, lambda: ended)
    assert (ended, door.log) == (["CallStopped"], [])


async def test_an_error_of_the_door_is_not_an_error_of_the_function(kind: Any) -> None:
    async def body(ctx: Ctx) -> str:
        try:
            await ctx.propose_action("refund", REFUND)
        except Exception:  # noqa: BLE001 - any
            return "caught"
        return "handed over"

    with pytest.raises(OSError, match="disk full"):
        await run(kind(body), MemoryDoor(error=OSError("disk full")), refund_call(1, APPROVED))


# ---- earlier outcomes ------------------------------------------------------------------------------
@pytest.mark.parametrize("state", ["done", "reused", "test", "unknown"])
async def test_an_earlier_outcome_has_no_parameters(kind: Any, state: str) -> None:
    async def body(ctx: Ctx) -> Any:
        answer = await ctx.propose_action("refund", REFUND)
        assert "parameters" not in answer
        with pytest.raises(cairn.ActionNotHandedOver):
            answer.get("parameters")
        return answer.parameters

    door = MemoryDoor()
    error = await failure(kind(body), door, refund_call(1, recorded(state, result={"receipt": 7})))
    assert (error.type, error.message) == ("ActionNotHandedOver", mentions("refund", state, '{"receipt": 7}'))
    assert door.log == []


@pytest.mark.parametrize(
    ("state", "type"),
    [("failed", cairn.ActionFailed), ("refused", cairn.ActionRefused), ("withdrawn", cairn.ActionRefused)],
)
async def test_an_action_that_was_not_done_raises_an_exception(kind: Any, state: str, type: Any) -> None:
    async def body(ctx: Ctx) -> Any:
        with pytest.raises(type) as raised:
            await ctx.propose_action("refund", REFUND)
        return [raised.value.reason, raised.value.result, raised.value.action_id]

    result = recorded(state, result={"code": 402}, reason="no money")
    assert await value(kind(body), MemoryDoor(), refund_call(1, result)) == ["no money", {"code": 402}, "a1"]
    error = await failure(kind(carry_out), MemoryDoor(), refund_call(1, result))
    assert (error.type, error.message) == (type.__name__, mentions("refund", "no money"))


async def test_a_result_without_a_state_has_its_parameters(kind: Any) -> None:
    def f(ctx: Ctx) -> Any:
        return dict(ctx.propose_action("refund", REFUND))

    result = {"decision": "approved", "parameters": REFUND, "outcome": "returned"}
    for function in (f, at_once(f)):
        assert await value(function, MemoryDoor(), refund_call(1, result)) == result


# ---- perform ---------------------------------------------------------------------------------------
class Bank:
    """Counts what it has paid."""

    def __init__(self, returned: Any = None, error: BaseException | None = None) -> None:
        self.paid: list[tuple[Json, str]] = []
        self.returned = returned
        self.error = error

    def pay(self, parameters: Json, key: str) -> Any:
        if self.error is not None:
            raise self.error
        self.paid.append((parameters, key))
        return self.returned

    async def perform(self, ctx: Ctx) -> Any:
        return await ctx.perform("refund", REFUND, self.pay, reasoning="late")


def performing(result: Any) -> RecordedCall:
    return refund_call(1, result, reasoning="late")


async def test_perform_carries_out_an_action_once(kind: Any) -> None:
    door, bank = MemoryDoor(), Bank({"receipt": (1, 2)})
    receipt = {"receipt": [1, 2]}
    assert await value(kind(bank.perform), door, performing(APPROVED)) == receipt
    assert door.log == [HAND_OVER, ("report", 1, "done", receipt)]
    assert await value(kind(bank.perform), door, performing(recorded("done", result=receipt))) == receipt
    assert (len(door.log), bank.paid) == (2, [(REFUND, "key-1")])


async def test_perform_awaits_a_coroutine_function() -> None:
    async def pay(parameters: Json, key: str) -> str:
        await asyncio.sleep(0)
        return f"{key}: {parameters['amount']}"

    async def f(ctx: Ctx) -> Any:
        return await ctx.perform("refund", REFUND, pay)

    door = MemoryDoor()
    assert await value(f, door, refund_call(1, APPROVED)) == "key-1: 5"
    assert door.log == [HAND_OVER, ("report", 1, "done", "key-1: 5")]

    def plain(ctx: Ctx) -> Any:
        return ctx.perform("refund", REFUND, pay)

    assert (await failure(plain, MemoryDoor(), refund_call(1, APPROVED))).type == "TypeError"


@pytest.mark.parametrize("state", ["done", "reused", "test"])
async def test_perform_returns_an_earlier_result(kind: Any, state: str) -> None:
    bank = Bank()
    assert await value(kind(bank.perform), MemoryDoor(), performing(recorded(state, result=[7]))) == [7]
    assert bank.paid == []


@pytest.mark.parametrize(
    ("state", "type"),
    [("failed", "ActionFailed"), ("refused", "ActionRefused"), ("unknown", "ActionNotHandedOver")],
)
async def test_perform_raises_if_the_action_was_not_done(kind: Any, state: str, type: str) -> None:
    bank = Bank()
    assert (await failure(kind(bank.perform), MemoryDoor(), performing(recorded(state)))).type == type
    assert bank.paid == []


async def test_perform_reports_a_failure(kind: Any) -> None:
    door, bank = MemoryDoor(), Bank(error=cairn.ActionFailed("no money"))
    error = await failure(kind(bank.perform), door, performing(APPROVED))
    assert (error.type, error.message) == ("ActionFailed", "no money")
    assert door.log == [HAND_OVER, ("report", 1, "failed", {"reason": "no money"})]


@pytest.mark.parametrize("end", ["raise", "return", "propose", "report"])
async def test_after_any_other_exception_nothing_is_assumed(kind: Any, end: str) -> None:
    bank = Bank(error=TimeoutError("no answer"))

    async def body(ctx: Ctx) -> Any:
        try:
            await bank.perform(ctx)
        except TimeoutError:
            if end == "raise":
                raise
        if end == "propose":
            await ctx.propose_action("other", {})
        if end == "report":
            await ctx.report_outcome("done", "found")

    door = MemoryDoor()
    outcome = await run(kind(body), door, performing(APPROVED))
    if end == "report":
        assert isinstance(outcome, Produced)
        assert door.log == [HAND_OVER, ("report", 1, "done", "found")]
        return
    assert isinstance(outcome, Errored)
    assert outcome.error.type == ("TimeoutError" if end == "raise" else "ActionOutcomeUnknown")
    assert door.log == [HAND_OVER]


@pytest.mark.parametrize(("returned", "type"), [(object(), "TypeError"), ("x" * 300_000, "ValueError")])
async def test_an_action_with_an_unreadable_result_is_done(kind: Any, returned: Any, type: str) -> None:
    door, bank = MemoryDoor(), Bank(returned)
    assert (await failure(kind(bank.perform), door, performing(APPROVED))).type == type
    assert door.log == [HAND_OVER, ("report", 1, "done", None)]


async def test_other_calls_wait_until_the_action_is_carried_out() -> None:
    def f(ctx: Ctx) -> Any:
        def pay(parameters: Json, key: str) -> Any:
            return ctx.propose_action("other", {})

        return ctx.perform("refund", REFUND, pay)

    for function in (f, as_coroutine(f)):
        door = MemoryDoor()
        error = await failure(function, door, refund_call(1, APPROVED))
        assert (error.type, door.log) == ("RuntimeError", [HAND_OVER])


def test_the_exceptions_are_attributes_of_ctx() -> None:
    names = ("ActionFailed", "ActionRefused", "ActionNotHandedOver")
    assert [getattr(Ctx, name) for name in names] == [getattr(cairn, name) for name in names]
