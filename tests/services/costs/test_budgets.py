"""Model usage is counted per call, and an exhausted budget pauses the run until it is raised."""

from __future__ import annotations

import asyncio
import itertools
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.core.budget import Budget
from cairn.core.errors import CommandRefused
from cairn.ports import Conversation, Outcome, Purpose, WorkOrder
from cairn.ports.models import TokenUsage
from cairn.services.actors import ADMIN
from cairn.services.conversations.queries import MessageFilter
from cairn.services.conversations.views import Message
from cairn.services.costs.budgets import format_usd
from cairn.services.costs.queries import CostQuery, DateRange
from cairn.services.costs.views import BudgetLimits, BudgetStatus, RunBudget, Usage
from cairn.services.retention import Retention, RetentionDays
from cairn.services.runs.queries.lists import RunFilter
from cairn.store import tables as t
from tests.isolation import PATIENCE
from tests.mentions import mentions
from tests.runners.agent_samples import FakeModels
from tests.services.app import App, step
from tests.services.conversing import AT, agent_checkpoint, produced, response_message, scripted_conversations

pytestmark = pytest.mark.asyncio(loop_scope="package")
NO_LIMITS = BudgetLimits(max_cost_usd=None, max_tokens=None, max_calls=None)
CENT = Decimal("0.01")


def script(calls: int, **fields: Any) -> Any:
    """A runner that makes this many calls of one cent and ten tokens each. Calls that were saved are not repeated."""

    async def talk(work: WorkOrder, conversation: Conversation) -> Outcome:
        done = len(await conversation.messages())
        for number in range(done + 1, calls + 1):
            await conversation.check_budget()
            call: dict[str, Any] = {"tokens": TokenUsage(8, 2), "cost": CENT, "at": datetime.now(UTC), **fields}
            await conversation.save(response_message(number=number, **call))
        return produced(work)

    return talk


def usage(**fields: Any) -> Usage:
    """Usage with defaults of zero."""
    defaults: dict[str, Any] = dict.fromkeys(Usage.model_fields, 0) | {"cost_usd": 0.0, "seconds": 0.0}
    return Usage(**(defaults | fields))


async def test_an_exhausted_budget_pauses_the_run_until_it_is_raised(app: App) -> None:
    with scripted_conversations(app.cairn, script(7)):
        pipeline = await app.pipeline(step("talk"), budget={"max_cost_usd": 0.05})
        run = await app.start(pipeline)
        paused = await app.wait_for_run(run, "paused")
        message = paused.over_budget or ""
        assert message == mentions("$0.0500")
        assert (paused.usage.calls, "resume" in paused.available_commands) == (5, False)
        assert paused.budget == RunBudget(
            run_limits=NO_LIMITS,
            definition_limits=NO_LIMITS.model_copy(update={"max_cost_usd": 0.05}),
            monthly_limits=NO_LIMITS,
            status=[
                BudgetStatus(
                    period="run",
                    limit="max_cost_usd",
                    allowed=0.05,
                    used=0.05,
                    is_exhausted=True,
                    unpriced_calls=0,
                    message=message,
                )
            ],
        )
        with pytest.raises(CommandRefused, match=r"\$0\.0500"):
            await app.cairn.runs.resume(run, actor=ADMIN)
        await app.cairn.runs.set_budget(run, Budget(max_cost_usd=Decimal("0.02")), actor=ADMIN)
        with pytest.raises(CommandRefused, match=r"\$0\.0200"):
            await app.cairn.runs.resume(run, actor=ADMIN)
        await app.cairn.runs.set_budget(run, Budget(max_cost_usd=Decimal("0.06")), actor=ADMIN)
        assert "resume" in app.run(run).available_commands
        await app.cairn.runs.resume(run, actor=ADMIN)
        await app.wait_until(lambda: app.run(run).usage.calls == 6)
        assert (await app.wait_for_run(run, "paused")).budget.run_limits.max_cost_usd == 0.06
        await app.cairn.runs.set_budget(run, Budget(max_cost_usd=Decimal(1)), actor=ADMIN)
        await app.cairn.runs.resume(run, actor=ADMIN)
        done = await app.wait_for_run(run, "completed")
    assert (done.usage.calls, done.usage.cost_usd, done.over_budget) == (7, 0.07, None)
    events = [e for e in app.event_types(run) if e.startswith("budget_")]
    assert events == [
        "budget_warning",
        "budget_exhausted",
        "budget_updated",
        "budget_updated",
        "budget_warning",
        "budget_exhausted",
        "budget_updated",
    ]
    assert app.execution(run, "talk").attempt_number == 1


