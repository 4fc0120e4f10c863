"""A limit on the cost that can't count the calls of a model has a warning on save and in the run."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from cairn.core.budget import Budget
from cairn.runners.model_choices import model_choices
from cairn.services.actors import ADMIN
from tests.mentions import mentions
from tests.runners.agent_samples import FakeModels
from tests.services.app import App, form, step
from tests.services.conversing import agent_checkpoint

pytestmark = pytest.mark.asyncio(loop_scope="package")
UNPRICED = "fake:unpriced"
COST = {"max_cost_usd": 1}


@pytest.fixture
def models(app: App) -> FakeModels:
    app.models.current = models = FakeModels(lambda _: "Done.")
    models.unpriced = frozenset({UNPRICED, "fake:other"})
    return models


def agent(*, waits: bool = False, **config: Any) -> dict[str, Any]:
    checkpoint: dict[str, Any] = {
        "key": "talk",
        "execution": {"mode": "agentic", "agent_config": config},
        "instructions": {"task_prompt": "Do it."},
        "outputs": ["talk.md"],
    }
    return checkpoint | ({"approve": "start"} if waits else {})


async def findings(app: App, pipeline: str, **changes: Any) -> list[tuple[str, str]]:
    saved = await app.cairn.pipelines.update(pipeline, changes, actor=ADMIN)
    return [(finding.path, finding.message) for finding in saved.warnings]


@pytest.mark.parametrize(
    ("budget", "paths"),
    [
        (COST, ["/budget/max_cost_usd"]),
        (COST | {"per_month": COST}, ["/budget/max_cost_usd", "/budget/per_month/max_cost_usd"]),
        ({"max_tokens": 100, "max_calls": 5, "per_month": {"max_calls": 9}}, []),
    ],
)
async def test_saving_a_cost_limit_for_an_unpriced_model_has_a_warning(
    app: App, models: FakeModels, budget: dict[str, Any], paths: list[str]
) -> None:
    pipeline = await app.pipeline(agent(model=UNPRICED))
    assert await findings(app, pipeline, budget=budget) == [(path, mentions(UNPRICED)) for path in paths]
    models.unpriced = frozenset()
    assert await findings(app, pipeline, budget=budget) == []


async def test_a_library_agent_counts_with_its_model(app: App, models: FakeModels) -> None:
    document: Any = {"role": "writer", "task_prompt": "Write.", "model": UNPRICED}
    await app.cairn.agent_library.save("cost-writer", document, positions=None, actor=ADMIN)
    pipeline = await app.pipeline(agent(agent={"library_agent": "cost-writer"}, creation_mode="single"))
    assert await findings(app, pipeline, budget=COST) == [("/budget/max_cost_usd", mentions(UNPRICED))]
    run = app.run(await app.start(pipeline, start=False))
    assert run.warnings == [mentions(UNPRICED)]
    assert models.requests == []


async def test_a_run_shows_the_warning_until_it_ends(app: App, models: FakeModels) -> None:
    pipeline = await app.pipeline(agent(model=UNPRICED, waits=True), budget=COST)
    run = await app.start(pipeline)
    assert app.run(run).warnings == [mentions(UNPRICED)]
    await app.cairn.runs.cancel(run, actor=ADMIN)
    assert app.run(run).warnings == []
    assert models.requests == []


async def test_a_limit_that_is_set_for_a_run_counts_too(app: App, models: FakeModels) -> None:
    run = await app.start(await app.pipeline(agent(model=UNPRICED, waits=True)))
    assert app.run(run).warnings == []
    await app.cairn.runs.set_budget(run, Budget(max_cost_usd=Decimal(1)), actor=ADMIN)
    assert app.run(run).warnings == [mentions(UNPRICED)]
    assert models.requests == []


TEAM = agent_checkpoint("team", model="a", discussion_mode="council")
JUDGED = {"validation": {"enabled": True, "validation_mode": "llm_custom", "custom_validation_prompt": "Good?"}}


@pytest.mark.parametrize(
    ("checkpoint", "names"),
    [
        (form("goals"), []),
        (step("work"), []),
        (step("work", output=JUDGED), [None]),
        (agent(), [None]),
        (agent(model="a", agent={"model": "b"}), ["b"]),
        (agent(model="a", agent={"model": "b"}) | {"output": JUDGED}, ["b", "a"]),
        (agent(model="a", creation_mode="meta_agent", meta_agent_instructions="Choose."), ["a"]),
        (TEAM, ["a", "a", "a"]),  # two members, and the chair that is added
        ({"key": "ask", "script": "def main(ctx): ...", "outputs": ["x.json"]}, []),
    ],
)
async def test_the_models_of_a_checkpoint(app: App, checkpoint: dict[str, Any], names: list[str | None]) -> None:
    document: Any = {"pipeline_name": "Test", "checkpoints": [checkpoint]}
    [saved] = app.cairn.pipelines.check(document).definition.checkpoints
    assert [name for name, _ in model_choices(saved)] == names
