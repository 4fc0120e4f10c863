"""Agent checkpoints in runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from cairn.definitions import DefinitionError
from cairn.ports.models import ModelError, ModelErrorKind
from cairn.runners import Ctx
from cairn.runners.agents.result_judge import SYSTEM_PROMPT as JUDGE
from cairn.runners.agents.roles import COUNCIL_CHAIR
from cairn.runners.agents.summaries import SYSTEM_PROMPT as SUMMARIZER
from cairn.services.actors import ADMIN
from cairn.services.errors import InvalidInput
from cairn.store import tables as t
from tests.isolation import PATIENCE, limit
from tests.mentions import mentions
from tests.runners.agent_samples import FakeModels, ReceivedRequest, Reply, Responder, ToolCall, final_result
from tests.services.app import App, retries, step, timeout
from tests.services.runs.test_scripts import script

pytestmark = pytest.mark.asyncio(loop_scope="package")
Json = dict[str, Any]
COUNT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def agent(key: str, *outputs: Any, agent: Json | None = None, **more: Any) -> Json:
    """A checkpoint with one agent."""
    single = {"name": "Writer", "system_prompt": "You write.", **(agent or {})}
    execution = {"mode": "agentic", "agent_config": {"agent": single}, **more.pop("execution", {})}
    config = more.pop("config", None)
    if config is not None:
        execution["agent_config"] = config
    return {"key": key, "prompt": f"Do {key}.", "execution": execution, "outputs": list(outputs), **more}


def use_models(app: App, respond: Responder) -> FakeModels:
    """Replace the models of the app with fake ones that reply like this."""
    app.models.current = models = FakeModels(respond)
    return models


async def test_an_agent_checkpoint_from_its_preview_to_the_promoted_artifact(app: App) -> None:
    """The preview of the context equals the prompts that the model receives."""
    replies = [ToolCall("write_file", {"path": "artifacts_staging/design.md", "content": "# Design\n"}), "Written."]
    models = use_models(app, lambda request: replies[request.answers])
    pipeline = await app.pipeline(
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
    run = await app.start(pipeline, input={"ticket": 5})
    waiting = await app.wait_for_execution(run, "design", "waiting_approval_to_start")
    before = app.cairn.context_queries.get_context(waiting.execution_id)
    assert [block.heading for block in before.blocks] == [
        "ORIGINAL PROMPT",
        "INPUT",
        "REFERENCED OUTPUT: Checkpoint 1 from v1",
    ]
    assert before.estimated_tokens == -(-len(before.text.encode()) // 4)
    await app.decide(run, "design", "approve")
    await app.wait_for_execution(run, "design", "waiting_approval_to_complete")
    first = models.requests[0]
    assert before.text == f"{first.system}\n\n{first.prompt}"
    after = app.cairn.context_queries.get_context(waiting.execution_id)
    assert after.model_copy(update={"stored": False}) == before
    await app.decide(run, "design", "approve")
    await app.wait_for_run(run, "completed")
    (artifact,) = app.execution(run, "design").artifacts_generated
    assert (artifact.artifact_name, app.content(artifact)) == ("design", b"# Design\n")
    assert "runs/v1/checkpoint_1_design/outputs/design_ID_v1.md" in app.names(pipeline)


async def test_a_revision_has_the_feedback_and_the_earlier_files(app: App) -> None:
    """A revision keeps the execution and its workspace."""

    def respond(request: ReceivedRequest) -> Reply:
        if "REVISION FEEDBACK" in request.prompt:
            change = ToolCall("edit_file", {"path": "text.md", "old": "long", "new": "short"})
            return [change, "Changed."][request.answers]
        return [ToolCall("write_file", {"path": "text.md", "content": "A long text."}), "Written."][request.answers]

    models = use_models(app, respond)
    writer = agent("text", "text.md", agent={"tools": ["file_operations"]}, approve="complete")
    run = await app.start(await app.pipeline(writer))
    await app.decide(run, "text", "revise", "Shorter!")
    await app.wait_until(lambda: app.execution(run, "text").status == "waiting_approval_to_complete" or None)
    await app.decide(run, "text", "approve")
    await app.wait_for_run(run, "completed")
    assert app.content(app.execution(run, "text").artifacts_generated[0]) == b"A short text."
    assert "=== REVISION FEEDBACK ===\n```text\nShorter!\n```" in models.requests[2].prompt


async def test_a_failed_validation_is_retried_with_the_findings(app: App) -> None:

    def respond(request: ReceivedRequest) -> Reply:
        return final_result({"n": 1 if "VALIDATION FINDINGS" in request.prompt else "one"})

    models = use_models(app, respond)
    pipeline = await app.pipeline(agent("count", {"name": "count", "format": "json", "schema": COUNT}))
    run = await app.run_to_completion(pipeline)
    execution = app.execution(run, "count")
    assert (app.output(run, "count"), execution.attempt_number) == ({"n": 1}, 2)
    assert "execution_validation_retried" in app.event_types(run)
    assert len(models.requests) == 4
    assert models.requests[-1].prompt == mentions("count.json#/n", '"one"')


async def test_transient_model_errors_are_retried_and_permanent_ones_are_not(app: App) -> None:
    left = [ModelError(ModelErrorKind.OVERLOAD, "Too busy."), "Now."]
    use_models(app, lambda _: left.pop(0))
    pipeline = await app.pipeline(agent("text", "text.md", execution=retries(2)))
    assert app.execution(await app.run_to_completion(pipeline), "text").attempt_number == 2
    models = use_models(app, lambda _: ModelError(ModelErrorKind.AUTHENTICATION, "The key is wrong: set another."))
    run = await app.start(pipeline)
    await app.wait_for_run(run, "paused")
    failed = app.execution(run, "text")
    assert (failed.status, failed.attempt_number, len(models.requests)) == ("failed", 1, 1)
    assert failed.error_details.last_error is not None
    error = failed.error_details.last_error
    assert (error.error_type, error.error_message) == ("authentication", "The key is wrong: set another.")
    await app.cairn.runs.cancel(run, actor=ADMIN)


# ---- deferred tools ------------------------------------------------------------------------------------------
async def test_an_agent_continues_with_the_modified_parameters_of_its_action(app: App) -> None:
    mail = {"to": "a@example.com", "subject": "Refund", "body": "You get {{ amount }}.", "values": {"amount": 99.99}}
    wrong = {"operation_type": "send_email", "parameters": {"to": "a@example.com"}, "reasoning": "Defective."}

    def respond(request: ReceivedRequest) -> Reply:
        right = {**wrong, "parameters": mail, "confidence": 0.87, "risk_level": "high"}
        return [ToolCall("propose_action", wrong), ToolCall("propose_action", right), "Refunded."][request.answers]

    models = use_models(app, respond)
    pipeline = await app.pipeline(
        agent("refund", "note.md", agent={"tools": ["propose_action"]}),
        actions={"send_email": {"risk_level": "medium"}},
    )
    run = await app.start(pipeline)
    approval = await app.wait_until(lambda: next(iter(app.run(run).pending_approvals), None))
    assert models.requests[1].last == mentions("`subject`")
    detail = app.cairn.approval_queries.get_approval(approval.approval_id, ADMIN)
    assert detail.action is not None
    assert (detail.kind, detail.confidence, detail.risk_level, detail.action.reasoning) == (
        "action",
        0.87,
        "high",
        "Defective.",
    )
    assert app.execution(run, "refund").waiting_on == "action_approval"
    await app.reopen()  # the proposal survives a restart
    await app.cairn.approvals.decide(
        approval.approval_id,
        "approve",
        digest=detail.digest,
        modified_params={"values": {"amount": 89.99}},
        learn=True,
        actor=ADMIN,
    )
    await app.wait_for_run(run, "completed")
    assert len(app.mail.mails) == 1
    assert len(models.requests) == 3
    assert "You get 89.99." in models.requests[2].last
    assert '"state": "done"' in models.requests[2].last
    models.requests.clear()
    await app.start(pipeline)
    await app.wait_until(lambda: len(models.requests) >= 1 or None)
    tool = models.requests[0].info.function_tools[0]
    assert tool.description is not None
    assert '"amount":89.99' in tool.description, "the next offer shows the correction"


async def test_a_question_of_an_agent_is_answered_or_declined(app: App) -> None:
    """The question is a form. Invalid answers are rejected."""

    def respond(request: ReceivedRequest) -> Reply:
        ask = {"question": "Which colour?", "options": ["blue", "red"]}
        return [ToolCall("ask_human", ask), ToolCall("ask_human", {"question": "Why?"}), request.last][request.answers]

    models = use_models(app, respond)
    pipeline = await app.pipeline(agent("paint", "note.md", agent={"tools": ["ask_human"]}))
    run = await app.start(pipeline)
    await app.wait_until(lambda: app.execution(run, "paint").waiting_on == "question" or None)
    waiting = app.execution(run, "paint")
    assert waiting.form is not None
    (field,) = waiting.form.fields
    assert [a.title for a in app.run(run).pending_approvals] == ["Paint asks: Which colour?"]
    assert (waiting.form.instructions, field.name, field.validation) == (
        "Which colour?",
        "answer",
        {"enum": ["blue", "red"]},
    )
    with pytest.raises(InvalidInput) as rejected:
        await app.cairn.executions.submit(waiting.execution_id, {"answer": "green"}, actor=ADMIN)
    assert rejected.value.errors[0][0] == "/fields/answer"
    await app.cairn.executions.submit(waiting.execution_id, {"answer": "blue"}, actor=ADMIN)
    approval = await app.wait_until(
        lambda: next((a for a in app.run(run).pending_approvals if len(models.requests) == 2), None)
    )
    assert models.requests[1].last == "Answer from admin:\n```text\nblue\n```"
    assert app.execution(run, "paint").form is not None
    await app.cairn.approvals.decide(approval.approval_id, "decline", feedback="Decide yourself.", actor=ADMIN)
    await app.wait_for_run(run, "completed")
    (note,) = app.execution(run, "paint").artifacts_generated
    assert app.content(note) == b"Question declined:\n```text\nDecide yourself.\n```"
    assert len(models.requests) == 3


async def test_an_agent_requests_rework_and_continues_with_the_new_artifact(app: App) -> None:
    values = iter((2, 3))

    @app.function("count_up")
    async def count_up(ctx: Ctx) -> Json:
        return {"n": next(values), "rework_prompt": ctx.rework.prompt if ctx.rework is not None else ""}

    rework = {"checkpoint": "goals", "prompt": "Count again.", "reason": "Two is wrong."}

    def respond(request: ReceivedRequest) -> Reply:
        return [ToolCall("request_rework", rework), request.last][request.answers]

    use_models(app, respond)
    pipeline = await app.pipeline(
        step("goals", "count_up"), agent("report", "note.md", agent={"tools": ["request_rework"]})
    )
    run = await app.run_to_completion(pipeline)
    assert app.output(run, "goals") == {"n": 3, "rework_prompt": "Count again."}
    note = app.content(app.execution(run, "report").artifacts_generated[0]).decode()
    assert note == mentions("goals.json", '```text\n{"n":3,"rework_prompt":"Count again."}\n```')


async def test_a_council_survives_a_restart(app: App) -> None:
    """Completed turns are not repeated, and every message is stored with its speaker."""
    chair_started = asyncio.Event()
    restarted = asyncio.Event()

    async def respond(request: ReceivedRequest) -> Reply:
        if COUNCIL_CHAIR in request.prompt and not restarted.is_set():
            chair_started.set()
            await asyncio.sleep(60)
        return f"{'Chair' if COUNCIL_CHAIR in request.prompt else 'Member'} {len(request.prompt)}"

    models = use_models(app, respond)
    config = {
        "creation_mode": "predefined",
        "discussion_mode": "council",
        "agents": [{"name": "Analyst", "task_prompt": "Analyse."}, {"name": "Architect", "task_prompt": "Design."}],
    }
    pipeline = await app.pipeline(agent("plan", "plan.md", config=config))
    run = await app.start(pipeline)
    await asyncio.wait_for(chair_started.wait(), PATIENCE)
    assert len(models.requests) == 5
    restarted.set()
    await app.reopen()
    await app.wait_for_run(run, "completed")
    assert len(models.requests) == 6, "only the interrupted turn calls its model again"
    c = t.messages.c
    rows = app.cairn.database.read(
        lambda connection: connection.execute(
            sa.select(c.turn, c.speaker).where(c.run_id == run, c.role == "assistant")
        ).all()
    )
    assert sorted(map(tuple, rows)) == [
        ("council/answer/analyst", "Analyst"),
        ("council/answer/architect", "Architect"),
        ("council/chair", "Chair"),
        ("council/review/analyst", "Analyst"),
        ("council/review/architect", "Architect"),
    ]


# ---- validation ----------------------------------------------------------------------------------------------
def judging(*verdicts: Json) -> Responder:
    """A writer, and a judge that returns these verdicts in order."""
    left = iter(verdicts)

    def respond(request: ReceivedRequest) -> Reply:
        return final_result(next(left)) if request.system.startswith(JUDGE) else f"Text {request.number}."

    return respond


KIND: Json = {"passes": True, "reason": "Kind enough.", "findings": []}
RUDE: Json = {
    "passes": False,
    "reason": "Rude.",
    "findings": [{"path": "text.md", "expected": "please", "actual": "now!", "why": "Nobody likes that."}],
}


def judged_for_kindness(on_failure: str, **more: Any) -> Json:
    validation = {
        "validation_mode": "llm_custom",
        "custom_validation_prompt": "Is it kind?",
        "on_validation_failure": on_failure,
        **more,
    }
    return {"output": {"validation": validation}}


async def test_the_findings_of_a_judge_lead_to_another_attempt(app: App) -> None:
    """Findings have a path, expected and actual values. Verdicts are stored with their model."""
    models = use_models(app, judging(RUDE, KIND))
    run = await app.run_to_completion(await app.pipeline(agent("text", "text.md", **judged_for_kindness("retry"))))
    assert "- text.md: Nobody likes that. Expected: please Actual: now!" in models.requests[2].prompt
    execution = app.execution(run, "text")
    assert app.content(execution.artifacts_generated[0]) == b"Text 3."
    assert [
        (validation.attempt_number, validation.check, validation.passed, validation.reason, validation.model)
        for validation in execution.validations
    ] == [
        (1, "schema", True, "", None),
        (1, "custom", False, "Rude.", "fake:default"),
        (2, "schema", True, "", None),
        (2, "custom", True, "Kind enough.", "fake:default"),
    ]
    (finding,) = execution.validations[1].findings
    assert finding.model_dump() == {
        "path": "text.md",
        "message": "Nobody likes that.",
        "expected": "please",
        "actual": "now!",
    }


async def test_people_decide_on_a_rejected_result(app: App) -> None:
    """With `ask_human`, feedback starts another attempt, and acceptance completes the execution."""
    models = use_models(app, judging(RUDE, RUDE))
    run = await app.start(await app.pipeline(agent("text", "text.md", **judged_for_kindness("ask_human"))))
    await app.decide(run, "text", "feedback", "Say please.")
    await app.wait_until(lambda: len(models.requests) == 4 or None)
    assert "=== REVISION FEEDBACK ===\n```text\nSay please.\n```" in models.requests[2].prompt
    await app.decide(run, "text", "accept")
    await app.wait_for_run(run, "completed")
    assert app.content(app.execution(run, "text").artifacts_generated[0]) == b"Text 3."


async def test_a_failed_validation_can_fail_the_checkpoint(app: App) -> None:
    use_models(app, judging(RUDE, RUDE))
    run = await app.start(await app.pipeline(agent("text", "text.md", **judged_for_kindness("fail_checkpoint"))))
    await app.wait_for_run(run, "paused")
    failed = app.execution(run, "text")
    assert failed.error_details.last_error is not None
    assert failed.error_details.last_error.error_message == mentions("Rude.")
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_results_of_functions_and_scripts_are_judged(app: App) -> None:
    use_models(app, judging(KIND, RUDE, KIND))
    pipeline = await app.pipeline(
        step("count", **judged_for_kindness("retry")),
        script("add", source="def main(ctx):\n    return {'sum': 3}\n", **judged_for_kindness("retry")),
    )
    run = await app.run_to_completion(pipeline)
    assert [
        validation.passed for validation in app.execution(run, "add").validations if validation.check == "custom"
    ] == [False, True]


async def test_a_summary_is_written_once_and_reused_in_other_runs(app: App) -> None:
    """The preview shows a summary only once it exists."""

    @app.function("long")
    async def long(ctx: Ctx) -> Json:
        return {"text": "Requirement. " * 400}

    def respond(request: ReceivedRequest) -> Reply:
        return "A short summary." if request.system.startswith(SUMMARIZER) else "Done."

    models = use_models(app, respond)
    reads = {"include_checkpoint_outputs": [{"checkpoint_id": "spec", "use_summarization": True}]}
    pipeline = await app.pipeline(step("spec", "long"), agent("plan", "plan.md", inputs=reads, approve="start"))

    async def to_start() -> tuple[str, str]:
        run = await app.start(pipeline)
        waiting = await app.wait_for_execution(run, "plan", "waiting_approval_to_start")
        before = app.cairn.context_queries.get_context(waiting.execution_id).text
        await app.decide(run, "plan", "approve")
        await app.wait_for_run(run, "completed")
        return before, app.cairn.context_queries.get_context(waiting.execution_id).text

    before, after = await to_start()
    assert "A short summary." not in before
    assert "```json\nA short summary.\n```" in after
    before, again = await to_start()
    assert (before, len(models.requests)) == (again, 3)


# ---- tools and settings --------------------------------------------------------------------------------------
async def test_unavailable_tools_are_reported_on_save_and_fail_the_execution(app: App) -> None:
    """An unknown MCP server is an error on save. A disabled search is a warning on save and a permanent failure."""
    with pytest.raises(DefinitionError, match=r"['`]none['`]"):
        await app.pipeline(agent("text", "text.md", agent={"tools": ["mcp:none"]}))
    searching = agent("text", "text.md", agent={"tools": ["web_search"]}, execution=retries(2))
    checked = app.cairn.pipelines.check({"pipeline_name": "P", "checkpoints": [searching]})
    assert [finding.message for finding in checked.warnings] == [mentions("web_search")]
    models = use_models(app, lambda _: "unused")
    run = await app.start(await app.pipeline(searching))
    await app.wait_for_run(run, "paused")
    failed = app.execution(run, "text")
    assert failed.error_details.last_error is not None
    assert (failed.error_details.last_error.error_type, failed.attempt_number) == ("tool_not_available", 1)
    assert models.requests == []
    await app.cairn.runs.cancel(run, actor=ADMIN)


async def test_a_file_written_by_code_becomes_an_artifact(app: App) -> None:
    code = (
        "import csv\nwith open('n.csv', 'w', newline='') as f:\n    csv.writer(f).writerows([['n'], [42]])\nprint('ok')"
    )
    replies: list[Reply] = [
        ToolCall("run_python", {"code": code}),
        ToolCall("copy_file", {"source": "workspace/n.csv", "target": "artifacts_staging/numbers.csv"}),
        "Done.",
    ]
    models = use_models(app, lambda request: replies[request.answers])
    pipeline = await app.pipeline(agent("count", "numbers.csv", agent={"tools": ["code_execution", "file_operations"]}))
    run = await app.run_to_completion(pipeline)
    assert app.content(app.execution(run, "count").artifacts_generated[0]) == b"n\r\n42\r\n"
    assert models.requests[1].last == "The program succeeded.\n\nOutput:\n```text\nok\n```"


async def test_cancel_and_timeout_close_the_connection_within_a_second(app: App) -> None:
    called, closed = asyncio.Event(), asyncio.Event()

    async def respond(request: ReceivedRequest) -> Reply:
        called.set()
        try:
            await asyncio.sleep(60)
        finally:
            closed.set()
        return ""

    use_models(app, respond)
    run = await app.start(await app.pipeline(agent("text", "text.md")))
    await asyncio.wait_for(called.wait(), PATIENCE)
    started = asyncio.get_running_loop().time()
    await app.cairn.runs.cancel(run, actor=ADMIN)
    await asyncio.wait_for(closed.wait(), PATIENCE)
    assert asyncio.get_running_loop().time() - started < limit(1.0)
    called.clear()
    closed.clear()
    slow = agent("text", "text.md", execution=timeout(0.3, "fail_run"))
    run = await app.start(await app.pipeline(slow))
    await app.wait_for_run(run, "failed")
    await asyncio.wait_for(closed.wait(), PATIENCE)