@pytest.mark.parametrize(("limit", "value"), [("max_calls", 2), ("max_tokens", 20)])
async def test_the_budget_of_the_definition_can_be_raised_and_applies_to_test_runs(
    app: App, limit: str, value: int
) -> None:
    with scripted_conversations(app.cairn, script(3)):
        checkpoints = [step("talk")]
        pipeline = await app.pipeline(*checkpoints, budget={limit: value})
        run = await app.start(pipeline, test=True)
        assert f"{value} {limit.removeprefix('max_')}" in ((await app.wait_for_run(run, "paused")).over_budget or "")
        await app.cairn.pipelines.update(pipeline, {"budget": {limit: value * 2}}, actor=ADMIN)
        await app.cairn.runs.resume(run, actor=ADMIN)
        await app.wait_for_run(run, "completed")


@pytest.mark.parametrize("budget", ["of the run", "of the definition"])
async def test_a_budget_set_during_a_run_applies_from_the_next_call_on(app: App, budget: str) -> None:
    """The cache of runs without limits is updated."""
    waiting, resume = asyncio.Event(), asyncio.Event()

    async def talk(work: WorkOrder, conversation: Conversation) -> Outcome:
        for number in range(1, 9):
            await conversation.check_budget()
            call: dict[str, Any] = {"tokens": TokenUsage(8, 2), "cost": CENT, "at": datetime.now(UTC)}
            await conversation.save(response_message(number=number, **call))
            if number == 3:
                waiting.set()
                await asyncio.wait_for(resume.wait(), PATIENCE)
        return produced(work)

    with scripted_conversations(app.cairn, talk):
        pipeline = await app.pipeline(step("talk"))
        run = await app.start(pipeline)
        await asyncio.wait_for(waiting.wait(), PATIENCE)
        if budget == "of the run":
            await app.cairn.runs.set_budget(run, Budget(max_calls=4), actor=ADMIN)
        else:
            await app.cairn.pipelines.update(pipeline, {"budget": {"max_calls": 4}}, actor=ADMIN)
        resume.set()
        paused = await app.wait_for_run(run, "paused")
        assert (paused.usage.calls, "4 calls" in (paused.over_budget or "")) == (4, True)


async def test_a_monthly_budget_applies_to_all_runs_of_a_pipeline(app: App) -> None:
    with scripted_conversations(app.cairn, script(2)):
        budget = {"max_calls": 10, "per_month": {"max_calls": 3}}
        pipeline = await app.pipeline(step("talk"), budget=budget)
        with scripted_conversations(app.cairn, script(1, at=AT)):
            await app.run_to_completion(pipeline)  # in another month
        await app.run_to_completion(pipeline)
        run = await app.start(pipeline)
        paused = await app.wait_for_run(run, "paused")
        assert paused.over_budget == mentions("3 calls")
        assert [(limit.period, limit.used, limit.is_exhausted) for limit in paused.budget.status] == [
            ("run", 1.0, False),
            ("month", 3.0, True),
        ]
        await app.cairn.runs.set_budget(run, Budget(max_calls=100), actor=ADMIN)
        with pytest.raises(CommandRefused, match="3 calls"):
            await app.cairn.runs.resume(run, actor=ADMIN)
        budget["per_month"] = {"max_calls": 4}
        await app.cairn.pipelines.update(pipeline, {"budget": budget}, actor=ADMIN)
        await app.cairn.runs.resume(run, actor=ADMIN)
        await app.wait_for_run(run, "completed")
    month = app.cairn.cost_queries.get_pipeline_costs(pipeline, CostQuery("day", 50, None)).budget_status
    assert [(limit.period, limit.used) for limit in month] == [("month", 4.0)]


