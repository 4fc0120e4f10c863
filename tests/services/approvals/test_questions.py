"""A model asks for the parameters of a script, for at most three rounds. Then the plain form is shown."""

from __future__ import annotations

from typing import Any

import pytest

from cairn.ports.models import ModelError, ModelErrorKind
from cairn.services.actors import ADMIN
from cairn.services.runs.execution_views import Execution
from tests.mentions import mentions
from tests.runners.agent_samples import ReceivedRequest, Reply, Responder, final_result
from tests.services.app import App, step
from tests.services.runs.test_agents import use_models
from tests.services.runs.test_scripts import script

pytestmark = pytest.mark.asyncio(loop_scope="package")
Json = dict[str, Any]
SOURCE = """
def main(ctx, region, rows):
    answer = ctx.request_rework("goals", "Again.", "Because.") if rows == 7 else None
    return {"region": region, "rows": rows, "rework": answer and answer.status}
"""
CONFIG: Json = {
    "requires_user_input": True,
    "user_input_prompt": "What is the report about?",
    "parameters": {"rows": 10},
    "parameters_schema": {
        "type": "object",
        "properties": {"region": {"enum": ["North", "South"]}, "rows": {"type": "integer"}},
        "required": ["region", "rows"],
    },
}


def report_step() -> Json:
    return script("report", source=SOURCE, config=CONFIG)


async def waiting_form(app: App, run: str, instructions: str) -> Execution:
    """Wait until the execution shows a form with these instructions."""

    def find() -> Execution | None:
        if "report" not in {e.checkpoint_key for e in app.executions(run)}:
            return None
        execution = app.execution(run, "report")
        matches = execution.form is not None and execution.form.instructions == instructions
        return execution if matches and execution.waiting_on == "script_input" else None

    return await app.wait_until(find)


async def test_a_free_text_answer_becomes_valid_parameters(app: App) -> None:
    def respond(request: ReceivedRequest) -> Reply:
        if "=== QUESTION 1 ===" not in request.prompt:
            return final_result({"question": "Which region, and how many rows?"})
        return [
            final_result({"parameters": {"region": "south"}}),
            final_result({"parameters": {"region": "South", "rows": 7}}),
        ][request.answers]

    models = use_models(app, respond)
    run = await app.start(await app.pipeline(step("goals"), report_step()))
    waiting = await waiting_form(app, run, "Which region, and how many rows?")
    assert waiting.form is not None
    assert [field.name for field in waiting.form.fields] == ["answer"]
    await app.cairn.executions.submit(waiting.execution_id, {"answer": "The ```south```, seven."}, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    assert app.output(run, "report") == {"region": "South", "rows": 7, "rework": "completed"}
    assert len(models.requests) == 3
    assert "Answer:\n````text\nThe ```south```, seven.\n````" in models.requests[1].prompt
    assert "parameters/region: expected one of" in models.requests[2].last


async def test_after_three_rounds_the_plain_form_is_shown(app: App) -> None:
    models = use_models(app, lambda request: final_result({"question": f"Round {request.number}?"}))
    run = await app.start(await app.pipeline(step("goals"), report_step()))
    for number in (1, 2, 3):
        waiting = await waiting_form(app, run, f"Round {number}?")
        await app.cairn.executions.submit(waiting.execution_id, {"answer": "I do not know."}, actor=ADMIN)
    waiting = await waiting_form(app, run, "What is the report about?")
    assert waiting.form is not None
    assert [field.name for field in waiting.form.fields] == ["region", "rows"]
    await app.cairn.executions.submit(waiting.execution_id, {"region": "North"}, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    assert app.output(run, "report") == {"region": "North", "rows": 10, "rework": None}
    assert len(models.requests) == 4


@pytest.mark.parametrize("error", [ModelErrorKind.AUTHENTICATION, None])
async def test_without_a_working_model_the_plain_form_is_shown(app: App, error: ModelErrorKind | None) -> None:
    respond: Responder = lambda _: ModelError(error or ModelErrorKind.NETWORK, "The key is wrong.")  # noqa: E731
    models = use_models(app, respond)
    if error is None:
        models.default = "simulated:default"
    run = await app.start(await app.pipeline(step("goals"), report_step()))
    waiting = await waiting_form(app, run, "What is the report about?")
    assert len(models.requests) == (1 if error else 0)
    await app.cairn.executions.submit(waiting.execution_id, {"region": "North", "rows": 7}, actor=ADMIN)
    await app.wait_for_run(run, "completed")
    assert app.output(run, "report") == {"region": "North", "rows": 7, "rework": "completed"}


async def test_declining_a_question_applies_on_failure(app: App) -> None:
    use_models(app, lambda _: final_result({"question": "Which region?"}))
    run = await app.start(await app.pipeline(step("goals"), report_step()))
    await waiting_form(app, run, "Which region?")
    await app.decide(run, "report", "decline", "No report, please.")
    await app.wait_for_run(run, "paused")
    assert app.execution(run, "report").status == "failed"
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_script_with_only_a_prompt_asks_for_the_parameters_of_its_entry_function(app: App) -> None:
    config = {"requires_user_input": True, "user_input_prompt": "What is the report about?"}
    source = 'def main(ctx, region: str, rows: int = 10):\n    return {"region": region, "rows": rows}\n'
    for step_ in (script("report", source=source, config=config), script("report", "report.py", config=config)):
        models = use_models(app, lambda _: ModelError(ModelErrorKind.NETWORK, "No model."))
        models.default = "simulated:default"
        run = await app.start(await app.pipeline(step("goals"), step_, scripts={"report.py": source}))
        waiting = await waiting_form(app, run, "What is the report about?")
        assert waiting.form is not None
        assert [(f.name, f.type, f.required, f.default) for f in waiting.form.fields] == [
            ("region", "text", True, None),
            ("rows", "number", False, 10),
        ]
        await app.cairn.executions.submit(waiting.execution_id, {"region": "North"}, actor=ADMIN)
        await app.wait_for_run(run, "completed")
        assert app.output(run, "report") == {"region": "North", "rows": 10}


@pytest.mark.parametrize("source", ["def main(ctx): ...", "from lib import main", "main = lambda ctx, region: region"])
async def test_a_form_without_fields_is_a_warning_on_save(app: App, source: str) -> None:
    config = {"requires_user_input": True, "user_input_prompt": "What?"}
    checkpoint = script("a", source=source, config=config)
    saved = await app.cairn.pipelines.create({"pipeline_name": "Empty", "checkpoints": [checkpoint]}, actor=ADMIN)
    [finding] = saved.warnings
    assert (finding.path, finding.message) == ("/checkpoints/0/execution/script_config", mentions("main"))
