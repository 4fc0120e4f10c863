"""A1, A4, A5, X3, X9: checkpoints that agents carry out, in runs."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.ports.models import ModelFault, ModelFaultKind
from cairn.services.actors import ADMIN
from tests.runners.agenting import Asked, FakeModels, Mind, Reply, Uses, hands_over
from tests.services.house import House, retries, step

pytestmark = pytest.mark.asyncio(loop_scope="package")
Json = dict[str, Any]
COUNT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def agent(key: str, *outputs: Any, agent: Json | None = None, **more: Any) -> Json:
    """A checkpoint that one agent carries out."""
    written = {"name": "Writer", "system_prompt": "You write.", **(agent or {})}
    execution = {"mode": "agentic", "agent_config": {"agent": written}, **more.pop("execution", {})}
    config = more.pop("config", None)
    if config is not None:
        execution["agent_config"] = config
    return {"key": key, "prompt": f"Do {key}.", "execution": execution, "outputs": list(outputs), **more}


def thinking(house: House, mind: Mind) -> FakeModels:
    """From now on the models of the house say this."""
    house.minds.own = models = FakeModels(mind)
    return models


async def test_an_agent_reads_works_and_its_result_is_promoted(house: House) -> None:
    """Seed 0, slices 13 and 16: shown before, streamed, staged, approved, promoted; what was shown is what was sent."""
    replies = [Uses("write_file", {"path": "artifacts_staging/design.md", "content": "# Design\n"}), "Written."]
    models = thinking(house, lambda asked: replies[asked.answers])
    pipeline = await house.pipeline(
        step("goals", parameters={"value": 7}),
        agent(
            "design",
            "design.md",
            agent={"tools": ["file_operations"]},
            approve="both",
            inputs={"include_checkpoint_outputs": [{"checkpoint_id": "goals"}]},
        ),
        original_prompt="Make an app.",
    )
    run = await house.start(pipeline, input={"ticket": 5})
    waiting = await house.until_execution(run, "design", "waiting_approval_to_start")
    before = house.cairn.reading.context(waiting.execution_id)
    assert [block.heading for block in before.blocks] == [
        "ORIGINAL PROMPT",
        "INPUT",
        "REFERENCED OUTPUT: Checkpoint 1 from v1",
    ]
    assert before.estimated_tokens == -(-len(before.text.encode()) // 4)
    await house.decide(run, "design", "approve")
    await house.until_execution(run, "design", "waiting_approval_to_complete")
    first = models.asked[0]
    assert before.text == f"{first.system}\n\n{first.prompt}"
    after = house.cairn.reading.context(waiting.execution_id)
    assert after.model_copy(update={"stored": False}) == before
    await house.decide(run, "design", "approve")
    await house.until_run(run, "completed")
    (artifact,) = house.execution(run, "design").artifacts_generated
    assert (artifact.artifact_name, house.content(artifact)) == ("design", b"# Design\n")
    assert "runs/v1/checkpoint_1_design/outputs/design_ID_v1.md" in house.names(pipeline)


async def test_a_revision_brings_the_feedback_and_what_was_made(house: House) -> None:
    """X3: the same execution, the same workspace, the feedback in the prompt."""

    def mind(asked: Asked) -> Reply:
        if "REVISION FEEDBACK" in asked.prompt:
            change = Uses("edit_file", {"path": "text.md", "old": "long", "new": "short"})
            return [change, "Changed."][asked.answers]
        return [Uses("write_file", {"path": "text.md", "content": "A long text."}), "Written."][asked.answers]

    models = thinking(house, mind)
    writer = agent("text", "text.md", agent={"tools": ["file_operations"]}, approve="complete")
    run = await house.start(await house.pipeline(writer))
    await house.decide(run, "text", "revise", "Shorter!")
    await house.until(lambda: house.execution(run, "text").status == "waiting_approval_to_complete" or None)
    await house.decide(run, "text", "approve")
    await house.until_run(run, "completed")
    assert house.content(house.execution(run, "text").artifacts_generated[0]) == b"A short text."
    assert "=== REVISION FEEDBACK ===\n```text\nShorter!\n```" in models.asked[2].prompt


async def test_a_result_that_fails_validation_is_tried_again_with_the_findings(house: House) -> None:
    """A4, A5: ill-formed is a validation failure; the next attempt is told of it."""

    def mind(asked: Asked) -> Reply:
        return hands_over({"n": 1 if "VALIDATION FINDINGS" in asked.prompt else "one"})

    models = thinking(house, mind)
    pipeline = await house.pipeline(agent("count", {"name": "count", "format": "json", "schema": COUNT}))
    run = await house.done(pipeline)
    execution = house.execution(run, "count")
    assert (house.output(run, "count"), execution.attempt_number) == ({"n": 1}, 2)
    assert "execution_revalidated" in house.told(run)
    assert len(models.asked) == 4
    assert 'count.json#/n: expected a whole number, but here it is a text: "one"' in models.asked[-1].prompt


async def test_faults_are_retried_where_that_may_help(house: House) -> None:
    """A7, X4, D63."""
    left = [ModelFault(ModelFaultKind.OVERLOAD, "Too busy."), "Now."]
    thinking(house, lambda _: left.pop(0))
    pipeline = await house.pipeline(agent("text", "text.md", execution=retries(2)))
    assert house.execution(await house.done(pipeline), "text").attempt_number == 2
    models = thinking(house, lambda _: ModelFault(ModelFaultKind.AUTHENTICATION, "The key is wrong: set another."))
    run = await house.start(pipeline)
    await house.until_run(run, "paused")
    failed = house.execution(run, "text")
    assert (failed.status, failed.attempt_number, len(models.asked)) == ("failed", 1, 1)
    assert failed.error_details.last_error is not None
    told = failed.error_details.last_error
    assert (told.error_type, told.error_message) == ("authentication", "The key is wrong: set another.")
    await house.cairn.runs.cancel(run, by=ADMIN)