async def test_cost_sums_equal_the_calls(app: App) -> None:
    """For every grouping. Unpriced and simulated calls are counted separately."""
    calls_of_a_cycle: list[dict[str, Any]] = [
        {"cost": CENT, "tokens": TokenUsage(100, 20, 40, 5)},
        {"cost": None, "tokens": TokenUsage(7, 3), "model": "fake:unpriced"},
        {"cost": Decimal(0), "is_simulated": True, "model": "simulated:default", "purpose": Purpose.JUDGE},
    ]
    cycle = itertools.cycle(calls_of_a_cycle)

    async def talk(work: WorkOrder, conversation: Conversation) -> Outcome:
        for number in range(1, 7):
            at = AT.replace(day=number)
            await conversation.save(response_message(number=number, at=at, **next(cycle)))
        return produced(work)

    with scripted_conversations(app.cairn, talk):
        pipeline = await app.pipeline(step("talk"), step("talk_more"))
        first, second = await app.run_to_completion(pipeline), await app.run_to_completion(pipeline, test=True)
        await app.roll_back(first, 0)  # archived work counts, too
        await app.wait_for_run(first, "completed")
    each = usage(
        calls=6,
        input_tokens=414,
        output_tokens=86,
        cache_read_tokens=160,
        cache_write_tokens=20,
        cost_usd=0.02,
        unpriced_calls=2,
        simulated_calls=2,
        simulated_tokens=240,
        seconds=9.0,
    )
    queries, fields = app.cairn.cost_queries, each.model_dump()

    def times(number: int) -> Usage:
        return Usage(**{name: round(value * number, 6) for name, value in fields.items()})

    executions = app.cairn.execution_queries.list_executions(first, True, 50, None).items
    assert [e.usage for e in executions] == [each] * 3
    assert (app.run(first).usage, app.run(second).usage) == (times(3), times(2))
    runs = app.cairn.run_queries.list_runs(RunFilter(include_tests=True), 500, None).items
    listed = {run.run_id: run.usage for run in runs}
    assert (listed[first], listed[second]) == (times(3), times(2))
    for group_by, keys in {
        "execution": {e.execution_id: "talk" if e.checkpoint_key == "talk" else "talk_more" for e in executions},
        "model": {model: model for model in ("fake:large", "fake:unpriced", "simulated:default")},
        "purpose": {"work": "work", "judge": "judge"},
    }.items():
        costs = queries.get_run_costs(first, CostQuery(group_by, 50, None))
        assert (costs.group_by, costs.total, {line.key: line.name for line in costs.items}) == (
            group_by,
            times(3),
            keys,
        )
        _check_sum(costs.total, [line.usage for line in costs.items])
    calls = queries.get_run_costs(first, CostQuery("call", 50, None)).items
    assert len(calls) == 18
    assert [line.usage.cost_usd for line in calls].count(None) == 6
    by_run = queries.get_pipeline_costs(pipeline, CostQuery("run", 50, None))
    assert {line.key: (line.name, line.usage) for line in by_run.items} == {
        first: ("v1", times(3)),
        second: (mentions("test"), times(2)),
    }
    by_day = queries.get_pipeline_costs(pipeline, CostQuery("day", 4, None))
    rest = queries.get_pipeline_costs(pipeline, CostQuery("day", 4, by_day.next_cursor))
    days = [*by_day.items, *rest.items]
    assert [line.key for line in days] == [f"2026-03-0{n}" for n in (6, 5, 4, 3, 2, 1)]
    _check_sum(by_day.total, [line.usage for line in days])
    two_days = DateRange(date(2026, 3, 2), date(2026, 3, 3))
    assert queries.get_pipeline_costs(pipeline, CostQuery("checkpoint", 50, None, two_days)).total.calls == 10
    everything = queries.get_costs(CostQuery("pipeline", 500, None, DateRange(date(2026, 3, 1), date(2026, 3, 6))))
    assert {line.key: line.usage for line in everything.items}[pipeline] == times(5)
    by_cost = queries.get_run_costs(first, CostQuery("model", 50, None)).items
    assert [line.key for line in by_cost] == ["fake:large", "simulated:default", "fake:unpriced"]
    assert [line.usage.cost_usd for line in by_cost] == [0.06, 0.0, None]


