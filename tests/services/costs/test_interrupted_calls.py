"""Model calls that break off are counted with the tokens that the provider has reported by then."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio

from cairn.services.actors import ADMIN
from cairn.services.conversations.queries import MessageFilter
from cairn.services.costs.queries import CostQuery
from tests.adapters.models.fake_provider import FakeProvider, running_provider
from tests.adapters.models.replies import Answer, ErrorReply
from tests.adapters.models.requests import CLAUDE, GPT, open_catalogue
from tests.services.app import App, timeout

pytestmark = pytest.mark.asyncio(loop_scope="package")
SLOW = Answer("A long answer. " * 50, input_tokens=900, cache_read=100, chunk_delay=0.05)


@pytest_asyncio.fixture(loop_scope="package")
async def provider(app: App) -> AsyncGenerator[FakeProvider]:
    async with running_provider() as running, open_catalogue(running) as models:
        app.models.current = models
        yield running


def agent(model: str = CLAUDE, **execution: Any) -> dict[str, Any]:
    config = {"agent": {"name": "Writer", "system_prompt": "You write."}, "model": model}
    return {
        "key": "text",
        "prompt": "Write.",
        "execution": {"mode": "agentic", "agent_config": config, **execution},
        "outputs": ["text.md"],
    }


def calls(app: App, run: str) -> list[tuple[str, int, int, float | None]]:
    """The checkpoint, the tokens and the cost of each call."""
    lines = app.cairn.cost_queries.get_run_costs(run, CostQuery("call", 50, None)).items
    return sorted((line.name, line.usage.input_tokens, line.usage.output_tokens, line.usage.cost_usd) for line in lines)


async def wait_for_call(app: App, run: str) -> None:
    await app.wait_until(lambda: app.run(run).usage.calls or None)


async def test_a_cancelled_call_counts_the_tokens_known_so_far(app: App, provider: FakeProvider) -> None:
    provider.enqueue(SLOW)
    run = await app.start(await app.pipeline(agent()))
    await provider.wait_until(requests=1)
    await app.wait_until(lambda: app.cairn.conversations.live_messages.messages_of_run(run) or None)
    await app.cairn.runs.cancel(run, actor=ADMIN)
    await wait_for_call(app, run)
    usage = app.run(run).usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (1, 1000, 1, 100)
    assert (usage.cost_usd, usage.unpriced_calls) == (pytest.approx(0.002745), 0)
    assert usage.seconds > 0
    assert provider.requests[0].is_streamed


async def test_a_call_that_times_out_counts_toward_the_budget(app: App, provider: FakeProvider) -> None:
    provider.enqueue(SLOW)
    pipeline = await app.pipeline(agent(**timeout(0.5, "fail_run")), budget={"max_tokens": 5000})
    run = await app.start(pipeline)
    await app.wait_for_run(run, "failed")
    await wait_for_call(app, run)
    [status] = app.run(run).budget.status
    assert status.used == Decimal(1001)


async def test_every_attempt_that_breaks_off_is_a_call_of_its_own(app: App, provider: FakeProvider) -> None:
    """The answer that succeeds in the end keeps its own tokens and cost."""
    provider.enqueue(
        Answer("One, two, three", input_tokens=100, disconnect_after=5),
        Answer("One, two, three", input_tokens=200, end_after=5),
        Answer("Done.", input_tokens=300),
    )
    run = await app.run_to_completion(await app.pipeline(agent()))
    assert [(tokens, output) for _, tokens, output, _ in calls(app, run)] == [(100, 1), (200, 1), (300, 15)]
    execution = app.execution(run, "text").execution_id
    messages = app.cairn.conversation_queries.list_messages(execution, MessageFilter(), ADMIN, 50, None).items
    assert [message.usage and message.usage.input_tokens for message in messages] == [None, None, 300]


async def test_the_attempts_of_a_call_that_fails_for_good_are_counted(app: App, provider: FakeProvider) -> None:
    provider.enqueue(Answer("One, two, three", input_tokens=100, disconnect_after=5), ErrorReply(401))
    run = await app.start(await app.pipeline(agent()))
    await app.wait_for_run(run, "paused")
    assert calls(app, run) == [("text", 100, 1, pytest.approx(0.000315))]
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_call_without_known_tokens_is_not_counted(app: App, provider: FakeProvider) -> None:
    """Some providers report tokens only at the end of an answer."""
    provider.enqueue(Answer("One, two, three", disconnect_after=5), Answer("Done."))
    run = await app.run_to_completion(await app.pipeline(agent(GPT)))
    assert [call[1:3] for call in calls(app, run)] == [(25, 15)]