async def test_the_costs_of_a_deleted_test_run_are_kept(app: App) -> None:
    with scripted_conversations(app.cairn, script(2)):
        pipeline = await app.pipeline(step("talk"))
        run = await app.run_to_completion(pipeline, test=True)
        await app.wait_until_idle()
    engine = app.cairn.engine
    retention = Retention(engine, app.cairn.folder_sync, app.cairn.jobs, RetentionDays(tests=1))
    await retention._remove_test_run(await _row(app, run))  # pyright: ignore[reportPrivateUsage]
    (line,) = app.cairn.cost_queries.get_pipeline_costs(pipeline, CostQuery("run", 50, None)).items
    assert (line.key, line.name, line.usage.calls) == (run, mentions("test"), 2)
    message_count = sa.select(sa.func.count()).where(t.messages.c.run_id == run)
    assert app.cairn.database.read(lambda c: c.execute(message_count).scalar_one()) == 0


@pytest.mark.parametrize("mode", ["sequential", "parallel"])
async def test_agents_stop_at_a_budget_and_continue_after_it_is_raised(app: App, mode: str) -> None:
    """Stored answers are not requested again."""
    app.models.current = models = FakeModels(lambda request: f"Answer {request.number}.")
    team = agent_checkpoint("team", discussion_mode=mode, max_turns=2) | {"outputs": ["team.md"]}
    run = await app.start(await app.pipeline(team, budget={"max_calls": 1}))
    paused = await app.wait_for_run(run, "paused")
    assert 1 <= paused.usage.calls == len(models.requests)
    assert paused.over_budget == mentions("1 call")
    before = messages(app, run)
    await app.cairn.runs.set_budget(run, Budget(max_calls=100), actor=ADMIN)
    await app.cairn.runs.resume(run, actor=ADMIN)
    done = await app.wait_for_run(run, "completed")
    after = messages(app, run)
    assert after[: len(before)] == before
    answers = [message for message in after if message.model is not None]
    assert done.usage.calls == len(answers) == len(models.requests)


def messages(app: App, run: str) -> list[Message]:
    execution = app.execution(run, "team").execution_id
    return app.cairn.conversation_queries.list_messages(execution, MessageFilter(), ADMIN, 500, None).items


async def test_amounts_are_formatted_in_us_dollars() -> None:
    assert [format_usd(Decimal(text)) for text in ("0", "0.00012", "0.5", "1", "1234.567")] == [
        "$0.00",
        "$0.0001",
        "$0.5000",
        "$1.00",
        "$1,234.57",
    ]


def _check_sum(total: Usage, lines: list[Usage]) -> None:
    for name, value in total.model_dump().items():
        assert sum(line.model_dump()[name] or 0 for line in lines) == pytest.approx(value), name


async def _row(app: App, run_id: str) -> Any:
    r = t.pipeline_runs.c
    query = sa.select(r.run_id, r.pipeline_id).where(r.run_id == run_id)
    return await app.cairn.database.aread(lambda c: c.execute(query).one())
